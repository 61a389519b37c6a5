"""Loops: their items, what each is called, and what they come to as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from checkrunner.model.plan import CheckOutcome, PlannedCheck
from checkrunner.model.results import Verdict, VerdictState

__all__ = ["whole_of"]

_WORST = (VerdictState.CRIT, VerdictState.UNKNOWN, VerdictState.WARN, VerdictState.OK, VerdictState.SKIPPED)


def whole_of(planned: PlannedCheck, items: Sequence[CheckOutcome]) -> CheckOutcome:
    """The outcome of a loop: as bad as its worst item, skipped where all of them are."""
    states = {item.verdict.state for item in items}
    state = next(state for state in _WORST if state in states)
    return CheckOutcome(host=items[0].host, planned=planned, verdict=Verdict(state=state), items=tuple(items))
