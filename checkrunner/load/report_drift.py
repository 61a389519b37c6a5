"""What a report document says of an earlier run, as pydantic models."""

from __future__ import annotations

from checkrunner.load.report_leaves import Count, Time
from checkrunner.load.report_parts import NamesIn, OnHostsPart, Part
from checkrunner.model.drift import Change, ChangeKind, Drift

__all__ = ["ChangePart", "DriftPart"]


class ChangePart(OnHostsPart):
    """An entry of `drift.changes`."""

    kind: ChangeKind
    check: str = ""
    name: str = ""
    items: tuple[str, ...] = ()
    item_count: Count = 0
    before: str = ""
    after: str = ""
    since: Time | None = None
    before_since: Time | None = None
    finding: str = ""
    flapping: bool = False
    silenced: bool = False
    note: str = ""

    def made(self, names_in: NamesIn) -> Change:
        """The same in words of the model."""
        facts = {name: value for name, value in self if name not in {"hosts", "host_count", "name"}}
        return Change(**facts, name=self.name or self.check, **self.where(names_in))


class DriftPart(Part):
    """`drift`."""

    against: str
    against_started_at: Time
    worse: Count
    unlike: tuple[str, ...] = ()
    changes: tuple[ChangePart, ...] = ()
    unchanged: Count = 0
    left_out: Count = 0

    def made(self, names_in: NamesIn) -> Drift:
        """The same in words of the model."""
        return Drift(**{**dict(self), "changes": tuple(change.made(names_in) for change in self.changes)})
