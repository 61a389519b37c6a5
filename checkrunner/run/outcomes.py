"""Outcomes of checks that have no verdict of their own: skipped, settled here, refused, lost, not run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from checkrunner.model.errors import BecomeError, HostError, TemplateError
from checkrunner.model.observation import Observation
from checkrunner.model.plan import CheckOutcome, Judgement, PlannedCheck, Settled, Skip, Step
from checkrunner.model.results import Execution, Reason, Result, Verdict, VerdictState

__all__ = [
    "judged",
    "left_running",
    "lost",
    "not_awaited",
    "not_run",
    "refused",
    "settled",
    "skipped",
    "unread",
    "unrendered",
]

_UNREAD = "what was to be shown of its output could not be read"


def judged(host: str, step: Step, result: Result, judgement: Judgement, attempts: int) -> CheckOutcome:
    """A command that was run and judged."""
    return CheckOutcome(
        host=host,
        planned=step.planned,
        verdict=judgement.verdict,
        result=result,
        slices=judgement.slices,
        output=judgement.output,
        values=judgement.values,
        facts=judgement.facts,
        texts=judgement.texts,
        message=judgement.message,
        registered=judgement.registered,
        task=judgement.task,
        attempts=attempts,
        on=step.on,
    )


def unread(outcome: CheckOutcome) -> CheckOutcome:
    """The outcome of a check, some of whose slices could not be had: it says so where it has any output, since nothing
    else would."""
    result = outcome.result
    if result is None or not result.stdout.captured_bytes + result.stderr.captured_bytes:
        return outcome
    return replace(outcome, result=replace(result, notes=(*result.notes, _UNREAD)))


def settled(host: str, answer: Settled) -> CheckOutcome:
    """A check that needed no host."""
    return CheckOutcome(
        host=host,
        planned=answer.planned,
        verdict=answer.verdict,
        facts=answer.facts,
        message=answer.message,
        registered=answer.registered,
        task=answer.task,
    )


def skipped(host: str, skip: Skip) -> CheckOutcome:
    """A check that is not for this host, or not any more."""
    reason = Reason(subject=skip.subject, expected=skip.expected, actual=skip.actual, message=skip.reason)
    verdict = Verdict(state=VerdictState.SKIPPED, reasons=(reason,))
    return CheckOutcome(host=host, planned=skip.planned, verdict=verdict, held_by=skip.held_by)


def unrendered(host: str, planned: PlannedCheck, error: TemplateError) -> CheckOutcome:
    """A check whose texts cannot be filled in on this host."""
    reason = Reason(subject="template", expected="", actual="", message=str(error))
    return CheckOutcome(host=host, planned=planned, verdict=_unknown(reason))


def refused(host: str, step: Step, error: HostError) -> CheckOutcome:
    """The check alone was refused, or its session was not to be had: the host stands."""
    message = _there(step, str(error) if isinstance(error, BecomeError) else error.message)
    reason = Reason(subject="execution", expected="done", actual="not_run", message=message)
    return CheckOutcome(host=host, planned=step.planned, verdict=_unknown(reason), error=error, on=step.on)


def lost(
    host: str, step: Step, error: HostError | None, elapsed_s: float, seen: Observation | None = None
) -> CheckOutcome:
    """A command that was under way when its link, or what ran it, went; `seen` is what it was doing before."""
    message = _there(step, error.message if error else "the link was lost")
    result = Result(
        seq=0,
        session=step.command.session,
        execution=Execution.LOST,
        elapsed_s=round(elapsed_s, 3),
        state=message,
        seen=seen,
    )
    last = f"; last seen: {seen.evidence}" if seen else ""
    reason = Reason(subject="execution", expected="done", actual="lost", message=f"lost: {message}{last}")
    return CheckOutcome(
        host=host, planned=step.planned, verdict=_unknown(reason), result=result, error=error, on=step.on
    )


def not_run(host: str, planned: PlannedCheck, why: str, error: HostError | None = None) -> CheckOutcome:
    """A check that the run did not get to."""
    reason = Reason(subject="execution", expected="done", actual="not_run", message=f"not run: {why}")
    return CheckOutcome(host=host, planned=planned, verdict=_unknown(reason), error=error)


def not_awaited(judgement: Judgement, attempts: int, why: str) -> Judgement:
    """A command that was to be run again: what it would have come to is not known. What was wrong with the attempts so
    far is told."""
    if judgement.verdict.state is VerdictState.UNKNOWN:
        return judgement
    times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    message = f"until: was not met after {times}, and {why}"
    reason = Reason(subject="until", expected="met", actual="not met yet", message=message)
    return replace(judgement, verdict=_unknown(reason, *judgement.verdict.reasons), task=None)


def left_running(outcomes: Iterable[CheckOutcome]) -> Iterator[str]:
    """A warning for each check that started what it should not have."""
    for outcome in outcomes:
        if outcome.result is not None and outcome.result.leftover_pids and not outcome.planned.check.keep_children:
            yield (
                f"left_running: the check {outcome.planned.check.id} left processes running; what was left of them at "
                "the end of the run was ended, but for what runs as another user (keep_children: true would keep them)"
            )


def _there(step: Step, message: str) -> str:
    """The message, with the other host that it is about."""
    return f"on {step.on} (delegate_to): {message.removeprefix(f'{step.on}: ')}" if step.on else message


def _unknown(*reasons: Reason) -> Verdict:
    return Verdict(state=VerdictState.UNKNOWN, reasons=reasons)
