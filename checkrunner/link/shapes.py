"""Salient slices as they are asked for: a few lines are read whole, which costs less than to group them."""

from __future__ import annotations

from dataclasses import replace

from checkrunner.model.results import Output, RawSlice, SliceMode, SliceQuery

__all__ = ["FEW_BYTES", "FEW_LINES", "each_alone", "in_whole"]

FEW_BYTES = 4096
FEW_LINES = 40


def in_whole(query: SliceQuery, output: Output) -> SliceQuery:
    """What to ask a host for, in place of the shapes of an output that is known to be small."""
    small = output.captured_bytes <= min(FEW_BYTES, query.max_bytes) and output.lines <= min(FEW_LINES, query.max_lines)
    if query.mode is not SliceMode.SALIENT or not small:
        return query
    return replace(query, mode=SliceMode.HEAD, max_lines=FEW_LINES, line_bytes=FEW_BYTES)


def each_alone(raw: RawSlice, query: SliceQuery) -> RawSlice:
    """The answer to `in_whole` as one to `query`: each line is a shape of its own."""
    if raw.query.mode is query.mode:
        return raw
    return replace(raw, query=query, lines=tuple(replace(line, last=line.number) for line in raw.lines))
