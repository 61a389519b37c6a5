"""The use case of `read`: a part of an output that was kept with a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from checkrunner.findings.reading import read_part
from checkrunner.model.errors import UnknownNameError, UsageError
from checkrunner.model.history import KeptOutput, RunView
from checkrunner.model.readings import Reading, Want
from checkrunner.model.results import HostState, Stream, VerdictState, is_evidence_id

__all__ = ["Outputs", "Place", "parse_want", "place_of", "read_output"]

_SPAN = re.compile(r"(-?\d+)?:(-?\d+)?")
_LINES = re.compile(r"(\d+)?[:-](\d+)?|(\d+)")
_LONGEST = 18


class Outputs(Protocol):
    """What this needs of the store of runs."""

    def find(self, word: str) -> int:
        """The number of the run that a word stands for. Raises HistoryError."""
        ...

    def view(self, number: int) -> RunView:
        """The run: its hosts, checks and cells."""
        ...

    def output(self, number: int, host: str, check: str, stream: Stream) -> KeptOutput | None:
        """What was kept of an output."""
        ...


class Place:
    """Whose output is wanted: a host, a check (its key) and a stream, None for the one that there is. `ranges` are
    lines that the place itself names, as an evidence id does."""

    __slots__ = ("check", "host", "ranges", "stream")

    def __init__(
        self, host: str, check: str, stream: Stream | None = None, ranges: tuple[tuple[int, int], ...] = ()
    ) -> None:
        self.host, self.check, self.stream, self.ranges = host, check, stream, ranges


def place_of(host: str, check: str | None, stream: str | None) -> Place:
    """The place that arguments name: a host and a check, or an evidence id alone. Raises UsageError."""
    if stream is not None and stream not in tuple(Stream):
        raise UnknownNameError("stream", stream, map(str, Stream))
    wanted = Stream(stream) if stream else None
    if check is not None:
        return Place(host, check, wanted)
    if not is_evidence_id(host):
        raise UsageError(
            f"whose output? {host!r} is no evidence id", hint="Name a run, a host and a check: read last web01 disk"
        )
    name, key, rest = (part.replace("%2F", "/").replace("%25", "%") for part in host.split("/"))
    of, _, ranges = rest.partition(":")
    if wanted not in (None, of):
        raise UsageError(f"{host} is of {of}, and --stream says {stream}")
    return Place(name, key, Stream(of), _ranges(ranges))


def parse_want(
    *,
    lines: str | None = None,
    head: int | None = None,
    tail: int | None = None,
    match: str | None = None,
    context: int | None = None,
    span: str | None = None,
) -> Want:
    """What options ask for. Raises UsageError where they cannot be read, or contradict each other."""
    given = {"--lines": lines, "--head": head, "--tail": tail, "--match": match, "--bytes": span}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} cannot be given together", hint="Ask once for each")
    if context is not None and match is None:
        raise UsageError("-C is for --match: lines around those that match")
    for name, number in (("--head", head), ("--tail", tail), ("-C", context)):
        if number is not None and number < 0:
            raise UsageError(f"{name} cannot be {number}", hint="It is a number of lines")
    return Want(
        ranges=_ranges(lines) if lines is not None else (),
        head=head,
        tail=tail,
        match=match,
        context=context or 0,
        span=_span(span) if span is not None else None,
    )


def read_output(store: Outputs, run: str, place: Place, want: Want) -> Reading:
    """The part of the output. Raises HistoryError for a run that is not there, UnknownNameError for a host or check
    that it does not have, and UsageError where nothing was kept."""
    number = store.find(run)
    view = store.view(number)
    key = _check(view, place)
    streams = [place.stream] if place.stream else [Stream.STDOUT, Stream.STDERR]
    kept = next((one for stream in streams if (one := store.output(number, place.host, key, stream))), None)
    if kept is None or not kept.data:
        raise _nothing(view, place, key, kept)
    if place.ranges and want == Want():
        want = replace(want, ranges=place.ranges)
    return replace(read_part(kept, want), run=view.id)


def _check(view: RunView, place: Place) -> str:
    """The key of the check. Raises UnknownNameError for a host or a check that the run does not have."""
    if place.host not in view.hosts:
        raise UnknownNameError("host of that run", place.host, view.hosts)
    here = [key for host, key in view.cells if host == place.host]
    known: Mapping[str, object] = view.checks
    if place.check in here or (place.check in known and not here):
        return place.check
    named = [key for key in here if key in known and view.checks[key].name == place.check]
    if len(named) == 1:
        return named[0]
    items = [key for key in here if key.startswith(f"{place.check}[")]
    if items:
        raise UsageError(f"{place.check} is a loop: name one of its items", hint=f"They are {', '.join(items[:20])}")
    raise UnknownNameError("check on that host", place.check, here or known)


def _nothing(view: RunView, place: Place, key: str, kept: KeptOutput | None) -> UsageError:
    """Why nothing is there to be read."""
    what = f"of {place.stream or 'the output'} of {key} on {place.host} nothing was kept in run {view.id}"
    if kept is not None:
        size = f"{kept.total_bytes:,} bytes"
        return UsageError(f"{what}: {kept.note or 'it could not be fetched'} ({size})")
    state = view.hosts[place.host].state
    cell = view.cells.get((place.host, key))
    if cell is None or (state is not HostState.REACHED and cell.verdict is VerdictState.UNKNOWN):
        return UsageError(f"{what}: the host is {str(state).replace('_', ' ')}")
    if cell.verdict is VerdictState.OK:
        return UsageError(f"{what}: it was ok there", hint="`run --keep all` keeps the outputs of all checks")
    if cell.verdict is VerdictState.SKIPPED:
        return UsageError(f"{what}: it was skipped there")
    return UsageError(f"{what}: it wrote nothing, or the run was to keep nothing (--keep none)")


def _ranges(text: str) -> tuple[tuple[int, int], ...]:
    found = []
    for part in text.split(","):
        match = _LINES.fullmatch(part.strip())
        if match is None or len(part) > 2 * _LONGEST or part.strip() in {":", "-"}:
            raise UsageError(f"--lines cannot be {text!r}", hint="Lines are 10:20, 10:, :20 or 10, several with commas")
        first, last, single = match.groups()
        pair = (int(single), int(single)) if single else (int(first or 1), int(last or 0))
        if pair[1] and pair[0] > pair[1]:
            raise UsageError(f"--lines cannot be {text!r}", hint="The first line comes first")
        found.append(pair)
    return tuple(found)


def _span(text: str) -> tuple[int | None, int | None]:
    match = _SPAN.fullmatch(text)
    if match is None or len(text) > 2 * _LONGEST:
        raise UsageError(f"--bytes cannot be {text!r}", hint="Bytes are 0:1000, 1000: or -500:")
    first, last = match.groups()
    return (int(first) if first else None, int(last) if last else None)
