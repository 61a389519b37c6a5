"""Runs to compare, made with few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from outcome_factory import finished, host, planned, reason, run_info

from checkrunner.findings.view import Series, view_of
from checkrunner.model.history import CheckVersion, RunView, Selection
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.results import VerdictState

__all__ = ["at", "came_to", "fleet", "series", "versions", "view"]

PLAYBOOK = "/etc/checks/health.yml"
_STATES = {
    "o": VerdictState.OK,
    "w": VerdictState.WARN,
    "c": VerdictState.CRIT,
    "u": VerdictState.UNKNOWN,
    "s": VerdictState.SKIPPED,
}


def at(minute: int) -> datetime:
    return datetime(2026, 1, 2, 3, tzinfo=UTC) + timedelta(minutes=minute)


def versions(*keys: str, **fields: Any) -> dict[str, CheckVersion]:
    """Checks that run and expect what their own keys say."""
    return {
        key: CheckVersion(
            **{
                "key": key,
                "name": f"Check {key}",
                "play": "health",
                "command": f"c-{key}",
                "rules": f"r-{key}",
                **fields,
            }
        )
        for key in keys
    }


def series(checks: Mapping[str, CheckVersion] | Iterable[str], **selection: Any) -> Series:
    made = checks if isinstance(checks, Mapping) else versions(*checks)
    return Series(playbook=PLAYBOOK, selection=Selection(**selection), checks=made)


def came_to(name: str, key: str, letter: str, said: str = "rc was 1", expected: str = "") -> CheckOutcome:
    """An outcome: ``o`` ok, ``w`` warn, ``c`` crit, ``u`` unknown, ``s`` skipped."""
    state = _STATES[letter]
    reasons = () if letter == "o" else (reason(said, expected=expected or f"for {said.split(' ', 1)[0]}"),)
    loop = key.partition("[")[0]
    label = key[len(loop) + 1 : -1]
    fields: dict[str, Any] = {"label": label, "loop": loop, "item": label} if label else {}
    what = planned(loop)
    if label:
        what = type(what)(key=key, play=what.play, check=what.check, **fields)
    return finished(name, what, state, *reasons)


def fleet(**hosts: str) -> list[HostOutcome]:
    """``fleet(web1="disk:o load:c")``."""
    return [
        host(name, *(came_to(name, *word.rsplit(":", 1)) for word in words.split())) for name, words in hosts.items()
    ]


def view(
    outcomes: Sequence[HostOutcome],
    checks: Mapping[str, CheckVersion] | Iterable[str] = ("disk", "load"),
    *,
    minute: int = 0,
    before: RunView | None = None,
    of: Mapping[str, Any] | None = None,
    **info: Any,
) -> RunView:
    """The run; `of` is its selection."""
    given = {"id": f"r{minute}", "started_at": at(minute), **info}
    return view_of(outcomes, info=run_info(**given), series=series(checks, **(of or {})), before=before)
