"""What a baseline is made of: the lines of an output as people may see them, and those of them that are new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from checkrunner.findings.secret_tags import MARK, TAG, outside_tags
from checkrunner.findings.slices import evidence_of
from checkrunner.findings.textview import line_view, masked_lines
from checkrunner.model.results import (
    RawLine,
    RawSlice,
    Slice,
    SliceLine,
    SliceMode,
    SliceQuery,
    Stream,
)

__all__ = ["MOST_NEW_LINES", "new_lines", "output_lines", "without_tags"]

MOST_NEW_LINES = 20
"""So many of the lines that are new are shown."""

_LINE = 500


def output_lines(raw: RawSlice, mask: Callable[[str], str]) -> tuple[str, ...]:
    """A whole output, which was read as bytes, line by line: its text view, masked."""
    data = b"".join(line.data for line in raw.lines)
    parts = data.split(b"\n")
    if not parts[-1]:
        parts.pop()  # the newline that ends the last line
    views = [line_view(RawLine(number=at, data=part), line_bytes=len(data)) for at, part in enumerate(parts, 1)]
    return tuple(line.text for line in masked_lines(views, mask))


def without_tags(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines with the same mark for every secret: the tags of another run are others."""
    if not any("secret" in line for line in lines):
        return tuple(lines)
    return tuple(TAG.sub(MARK, line) for line in lines)


def new_lines(host: str, key: str, lines: Sequence[str], numbers: Sequence[int]) -> Slice:
    """The slice of those lines (`numbers` from 1, in their order) that a baseline does not have."""
    shown = [_line(number, lines[number - 1]) for number in numbers[:MOST_NEW_LINES]]
    query = SliceQuery(mode=SliceMode.LINES, first=numbers[0], last=numbers[-1], max_lines=MOST_NEW_LINES)
    made = Slice(
        stream=Stream.STDOUT,
        query=query,
        lines=tuple(shown),
        total_lines=len(lines),
        more_lines=len(numbers) - len(shown),
        why="lines of stdout that the baseline does not have",
    )
    return replace(made, evidence=evidence_of(host, key, made.stream, [line.number for line in shown]))


def _line(number: int, text: str) -> SliceLine:
    if len(text) <= _LINE:
        return SliceLine(number=number, text=text)
    end = outside_tags(text, _LINE)
    return SliceLine(number=number, text=text[:end], cut_bytes=len(text[end:].encode()))
