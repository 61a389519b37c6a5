"""Outputs that are kept after the run: which are fetched, how much of them, and what the store gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic

from checkrunner.findings.kept import kept_output, parts_of
from checkrunner.findings.slices import is_binary, is_troubled, mask_of
from checkrunner.model.history import KeptOutput
from checkrunner.model.options import KeepOptions
from checkrunner.model.plan import HostOutcome, Step
from checkrunner.model.playbook import Check
from checkrunner.model.report import Stay
from checkrunner.model.results import Output, RawSlice, Result, SliceQuery, Stream, Verdict
from checkrunner.model.seams import Redactor
from checkrunner.settings import Settings

__all__ = ["Keeping", "stay_of"]

_SHARE = 16
"""An output gets at most such a part of the room that is left: where many hosts have much to say, the last ones still
get something."""
_LEAST = 16 << 10
_UNDECIDED = 8 << 10
"""Of a check that is judged among hosts, and so when all of them are through."""
_MASK_S = 10.0
"""How long the masking of all outputs may take, at the end of the run."""


def stay_of(settings: Settings, run: str, now: datetime) -> Stay | None:
    """What the report says of outputs that stay on the hosts, if they do."""
    seconds = settings.session_options().stay_s
    if not seconds:
        return None
    base = "/var/tmp"  # noqa: S108 - on the hosts; how it is made there is the agent's
    return Stay(until=now + timedelta(seconds=seconds), directory=f"{base}/checkrunner-UID-kept-{run}-HOST")


@dataclass(slots=True)
class _Taken:
    """The outputs of one check on one host: how many bytes were set aside for each, and what came of them."""

    step: Step
    result: Result
    rooms: dict[Stream, int]
    parts: Sequence[RawSlice] = ()


class Keeping:
    """Collects outputs while a run lasts, in memory and as they came; `outputs` makes of them what may be stored.

    Nothing here makes a run fail: what cannot be kept says so in its note.
    """

    def __init__(self, options: KeepOptions) -> None:
        self._options = options
        self._left = options.total_bytes
        self._taken: dict[tuple[str, str], _Taken] = {}

    def wanted(self, host: str, step: Step, result: Result, verdict: Verdict) -> Sequence[SliceQuery]:
        """What to fetch of the outputs of a check; its room counts as used."""
        check, most = step.planned.check, self._options.output_bytes
        if not self._is_kept(check, verdict):
            if check.consensus is None or self._options.which == "none":
                return ()
            most = min(most, _UNDECIDED)
        written = [stream for stream in (Stream.STDERR, Stream.STDOUT) if result.output(stream).captured_bytes]
        rooms = {stream: self._room(result.output(stream), most) for stream in written}
        if not rooms:
            return ()
        self._taken[host, step.planned.key] = _Taken(step, result, rooms)
        return [
            query for stream, room in rooms.items() if room for query in parts_of(stream, result.output(stream), room)
        ]

    def take(self, host: str, step: Step, result: Result, parts: Sequence[RawSlice]) -> None:
        """What came of it; the rest of its room is free again."""
        taken = self._taken.get((host, step.planned.key))
        if taken is not None and taken.result is result:
            taken.parts = parts
            came = sum(len(line.data) for part in parts for line in part.lines)
            self._left += sum(taken.rooms.values()) - came

    def outputs(
        self, outcomes: Sequence[HostOutcome], redactor: Redactor, *, clock: Callable[[], float] = monotonic
    ) -> list[KeptOutput]:
        """What is to be stored, masked, now that the verdicts stand. Small outputs first: masking has its time."""
        until = clock() + _MASK_S
        found = sorted(self._found(outcomes), key=lambda one: sum(one[2].rooms.values()))
        kept: list[KeptOutput] = []
        for host, key, taken in found:
            late = clock() > until
            mask = mask_of(taken.step, redactor)
            for stream, room in taken.rooms.items():
                output = taken.result.output(stream)
                note = ""
                if late:
                    note = "there was no time to mask it"
                elif is_binary(output):
                    note = "it is not text"
                elif not room:
                    note = f"the run's room for outputs (keep_total, {self._options.total_bytes:,} bytes) was used up"
                parts = () if note else [part for part in taken.parts if part.query.stream is stream]
                kept.append(kept_output(host, key, stream, output, parts, mask=mask, note=note))
        return kept

    def _found(self, outcomes: Sequence[HostOutcome]) -> Iterator[tuple[str, str, _Taken]]:
        for of_host in outcomes:
            for outcome in of_host.checks:
                taken = self._taken.get((outcome.host, outcome.planned.key))
                if taken is not None and self._is_kept(outcome.planned.check, outcome.verdict):
                    yield outcome.host, outcome.planned.key, taken

    def _is_kept(self, check: Check, verdict: Verdict) -> bool:
        which = self._options.which
        if which == "none" or (check.task is not None and check.task.no_log):
            return False
        return which == "all" or is_troubled(verdict)

    def _room(self, output: Output, most: int) -> int:
        if is_binary(output):
            return 0
        room = min(output.captured_bytes, most, max(_LEAST, self._left // _SHARE))
        room = room if room <= self._left else 0
        self._left -= room
        return room
