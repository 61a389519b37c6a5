"""What came of a command: the four outcome axes, metadata, probes, slices, verdicts. Never a command's whole text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from checkrunner.model.observation import Observation
from checkrunner.model.probes import Probe, ProbeKind, ProbeResult, Stream

__all__ = [
    "DURATION_ENDED",
    "LINK_LOST",
    "MOST_READINGS",
    "MOST_SLICE_BYTES",
    "MOST_SLICE_LINES",
    "CaptureState",
    "Execution",
    "HostState",
    "Output",
    "Probe",
    "ProbeKind",
    "ProbeResult",
    "RawLine",
    "RawSlice",
    "Reading",
    "Reason",
    "Result",
    "Severity",
    "Slice",
    "SliceLine",
    "SliceMode",
    "SliceQuery",
    "Stream",
    "Value",
    "Verdict",
    "VerdictState",
    "evidence_id",
    "is_evidence_id",
]


class VerdictState(StrEnum):
    """What the check says of the host. `unknown` is "could not look": neither fine nor trouble."""

    OK = "ok"
    WARN = "warn"
    CRIT = "crit"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


class Execution(StrEnum):
    """How the command ended."""

    DONE = "done"
    TIMED_OUT = "timed_out"
    KILLED = "killed"
    STUCK = "stuck"
    WAITING_INPUT = "waiting_input"
    LOST = "lost"
    NOT_RUN = "not_run"


class HostState(StrEnum):
    """How far we got with the host. `unsupported`: there is no way to reach it (its connection is ``winrm``, say);
    `not_tried`: the run ended (interrupt, deadline) before the host's turn."""

    REACHED = "reached"
    UNREACHABLE = "unreachable"
    UNSUPPORTED = "unsupported"
    THROTTLED = "throttled"
    AUTH_FAILED = "auth_failed"
    HOST_KEY_MISMATCH = "host_key_mismatch"
    NO_SHELL = "no_shell"
    LOST = "lost"
    NOT_TRIED = "not_tried"


class CaptureState(StrEnum):
    """Whether the output on the host is all that the command wrote."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    FAILED = "failed"


class Severity(StrEnum):
    """How much an unmet expectation matters: crit, warn, or noted only."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Metadata of one captured stream.

    `lines` counts newlines, plus one for a last line without one; `bytes` is what the command wrote as far as it was
    read, `captured_bytes` what of it lies on the host (less when truncated); `invalid_utf8_bytes` counts bytes that no
    UTF-8 text has; `binary` means that a NUL byte was seen; `digest` is the SHA-256 (hex) of the captured bytes.
    """

    lines: int = 0
    bytes: int = 0
    captured_bytes: int = 0
    longest_line_bytes: int = 0
    ends_with_newline: bool = True
    binary: bool = False
    invalid_utf8_bytes: int = 0
    digest: str = ""
    state: CaptureState = CaptureState.COMPLETE


_NO_PROBES: Mapping[str, ProbeResult] = MappingProxyType({})


DURATION_ENDED = "duration_ended"
"""The note of a command that was ended when its `duration` was over, which is how it should end."""

LINK_LOST = "link_lost"
"""The note of a command that ended, or may have ended, with the link to its host. `state` says how that was lost."""

MOST_READINGS = 1000
"""A sample has no more readings; a check that asks for more is refused where it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One of the runs of a sampled command: when it was started (seconds after the first one), and what came of it.

    Its standard output are the `lines` lines of the capture from `first_line` (1-based) on. `rc` is None where it did
    not run to its end.
    """

    at_s: float
    rc: int | None = None
    elapsed_s: float = 0.0
    first_line: int = 0
    lines: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Metadata of one command. Exactly one of `rc` and `signal` is set when it ran to an end of its own; neither where
    its `duration` ended it (`ended_by_duration`). Of a sampled command `rc` is the first one that is not 0.

    | field | description |
    |---|---|
    | seq | number of the command within the host's agent |
    | session | the named session it ran in |
    | rc | exit status 0-255; None when it was ended from outside or never ran |
    | signal | number of the signal that ended the shell under it; None else |
    | execution | how it ended |
    | elapsed_s, cpu_s | wall and user+system seconds; `cpu_s` of the session's shell and its waited-for children |
    | cwd | the session's working directory afterwards |
    | started_at | the host's own clock, UTC |
    | leftover_pids | processes that the command left running |
    | notes | what happened to the session: ``shell_replaced``, ``link_lost``, ``state_lost``, ``capped``... |
    | missing | tools or paths named by `requires` that the host lacks; the command was not run |
    | state | last observation of the command's processes (why it did not end); empty when it ended by itself |
    | seen | the same observation with its parts; None when it ended by itself |
    | prompt | what it asked for on the terminal, one line; empty when it did not |
    | answered | how many of its questions were answered |
    | samples | of a sampled command each reading, in order |
    """

    seq: int
    session: str
    execution: Execution
    rc: int | None = None
    signal: int | None = None
    elapsed_s: float = 0.0
    cpu_s: float = 0.0
    cwd: str = ""
    started_at: datetime | None = None
    stdout: Output = Output()
    stderr: Output = Output()
    probes: Mapping[str, ProbeResult] = field(default_factory=lambda: _NO_PROBES)
    leftover_pids: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    state: str = ""
    seen: Observation | None = None
    prompt: str = ""
    answered: int = 0
    samples: tuple[Reading, ...] = ()

    @property
    def ended_by_duration(self) -> bool:
        """Whether it was ended as planned, after its `duration`: that counts as success."""
        return self.rc is None and self.execution is Execution.DONE and DURATION_ENDED in self.notes

    def output(self, stream: Stream) -> Output:
        """The metadata of one of the two streams."""
        return self.stdout if stream is Stream.STDOUT else self.stderr


class SliceMode(StrEnum):
    """Which part of a stream is asked for."""

    HEAD = "head"
    TAIL = "tail"
    LINES = "lines"
    BYTES = "bytes"
    MATCH = "match"
    SALIENT = "salient"
    PACKED = "packed"


MOST_SLICE_LINES = 1000
MOST_SLICE_BYTES = 1 << 18
"""No slice is larger; a check that asks for more by number is refused where it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceQuery:
    """A part of a stream. Lines are 1-based and inclusive; every query is capped in lines, in bytes, and in bytes
    of one line (`line_bytes`; a longer line is cut, and says by how much).

    | mode | reads |
    |---|---|
    | head, tail | the first or last `max_lines` lines |
    | lines | `first`..`last` |
    | bytes | `first` (0-based offset) .. `last` (exclusive), raw |
    | match | lines that `pattern` (`re.search`) is found in, with `before`/`after` lines around, first `max_lines` |
    | salient | one line of each shape of lines, with how many there are of it; at most `max_lines` shapes |
    | packed | as bytes, compressed on its way; the line's number is that of the line in which `first` lies |

    The shapes of `salient` are coarse: the host masks and counts in one reading and in bounded memory. What is telling
    among them is decided by `findings.salience`.
    """

    mode: SliceMode
    stream: Stream = Stream.STDOUT
    first: int = 0
    last: int = 0
    pattern: str = ""
    before: int = 0
    after: int = 0
    max_lines: int = 20
    max_bytes: int = 4096
    line_bytes: int = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RawLine:
    """One line as the host sent it, without its newline; `cut_bytes` of it were left out there, between `data` and
    `tail`, its end.

    Where it stands for a shape of lines, it is the first of `count`, and `last` is the number of the last one.
    """

    number: int
    data: bytes
    cut_bytes: int = 0
    tail: bytes = b""
    count: int = 1
    last: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RawSlice:
    """The host's answer to a query: bytes, before they are made a text that may be shown (see `Script.show`).

    `more_lines` are selected lines beyond the caps; of `salient` the lines of shapes that were not sent, and
    `more_shapes` counts these. `error` is why the host did not look; there are no lines then.
    """

    query: SliceQuery
    lines: tuple[RawLine, ...]
    total_lines: int
    more_lines: int = 0
    more_shapes: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceLine:
    """One line of the text view: decoded with replacement, CR applied, control sequences stripped, no newline.

    `cut_bytes` is how much of an over-long line was left out of its middle or end. Of a salient slice, `count` lines
    have this line's shape, of which it is the first and `last` the number of the last; `rank` is its place among the
    lines of the slice, 1 the most telling: the highest ranks give way first. Elsewhere it is 0. `shape` is that of the
    whole line (`findings.salience.shape_of`), by which it is compared with what others show; it is not shown.
    """

    number: int
    text: str
    cut_bytes: int = 0
    count: int = 1
    last: int = 0
    rank: int = 0
    shape: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A part of an output that is worth showing, and the ids under which it may be cited.

    `more_lines` counts the lines that the query selects beyond its caps; `evidence` has the form
    ``host/check/stdout:12-14`` (several ranges joined by commas). Of a salient slice, `more_lines` are those of shapes
    that are not shown, `more_shapes` counts these shapes, and `prefix` is what all lines began with and is left out of
    their text: its kind in words (``time, host, pid``), "" for none.
    """

    stream: Stream
    query: SliceQuery
    lines: tuple[SliceLine, ...]
    total_lines: int
    more_lines: int = 0
    more_shapes: int = 0
    prefix: str = ""
    why: str = ""
    evidence: str = ""

    @property
    def text(self) -> str:
        """The lines joined by newlines; gaps between ranges are not marked."""
        return "\n".join(line.text for line in self.lines)

    @property
    def what(self) -> str:
        """What it is a part of, in words. Of a salient slice these follow from its lines, also when some were left out
        later."""
        if self.query.mode is not SliceMode.SALIENT:
            return self.why or str(self.stream)
        if self.more_lines or any(line.count > 1 for line in self.lines):
            return f"the most telling lines of {self.stream}"
        count = len(self.lines)
        return f"the one line of {self.stream}" if count == 1 else f"all {count} lines of {self.stream}"

    @property
    def ranges(self) -> str:
        """Line numbers folded: ``3-5,9``."""
        out: list[str] = []
        start = prev = 0
        for number in [*(line.number for line in self.lines), 0]:
            if prev and number == prev + 1:
                prev = number
                continue
            if prev:
                out.append(str(start) if start == prev else f"{start}-{prev}")
            start = prev = number
        return ",".join(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a verdict is what it is. `expected` and `actual` are short texts; `message` is a whole sentence part."""

    subject: str
    expected: str
    actual: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value that was read from an output: a number, text, bool or list of them; None where `error` says why it could
    not be. `warn` and `crit` are the ranges that it was held against, in its own unit, as Nagios writes them."""

    name: str
    value: float | int | str | bool | tuple[Any, ...] | None
    unit: str = ""
    warn: str = ""
    crit: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict of one check on one host. `noted` marks an unmet expectation of severity info (the state is ok)."""

    state: VerdictState
    reasons: tuple[Reason, ...] = ()
    noted: bool = False


_RANGES = r"\d+(-\d+)?(,\d+(-\d+)?)*"
_EVIDENCE = re.compile(rf"(?P<host>[^/]+)/(?P<check>[^/]+)/(?P<stream>stdout|stderr):(?P<ranges>{_RANGES})")


def evidence_id(host: str, check_id: str, stream: Stream, ranges: str) -> str:
    """``host/check/stdout:12-14``: the form in which evidence is cited everywhere."""
    return f"{host}/{check_id}/{stream}:{ranges}"


def is_evidence_id(text: str) -> bool:
    """Whether `text` has the form of an evidence id."""
    return _EVIDENCE.fullmatch(text) is not None
