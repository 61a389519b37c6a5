"""Checks that were skipped because of another one's trouble: told where that trouble is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from checkrunner.findings.items import trunk
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.results import VerdictState

__all__ = ["HeldBack"]

_MOST_NAMED = 10


class HeldBack:
    """What each check of a run kept from being run, by host. A skipped check holds back nothing of its own: what waits
    for it was held back by that which skipped it.

    Cost: linear in the outcomes; nothing is kept where nothing was held back.
    """

    def __init__(self, hosts: Iterable[HostOutcome]) -> None:
        self._held: dict[tuple[str, str], list[str]] = {}
        for host in hosts:
            held = [check for check in host.checks if check.held_by]
            if not held:
                continue
            by = {check.planned.key: check.held_by for check in held}
            for check in held:
                root = _root(check.held_by, by)
                self._held.setdefault((host.host.name, root), []).append(trunk(check.planned))

    def note(self, outcomes: Sequence[CheckOutcome]) -> str:
        """``because of it 2 checks were skipped: a, b``, for a finding of these outcomes; "" where there are none."""
        if not self._held or outcomes[0].verdict.state in (VerdictState.OK, VerdictState.SKIPPED):
            return ""
        names: dict[str, None] = {}
        for outcome in outcomes:
            for key in dict.fromkeys((outcome.planned.key, outcome.planned.loop)):
                names.update(dict.fromkeys(self._held.get((outcome.host, key), ())))
        if not names:
            return ""
        shown = ", ".join(list(names)[:_MOST_NAMED])
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        count = f"{len(names)} checks were" if len(names) > 1 else "a check was"
        return f"because of it {count} skipped: {shown}{more}"


def _root(key: str, by: Mapping[str, str]) -> str:
    seen: set[str] = set()
    while key in by and key not in seen:
        seen.add(key)
        key = by[key]
    return key
