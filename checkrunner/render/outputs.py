"""A part of an output that was kept, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from checkrunner.model.errors import UnknownNameError
from checkrunner.model.readings import Reading
from checkrunner.render.layout import count_of
from checkrunner.render.safe import safe

__all__ = ["READ_FORMATS", "READ_SCHEMA", "check_read_format", "facts_of", "write_reading"]

READ_FORMATS = ("text", "json")
READ_SCHEMA = "checkrunner/output/1"


def check_read_format(name: str) -> None:
    """Raises UnknownNameError for a format that there is not."""
    if name not in READ_FORMATS:
        raise UnknownNameError("format", name, READ_FORMATS)


def write_reading(reading: Reading, format_name: str, out: TextIO, *, numbered: bool = False) -> None:
    """Write it. As text, lines that are not kept are a line in brackets, and numbers stand before the lines that a
    pattern was looked for in (``12:`` where it was found, ``11-`` around it) or where `numbered`."""
    if format_name == "json":
        json.dump(_document(reading), out, ensure_ascii=False, separators=(",", ":"))
        out.write("\n")
    elif reading.text is not None:
        out.write("\n".join(safe(line) for line in reading.text.split("\n")))
    else:
        for line in _text(reading, numbered):
            out.write(f"{line}\n")


def facts_of(reading: Reading) -> Iterator[str]:
    """What is to be said beside the text, a sentence each."""
    if reading.hits is not None:
        yield f"{count_of(reading.hits, 'line')} of {count_of(_kept_lines(reading), 'kept line')} match"
    if reading.truncated:
        yield "the command wrote more than was captured: what follows the last line is lost"
    if reading.missing is not None:
        first, last = reading.missing
        lost = f"line {first:,} was" if first == last else f"lines {first:,}-{last:,} were"
        yield f"{lost} not kept" + (f": {reading.note}" if reading.note else "")
    elif reading.note:
        yield reading.note


def _kept_lines(reading: Reading) -> int:
    return reading.total_lines - (reading.missing[1] - reading.missing[0] + 1 if reading.missing else 0)


def _text(reading: Reading, numbered: bool) -> Iterator[str]:
    before = None
    for row in reading.rows:
        if before is not None and row.number > before + 1:
            first, last = reading.missing or (0, 0)
            if before < first <= last < row.number:
                yield f"[lines {first:,}-{last:,} were not kept]"
            elif reading.hits is not None or numbered:
                yield "--"
        before = row.number
        mark = ":" if row.hit or reading.hits is None else "-"
        yield f"{row.number}{mark}{safe(row.text)}" if numbered or reading.hits is not None else safe(row.text)


def _document(reading: Reading) -> Mapping[str, Any]:
    document: dict[str, Any] = {
        "schema": READ_SCHEMA,
        "run": reading.run,
        "host": reading.host,
        "check": reading.check,
        "stream": str(reading.stream),
        "total_lines": reading.total_lines,
        "total_bytes": reading.total_bytes,
    }
    if reading.truncated:
        document["truncated"] = True
    if reading.missing is not None:
        document["missing"] = {"first": reading.missing[0], "last": reading.missing[1]}
    if reading.note:
        document["note"] = reading.note
    if reading.hits is not None:
        document["hits"] = reading.hits
    if reading.evidence:
        document["evidence"] = reading.evidence
    if reading.text is not None:
        document["text"] = reading.text
    else:
        document["lines"] = [[row.number, row.text] for row in reading.rows]
    return document
