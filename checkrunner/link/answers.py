"""What an agent can answer, and how its JSON becomes typed values: strict in types, tolerant of unknown keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from checkrunner.model.results import CaptureState, Execution, Output, ProbeResult, RawLine, Result

__all__ = [
    "AgentFailure",
    "Answer",
    "Bye",
    "Done",
    "Hello",
    "MalformedError",
    "NoInterpreter",
    "ResultAnswer",
    "Running",
    "SliceAnswer",
    "Starting",
    "read_answer",
]


class MalformedError(ValueError):
    """An answer that does not have the form of one."""


_MAX_INT = 1 << 63
_MAX_ITEMS = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The agent is up. `clock` is the host's, in Unix seconds; `directory` is where captures lie."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultAnswer:
    """A command has ended."""

    id: int
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceAnswer:
    """The lines of a slice; which query they answer only the asker knows."""

    id: int
    lines: tuple[RawLine, ...]
    total_lines: int
    more_lines: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A command has run for a second and has not ended."""

    id: int
    elapsed_s: float
    state: str


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


Answer = Hello | ResultAnswer | SliceAnswer | Running | AgentFailure | Done | Bye | NoInterpreter | Starting
_Fields = Mapping[str, object]
_E = TypeVar("_E", Execution, CaptureState)


def read_answer(fields: _Fields, payload: bytes) -> Answer:
    """The typed answer. Raises MalformedError that names the key, what it holds and what it should be."""
    kind = _text(fields, "t")
    reader = _READERS.get(kind)
    if reader is None:
        raise MalformedError(f"an answer of unknown type {kind[:40]!r}")
    return reader(fields, payload)


def _hello(fields: _Fields, _payload: bytes) -> Answer:
    return Hello(
        nonce=_text(fields, "nonce"),
        version=_int(fields, "v"),
        agent=_text(fields, "agent", ""),
        python=_text(fields, "python", ""),
        bash=_text(fields, "bash", ""),
        uid=_int(fields, "uid", -1, lowest=-1),
        user=_text(fields, "user", ""),
        host=_text(fields, "host", ""),
        pid=_int(fields, "pid", 0),
        clock=_number(fields, "clock"),
        directory=_text(fields, "dir", ""),
        notes=_texts(fields, "notes"),
    )


def _result(fields: _Fields, _payload: bytes) -> Answer:
    ident = _int(fields, "id")
    execution = _member(Execution, fields, "execution")
    result = Result(
        seq=ident,
        session=_text(fields, "session", ""),
        execution=execution,
        rc=_optional_int(fields, "rc", 255),
        signal=_optional_int(fields, "signal", 255),
        elapsed_s=_number(fields, "elapsed_s"),
        cpu_s=_number(fields, "cpu_s"),
        cwd=_text(fields, "cwd", ""),
        started_at=_moment(fields, "started_at"),
        stdout=_output(fields, "stdout"),
        stderr=_output(fields, "stderr"),
        probes=_probes(fields),
        leftover_pids=tuple(_whole(pid, "leftover") for pid in _items(fields, "leftover")),
        notes=_texts(fields, "notes"),
        missing=_texts(fields, "missing"),
        state=_text(fields, "state", ""),
    )
    if result.rc is not None and execution is not Execution.DONE:
        raise MalformedError(f"rc is {result.rc} although execution is {execution}")
    return ResultAnswer(id=ident, result=result)


def _output(fields: _Fields, key: str) -> Output:
    stream = _object(fields.get(key, {}), key)
    if not stream:
        return _NO_OUTPUT
    size = _int(stream, "bytes", 0)
    return Output(
        lines=_int(stream, "lines", 0),
        bytes=size,
        captured_bytes=_int(stream, "captured", size),
        longest_line_bytes=_int(stream, "longest", 0),
        ends_with_newline=_flag(stream, "nl", default=True),
        binary=_flag(stream, "binary", default=False),
        invalid_utf8_bytes=_int(stream, "invalid", 0),
        digest=_text(stream, "digest", ""),
        state=_member(CaptureState, stream, "state", CaptureState.COMPLETE),
    )


def _probes(fields: _Fields) -> Mapping[str, ProbeResult]:
    probes = _object(fields.get("probes", {}), "probes")
    out = {}
    for name, value in probes.items():
        answer = _object(value, f"probes.{name[:40]}")
        out[name] = ProbeResult(
            name=name,
            count=_int(answer, "count", 0),
            first_line=_int(answer, "first", 0),
            error=_text(answer, "error", ""),
        )
    return out


def _slice(fields: _Fields, payload: bytes) -> Answer:
    lines = []
    at = 0
    for item in _items(fields, "lines"):
        if not isinstance(item, list) or len(item) != 3:
            raise MalformedError(f"lines holds {_shown(item)}, not [number, length, cut]")
        number, length, cut = (_whole(part, "lines") for part in item)
        lines.append(RawLine(number=number, data=payload[at : at + length], cut_bytes=cut))
        at += length
    if at != len(payload):
        raise MalformedError(f"lines add up to {at} bytes, the payload has {len(payload)}")
    total, more = _int(fields, "total", 0), _int(fields, "more", 0)
    return SliceAnswer(id=_int(fields, "id"), lines=tuple(lines), total_lines=total, more_lines=more, size=at)


def _running(fields: _Fields, _payload: bytes) -> Answer:
    return Running(id=_int(fields, "id"), elapsed_s=_number(fields, "elapsed_s"), state=_text(fields, "state", ""))


def _error(fields: _Fields, _payload: bytes) -> Answer:
    return AgentFailure(id=_int(fields, "id"), kind=_text(fields, "kind"), message=_text(fields, "message", ""))


def _done(fields: _Fields, _payload: bytes) -> Answer:
    return Done(id=_int(fields, "id"))


def _bye(fields: _Fields, _payload: bytes) -> Answer:
    return Bye(id=_int(fields, "id"))


_READERS: Mapping[str, Callable[[_Fields, bytes], Answer]] = {
    "hello": _hello,
    "result": _result,
    "slice": _slice,
    "running": _running,
    "error": _error,
    "ok": _done,
    "bye": _bye,
}
_NO_OUTPUT = Output()


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _clean(text: str) -> str:
    # JSON can name lone surrogates; no text that leaves here may fail to encode later on.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _text(fields: _Fields, key: str, default: str | None = None) -> str:
    value = fields.get(key, default)
    if not isinstance(value, str):
        raise MalformedError(f"{key} is {_shown(value)}, not a text")
    return _clean(value)


def _texts(fields: _Fields, key: str) -> tuple[str, ...]:
    items = _items(fields, key)
    if not all(isinstance(item, str) for item in items):
        raise MalformedError(f"{key} is {_shown(items)}, not a list of texts")
    return tuple(_clean(str(item)) for item in items)


def _items(fields: _Fields, key: str) -> list[object]:
    value = fields.get(key, [])
    if not isinstance(value, list) or len(value) > _MAX_ITEMS:
        raise MalformedError(f"{key} is {_shown(value)}, not a list of at most {_MAX_ITEMS} items")
    return value


def _object(value: object, key: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise MalformedError(f"{key} is {_shown(value)}, not an object")
    return value


def _whole(value: object, key: str, lowest: int = 0) -> int:
    # bool is an int to isinstance, and is none here.
    if type(value) is not int or not lowest <= value < _MAX_INT:
        raise MalformedError(f"{key} is {_shown(value)}, not a whole number")
    return value


def _int(fields: _Fields, key: str, default: int | None = None, *, lowest: int = 0) -> int:
    return _whole(fields.get(key, default), key, lowest)


def _optional_int(fields: _Fields, key: str, highest: int) -> int | None:
    value = fields.get(key)
    if value is None:
        return None
    number = _whole(value, key)
    if number > highest:
        raise MalformedError(f"{key} is {number}, at most {highest} is allowed")
    return number


def _number(fields: _Fields, key: str) -> float:
    value = fields.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MAX_INT:
        raise MalformedError(f"{key} is {_shown(value)}, not a number of seconds")
    number = float(value)
    assert math.isfinite(number)
    return number


def _moment(fields: _Fields, key: str) -> datetime | None:
    seconds = _number(fields, key)
    if not seconds:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        raise MalformedError(f"{key} is {seconds}, not a moment in Unix seconds") from None


def _flag(fields: _Fields, key: str, *, default: bool) -> bool:
    value = fields.get(key, default)
    # A flag may come as 0 or 1 from an agent that has no booleans.
    if value is True or value is False:
        return value
    if type(value) is int and value in (0, 1):
        return value == 1
    raise MalformedError(f"{key} is {_shown(value)}, not true or false")


def _member(kind: type[_E], fields: _Fields, key: str, default: _E | None = None) -> _E:
    value = fields.get(key, default)
    try:
        return kind(str(value))
    except ValueError:
        raise MalformedError(f"{key} is {_shown(value)}, not one of {', '.join(kind)}") from None
