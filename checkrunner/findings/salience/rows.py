"""The words of this package: lines that stand for many, what was chosen of them and in which order."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LONGEST_TEXT", "Entry", "Ranking", "Row", "Selection", "Shown"]

LONGEST_TEXT = 200
"""No text of an entry has more characters."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of an output, or the first of `count` lines that the host found alike; `last` is the number of the last
    one (0: the same line). `cut_bytes` of it were left out before it came here."""

    number: int
    text: str
    count: int = 1
    last: int = 0
    cut_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One shape of lines. `number` is the first line of `count`, `last` the last one; `text` is the first line without
    the prefix, at most `LONGEST_TEXT` characters, and `short` the fewest words of it that tell what it is: both with
    ``...`` where something was left out. `shape` is `shape_of` the whole line. `rank` 1 is the most telling; `severity`
    runs from 0 (nothing said) to about 6. The head of a table ranks with the first row of it."""

    number: int
    text: str
    short: str
    count: int
    last: int
    shape: str
    rank: int
    severity: float
    cut_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The entries by rank, and what is left out: `more_shapes` shapes with `more_lines` lines. `prefix` says in words
    what the lines began with and is not in the texts, "" for nothing."""

    entries: tuple[Entry, ...]
    total_lines: int
    more_shapes: int = 0
    more_lines: int = 0
    prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An entry as a reader sees it: `text` is its long or its short text."""

    entry: Entry
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What fits into a budget, in reading order, and what does not: `more_shapes` shapes with `more_lines` lines, which
    would have taken about `more_tokens`."""

    shown: tuple[Shown, ...]
    used: int
    more_shapes: int = 0
    more_lines: int = 0
    more_tokens: int = 0
