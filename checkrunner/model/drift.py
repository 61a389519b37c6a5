"""What changed between two runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from checkrunner.model.folded import OnHosts

__all__ = ["Change", "ChangeKind", "Drift"]


class ChangeKind(StrEnum):
    """What became of a check on a host between two runs.

    | kind | before, then |
    |---|---|
    | regression | anything better or not looked at, then warn or crit; on a new host or check: not ok at once |
    | unseen | anything, then unknown: it could be looked at, and no longer can |
    | changed | warn or crit both times, for other reasons (numbers, times and ids do not count) |
    | recovery | warn, crit or unknown, then ok; crit, then warn |
    | seen | unknown, then skipped, or the host is reached again |
    | dropped | there, then not there or skipped: nobody looks any more |
    """

    REGRESSION = "regression"
    UNSEEN = "unseen"
    CHANGED = "changed"
    RECOVERY = "recovery"
    SEEN = "seen"
    DROPPED = "dropped"

    @property
    def is_worse(self) -> bool:
        """Whether somebody is to be told."""
        return self in {ChangeKind.REGRESSION, ChangeKind.UNSEEN, ChangeKind.CHANGED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(OnHosts):
    """Equal changes of a check, folded over hosts; `check` is "" for what became of the host itself.

    `before` and `after` are verdicts, or states of hosts; "" where there was nothing. `since` is when what is so now
    began, and `before_since` when what was so before began: the earliest of the hosts'. `flapping` says that it changes
    all the time. `note` says what else changed: ``the threshold``, ``renamed from df``.
    """

    kind: ChangeKind
    check: str
    name: str = ""
    before: str = ""
    after: str = ""
    since: datetime | None = None
    before_since: datetime | None = None
    finding: str = ""
    flapping: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What changed against an earlier run, the worst first. `unlike` says, a sentence each, in what the two runs cannot
    be compared: another version of the playbook, other hosts, a run that was not complete. `unchanged` counts cells
    that are not ok and were not ok for the same reasons. `left_out` counts changes beyond what is listed."""

    against: str
    against_started_at: datetime
    unlike: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    unchanged: int = 0
    left_out: int = 0

    @property
    def is_worse(self) -> bool:
        """Whether anything got worse that does not change all the time."""
        return any(change.kind.is_worse and not change.flapping for change in self.changes)
