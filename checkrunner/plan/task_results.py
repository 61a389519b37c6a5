"""Registered results of tasks, as Ansible has them: ``rc``, ``stdout``, ``stdout_lines``, ``changed``, ``results``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from checkrunner.model.plan import CheckOutcome, PlannedCheck
from checkrunner.model.results import (
    CaptureState,
    RawSlice,
    Result,
    SliceMode,
    SliceQuery,
    Stream,
    VerdictState,
)
from checkrunner.model.values import MOST_PARSED_BYTES
from checkrunner.plan.values import RemoteText

__all__ = ["TaskResult", "command_result", "loop_result", "registered_task", "text_of", "text_query", "with_item"]

_TEXTS = {
    Stream.STDOUT: ("stdout", "stdout_lines"),
    Stream.STDERR: ("stderr", "stderr_lines"),
}


class TaskResult(dict[str, Any]):
    """A result by its names. `lacking` says of some names why they cannot be read: reading them is an error, where a
    name that is simply not there is undefined."""

    __slots__ = ("lacking",)

    def __init__(self, values: Mapping[str, Any], lacking: Mapping[str, str] | None = None) -> None:
        super().__init__(values)
        self.lacking: Mapping[str, str] = lacking or {}

    def __missing__(self, name: str) -> Any:
        if name in self.lacking:
            raise ValueError(self.lacking[name])
        raise KeyError(name)

    def with_values(self, **values: Any) -> TaskResult:
        """The same with some values set."""
        return TaskResult({**self, **values}, self.lacking)


def text_query(stream: Stream) -> SliceQuery:
    """What is asked of the host where later texts read an output."""
    return SliceQuery(
        mode=SliceMode.BYTES,
        stream=stream,
        first=0,
        last=MOST_PARSED_BYTES,
        max_bytes=MOST_PARSED_BYTES,
        line_bytes=MOST_PARSED_BYTES,
    )


def text_of(raw: RawSlice) -> str:
    """The text of an answer to `text_query`, without the line ends at its end, as Ansible has it."""
    data = b"\n".join(line.data for line in raw.lines)
    return RemoteText(data.decode("utf-8", "surrogateescape").rstrip("\r\n"))


def command_result(result: Result, cmd: Any, reads: Mapping[Stream, RawSlice | None]) -> TaskResult:
    """What a command came to. `reads` are the outputs that later texts read; the others are only known to be there."""
    values: dict[str, Any] = {
        "cmd": cmd,
        "rc": result.rc if result.signal is None else -result.signal,
        "msg": "",
        "changed": True,
        "failed": False,
    }
    if result.started_at is not None:
        end = result.started_at + timedelta(seconds=result.elapsed_s)
        values["start"] = result.started_at.strftime("%Y-%m-%d %H:%M:%S.%f")
        values["end"] = end.strftime("%Y-%m-%d %H:%M:%S.%f")
        values["delta"] = str(timedelta(seconds=result.elapsed_s))
    lacking: dict[str, str] = {}
    for stream, names in _TEXTS.items():
        output = result.output(stream)
        if not output.bytes:
            values |= {names[0]: "", names[1]: []}
            continue
        why = _unreadable(stream, reads, result)
        if why:
            lacking |= dict.fromkeys(names, why)
            continue
        raw = reads[stream]
        assert raw is not None
        text = text_of(raw)
        lines = [RemoteText(line) for line in text.splitlines()]
        values |= {names[0]: text, names[1]: lines}
    return TaskResult(values, lacking)


def _unreadable(stream: Stream, reads: Mapping[Stream, RawSlice | None], result: Result) -> str:
    output = result.output(stream)
    if stream not in reads:
        return f"the {stream} of this task was not fetched: no text of the playbook was seen to read it"
    if output.state is not CaptureState.COMPLETE:
        return f"the {stream} was not captured whole ({output.captured_bytes:,} of {output.bytes:,} bytes)"
    if output.bytes > MOST_PARSED_BYTES:
        most = f"{MOST_PARSED_BYTES >> 10} KiB"
        return f"the {stream} has {output.bytes:,} bytes, and at most {most} can be read; have the command print less"
    raw = reads[stream]
    if raw is None or raw.error:
        return f"the host could not give the {stream}" + (f": {raw.error}" if raw else "")
    return ""


def registered_task(outcome: CheckOutcome) -> TaskResult:
    """What a later text reads of a task, also of one that was skipped or could not be looked at."""
    if isinstance(outcome.registered, TaskResult):
        return outcome.registered
    planned, loop = outcome.planned, outcome.planned.check.loop
    if outcome.verdict.state is VerdictState.SKIPPED:
        if loop is not None and not planned.loop:
            return loop_result(())
        reason = outcome.verdict.reasons[0].message if outcome.verdict.reasons else ""
        values: dict[str, Any] = {"changed": False, "failed": False, "skipped": True, "skip_reason": reason}
    else:
        message = outcome.verdict.reasons[0].message if outcome.verdict.reasons else ""
        values = {"changed": False, "failed": True, "unreachable": True, "msg": RemoteText(message)}
    return with_item(planned, TaskResult(values))


def with_item(planned: PlannedCheck, result: TaskResult) -> TaskResult:
    """The result of an item of a loop says which one it is."""
    loop = planned.check.loop
    if loop is None or not planned.loop:
        return result
    values = {"ansible_loop_var": loop.variable, loop.variable: planned.item}
    if loop.index_variable:
        values |= {"ansible_index_var": loop.index_variable, loop.index_variable: planned.index}
    return result.with_values(**values)


def loop_result(items: Sequence[Mapping[str, Any]]) -> TaskResult:
    """What a loop came to: `items` are the results of its items, in order."""
    failed = any(item.get("failed") for item in items)
    values: dict[str, Any] = {
        "results": list(items),
        "changed": any(item.get("changed") for item in items),
        "failed": failed,
        "msg": "One or more items failed" if failed else "All items completed",
    }
    if not items or all(item.get("skipped") for item in items):
        values |= {"skipped": True, "msg": "All items skipped" if items else "No items in the list"}
    return TaskResult(values)
