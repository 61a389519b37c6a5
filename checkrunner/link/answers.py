"""What an agent can answer, and how its JSON becomes typed values: strict in types, tolerant of unknown keys."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from checkrunner.link.fields import (
    Fields,
    MalformedError,
    flag_of,
    int_of,
    items_of,
    line_of,
    mapping_of,
    member_of,
    moment_of,
    number_of,
    optional_int_of,
    shown,
    text_of,
    texts_of,
    whole_of,
)
from checkrunner.model.observation import Activity, Observation
from checkrunner.model.plan import PromptText
from checkrunner.model.results import (
    MOST_READINGS,
    CaptureState,
    Execution,
    Output,
    ProbeResult,
    RawLine,
    Reading,
    Result,
)

__all__ = [
    "MOST_UNPACKED",
    "AgentFailure",
    "Answer",
    "Asking",
    "Bye",
    "Done",
    "Hello",
    "Need",
    "NoInterpreter",
    "ResultAnswer",
    "Running",
    "SliceAnswer",
    "Starting",
    "read_answer",
]

_MAX_NOTES = 100
# Characters of a name in an observation (the kernel's own are far shorter), and of a prompt.
_MAX_NAME = 100
_MAX_PROMPT = 500
_MAX_FD = 1 << 31

MOST_UNPACKED = 1 << 20
"""Bytes of a payload that came compressed. Queries are capped so that no honest one has more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The agent is up. `clock` is the host's, in Unix seconds; `directory` is where captures lie; `lacks` names what
    this agent cannot do there; `shell` is what its sessions run in, where that is not said by `bash`."""

    nonce: str
    version: int
    agent: str = ""
    python: str = ""
    bash: str = ""
    uid: int = -1
    user: str = ""
    host: str = ""
    pid: int = 0
    clock: float = 0.0
    directory: str = ""
    notes: tuple[str, ...] = ()
    agent_kind: str = "python"
    shell: str = ""
    lacks: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """What is at the other end, for people."""
        agent = f"python {self.python}" if self.agent_kind == "python" else f"{self.agent_kind} agent"
        shell = f"bash {self.bash}" if self.bash else self.shell or "no bash"
        return f"{agent}, {shell}, uid {self.uid}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultAnswer:
    """A command has ended."""

    id: int
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceAnswer:
    """The lines of a slice; which query they answer only the asker knows. `size` is their bytes."""

    id: int
    lines: tuple[RawLine, ...]
    total_lines: int
    more_lines: int
    size: int
    more_shapes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A command has not ended; `seen` is what it does, None where the agent does not look."""

    id: int
    elapsed_s: float
    state: str
    seen: Observation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A command asks what it has no answer to, and waits."""

    id: int
    prompt: PromptText


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFailure:
    """The agent refuses a request, or (id 0) gives up as a whole."""

    id: int
    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A cancel has been carried out."""

    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bye:
    """The agent has cleaned up and exits."""

    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoInterpreter:
    """The first stage found no Python to run the agent with."""

    tried: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """The login shell's start-up files are through and the agent is about to be started (patient starts only)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The agent asks for a part of its source that it has not got, by name."""

    part: str


Answer = (
    Hello | ResultAnswer | SliceAnswer | Running | Asking | Need | AgentFailure | Done | Bye | NoInterpreter | Starting
)


def read_answer(fields: Fields, payload: bytes) -> Answer:
    """The typed answer. Raises MalformedError that names the key, what it holds and what it should be."""
    kind = text_of(fields, "t")
    reader = _READERS.get(kind)
    if reader is None:
        raise MalformedError(f"an answer of unknown type {kind[:40]!r}")
    return reader(fields, payload)


def _hello(fields: Fields, _payload: bytes) -> Answer:
    return Hello(
        nonce=text_of(fields, "nonce"),
        version=int_of(fields, "v"),
        agent=text_of(fields, "agent", ""),
        python=text_of(fields, "python", ""),
        bash=text_of(fields, "bash", ""),
        uid=int_of(fields, "uid", -1, lowest=-1),
        user=text_of(fields, "user", ""),
        host=text_of(fields, "host", ""),
        pid=int_of(fields, "pid", 0),
        clock=number_of(fields, "clock"),
        directory=text_of(fields, "dir", ""),
        notes=texts_of(fields, "notes", most=_MAX_NOTES),
        agent_kind=line_of(fields, "agent_kind", _MAX_NAME) or "python",
        shell=line_of(fields, "shell", _MAX_NAME),
        lacks=texts_of(fields, "lacks", most=_MAX_NOTES),
    )


def _result(fields: Fields, _payload: bytes) -> Answer:
    ident = int_of(fields, "id")
    execution = member_of(Execution, fields, "execution")
    result = Result(
        seq=ident,
        session=text_of(fields, "session", ""),
        execution=execution,
        rc=optional_int_of(fields, "rc", 255),
        signal=optional_int_of(fields, "signal", 255),
        elapsed_s=number_of(fields, "elapsed_s"),
        cpu_s=number_of(fields, "cpu_s"),
        cwd=text_of(fields, "cwd", ""),
        started_at=moment_of(fields, "started_at"),
        stdout=_output(fields, "stdout"),
        stderr=_output(fields, "stderr"),
        probes=_probes(fields),
        leftover_pids=tuple(whole_of(pid, "leftover") for pid in items_of(fields, "leftover")),
        notes=texts_of(fields, "notes", most=_MAX_NOTES),
        missing=texts_of(fields, "missing"),
        state=line_of(fields, "state"),
        seen=_seen(fields),
        prompt=line_of(fields, "prompt", _MAX_PROMPT),
        answered=int_of(fields, "answered", 0),
        samples=_samples(fields),
    )
    if result.rc is not None and execution is not Execution.DONE:
        raise MalformedError(f"rc is {result.rc} although execution is {execution}")
    return ResultAnswer(id=ident, result=result)


def _seen(fields: Fields) -> Observation | None:
    value = fields.get("seen")
    if value is None:
        return None
    seen = mapping_of(value, "seen")
    wchan = line_of(seen, "wchan", _MAX_NAME)  # the kernel writes 0 where it does not sleep, or will not say
    return Observation(
        kind=member_of(Activity, seen, "kind"),
        pid=int_of(seen, "pid", 0),
        name=line_of(seen, "name", _MAX_NAME),
        wchan="" if wchan == "0" else wchan,
        syscall=line_of(seen, "syscall", _MAX_NAME),
        fd=optional_int_of(seen, "fd", _MAX_FD),
        on=line_of(seen, "on"),
        echo=None if seen.get("echo") is None else flag_of(seen, "echo", default=True),
        since_s=number_of(seen, "since_s"),
        text=line_of(fields, "state"),
    )


def _output(fields: Fields, key: str) -> Output:
    stream = mapping_of(fields.get(key, {}), key)
    if not stream:
        return _NO_OUTPUT
    size = int_of(stream, "bytes", 0)
    return Output(
        lines=int_of(stream, "lines", 0),
        bytes=size,
        captured_bytes=int_of(stream, "captured", size),
        longest_line_bytes=int_of(stream, "longest", 0),
        ends_with_newline=flag_of(stream, "nl", default=True),
        binary=flag_of(stream, "binary", default=False),
        invalid_utf8_bytes=int_of(stream, "invalid", 0),
        digest=text_of(stream, "digest", ""),
        state=member_of(CaptureState, stream, "state", CaptureState.COMPLETE),
    )


def _probes(fields: Fields) -> Mapping[str, ProbeResult]:
    probes = mapping_of(fields.get("probes", {}), "probes")
    out = {}
    for name, value in probes.items():
        answer = mapping_of(value, f"probes.{name[:40]}")
        out[name] = ProbeResult(
            name=name,
            count=int_of(answer, "count", 0),
            first_line=int_of(answer, "first", 0),
            error=text_of(answer, "error", ""),
        )
    return out


def _samples(fields: Fields) -> tuple[Reading, ...]:
    out = []
    for item in items_of(fields, "samples", MOST_READINGS):
        reading = mapping_of(item, "samples")
        out.append(
            Reading(
                at_s=number_of(reading, "at_s"),
                rc=optional_int_of(reading, "rc", 255),
                elapsed_s=number_of(reading, "elapsed_s"),
                first_line=int_of(reading, "first", 0),
                lines=int_of(reading, "lines", 0),
            )
        )
    return tuple(out)


def _slice(fields: Fields, payload: bytes) -> Answer:
    rows = [_row(item) for item in items_of(fields, "lines")]
    size = sum(length + tail for _, length, _, tail, _, _ in rows)
    if fields.get("unpacked") is not None:
        payload = _unpacked(payload, int_of(fields, "unpacked"), size)
    if size != len(payload):
        raise MalformedError(f"lines add up to {size} bytes, the payload has {len(payload)}")
    lines = []
    at = 0
    for number, length, cut, tail, count, last in rows:
        middle, end = at + length, at + length + tail
        head = payload[at:middle]
        lines.append(RawLine(number=number, data=head, cut_bytes=cut, tail=payload[middle:end], count=count, last=last))
        at = end
    return SliceAnswer(
        id=int_of(fields, "id"),
        lines=tuple(lines),
        total_lines=int_of(fields, "total", 0),
        more_lines=int_of(fields, "more", 0),
        size=size,
        more_shapes=int_of(fields, "shapes", 0),
    )


def _row(item: object) -> tuple[int, int, int, int, int, int]:
    """``[number, length, cut]`` of a line; of one that stands for a shape also ``tail, count, last``."""
    if not isinstance(item, list) or len(item) not in (3, 6):
        raise MalformedError(f"lines holds {shown(item)}, not [number, length, cut] or these and [tail, count, last]")
    number, length, cut, *shape = (whole_of(part, "lines") for part in item)
    tail, count, last = shape or (0, 1, 0)
    return number, length, cut, tail, count, last


def _unpacked(payload: bytes, told: int, size: int) -> bytes:
    """A payload that came compressed (zlib or gzip); no more is ever unpacked than the lines are said to have."""
    if told != size or size > MOST_UNPACKED:
        raise MalformedError(f"unpacked is {told}, the lines add up to {size} bytes, {MOST_UNPACKED} are allowed")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        data = unpacker.decompress(payload, size + 1)
    except zlib.error as error:
        raise MalformedError(f"the payload is not compressed as it should be: {error}") from None
    if len(data) != size or not unpacker.eof or unpacker.unused_data:
        raise MalformedError(f"the payload does not unpack to {size} bytes")
    return data


def _running(fields: Fields, _payload: bytes) -> Answer:
    return Running(
        id=int_of(fields, "id"),
        elapsed_s=number_of(fields, "elapsed_s"),
        state=line_of(fields, "state"),
        seen=_seen(fields),
    )


def _prompt(fields: Fields, _payload: bytes) -> Answer:
    prompt = PromptText(text=line_of(fields, "text", _MAX_PROMPT), secret=flag_of(fields, "secret", default=False))
    return Asking(id=int_of(fields, "id"), prompt=prompt)


def _need(fields: Fields, _payload: bytes) -> Answer:
    return Need(part=line_of(fields, "part", _MAX_NAME))


def _error(fields: Fields, _payload: bytes) -> Answer:
    return AgentFailure(id=int_of(fields, "id"), kind=text_of(fields, "kind"), message=text_of(fields, "message", ""))


def _done(fields: Fields, _payload: bytes) -> Answer:
    return Done(id=int_of(fields, "id"))


def _bye(fields: Fields, _payload: bytes) -> Answer:
    return Bye(id=int_of(fields, "id"))


_READERS: Mapping[str, Callable[[Fields, bytes], Answer]] = {
    "hello": _hello,
    "result": _result,
    "slice": _slice,
    "running": _running,
    "prompt": _prompt,
    "need": _need,
    "error": _error,
    "ok": _done,
    "bye": _bye,
}
_NO_OUTPUT = Output()
