"""What nobody wants to be told of for now: it stays in the report, and the exit code does not count it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from checkrunner.findings.past import NoPast
from checkrunner.model.history import Silence
from checkrunner.model.plan import HostOutcome
from checkrunner.model.report import Silenced
from checkrunner.model.results import HostState, VerdictState
from checkrunner.model.seams import Past

__all__ = ["silenced", "unsilenced"]

_COUNTED = frozenset({VerdictState.CRIT, VerdictState.UNKNOWN, VerdictState.WARN})


def silenced(silence: Silence | None) -> Silenced | None:
    """What a report says of a silence."""
    return None if silence is None else Silenced(until=silence.until, why=silence.why, by=silence.by)


def unsilenced(outcomes: Sequence[HostOutcome], past: Past) -> Sequence[HostOutcome]:
    """The outcomes without those that are silenced: checks that are not ok, and hosts that could not be looked at and
    all of whose checks are silenced. The very same sequence where nothing is."""
    if isinstance(past, NoPast):
        return outcomes
    kept = [left for outcome in outcomes if (left := _told(outcome, past)) is not None]
    same = len(kept) == len(outcomes) and all(new is old for new, old in zip(kept, outcomes, strict=True))
    return outcomes if same else kept


def _told(outcome: HostOutcome, past: Past) -> HostOutcome | None:
    if outcome.state is not HostState.REACHED and past.silence(outcome.host.name, "") is not None:
        return None
    checks = tuple(
        check
        for check in outcome.checks
        if check.verdict.state not in _COUNTED or past.silence(check.host, check.planned.key) is None
    )
    return outcome if len(checks) == len(outcome.checks) else replace(outcome, checks=checks)
