"""The names under which a result's metadata is read in expressions, and what counts as true there."""

from __future__ import annotations

from typing import Any

from checkrunner.model.results import CaptureState, Reading, Result

__all__ = ["REGISTERED_NAMES", "RESULT_NAMES", "result_names", "truth"]

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
)
"""What a check's own expressions (`expect`, `warn_if`, `crit_if`) can read of its result."""

REGISTERED_NAMES: tuple[str, ...] = (
    *RESULT_NAMES,
    "verdict",
    "ok",
    "failed",
    "skipped",
    "missing",
    "values",
    "attempts",
    "item",
)
"""What can be read of an earlier check's result under the name that its `register` gave it. That of a loop has
`results` besides, one for each item."""

_FALSE_WORDS = frozenset({"", "0", "false", "no", "off", "n", "f", "none", "null"})


def result_names(result: Result) -> dict[str, Any]:
    """The values of `RESULT_NAMES`. `truncated` is true when either stream is not complete; `rc` is 0 of a command that
    its `duration` ended; `samples` are mappings with the names of `Reading`, its lines as `stdout_lines`."""
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
    }


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
