"""Large inputs on this machine: the program that groups lines on hosts, run as a process of its own."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, BinaryIO

from checkrunner.link.payload import load_part
from checkrunner.model.errors import CheckrunnerError
from checkrunner.model.results import RawLine

__all__ = ["grouped_lines"]

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

import json, zlib
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


def grouped_lines(begin: bytes, rest: BinaryIO) -> tuple[Sequence[RawLine], int]:
    """One line for each shape in `begin` and what `rest` still has, with how many there are of it, and the number of
    all lines. One pass; memory does not grow with the input."""
    after = _AFTER
    for name, value in (("@LINE@", _LINE_BYTES), ("@MOST@", _MOST_GROUPS), ("@BYTES@", _MOST_BYTES)):
        after = after.replace(name, str(value))
    program = _BEFORE + load_part("groups").decode() + after
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


def _decoded(words: dict[str, Any], data: bytes) -> tuple[Sequence[RawLine], int]:
    import zlib

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
    return lines, words["total"]
