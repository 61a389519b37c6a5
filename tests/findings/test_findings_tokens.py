"""The estimate of tokens against true counts.

`token_counts.jsonl` holds texts (outputs of commands, logs, code, reports) with the number of tokens that the public
vocabularies make of each, as counted by their own programs. `fitted` texts were used to choose the estimate's numbers,
the others were not.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.findings.tokens import DEFAULT_VOCABULARY, VOCABULARIES, TokenEstimate
from checkrunner.model.errors import UnknownNameError
from checkrunner.model.seams import TokenCounter
from checkrunner.testing import check_token_counter

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("token_counts.jsonl").read_text("utf-8").splitlines()
]


def errors(vocabulary: str, rows: list[dict[str, Any]]) -> list[float]:
    counter = TokenEstimate(vocabulary)
    return [counter.count(row["text"]) / row["counts"][vocabulary] - 1 for row in rows]


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize(("fitted", "most"), [(True, 0.10), (False, 0.12)])
def test_the_mean_error_against_true_counts_is_small(vocabulary: str, fitted: bool, most: float) -> None:
    rows = [row for row in ROWS if row["fitted"] is fitted]

    found = errors(vocabulary, rows)
    by_bytes = [abs(len(row["text"].encode()) / 4 / row["counts"][vocabulary] - 1) for row in rows]

    assert len(rows) >= 12
    assert statistics.mean(map(abs, found)) <= most
    assert statistics.mean(by_bytes) >= 0.25  # what the estimate is better than
    assert abs(statistics.mean(found)) <= 0.06


def test_the_default_vocabulary_is_met_within_seven_percent() -> None:
    assert statistics.mean(map(abs, errors(DEFAULT_VOCABULARY, ROWS))) <= 0.07


def test_reports_are_not_underestimated() -> None:
    reports = [row for row in ROWS if row["text"].startswith('{"schema"') or row["name"] == "findings.json"]

    assert len(reports) >= 6
    assert min(errors(DEFAULT_VOCABULARY, reports)) >= -0.05
    assert statistics.mean(errors(DEFAULT_VOCABULARY, reports)) >= 0


def test_factors_are_those_of_the_recorded_counts() -> None:
    for vocabulary, factor in VOCABULARIES.items():
        ratios = [row["counts"][vocabulary] / row["counts"][DEFAULT_VOCABULARY] for row in ROWS]
        assert factor == pytest.approx(statistics.median(ratios), abs=0.02), vocabulary


def test_a_number_is_a_factor_of_ones_own() -> None:
    text = ROWS[0]["text"]

    assert TokenEstimate("2").count(text) == pytest.approx(2 * TokenEstimate().count(text), abs=2)


@pytest.mark.parametrize("wrong", ["o200k", "", "nan", "inf", "-1", "0", "1e9"])
def test_other_names_are_refused_with_the_known_ones(wrong: str) -> None:
    with pytest.raises(UnknownNameError, match="no vocabulary is called") as caught:
        TokenEstimate(wrong)

    assert "o200k_base" in caught.value.hint


def test_tokens_of_known_texts() -> None:
    counter: TokenCounter = TokenEstimate()

    assert counter.count("") == 0
    assert counter.count(" ") == 1
    assert counter.count("the disk is full") == 5  # 4 in truth
    assert counter.count('{"rc":1}') == 5
    assert counter.count("12345") == 2
    assert counter.count("-" * 80) == 5


@given(st.text(min_size=1), st.text(min_size=1))
def test_tokens_grow_with_the_text(one: str, two: str) -> None:
    counter = TokenEstimate()

    check_token_counter(counter, [one, two, ""])
    assert counter.count(one) >= 1
    assert abs(counter.count(one + two) - counter.count(one) - counter.count(two)) <= 4


@given(st.text(alphabet="aZ09 \t\n.,{}\"'-_/é中→", max_size=300), st.sampled_from(list(VOCABULARIES)))
def test_parts_take_about_what_the_whole_takes(text: str, vocabulary: str) -> None:
    counter = TokenEstimate(vocabulary)

    at = len(text) // 2
    assert counter.count(text) <= counter.count(text[:at]) + counter.count(text[at:]) + 2
