"""The names under which a result's metadata is read in expressions, and what counts as true there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checkrunner.model.results import CaptureState, Reading, Result, Value

__all__ = ["REGISTERED_NAMES", "RESULT_NAMES", "ValueNames", "result_names", "truth", "unread_names"]

RESULT_NAMES: tuple[str, ...] = (
    "rc",
    "stdout_lines",
    "stderr_lines",
    "stdout_bytes",
    "stderr_bytes",
    "elapsed_s",
    "cpu_s",
    "cwd",
    "execution",
    "truncated",
    "answered",
    "samples",
    "values",
)
"""What a check's own expressions (`expect`, `warn_if`, `crit_if`) can read of its result."""

REGISTERED_NAMES: tuple[str, ...] = (
    *RESULT_NAMES,
    "verdict",
    "ok",
    "failed",
    "skipped",
    "missing",
    "attempts",
    "item",
)
"""What can be read of an earlier check's result under the name that its `register` gave it. That of a loop has
`results` besides, one for each item."""

_FALSE_WORDS = frozenset({"", "0", "false", "no", "off", "n", "f", "none", "null"})


class ValueNames:
    """Values as expressions read them: ``values.used_pct``. One that could not be read is not there: see
    `unread_names`. `text` is what texts are made into."""

    __slots__ = ("__dict__", "_unread")

    def __init__(self, values: Sequence[Value] = (), text: Callable[[str], str] = str) -> None:
        self._unread = frozenset(value.name for value in values if value.error)
        self.__dict__.update({value.name: _plain(value.value, text) for value in values if not value.error})

    def __repr__(self) -> str:
        return f"<values: {', '.join(sorted(self.__dict__.keys() - {'unread'})) or 'none'}>"


def unread_names(values: ValueNames) -> frozenset[str]:
    """The names of the values that could not be read."""
    return values._unread


def _plain(value: Any, text: Callable[[str], str]) -> Any:
    if isinstance(value, tuple):
        return [_plain(item, text) for item in value]
    return text(value) if isinstance(value, str) else value


def result_names(result: Result, values: Sequence[Value] = ()) -> dict[str, Any]:
    """What stands for `RESULT_NAMES`. `truncated` is true when either stream is not complete; `rc` is 0 of a command
    that its `duration` ended; `samples` are mappings with the names of `Reading`, its lines as `stdout_lines`."""
    out, err = result.stdout, result.stderr
    return {
        "rc": 0 if result.ended_by_duration else result.rc,
        "stdout_lines": out.lines,
        "stderr_lines": err.lines,
        "stdout_bytes": out.bytes,
        "stderr_bytes": err.bytes,
        "elapsed_s": result.elapsed_s,
        "cpu_s": result.cpu_s,
        "cwd": result.cwd,
        "execution": str(result.execution),
        "truncated": out.state is not CaptureState.COMPLETE or err.state is not CaptureState.COMPLETE,
        "answered": result.answered,
        "samples": [_reading_names(reading) for reading in result.samples],
        "values": ValueNames(values) if values else _NO_VALUES,
    }


_NO_VALUES = ValueNames()


def _reading_names(reading: Reading) -> dict[str, Any]:
    return {
        "at_s": reading.at_s,
        "rc": reading.rc,
        "elapsed_s": reading.elapsed_s,
        "stdout_lines": reading.lines,
    }


def truth(value: object) -> bool:
    """Whether the value of a condition holds. An inventory often gives booleans as words (``flag=no``), so the words
    for false are false here, unlike in Python."""
    if isinstance(value, str):
        return value.strip().lower() not in _FALSE_WORDS
    return bool(value)
