"""Outputs against accepted ones: which lines differ, and what that says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrunner.judge.baseline import compared, is_comparable, judged, uncompared, unreadable
from checkrunner.judge.differences import differences
from checkrunner.judge.parsed import UnreadError
from checkrunner.model.history import Baseline
from checkrunner.model.results import (
    CaptureState,
    Execution,
    Output,
    Reason,
    Result,
    Severity,
    Verdict,
    VerdictState,
)

OK = Verdict(state=VerdictState.OK)
ACCEPTED = Baseline(
    playbook="p.yml", host="web1", check="conf", lines=("a",), run="r1", accepted_at=datetime(2026, 1, 2, tzinfo=UTC)
)
lines = st.lists(st.sampled_from("abc}"), max_size=14)


def result(execution: Execution = Execution.DONE, **output: Any) -> Result:
    return Result(seq=1, session="main", execution=execution, rc=0, stdout=Output(**output))


@given(lines, lines)
@settings(deadline=None)
def test_without_what_is_gone_and_what_is_new_both_are_the_same(then: list[str], now: list[str]) -> None:
    found = differences(then, now)

    kept = [line for at, line in enumerate(then) if at not in found.gone]
    assert kept == [line for at, line in enumerate(now) if at not in found.more]
    assert bool(found) == (then != now)
    assert list(found.gone) == sorted(found.gone)
    assert list(found.more) == sorted(found.more)


@given(lines, lines)
@settings(deadline=None)
def test_in_any_order_only_numbers_of_lines_count(then: list[str], now: list[str]) -> None:
    found = differences(then, now, ordered=False)

    kept = sorted(line for at, line in enumerate(then) if at not in found.gone)
    assert kept == sorted(line for at, line in enumerate(now) if at not in found.more)
    assert bool(found) == (sorted(then) != sorted(now))


@given(lines, lines)
@settings(deadline=None)
def test_no_more_is_told_than_has_to_be(then: list[str], now: list[str]) -> None:
    longest = [[0] * (len(now) + 1) for _ in range(len(then) + 1)]
    for row, old in enumerate(then):
        for column, new in enumerate(now):
            longest[row + 1][column + 1] = (
                longest[row][column] + 1 if old == new else max(longest[row][column + 1], longest[row + 1][column])
            )

    found = differences(then, now)

    assert len(found.gone) == len(then) - longest[-1][-1]


def test_very_different_outputs_are_compared_all_the_same() -> None:
    then, now = [f"old {n}" for n in range(3000)], [f"new {n}" for n in range(3000)]

    found = differences([*then, "end"], [*now, "end"])

    assert (len(found.gone), len(found.more)) == (3000, 3000)


def test_many_lines_in_another_order_are_not_the_same() -> None:
    then = [f"rule {number}" for number in range(1000)]
    now = then[500:] + then[:500]

    found = differences(then, now)

    assert (len(found.gone), len(found.more)) == (500, 500)
    assert [line for at, line in enumerate(then) if at not in found.gone] == [
        line for at, line in enumerate(now) if at not in found.more
    ]
    assert len(differences(then, then[::-1]).more) == 999
    assert not differences(then, now, ordered=False)


@given(lines, lines)
@settings(deadline=None)
def test_pairs_of_equal_lines_that_stay_are_in_order(then: list[str], now: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("checkrunner.judge.differences._MOST_EDITS", -1)
        found = differences(then, now)

    kept = [line for at, line in enumerate(then) if at not in found.gone]
    assert kept == [line for at, line in enumerate(now) if at not in found.more]
    assert bool(found) == (then != now)


def test_ignored_lines_do_not_count_and_numbers_are_those_of_the_output() -> None:
    then, now = ["# made 1", "a", "b"], ["# made 2", "# by hand", "b", "c"]

    found = compared(then, now, ignore=["^#"])

    assert (found.more, found.gone) == ((4,), ("a",))
    with pytest.raises(UnreadError, match="not a regular expression"):
        compared(then, now, ignore=["("])


def test_the_reason_counts_and_tells_what_is_gone() -> None:
    few = judged(OK, Severity.CRITICAL, compared(["a", "b"], ["b", "c", "d"]), ACCEPTED)
    many = judged(OK, Severity.WARNING, compared([f"line {n}" for n in range(14)], []), ACCEPTED)

    assert few.state is VerdictState.CRIT
    assert [reason.message for reason in few.reasons] == [
        "baseline: 2 lines are new, 1 line is gone since it was accepted on 2026-01-02",
        "gone: 'a'",
    ]
    assert many.state is VerdictState.WARN
    assert len(many.reasons) == 12
    assert many.reasons[-1].message == "gone: 4 more lines"
    noted = judged(OK, Severity.INFO, compared(["a"], []), ACCEPTED)
    assert (noted.state, noted.noted) == (VerdictState.OK, True)
    assert judged(OK, Severity.CRITICAL, compared(["a"], ["a"]), ACCEPTED) is OK


def test_what_else_is_wrong_stays_the_worse_one() -> None:
    wrong = Verdict(
        state=VerdictState.CRIT, reasons=(Reason(subject="stdout_lines", expected="0", actual="1", message="one"),)
    )

    found = uncompared(wrong, "none", "none is accepted yet")

    assert found.state is VerdictState.CRIT
    assert [reason.subject for reason in found.reasons] == ["stdout_lines", "baseline"]
    assert uncompared(OK, "none", "none is accepted yet").state is VerdictState.UNKNOWN


def test_only_what_ran_as_expected_is_compared() -> None:
    failed = Verdict(state=VerdictState.CRIT, reasons=(Reason(subject="rc", expected="0", actual="1", message="rc"),))

    assert is_comparable(result(), OK)
    assert not is_comparable(result(), failed)
    assert not is_comparable(result(Execution.TIMED_OUT), OK)
    assert not is_comparable(result(), Verdict(state=VerdictState.UNKNOWN))


def test_why_an_output_cannot_be_compared() -> None:
    assert unreadable(result()) == ""
    assert "of at most" in unreadable(result(captured_bytes=1 << 20, bytes=1 << 20))
    assert "was cut" in unreadable(result(state=CaptureState.TRUNCATED))
    assert "not text" in unreadable(result(binary=True))
