"""Counting a run on all axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

from checkrunner.findings.suppressions import is_suppressed
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.report import Totals
from checkrunner.model.results import CaptureState, Execution, HostState, Result, VerdictState

__all__ = ["capture_of", "count", "execution_of", "looked_everywhere"]

K = TypeVar("K")
_WORST = (CaptureState.FAILED, CaptureState.TRUNCATED, CaptureState.COMPLETE)


def count(outcomes: Sequence[HostOutcome]) -> Totals:
    """The totals of a run; they add up as `Totals` says, whatever the outcomes are. Absent keys mean 0."""
    hosts = Counter(outcome.state for outcome in outcomes)
    kinds = _kinds(check for outcome in outcomes for check in outcome.checks)
    verdict: Counter[VerdictState] = Counter()
    execution: Counter[Execution] = Counter()
    capture: Counter[CaptureState] = Counter()
    skipped = not_run = 0
    for (state, ended, captured), number in kinds.items():
        verdict[state] += number
        execution[ended] += number
        if captured is not None:
            capture[captured] += number
        elif state is VerdictState.SKIPPED:
            skipped += number
        else:
            not_run += number
    return Totals(
        hosts=len(outcomes),
        planned=sum(kinds.values()),
        done=sum(capture.values()),
        skipped=skipped,
        not_run=not_run,
        verdict=_ordered(verdict, VerdictState),
        execution=_ordered(execution, Execution),
        host=_ordered(hosts, HostState),
        capture=_ordered(capture, CaptureState),
    )


def looked_everywhere(totals: Totals) -> bool:
    """Whether every host was reached and every planned check was looked at, or skipped as it should be."""
    reached = totals.host.get(HostState.REACHED, 0) == totals.hosts
    return reached and not totals.not_run and not totals.verdict.get(VerdictState.UNKNOWN)


def execution_of(outcome: CheckOutcome) -> Execution:
    """How the check ended; what was skipped or has no result was not run."""
    if outcome.verdict.state is VerdictState.SKIPPED:
        return Execution.NOT_RUN
    if outcome.result is None:  # a task that was answered here has nothing to run
        return Execution.NOT_RUN if outcome.task is None or is_suppressed(outcome) else Execution.DONE
    return outcome.result.execution


def capture_of(result: Result) -> CaptureState:
    """The worse of the two streams. Of a lost command that no answer came for, nothing is known to be captured."""
    if result.execution is Execution.LOST and not result.seq:
        return CaptureState.FAILED
    states = (result.stdout.state, result.stderr.state)
    return next(state for state in _WORST if state in states)


_Kind = tuple[VerdictState, Execution, CaptureState | None]


def _kinds(checks: Iterable[CheckOutcome]) -> Counter[_Kind]:
    kinds: Counter[_Kind] = Counter()
    fine = 0  # the usual outcome, counted without hashing three enums
    for check in checks:
        state, result = check.verdict.state, check.result
        if (
            result is not None
            and state is VerdictState.OK
            and result.execution is Execution.DONE
            and result.stdout.state is CaptureState.COMPLETE
            and result.stderr.state is CaptureState.COMPLETE
        ):
            fine += 1
            continue
        ended = execution_of(check)
        captured = (
            None if ended is Execution.NOT_RUN else CaptureState.COMPLETE if result is None else capture_of(result)
        )
        kinds[state, ended, captured] += 1
    if fine:
        kinds[VerdictState.OK, Execution.DONE, CaptureState.COMPLETE] += fine
    return kinds


def _ordered(counts: Counter[K], order: Iterable[K]) -> dict[K, int]:
    return {key: counts[key] for key in order if counts[key]}
