"""The parts of a report document, as pydantic models: each knows its shape and makes what the model calls it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from checkrunner.load.report_leaves import Count, Line, Seconds, Time, Value
from checkrunner.model.report import (
    Budget,
    CheckValues,
    Incomplete,
    Message,
    Omission,
    RunInfo,
    Silenced,
    Stay,
    Suppressed,
    Totals,
    ValueSummary,
    Variant,
    Wait,
)
from checkrunner.model.results import (
    CaptureState,
    Execution,
    HostState,
    Reason,
    Slice,
    SliceMode,
    SliceQuery,
    Stream,
    VerdictState,
)

__all__ = [
    "BudgetPart",
    "IncompletePart",
    "MessagePart",
    "MetricsPart",
    "NamesIn",
    "OmissionPart",
    "OnHostsPart",
    "Part",
    "ReasonPart",
    "RunPart",
    "SilencedPart",
    "SlicePart",
    "SuppressedPart",
    "TotalsPart",
    "ValuePart",
    "VariantPart",
    "some",
]

NamesIn = Callable[[str, int], tuple[str, ...]]
"""The names in a folded text that stands for so many hosts, as far as they are there (`findings.fold.names_in`)."""


class Part(BaseModel):
    """An object of which every field is known."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class _WaitPart(Part):
    """An entry of `run.waits`."""

    place: str
    hosts: Count
    longest_s: Seconds
    waited_s: Seconds
    dropped: Count = 0
    connections: Count = 0
    channels: Count = 0


class _StayPart(Part):
    """`run.stay`."""

    until: Time
    directory: str


class RunPart(Part):
    """`run`."""

    id: str
    version: str
    playbook: str
    playbook_digest: str = ""
    inventory: tuple[str, ...] = ()
    limit: str | None = None
    started_at: Time
    elapsed_s: Seconds
    ended: str
    complete: bool
    exit_code: Annotated[int, Field(ge=0, le=255)]
    error: str = ""
    waits: tuple[_WaitPart, ...] = ()
    stay: _StayPart | None = None

    def made(self) -> RunInfo:
        """The same in words of the model."""
        waits = tuple(Wait(**dict(wait)) for wait in self.waits)
        return RunInfo(**{**dict(self), "waits": waits, "stay": Stay(**dict(self.stay)) if self.stay else None})


class TotalsPart(Part):
    """`totals`."""

    hosts: Count
    planned: Count
    done: Count
    skipped: Count
    not_run: Count
    verdict: dict[VerdictState, Count]
    execution: dict[Execution, Count]
    host: dict[HostState, Count]
    capture: dict[CaptureState, Count]

    def made(self) -> Totals:
        """The same in words of the model."""
        return Totals(**dict(self))


class ReasonPart(Part):
    """A reason of a finding."""

    subject: str = ""
    expected: str = ""
    actual: str = ""
    message: str = ""

    def made(self) -> Reason:
        """The same in words of the model."""
        return Reason(**dict(self))


class ValuePart(Part):
    """A value of a finding or a check."""

    name: str
    value: Value
    unit: str = ""
    warn: str = ""
    crit: str = ""
    hosts: Count
    unread: Count = 0
    different: Count = 0

    def made(self) -> ValueSummary:
        """The same in words of the model."""
        return ValueSummary(**dict(self))


class SlicePart(Part):
    """A slice of a finding or a variant."""

    stream: Stream | None = None
    evidence: str = ""
    why: str = ""
    prefix: str = ""
    lines: tuple[Line, ...]
    total_lines: Count | None = None
    more_lines: Count = 0
    more_shapes: Count = 0

    def made(self) -> Slice:
        """The same in words of the model. Which lines were asked for is told only as far as it matters to who shows
        them: chosen ones, the last ones, or others."""
        in_stderr = self.evidence.rpartition("/")[2].startswith(Stream.STDERR)
        stream = self.stream or (Stream.STDERR if in_stderr else Stream.STDOUT)
        return Slice(
            stream=stream,
            query=SliceQuery(mode=self._mode(), stream=stream),
            lines=self.lines,
            total_lines=self.total_lines or 0,
            more_lines=self.more_lines,
            more_shapes=self.more_shapes,
            prefix=self.prefix,
            why=self.why,
            evidence=self.evidence,
        )

    def _mode(self) -> SliceMode:
        if self.total_lines is None:
            return SliceMode.SALIENT
        at_end = bool(self.lines) and self.lines[-1].number == self.total_lines and self.lines[0].number > 1
        return SliceMode.TAIL if at_end else SliceMode.LINES


class OnHostsPart(Part):
    """Something that is so on hosts."""

    hosts: str
    host_count: Count = 1

    def where(self, names_in: NamesIn) -> dict[str, Any]:
        """The hosts: folded, one by one as far as their names are told, and how many more they are."""
        names = names_in(self.hosts, self.host_count)
        return {"hosts": self.hosts, "names": names, "unnamed": self.host_count - len(names)}


class VariantPart(OnHostsPart):
    """A variant of a finding."""

    slices: tuple[SlicePart, ...] = ()

    def made(self, names_in: NamesIn) -> Variant:
        """The same in words of the model."""
        return Variant(**self.where(names_in), slices=some(self.slices))


class MetricsPart(Part):
    """An entry of `metrics`."""

    check: str
    items: Count = 0
    values: tuple[ValuePart, ...]

    def made(self) -> CheckValues:
        """The same in words of the model."""
        return CheckValues(check=self.check, items=self.items, values=some(self.values))


class MessagePart(OnHostsPart):
    """An entry of `messages`."""

    check: str
    name: str = ""
    text: str

    def made(self, names_in: NamesIn) -> Message:
        """The same in words of the model."""
        return Message(check=self.check, name=self.name or self.check, text=self.text, **self.where(names_in))


class SilencedPart(Part):
    """`silenced` of a finding, or of an entry of `incomplete`."""

    until: Time
    why: str
    by: str = ""

    def made(self) -> Silenced:
        """The same in words of the model."""
        return Silenced(**dict(self))


class SuppressedPart(OnHostsPart):
    """An entry of `suppressed`."""

    check: str
    until: Time
    strikes: Count
    reason: str

    def made(self, names_in: NamesIn) -> Suppressed:
        """The same in words of the model."""
        facts = {name: getattr(self, name) for name in ("check", "until", "strikes", "reason")}
        return Suppressed(**facts, **self.where(names_in))


class IncompletePart(OnHostsPart):
    """An entry of `incomplete`."""

    state: HostState
    phase: str
    reason: str
    hint: str = ""
    since: Time | None = None
    silenced: SilencedPart | None = None

    def made(self, names_in: NamesIn) -> Incomplete:
        """The same in words of the model."""
        facts = {name: getattr(self, name) for name in ("state", "phase", "reason", "hint", "since")}
        silenced = self.silenced.made() if self.silenced else None
        return Incomplete(**facts, silenced=silenced, **self.where(names_in))


class OmissionPart(Part):
    """An entry of `omissions`."""

    what: str
    count: Count
    why: str
    where: str = ""
    tokens: Count = 0

    def made(self) -> Omission:
        """The same in words of the model."""
        return Omission(**dict(self))


class BudgetPart(Part):
    """`budget`."""

    limit: Count | None = None
    used: Count
    counter: str

    def made(self) -> Budget:
        """The same in words of the model."""
        return Budget(**dict(self))


def some(parts: Iterable[Any]) -> tuple[Any, ...]:
    """What each of the parts makes."""
    return tuple(part.made() for part in parts)
