"""Hosts of which enough must be ok: as long as they are, the others are noted only. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from checkrunner.judge.severities import combined, unmet
from checkrunner.model.plan import CheckOutcome
from checkrunner.model.results import Reason, Verdict, VerdictState
from checkrunner.model.values import Quorum

__all__ = ["with_quorum"]

_TROUBLE = frozenset({VerdictState.WARN, VerdictState.CRIT})


def with_quorum(peers: Sequence[CheckOutcome], quorum: Quorum) -> list[CheckOutcome]:
    """The outcomes of peers, in the same order, judged as a whole.

    Enough ok: what is wrong elsewhere is noted, what is unknown stays so. Too few whatever the unknown ones are: all
    that is wrong is what an unmet expectation is, unless it is worse already, and says so. Where the unknown ones
    decide: so it is for all that are wrong. Skipped ones do not count. Where there are fewer hosts than must be ok,
    nothing can be told.
    """
    counted = [one for one in peers if one.verdict.state is not VerdictState.SKIPPED]
    if not counted:
        return list(peers)
    wanted = quorum.count if quorum.count is not None else math.ceil(len(counted) * (quorum.fraction or 0.0) - 1e-9)
    fine = sum(one.verdict.state is VerdictState.OK for one in counted)
    trouble = sum(one.verdict.state in _TROUBLE for one in counted)
    told = f"{fine} of {len(counted)} ok, {wanted} wanted"
    if wanted > len(counted):
        return [_unclear(one, f"quorum cannot be told: {told}") for one in peers]
    if fine >= wanted:
        return [_noted(one, f"quorum holds: {told}") if one.verdict.state in _TROUBLE else one for one in peers]
    if len(counted) - trouble < wanted:
        return [_missed(one, told) if one.verdict.state in _TROUBLE else one for one in peers]
    unknown = len(counted) - trouble - fine
    message = f"quorum cannot be told: {told}, {unknown} could not be looked at"
    return [_unclear(one, message) if one.verdict.state in _TROUBLE else one for one in peers]


def _reason(message: str) -> Reason:
    return Reason(subject="quorum", expected="enough hosts ok", actual="", message=message)


def _noted(outcome: CheckOutcome, message: str) -> CheckOutcome:
    verdict = Verdict(state=VerdictState.OK, reasons=(*outcome.verdict.reasons, _reason(message)), noted=True)
    return replace(outcome, verdict=verdict)


def _missed(outcome: CheckOutcome, told: str) -> CheckOutcome:
    state = unmet(outcome.planned.check.severity)
    return replace(outcome, verdict=combined(outcome.verdict, state, _reason(f"quorum is missed: {told}")))


def _unclear(outcome: CheckOutcome, message: str) -> CheckOutcome:
    if outcome.verdict.state is VerdictState.SKIPPED:
        return outcome
    verdict = Verdict(state=VerdictState.UNKNOWN, reasons=(_reason(message), *outcome.verdict.reasons))
    return replace(outcome, verdict=verdict)
