"""Reports that are read back and cut to fewer tokens than they were written in."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hostile_reports import Hostile, finding, hostile, totals
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from outcome_factory import run_info

from checkrunner.app.reporting import context_of
from checkrunner.findings.budget import fit
from checkrunner.findings.fold import fold, names_in
from checkrunner.findings.portions import clipped, few_hosts
from checkrunner.findings.tokens import TokenEstimate
from checkrunner.load.report import read_report
from checkrunner.model.report import LEAST_BUDGET, Report
from checkrunner.model.results import Slice, SliceLine, SliceMode, SliceQuery, Stream
from checkrunner.render.context import context_text, head_text
from checkrunner.render.json import json_text

COUNTER = TokenEstimate()
LEAST = LEAST_BUDGET + COUNTER.count(head_text())
lenient = settings(
    deadline=None,
    max_examples=4,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # making such reports smaller takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def read(text: str) -> Report:
    return read_report(text, "r.json", names_in=names_in)


def left_out(report: Report, what: str) -> int:
    return sum(one.count for one in report.omissions if one.what == what and one.why == "the budget")


def shown_in(text: str) -> Report:
    """The report between the two lines of a context."""
    fence, document, end = text.removesuffix("\n").split("\n")[-3:]
    assert fence == end
    return read(document)


@given(hostile, st.sampled_from([LEAST, 900, 1300, 2500, 9000]))
@lenient
def test_a_context_is_within_its_budget_and_says_what_it_lacks(made_of: Hostile, limit: int) -> None:
    report = read(json_text(made_of.report))

    text = context_of(report, limit, COUNTER)

    shown = shown_in(text)
    assert COUNTER.count(text) <= limit
    assert COUNTER.count(text) == shown.budget.used
    assert len(shown.findings) + left_out(shown, "finding") == len(report.findings)
    assert [one.host_count for one in shown.findings] == [
        one.host_count for one in report.findings[: len(shown.findings)]
    ]


@given(hostile, st.sampled_from([(4000, 1500), (2000, LEAST), (1000, 1000)]))
@lenient
def test_what_was_left_out_before_is_still_counted(made_of: Hostile, limits: tuple[int, int]) -> None:
    first, then = limits
    written = fit(made_of.report, first, json_text)

    shown = shown_in(context_of(read(json_text(written)), then, COUNTER))

    assert len(shown.findings) + left_out(shown, "finding") == len(made_of.report.findings)


def test_omissions_of_two_budgets_are_one() -> None:
    report = Report(run=run_info(), totals=totals(), findings=tuple(finding(at) for at in range(200)))
    written = read(json_text(fit(report, 4000, json_text)))

    shown = fit(written, 1500, json_text)

    (one,) = [one for one in shown.omissions if one.what == "finding"]
    assert one.count == 200 - len(shown.findings)
    assert one.tokens > sum(one.tokens for one in written.omissions if one.what == "finding")


def test_a_whole_report_is_in_the_context_as_it_is() -> None:
    report = Report(run=run_info(), totals=totals(), findings=(finding(1), finding(2)))

    shown = shown_in(context_of(report, 9000, COUNTER))

    assert replace(shown, budget=report.budget) == replace(read(json_text(report)), budget=report.budget)


def test_lines_that_tell_most_are_kept_though_a_file_has_no_ranks() -> None:
    texts = [f"GET /cart/{at} 200 in {at} ms" for at in range(20)] + ["FATAL: out of memory, giving up"]
    piece = Slice(
        stream=Stream.STDOUT,
        query=SliceQuery(mode=SliceMode.SALIENT),
        lines=tuple(SliceLine(number=at + 1, text=text) for at, text in enumerate(texts)),
        total_lines=21,
        evidence="web1/log/stdout:1-21",
    )
    findings = tuple(replace(finding(at), slices=(piece,)) for at in range(20))
    written = read(json_text(Report(run=run_info(), totals=totals(), findings=findings)))

    shown = shown_in(context_of(written, 2500, COUNTER))

    kept = [line.text for one in shown.findings for part in one.slices for line in part.lines]
    assert 0 < kept.count(texts[-1]) == sum(bool(one.slices) for one in shown.findings)


@pytest.mark.parametrize("vocabulary", ["o200k_base", "deepseek_v3", "0.5", "3"])
def test_the_budget_is_in_tokens_of_the_vocabulary(vocabulary: str) -> None:
    report = Report(run=run_info(), totals=totals(), findings=tuple(finding(at) for at in range(200)))
    counter = TokenEstimate(vocabulary)

    text = context_of(report, 4000, counter)

    assert 3500 < counter.count(text) <= 4000
    assert shown_in(text).budget.counter == counter.name


def test_a_text_that_was_cut_is_cut_further_by_the_right_number() -> None:
    text = "x" * 1000

    assert clipped(clipped(text, 300), 100) == clipped(text, 100) == "x" * 100 + "... (900 characters more)"
    assert clipped(clipped(text, 300), 400) == clipped(text, 300)


def test_few_hosts_are_those_that_are_known() -> None:
    names = tuple(f"web{at}x{at * 7}" for at in range(64))
    whole = replace(finding(1), hosts=fold(names), names=names)
    unknown = replace(finding(1), hosts="somebody else " * 9, names=(), unnamed=64)
    some = replace(finding(1), hosts="web[1-3],...", names=("web1", "web2", "web3"), unnamed=61)

    assert few_hosts(whole, 40).endswith(",...")
    assert few_hosts(unknown, 20).startswith("somebody else somebo... (")
    assert few_hosts(some, 6) == "web1,..."
    assert few_hosts(some, 40) == "web[1-3],..."


@given(st.text(max_size=20))
@lenient
def test_no_text_of_a_report_is_the_line_that_ends_it(identifier: str) -> None:
    report = Report(run=replace(run_info(), id=identifier), totals=totals(), warnings=("report-00000000",))
    fence = context_text(report).splitlines()[-1]
    text = context_text(replace(report, warnings=(fence, f"\n{fence}\n")))

    *_, first, document, last = text.removesuffix("\n").split("\n")
    assert first == last
    assert first not in document
    assert first != fence
