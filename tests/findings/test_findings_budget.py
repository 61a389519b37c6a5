from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hostile_reports import Hostile, finding, hostile, totals, worst_run
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from outcome_factory import reason, run_info

from checkrunner.findings.budget import fit
from checkrunner.findings.leftout import BUDGET, folded_omissions
from checkrunner.findings.tokens import TokenEstimate
from checkrunner.model.report import LEAST_BUDGET, Finding, Message, Omission, Report, Variant
from checkrunner.model.results import Slice, SliceLine, SliceMode, SliceQuery, Stream, VerdictState
from checkrunner.render.document import to_document
from checkrunner.render.json import json_text
from checkrunner.render.schema import report_schema

lenient = settings(
    deadline=None,
    max_examples=6,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # making such reports smaller takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
limits = st.sampled_from([500, 501, 700, 1000, 2500, 4000, 9000, 40_000])


def fitted(report: Report, limit: int | None) -> Report:
    return fit(report, limit, json_text)


def size(report: Report) -> int:
    return TokenEstimate().count(json_text(report))


def lines_of(found: Finding) -> int:
    every = [*found.slices, *(piece for variant in found.variants for piece in variant.slices)]
    return sum(len(piece.lines) for piece in every)


def left_out(report: Report, what: str) -> int:
    return sum(one.count for one in report.omissions if one.what == what and one.why == BUDGET)


@given(hostile, limits)
@lenient
def test_no_report_exceeds_its_budget_and_nothing_is_lost_in_silence(made_of: Hostile, limit: int) -> None:
    report = made_of.report
    made = fitted(report, limit)

    assert size(made) <= limit
    assert made.budget.used == size(made)
    assert made.totals == report.totals
    assert [one.id for one in made.findings] == [one.id for one in report.findings[: len(made.findings)]]
    assert len(made.findings) + left_out(made, "finding") == len(report.findings)
    of_shown = sum(map(lines_of, report.findings[: len(made.findings)]))
    assert sum(map(lines_of, made.findings)) + left_out(made, "line") == of_shown
    assert [one.names for one in made.findings] == [one.names for one in report.findings[: len(made.findings)]]


@given(hostile)
@lenient
def test_a_larger_budget_shows_the_same_findings_and_more(made_of: Hostile) -> None:
    report = made_of.report
    shown = [len(fitted(report, limit).findings) for limit in (500, 1200, 4000)]

    assert shown == sorted(shown)


@given(hostile, limits)
@lenient
def test_a_fitted_report_is_a_valid_document(made_of: Hostile, limit: int) -> None:
    report = made_of.report
    # What findings measured is of any name there; a schema has to allow for it.
    jsonschema.Draft202012Validator(report_schema()).validate(to_document(fitted(report, limit)))


@pytest.mark.parametrize("limit", [LEAST_BUDGET, 1000, 4000])
def test_the_worst_run_fits_into_the_least_budget(limit: int) -> None:
    made = fitted(Report(run=worst_run(), totals=totals(), findings=(finding(1),) * 3), limit)

    assert size(made) <= limit
    assert made.totals == totals()


def chosen(number: int, *texts: str, host: str = "") -> Slice:
    """A slice of lines that tell the less the further behind they are."""
    lines = tuple(SliceLine(number=at * 10, text=text, count=at, rank=at) for at, text in enumerate(texts, 1))
    made = Slice(
        stream=Stream.STDOUT, query=SliceQuery(mode=SliceMode.SALIENT), lines=lines, total_lines=9000, more_lines=7
    )
    return replace(made, evidence=f"{host or f'web{number}'}/check-{number}/stdout:{made.ranges}")


def report_of(*found: Finding, **fields: Any) -> Report:
    return Report(run=run_info(), totals=totals(5), findings=found, **fields)


def noisy(number: int, words: int = 8) -> Finding:
    texts = [f"error {number} in unit {'abcdefgh'[at % 8] * 5} of {number * at}" for at in range(12)]
    return finding(
        number, slices=(chosen(number, *texts),), why="It matters. " * words, fix="Do something about it. " * words
    )


def test_what_fits_is_as_it_was() -> None:
    report = report_of(noisy(1), noisy(2))

    whole = fitted(report, 40_000)

    assert whole.findings == report.findings
    assert whole.omissions == ()
    assert (whole.budget.limit, fitted(report, None).budget.limit) == (40_000, None)


@pytest.mark.parametrize("limit", [1000, 2000, 4000, 8000])
def test_the_room_is_used(limit: int) -> None:
    made = fitted(report_of(*(noisy(number) for number in range(1, 200))), limit)

    assert 0.9 * limit <= made.budget.used <= limit


def test_the_first_finding_keeps_its_evidence_longest() -> None:
    report = report_of(*(noisy(number) for number in range(1, 60)))

    for limit in (700, 1000, 2000, 4000):
        shown = [lines_of(one) for one in fitted(report, limit).findings]
        assert shown[0] == max(shown) > 0
        assert shown == sorted(shown, reverse=True)


def test_the_least_telling_lines_give_way_and_are_counted() -> None:
    report = report_of(*(noisy(number) for number in range(1, 40)))
    made = fitted(report, 1500)

    (piece,) = made.findings[0].slices
    kept = [line.rank for line in piece.lines]
    dropped = [line for line in report.findings[0].slices[0].lines if line.rank not in kept]
    assert kept == list(range(1, len(kept) + 1))
    assert piece.more_lines == 7 + sum(line.count for line in dropped)
    assert piece.more_shapes == len(dropped)
    assert piece.evidence == f"web1/check-1/stdout:{','.join(str(rank * 10) for rank in kept)}"


def test_long_lines_are_shown_in_short_before_others_are_left_out() -> None:
    """Both ends and the word of trouble stay; what is missing counts as cut, and the whole comes with more room."""
    texts = [f"unit {at} {'so ' * 30}fatal: {'and ' * 20}ends {at}" for at in range(6)]
    report = report_of(replace(noisy(1), slices=(chosen(1, *texts),)))

    (tight,) = fitted(report, 700).findings[0].slices
    (roomy,) = fitted(report, 4000).findings[0].slices

    assert len(tight.lines) >= 5
    for line in tight.lines:
        assert len(line.text) <= 72
        assert line.text.startswith("unit")
        assert "fatal:" in line.text
        assert line.cut_bytes >= len(texts[0]) - 72
    assert [(line.text, line.cut_bytes) for line in roomy.lines] == [(text, 0) for text in texts]


def test_details_give_way_before_findings() -> None:
    report = report_of(*(noisy(number) for number in range(1, 30)))

    made = fitted(report, 3600)

    assert len(made.findings) == 29
    assert [one.fix for one in made.findings[15:]] == [""] * 14
    assert {one.what for one in made.omissions} >= {"line", "detail"}
    assert all(one.tokens > 0 for one in made.omissions)


def test_what_is_folded_is_named_by_check_and_verdict() -> None:
    found = [finding(number, check=f"check-{number % 7}") for number in range(1, 300)]
    found += [finding(number, check="late", verdict=VerdictState.WARN) for number in range(300, 310)]

    (more,) = [one for one in fitted(report_of(*found), 2000).omissions if one.what == "finding"]

    assert more.where.startswith(f"{more.count - 10} crit, 10 warn: ")
    assert "check-1 x" in more.where
    assert more.where.endswith("late x10")
    assert 20 * more.count < more.tokens < 200 * more.count


def test_five_thousand_checks_are_counted_where_they_cannot_be_named() -> None:
    made = fitted(report_of(*(finding(number) for number in range(5000))), 1000)

    (more,) = [one for one in made.omissions if one.what == "finding"]
    assert len(made.findings) + more.count == 5000
    assert " more checks" in more.where


def test_variants_give_way_before_the_findings_own_lines() -> None:
    variant = Variant(hosts="web9", names=("web9",), slices=(chosen(1, "something else " * 5, host="web9"),))
    found = [replace(noisy(number), variants=(variant,), folded_by="near") for number in range(1, 20)]

    made = fitted(report_of(*found), 2500)

    assert all(one.slices for one in made.findings if one.variants)
    assert sum(bool(one.slices) for one in made.findings) > sum(bool(one.variants) for one in made.findings)
    assert [one.folded_by for one in made.findings if one.slices] == ["near"] * sum(
        bool(one.slices) for one in made.findings
    )


def test_warnings_and_messages_share_the_room_with_findings() -> None:
    said = tuple(Message(check="say", name="say", text=f"text {at} " * 50, hosts="a", names=("a",)) for at in range(50))
    found = [noisy(number) for number in range(1, 30)]

    made = fitted(report_of(*found, warnings=tuple(f"odd {at} " * 9 for at in range(1000)), messages=said), 3000)

    assert len(made.warnings) >= 2
    assert len(made.messages) >= 2
    assert len(made.findings) >= 10
    assert len(made.warnings) + left_out(made, "warning") in {1000, len(made.warnings)}


def test_a_counter_that_sees_more_in_joints_is_obeyed_too() -> None:
    class Bytes:
        name = "bytes/3"

        def count(self, text: str) -> int:
            return (len(text.encode("utf-8", "replace")) + 2) // 3 + text.count('","') * 2

    made = fit(report_of(*(noisy(number) for number in range(1, 60))), 3000, json_text, Bytes())

    assert made.budget.counter == "bytes/3"
    assert 2500 < Bytes().count(json_text(made)) == made.budget.used <= 3000


def test_fitting_ten_thousand_findings_takes_little_time() -> None:
    report = report_of(*(noisy(number) for number in range(10_000)))
    start = time.process_time()

    made = fitted(report, 4000)

    assert len(made.findings) > 10
    assert time.process_time() - start < 3


def test_omissions_of_one_kind_are_one() -> None:
    folded = folded_omissions(
        [
            Omission(what="line", count=2, why="limit", where="a"),
            Omission(what="value", count=1, why="limit"),
            *(Omission(what="line", count=3, why="limit", where=f"b{at}", tokens=5) for at in range(3)),
            Omission(what="line", count=1, why="other", where="c"),
        ]
    )

    assert [(one.what, one.count, one.tokens, one.where) for one in folded] == [
        ("line", 11, 15, "a; b0; 2 more"),
        ("value", 1, 0, ""),
        ("line", 1, 0, "c"),
    ]


def test_the_reason_in_short_stands_for_all_of_them() -> None:
    reasons = (reason("m" * 900, "stdout", "a", "b"), reason("second"))
    found = [finding(number, reasons=reasons) for number in range(1, 40)]

    last = fitted(report_of(*found), 3000).findings[-1]

    assert len(last.reasons) == 1
    assert last.reasons[0].message.startswith("mmm")
    assert last.reasons[0].message.endswith(" characters more)")
