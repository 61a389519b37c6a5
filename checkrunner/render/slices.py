"""The rows of a slice: for people, and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TextIO

from checkrunner.render.json import escaped
from checkrunner.render.layout import count_of
from checkrunner.render.safe import safe

__all__ = ["SLICE_FORMATS", "SliceRow", "SliceSummary", "summary_line", "text_row", "write_slice"]

SLICE_FORMATS = ("text", "jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRow:
    """`text` is what a reader sees of the line, with the count in front (``x31``) where it stands for several."""

    line: int
    text: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceSummary:
    """What the rows are of and what is not among them. `more_tokens` is about what the shapes that were found and not
    shown would have taken; `prefix` what lines began with, in words."""

    total_lines: int
    more_shapes: int = 0
    more_lines: int = 0
    more_tokens: int = 0
    prefix: str = ""
    binary: bool = False


def text_row(row: SliceRow) -> str:
    """``118 x31 text``: line, count, text."""
    return f"{row.line} {safe(row.text)}"


def write_slice(rows: Iterable[SliceRow], format_name: str, out: TextIO) -> None:
    """The rows, one a line, as `format_name` of `SLICE_FORMATS` has them."""
    encoding = getattr(out, "encoding", None) or "utf-8"
    ascii_only = not encoding.lower().replace("-", "").startswith("utf")
    for row in rows:
        if format_name == "jsonl":
            words = {"line": row.line, "text": row.text, "count": row.count}
            out.write(escaped(json.dumps(words, ensure_ascii=ascii_only)) + "\n")
        else:
            text = text_row(row)
            out.write((text.encode(encoding, "replace").decode(encoding) if ascii_only else text) + "\n")


def summary_line(summary: SliceSummary, shown: int) -> str:
    """What was left out, in one line."""
    if summary.binary:
        return "# binary input: nothing that could be read as lines"
    parts = [f"{count_of(shown, 'row')} of {count_of(summary.total_lines, 'line')}"]
    if summary.more_shapes:
        tokens = f", about {count_of(summary.more_tokens, 'token')}" if summary.more_tokens else ""
        left = f"{count_of(summary.more_shapes, 'shape')} ({count_of(summary.more_lines, 'line')}{tokens})"
        parts.append(f"left out: {left}")
    elif summary.more_lines:
        verb = "says" if summary.more_lines == 1 else "say"
        parts.append(f"left out: {count_of(summary.more_lines, 'line')} that {verb} nothing")
    else:
        parts.append("no shape of line left out")
    if summary.prefix:
        parts.append(f"without {summary.prefix}")
    return "# " + "; ".join(parts)
