"""Large inputs on this machine: the program that groups lines on hosts, run as a process of its own."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from checkrunner.link.payload import part_source
from checkrunner.model.errors import CheckrunnerError
from checkrunner.model.results import RawLine

__all__ = ["Grouped", "grouped_lines"]

_MOST_GROUPS = 2000
_MOST_BYTES = 1 << 20
_LINE_BYTES = 1500
_COPIED = 1 << 20

# The part stands beside the agent, of which it uses a name; here there is no agent.
_BEFORE = """
import sys, types
sys.modules["agent"] = types.ModuleType("agent")
sys.modules["agent"].Refused = RuntimeError
"""
_AFTER = """
class Input:
    def read(self, at, size):
        return sys.stdin.buffer.read(size)

import json
table = Table(@LINE@)
for lines, hidden in blocks(Input()):
    if lines is not None:
        table.add(lines, hidden)
        if len(table.groups) > GROUPS_MAX:
            table.condense()
words, data = answer_of(table, @MOST@, @BYTES@)
words["total"] = table.number
sys.stdout.buffer.write(json.dumps(words).encode() + b"\\n" + data)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """A line for each shape with how many there are of it, of `total_lines` lines; `more_shapes` were too many."""

    lines: Sequence[RawLine]
    total_lines: int
    more_shapes: int = 0


def grouped_lines(begin: bytes, rest: BinaryIO) -> Grouped:
    """The lines of `begin` and of what `rest` still has, by shape. One pass; memory does not grow with the input."""
    after = _AFTER
    for name, value in (("@LINE@", _LINE_BYTES), ("@MOST@", _MOST_GROUPS), ("@BYTES@", _MOST_BYTES)):
        after = after.replace(name, str(value))
    program = _BEFORE + part_source("groups") + after
    with subprocess.Popen(
        [sys.executable, "-IS", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        with contextlib.suppress(BrokenPipeError), process.stdin:
            process.stdin.write(begin)
            shutil.copyfileobj(rest, process.stdin, _COPIED)
        answer, complaint = process.stdout.read(), process.stderr.read()
    if process.returncode:
        raise CheckrunnerError(f"grouping the lines failed: {complaint.decode('utf-8', 'replace').strip()[-500:]}")
    header, _, data = answer.partition(b"\n")
    return _decoded(json.loads(header), data)


def _decoded(words: dict[str, Any], data: bytes) -> Grouped:
    if "unpacked" in words:
        data = zlib.decompress(data)
    lines: list[RawLine] = []
    at = 0
    for number, head, cut, tail, count, last in words["lines"]:
        lines.append(
            RawLine(
                number=number,
                data=data[at : at + head],
                tail=data[at + head : at + head + tail],
                cut_bytes=cut,
                count=count,
                last=last,
            )
        )
        at += head + tail
    return Grouped(lines=lines, total_lines=words["total"], more_shapes=words["shapes"])
