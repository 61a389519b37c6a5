"""Readings of a sample, and commands that their duration ended: what is expected of each and what of the whole."""

from __future__ import annotations

from typing import Any

import pytest
from judge_factory import expected, judged, make_check, reasons, that

from checkrunner.model.results import DURATION_ENDED, Reading, Verdict, VerdictState

OK, WARN, CRIT, UNKNOWN = VerdictState.OK, VerdictState.WARN, VerdictState.CRIT, VerdictState.UNKNOWN


def sampled(*readings: tuple[int | None, float, int], check: Any = None, **fields: Any) -> Verdict:
    """A sample of (rc, elapsed_s, lines)."""
    samples = tuple(
        Reading(at_s=float(at), rc=rc, elapsed_s=took, first_line=1, lines=lines)
        for at, (rc, took, lines) in enumerate(readings)
    )
    first = next((rc for rc, _, _ in readings if rc != 0), 0)
    stdout = "x\n" * sum(lines for _, _, lines in readings)
    return judged(check or make_check(), samples=samples, rc=first, elapsed_s=9.0, stdout=stdout, **fields)


GOOD = (0, 0.1, 1)


@pytest.mark.parametrize(
    ("readings", "message"),
    [
        ([GOOD, GOOD], ""),
        ([GOOD, (2, 0.1, 1)], "rc was 2 in reading 2 of 2, expected 0 (the default)"),
        ([(1, 0.1, 1), GOOD, (3, 0.1, 1)], "rc was 1 in reading 1 of 3, and in 1 more, expected 0 (the default)"),
    ],
)
def test_the_default_holds_for_each_reading(readings: list[Any], message: str) -> None:
    verdict = sampled(*readings)

    assert (verdict.state, reasons(verdict)) == ((CRIT, [message]) if message else (OK, []))


@pytest.mark.parametrize(
    ("check", "state", "message"),
    [
        (make_check(expected("stdout_lines", "number", 1)), OK, None),
        (make_check(expected("stdout_lines", "number", ">= 2")), CRIT,
         "stdout_lines was 1 in reading 1 of 3, and in 2 more, expected >= 2"),
        (make_check(expected("elapsed_s", "number", "< 2")), CRIT,
         "elapsed_s was 2.5 s in reading 2 of 3, expected < 2 s"),
        (make_check(expected("stderr_lines", "number", 0)), OK, None),
        (make_check(expected("stdout", "contains", "x")), OK, None),
        (make_check(expected("stdout", "contains", "y")), CRIT, "stdout: 'y' not found in 3 lines"),
        (make_check(warn_if=["elapsed_s > 2"]), WARN, "warn_if: elapsed_s > 2 (elapsed_s = 2.5 in reading 2 of 3)"),
        (make_check(crit_if=["elapsed_s > 2 and stdout_lines == 1"]), CRIT,
         "crit_if: elapsed_s > 2 and stdout_lines == 1 (elapsed_s = 2.5, stdout_lines = 1 in reading 2 of 3)"),
        (make_check(crit_if=["elapsed_s > 3"]), OK, None),
        (make_check(that("elapsed_s < 2")), CRIT, "expected elapsed_s < 2 (elapsed_s = 2.5 in reading 2 of 3)"),
        (make_check(that("elapsed_s < 3")), OK, None),
        (make_check(warn_if=["stdout_bytes > 5"]), WARN, "warn_if: stdout_bytes > 5 (stdout_bytes = 6)"),
        (make_check(crit_if=["samples | map(attribute='elapsed_s') | max > 2"]), CRIT, None),
        (make_check(crit_if=["samples | selectattr('elapsed_s', '>', 2) | list | count > 1"]), OK, None),
        (make_check(warn_if=["samples | length == 3 and elapsed_s == 9"]), WARN, None),
        (make_check(warn_if=["elapsed_s > 2 and nothing"]), UNKNOWN, None),
    ],
)  # fmt: skip
def test_a_condition_is_held_against_each_reading(check: Any, state: VerdictState, message: str | None) -> None:
    verdict = sampled(GOOD, (0, 2.5, 1), GOOD, check=check)

    assert verdict.state is state
    if message is not None:
        assert reasons(verdict) == [message]


def test_what_was_found_in_one_reading_stands_whatever_another_lacks() -> None:
    verdict = sampled((None, 0.1, 0), (4, 0.1, 1))
    assert reasons(verdict) == ["rc was 4 in reading 2 of 2, expected 0 (the default)"]
    assert sampled((None, 0.1, 0), GOOD).state is UNKNOWN


def test_a_command_that_is_not_there_was_not_looked_at() -> None:
    assert sampled((127, 0.1, 0), (127, 0.1, 0)).state is UNKNOWN


ENDED: dict[str, Any] = {"rc": None, "notes": (DURATION_ENDED,), "stdout": "x\n"}


@pytest.mark.parametrize(
    ("check", "state", "message"),
    [
        (make_check(), OK, None),
        (make_check(expected("rc", "number", 0)), OK, None),
        (make_check(expected("rc", "number", [0, 143])), OK, None),
        (make_check(expected("rc", "number", 1)), CRIT,
         "it was ended when its duration was over, which counts as rc 0, expected 1"),
        (make_check(crit_if=["rc != 0"]), OK, None),
        (make_check(expected("stdout", "contains", "x")), OK, None),
        (make_check(expected("stdout_lines", "number", 0)), CRIT, "stdout_lines was 1, expected 0"),
        (make_check(warn_if=["execution == 'done' and rc == 0"]), WARN, None),
    ],
)  # fmt: skip
def test_the_end_of_a_duration_is_success(check: Any, state: VerdictState, message: str | None) -> None:
    verdict = judged(check, **ENDED)

    assert verdict.state is state
    if message is not None:
        assert reasons(verdict) == [message]


def test_a_command_that_fails_before_its_duration_is_over_has_failed() -> None:
    assert reasons(judged(make_check(), rc=2)) == ["rc was 2, expected 0 (the default)"]
    assert judged(make_check(), rc=None, notes=()).state is UNKNOWN


def test_how_many_questions_were_answered_can_be_asked() -> None:
    assert judged(make_check(crit_if=["answered == 0"]), answered=0).state is CRIT
    assert judged(make_check(crit_if=["answered == 0"]), answered=1).state is OK
