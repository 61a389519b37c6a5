"""Parts of an output that was kept: by line, by pattern, by byte. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from checkrunner.findings.slices import evidence_of
from checkrunner.model.errors import UsageError
from checkrunner.model.history import KeptOutput
from checkrunner.model.readings import Reading, Row, Want
from checkrunner.patience import TooLongError, patiently

__all__ = ["read_part"]


def read_part(kept: KeptOutput, want: Want) -> Reading:
    """The part that is wanted. Raises UsageError for a pattern that cannot be used."""
    reading = Reading(
        host=kept.host,
        check=kept.check,
        stream=kept.stream,
        total_bytes=kept.total_bytes,
        total_lines=kept.total_lines,
        truncated=kept.truncated,
        missing=_missing(kept),
        note=kept.note,
    )
    if want.span is not None:
        first, last = want.span
        return replace(reading, text=(kept.data + kept.tail)[first:last].decode("utf-8", "replace"))
    rows, hits = list(_rows(kept)), None
    if want.match is not None:
        rows, hits = _matching(rows, want.match, want.context)
    elif want.head is not None:
        rows = rows[: want.head]
    elif want.tail is not None:
        rows = rows[max(0, len(rows) - want.tail) :]
    elif want.ranges:
        ends = [(first, last or kept.total_lines) for first, last in want.ranges]
        rows = [row for row in rows if any(first <= row.number <= last for first, last in ends)]
    numbers = [row.number for row in rows]
    return replace(
        reading, rows=tuple(rows), hits=hits, evidence=evidence_of(kept.host, kept.check, kept.stream, numbers)
    )


def _missing(kept: KeptOutput) -> tuple[int, int] | None:
    first = kept.data.count(b"\n") + 1
    last = kept.total_lines - kept.tail.count(b"\n")
    return (first, last) if first <= last else None


def _rows(kept: KeptOutput) -> Iterator[Row]:
    for number, line in enumerate(_lines(kept.data), 1):
        yield Row(number, line)
    tail = _lines(kept.tail)
    for number, line in enumerate(tail, kept.total_lines - len(tail) + 1):
        yield Row(number, line)


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").split("\n")[: data.count(b"\n")]


def _matching(rows: Sequence[Row], pattern: str, context: int) -> tuple[list[Row], int]:
    """The lines that match with their neighbours, and how many match. What was not kept is nobody's neighbour."""
    try:
        search = re.compile(pattern).search
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"--match: {pattern!r} is not a regular expression: {error}") from None
    size = sum(len(row.text) for row in rows)
    try:
        hits = patiently(pattern, size, lambda: [at for at, row in enumerate(rows) if search(row.text)])
    except TooLongError as error:
        raise UsageError(f"--match: {error}", hint="Use a simpler one: fewer nested repeats") from None
    found = frozenset(hits)
    near: set[int] = set()
    for places in (range(len(rows)), range(len(rows) - 1, -1, -1)):
        last = None
        for at in places:
            last = rows[at].number if at in found else last
            if last is not None and abs(rows[at].number - last) <= context:
                near.add(at)
    return [Row(rows[at].number, rows[at].text, at in found) for at in sorted(near)], len(hits)
