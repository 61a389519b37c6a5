"""Checks that are not run on a host for a while, because they did harm there."""

from __future__ import annotations

from collections.abc import Iterable

from checkrunner.model.history import Suppression
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.report import Suppressed
from checkrunner.model.results import Reason, Verdict, VerdictState
from checkrunner.model.seams import Past

__all__ = ["fold_suppressed", "is_suppressed", "suppressed_verdict"]

_SUBJECT = "suppressed"


def suppressed_verdict(suppression: Suppression) -> Verdict:
    """The verdict of a check that is not run: nobody looked."""
    until = f"{suppression.until:%Y-%m-%d %H:%M} UTC"
    times = "once" if suppression.strikes == 1 else f"{suppression.strikes} times in a row"
    message = (
        f"not run before {until}: {times} it did harm here (checkrunner history resume lets it run"
        f" again); last: {suppression.reason}"
    )
    reason = Reason(subject=_SUBJECT, expected="run", actual="suppressed", message=message)
    return Verdict(state=VerdictState.UNKNOWN, reasons=(reason,))


def is_suppressed(outcome: CheckOutcome) -> bool:
    """Whether the check was not run for the harm that it does."""
    return outcome.result is None and any(reason.subject == _SUBJECT for reason in outcome.verdict.reasons)


def fold_suppressed(outcomes: Iterable[HostOutcome], past: Past) -> list[Suppressed]:
    """These checks, each folded over its hosts, in the order of the playbook."""
    found: dict[str, dict[str, Suppression]] = {}
    for host in outcomes:
        for check in host.checks:
            if check.verdict.state is not VerdictState.OK and is_suppressed(check):
                suppression = past.suppression(check.host, check.planned.key)
                if suppression is not None:
                    found.setdefault(check.planned.key, {})[check.host] = suppression
    return [_folded(key, by_host) for key, by_host in found.items()]


def _folded(key: str, by_host: dict[str, Suppression]) -> Suppressed:
    every = list(by_host.values())
    return Suppressed(
        hosts="",
        names=tuple(by_host),
        check=key,
        until=min(one.until for one in every),
        strikes=max(one.strikes for one in every),
        reason=every[0].reason,
    )
