"""Outputs against those that a person accepted for the same host. Pure: it gets the lines of both, secrets masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checkrunner.judge.differences import Difference, differences
from checkrunner.judge.expectations import clip, gap
from checkrunner.judge.patterns import compiled, first_places
from checkrunner.judge.severities import combined, unmet
from checkrunner.model.history import Baseline
from checkrunner.model.results import Execution, Reason, Result, Severity, SliceMode, SliceQuery, Verdict, VerdictState
from checkrunner.model.values import MOST_PARSED_BYTES

__all__ = ["SUBJECT", "Comparison", "baseline_query", "compared", "is_comparable", "judged", "uncompared", "unreadable"]

SUBJECT = "baseline"
"""What its reasons are about."""

_MOST_GONE = 10
_LINE = 160
_NOT_LOOKED = frozenset({VerdictState.UNKNOWN, VerdictState.SKIPPED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What became of the lines: `more` are numbers of lines (from 1) that the baseline does not have, `gone` the lines
    that only it has."""

    more: tuple[int, ...] = ()
    gone: tuple[str, ...] = ()


def baseline_query() -> SliceQuery:
    """The output that is compared: all of it, as it is read for values too."""
    return SliceQuery(mode=SliceMode.BYTES, last=MOST_PARSED_BYTES, max_lines=1, max_bytes=MOST_PARSED_BYTES)


def is_comparable(result: Result, verdict: Verdict) -> bool:
    """Whether the command did what its output is compared for: it ran to its end, with the return code that is
    expected."""
    if result.execution is not Execution.DONE or verdict.state in _NOT_LOOKED:
        return False
    return not any(reason.subject == "rc" for reason in verdict.reasons)


def unreadable(result: Result) -> str:
    """Why the output cannot be compared; "" where it can."""
    output = result.stdout
    if output.captured_bytes > MOST_PARSED_BYTES:
        return f"stdout has {output.captured_bytes:,} bytes, of at most {MOST_PARSED_BYTES:,}"
    return gap(output, "stdout", text=True)


def compared(
    baseline: Sequence[str], lines: Sequence[str], *, ignore: Sequence[str] = (), ordered: bool = True
) -> Comparison:
    """The lines against those of the baseline, both without those in which one of the patterns `ignore` is found.
    Raises UnreadError for a pattern that is none, or takes too long."""
    then, now = _counting(baseline, ignore), _counting(lines, ignore)
    found: Difference = differences([baseline[at] for at in then], [lines[at] for at in now], ordered=ordered)
    return Comparison(more=tuple(now[at] + 1 for at in found.more), gone=tuple(baseline[then[at]] for at in found.gone))


def _counting(lines: Sequence[str], ignore: Sequence[str]) -> list[int]:
    """The places of the lines that count."""
    ignored: set[int] = set()
    for pattern in ignore:
        found = first_places(compiled(pattern), lines)
        ignored |= {at for at, place in enumerate(found) if place}
    return [at for at in range(len(lines)) if at not in ignored]


def judged(verdict: Verdict, severity: Severity, comparison: Comparison, baseline: Baseline) -> Verdict:
    """The verdict with what the comparison says: first how many lines, then those that are gone."""
    more, gone = len(comparison.more), len(comparison.gone)
    if not more and not gone:
        return verdict
    actual = ", ".join(_lines(count, what) for count, what in ((more, "new"), (gone, "gone")) if count)
    message = f"baseline: {actual} since it was accepted on {baseline.accepted_at:%Y-%m-%d}"
    state = unmet(severity)
    verdict = combined(verdict, state, Reason(subject=SUBJECT, expected="as accepted", actual=actual, message=message))
    for line in comparison.gone[:_MOST_GONE]:
        verdict = _with(verdict, f"gone: {clip(line, _LINE)}")
    if (left := gone - _MOST_GONE) > 0:
        verdict = _with(verdict, f"gone: {left} more line{'' if left == 1 else 's'}")
    return verdict


def _with(verdict: Verdict, message: str) -> Verdict:
    """The same verdict with one more reason, behind the others."""
    reason = Reason(subject=SUBJECT, expected="", actual="", message=message)
    return Verdict(state=verdict.state, reasons=(*verdict.reasons, reason), noted=verdict.noted)


def _lines(count: int, what: str) -> str:
    return f"{count} line is {what}" if count == 1 else f"{count} lines are {what}"


def uncompared(verdict: Verdict, actual: str, message: str) -> Verdict:
    """The verdict where the output could not be compared: nobody knows whether it is as it should be."""
    reason = Reason(subject=SUBJECT, expected="as accepted", actual=actual, message=f"baseline: {message}")
    return combined(verdict, VerdictState.UNKNOWN, reason)
