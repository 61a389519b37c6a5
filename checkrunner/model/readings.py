"""What is read of outputs that were kept."""

from __future__ import annotations

from dataclasses import dataclass

from checkrunner.model.probes import Stream

__all__ = ["Reading", "Row", "Want"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """Which part of a kept output is wanted; with nothing set, all of it.

    `ranges` are lines, 1-based and inclusive, where an end of 0 means the last one; `span` are bytes of the kept text,
    from 0, the last one exclusive, and negative ones count from the end. `context` lines are shown around each that
    `match` is found in.
    """

    ranges: tuple[tuple[int, int], ...] = ()
    head: int | None = None
    tail: int | None = None
    match: str | None = None
    context: int = 0
    span: tuple[int | None, int | None] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A line. `hit` is whether the pattern was found in it."""

    number: int
    text: str
    hit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was wanted of a kept output: `rows`, or `text` where bytes were.

    `hits` counts the lines that match, None where no pattern was looked for. `missing` are the first and the last of
    the lines that were not kept, and `note` says why. `evidence` is the id under which the rows can be cited.
    `total_bytes`, `total_lines` and `truncated` are as in `KeptOutput`.
    """

    host: str
    check: str
    stream: Stream
    total_bytes: int
    total_lines: int
    run: str = ""
    truncated: bool = False
    missing: tuple[int, int] | None = None
    note: str = ""
    evidence: str = ""
    rows: tuple[Row, ...] = ()
    text: str | None = None
    hits: int | None = None
