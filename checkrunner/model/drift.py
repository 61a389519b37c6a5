"""What changed between two runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from checkrunner.model.folded import OnHosts

__all__ = ["DIFF_SCHEMA", "Change", "ChangeKind", "Drift"]

DIFF_SCHEMA = "checkrunner/diff/1"


class ChangeKind(StrEnum):
    """What became of a check on a host between two runs.

    | kind | before, then |
    |---|---|
    | regression | anything better or not looked at, then warn or crit; on a new host or check: not ok at once |
    | unseen | anything, then unknown: it could be looked at, and no longer can |
    | changed | not ok both times, for other reasons (numbers, times and ids do not count) |
    | flapping | any of these, so often by now that it is not told each time any more, until it stays as it is |
    | recovery | warn, crit or unknown, then ok; crit, then warn |
    | seen | unknown, then skipped, or the host is reached again |
    | dropped | there, then not there or skipped: nobody looks any more |

    What was flapping and now stays in trouble is a regression too (of a host: unseen), and so is what was
    silenced and is so no longer: nobody was told of its last change.
    """

    REGRESSION = "regression"
    UNSEEN = "unseen"
    CHANGED = "changed"
    FLAPPING = "flapping"
    RECOVERY = "recovery"
    SEEN = "seen"
    DROPPED = "dropped"

    @property
    def is_worse(self) -> bool:
        """Whether somebody is to be told."""
        return self in {ChangeKind.REGRESSION, ChangeKind.UNSEEN, ChangeKind.CHANGED, ChangeKind.FLAPPING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(OnHosts):
    """Equal changes of a check, folded over hosts; `check` is "" for what became of the host itself, and of its checks
    with it. `items` and `item_count`: as in `Finding`.

    `before` and `after` are verdicts, or states of hosts; "" where there was nothing. `since` is when what is so now
    began, and `before_since` when what was so before began: the earliest of the hosts'. `finding` is the id of the
    finding that shows it, that of most hosts where there are several. `flapping` says that it was known to change all
    the time, and `silenced` that nobody wants to be told of it for now. `note` says what else changed: ``it expects
    something else``, ``renamed from df``.
    """

    kind: ChangeKind
    check: str
    name: str = ""
    items: tuple[str, ...] = ()
    item_count: int = 0
    before: str = ""
    after: str = ""
    since: datetime | None = None
    before_since: datetime | None = None
    finding: str = ""
    flapping: bool = False
    silenced: bool = False
    note: str = ""

    @property
    def is_worse(self) -> bool:
        """Whether somebody is to be told."""
        return self.kind.is_worse and not self.flapping and not self.silenced


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What changed against an earlier run, the worst first. `unlike` says, a sentence each, in what the two runs cannot
    be compared: another version of the playbook, other hosts, a run that was not complete. `unchanged` counts cells
    that are not ok and were not ok for the same reasons, and hosts that are still not reached. `worse` counts the
    changes that somebody is to be told of, listed or not; `left_out` those beyond what is listed."""

    against: str
    against_started_at: datetime
    unlike: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    unchanged: int = 0
    worse: int = 0
    left_out: int = 0

    @property
    def is_worse(self) -> bool:
        """Whether anything got worse that does not change all the time and that nobody silenced."""
        return self.worse > 0
