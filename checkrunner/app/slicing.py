"""The use case of `slice`: any file or stream to the lines of it that matter, inside a budget."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from checkrunner.app.grouped import Grouped, grouped_lines
from checkrunner.findings.redact import PatternRedactor
from checkrunner.findings.salience import Entry, Ranking, Row, fit, rank, seen_text
from checkrunner.findings.textview import LINE_BYTES, line_view, masked_lines
from checkrunner.findings.tokens import TokenEstimate
from checkrunner.model.errors import UsageError
from checkrunner.model.results import RawLine
from checkrunner.model.seams import TokenCounter
from checkrunner.render.slices import SliceRow, SliceSummary, text_row

__all__ = ["MOST_DIRECT", "Sliced", "slice_stream", "slice_text"]

MOST_DIRECT = 4 << 20
"""A larger input is grouped in one pass by the program that does so on hosts, in bounded memory."""

_MARGIN = 0.95
"""The estimate of tokens is off by about 5 %: so much of a budget is used."""
_KEPT_END = LINE_BYTES // 4
_LEAST_TOKENS = 3
"""No row takes less, so that more entries than that cannot be shown."""
_MORE_ENTRIES = 100
_LOOKED_AT = 64 << 10
_BINARY_SHARE = 5
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r\b\x1b\f") + b"\x7f"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sliced:
    """The rows in reading order, and what they are of."""

    rows: tuple[SliceRow, ...]
    summary: SliceSummary


def slice_text(path: str, budget: int, *, numbered: bool, counter: TokenCounter, redactor: PatternRedactor) -> Sliced:
    """The lines of a file that matter, masked by `redactor`; ``-`` is standard input.

    Raises UsageError for a file that cannot be read."""
    if path == "-":
        return slice_stream(sys.stdin.buffer, budget, numbered=numbered, counter=counter, redactor=redactor)
    try:
        with open(path, "rb") as file:
            return slice_stream(file, budget, numbered=numbered, counter=counter, redactor=redactor)
    except IsADirectoryError:
        raise UsageError(f"{path} is a directory", hint="Name a file, or - for standard input") from None
    except OSError as error:
        hint = "Name a file that exists, or - for standard input" if isinstance(error, FileNotFoundError) else ""
        raise UsageError(f"cannot read {path}: {error.strerror or error}", hint=hint) from error


def slice_stream(
    stream: BinaryIO,
    budget: int,
    *,
    numbered: bool,
    counter: TokenCounter | None = None,
    redactor: PatternRedactor | None = None,
) -> Sliced:
    """The lines of a stream that matter, in at most `budget` tokens as `counter` estimates them; `numbered` where line
    and count stand before each text and are to be paid for. Cost: memory for 4 MiB of input, however long it is."""
    begin = _read(stream, MOST_DIRECT + 1)
    if _is_binary(begin):
        return Sliced(rows=(), summary=SliceSummary(total_lines=begin.count(b"\n"), binary=True))
    if len(begin) <= MOST_DIRECT:
        lines = _lines(begin)
        found = Grouped(lines=lines, total_lines=len(lines))
    else:
        found = grouped_lines(begin, stream)
    most = budget // _LEAST_TOKENS + _MORE_ENTRIES
    ranking = rank(_rows(found.lines, redactor or PatternRedactor()), total_lines=found.total_lines, most=most)
    return _fitted(
        replace(ranking, more_shapes=ranking.more_shapes + found.more_shapes),
        budget,
        numbered,
        counter or TokenEstimate(),
    )


def _fitted(ranking: Ranking, budget: int, numbered: bool, counter: TokenCounter) -> Sliced:
    def cost(entry: Entry, text: str) -> int:
        row = _row(entry, text)
        return counter.count(text_row(row) if numbered else row.text) + 1

    chosen = fit(ranking, max(1, int(budget * _MARGIN)), counter, cost=cost)
    return Sliced(
        rows=tuple(_row(shown.entry, shown.text) for shown in chosen.shown),
        summary=SliceSummary(
            total_lines=ranking.total_lines,
            more_shapes=chosen.more_shapes,
            more_lines=chosen.more_lines,
            more_tokens=chosen.more_tokens,
            prefix=ranking.prefix,
        ),
    )


def _row(entry: Entry, text: str) -> SliceRow:
    return SliceRow(line=entry.number, count=entry.count, text=seen_text(entry, text))


def _read(stream: BinaryIO, size: int) -> bytes:
    """`size` bytes, or all there are: a pipe hands out what it has."""
    parts = io.BytesIO()
    while parts.tell() < size and (data := stream.read(size - parts.tell())):
        parts.write(data)
    return parts.getvalue()


def _lines(data: bytes) -> list[RawLine]:
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [_raw(number, line) for number, line in enumerate(lines, 1)]


def _raw(number: int, line: bytes) -> RawLine:
    """Of a long line the beginning and the end."""
    if len(line) <= LINE_BYTES:
        return RawLine(number=number, data=line)
    begin = LINE_BYTES - _KEPT_END
    return RawLine(number=number, data=line[:begin], tail=line[-_KEPT_END:], cut_bytes=len(line) - begin - _KEPT_END)


def _rows(raw: Sequence[RawLine], redactor: PatternRedactor) -> list[Row]:
    """Text that may be shown: as a terminal would have left it, and without secrets."""
    lines = masked_lines([line_view(line) for line in raw], redactor.redact)
    return [Row(line.number, line.text, line.count, line.last, line.cut_bytes) for line in lines]


def _is_binary(data: bytes) -> bool:
    """Whether a good part of the beginning is neither text nor what terminals understand. A few bytes that are not
    make no text binary: a log after a crash has zeros in it."""
    begin = data[:_LOOKED_AT]
    if not begin:
        return False
    odd = len(begin) - len(begin.translate(None, _CONTROLS))
    odd += begin.decode("utf-8", "replace").count("\ufffd")
    return odd * _BINARY_SHARE > len(begin)
