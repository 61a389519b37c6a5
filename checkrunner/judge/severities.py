"""What an unmet expectation comes to, and how several reasons become one verdict."""

from __future__ import annotations

from checkrunner.model.results import Reason, Severity, Verdict, VerdictState

__all__ = ["WORST", "combined", "unmet"]

WORST = (VerdictState.CRIT, VerdictState.UNKNOWN, VerdictState.WARN, VerdictState.OK)
"""The worst state of several, the worst first."""

_UNMET = {
    Severity.CRITICAL: VerdictState.CRIT,
    Severity.WARNING: VerdictState.WARN,
    Severity.INFO: VerdictState.OK,
}


def unmet(severity: Severity) -> VerdictState:
    """The state of a check whose expectation is not met."""
    return _UNMET[severity]


def combined(verdict: Verdict, state: VerdictState, reason: Reason) -> Verdict:
    """A verdict with one more reason: the worse state, whose reason comes first."""
    worse = WORST.index(state) < WORST.index(verdict.state) if verdict.state in WORST else False
    reasons = (reason, *verdict.reasons) if worse else (*verdict.reasons, reason)
    final = state if worse else verdict.state
    return Verdict(state=final, reasons=reasons, noted=final is VerdictState.OK)
