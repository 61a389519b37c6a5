"""Tables as programs print them: a line of names, and below it columns kept apart by spaces (`df`, `ps`, `docker ps`).

Where a column begins is not written anywhere, so it is found out from all lines together. What cannot be told for sure
is an error: a value must never come from the column beside its own.

1. Where names stand at least three spaces apart and every cell begins under a name (docker, kubectl), names and
   cells may hold single spaces and cells may be empty.
2. Else two words of the first line are one name if a cell lies across the space between them and none begins under the
   second (``IMAGE ID``), or if they read like it and nothing stands in the way (``Mounted on``). Columns are
   cut where all lines have a space between two names.
3. Where lines have run out of their columns there is no such place: then words are counted, and the last column takes
   the rest of the line.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from checkrunner.judge.parsed import NothingError, Parsed, UnreadError, clipped, distinct

__all__ = ["read_table"]

_WORD = re.compile(r"\S+")
_PIECE = re.compile(r"\S+(?: \S+)*")
_RULE = re.compile(r"[-=+| ]+")
_FILLED = re.compile(r"[^ ]+")
_APART = 3
_TWO_WORDS = ("Mounted on", "Local Address", "Foreign Address", "Local Address:Port", "Peer Address:Port")
"""Names of columns that every reader of such tables knows."""

_MOST_CELLS = 1 << 18
"""Words of the first line times lines. A table that fills its columns has no more in all the bytes that are parsed; one
with more would take minutes, and more memory than there is."""

_Span = tuple[int, int]


def read_table(text: str, wanted: Iterable[str] = ()) -> Parsed:
    """The table. `wanted` are names of columns that are looked for: they help to tell names apart.

    Raises UnreadError where lines do not fit under the names, two columns have one name, or there would be more cells
    than any output holds; NothingError where there is no line at all.
    """
    lines = [line.expandtabs().rstrip() for line in text.split("\n")]
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line]
    if not numbered:
        raise NothingError("the output is empty")
    header, body = numbered[0][1], numbered[1:]
    if body and _RULE.fullmatch(body[0][1]):
        body = body[1:]
    if not body:
        return Parsed(data=[], what="the table, which has no rows")
    columns = len(header.split())
    if columns * len(body) > _MOST_CELLS:
        raise UnreadError(f"it is no table: {columns:,} names in the first line, and {len(body):,} lines below it")
    names, rows = _read(header, body, [*_TWO_WORDS, *wanted])
    distinct(names)
    made = [dict(zip(names, cells, strict=True)) for cells in rows]
    return Parsed(data=made, rows=made, columns=names)


def _read(header: str, body: Sequence[tuple[int, str]], wanted: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    texts = [line for _, line in body]
    filled = {at for line in texts for found in _FILLED.finditer(line) for at in range(*found.span())}
    apart = _standing_apart(header, texts, filled)
    if apart:
        starts = [start for start, _ in apart]
        return [header[a:b] for a, b in apart], [_sliced(line, starts[1:]) for line in texts]
    words = [found.span() for found in _WORD.finditer(header)]
    cells = [[found.span() for found in _WORD.finditer(line)] for line in texts]
    begun = {start for row in cells for start, _ in row}
    spans = _names(header, words, filled, begun, wanted)
    names = [" ".join(header[a:b].split()) for a, b in spans]
    if _has_unnamed(spans[0], cells):
        spans, names = [(0, 0), *spans], ["", *names]
    cuts = _cuts(spans, filled)
    if cuts is None:
        return names, [_counted(number, line, len(names)) for number, line in body]
    return names, [_checked(number, line, cuts) for number, line in body]


def _standing_apart(header: str, lines: Sequence[str], filled: AbstractSet[int]) -> list[_Span]:
    """The names of a table of the first kind; nothing for another. `filled` are the places where any line has
    something."""
    names = [found.span() for found in _PIECE.finditer(header)]
    gaps = [b[0] - a[1] for a, b in itertools.pairwise(names)]
    if not gaps or min(gaps) < _APART or names[0][0]:
        return []
    starts = {start for start, _ in names}
    fits = all(found.start() in starts for line in lines for found in _PIECE.finditer(line))
    return names if fits and not any(start - 1 in filled for start in starts) else []


def _names(
    header: str, words: Sequence[_Span], filled: AbstractSet[int], begun: AbstractSet[int], wanted: Sequence[str]
) -> list[_Span]:
    spans = [words[0]]
    joins, splits = _wishes(header, words, wanted)
    for number, word in enumerate(words[1:], 1):
        last = spans[-1]
        one = number in joins or (
            number not in splits
            and word[0] - last[1] == 1
            and _is_one_name(header, words[number - 1], word, filled, begun)
        )
        if one:
            spans[-1] = (last[0], word[1])
        else:
            spans.append(word)
    return spans


def _wishes(header: str, words: Sequence[_Span], wanted: Sequence[str]) -> tuple[set[int], set[int]]:
    """By the names that are looked for: the words that belong to the one before them, and those that do not."""
    texts = [header[a:b] for a, b in words]
    joins: set[int] = set()
    splits: set[int] = set()
    for name in wanted:
        if name not in header:
            continue
        parts = name.split()
        places = [at for at in range(len(texts)) if parts and texts[at : at + len(parts)] == parts]
        if len(places) == 1:
            at = places[0]
            joins |= set(range(at + 1, at + len(parts)))
            splits |= {at, at + len(parts)}
    return joins, splits - joins


def _is_one_name(header: str, first: _Span, second: _Span, filled: AbstractSet[int], begun: AbstractSet[int]) -> bool:
    gap = first[1]
    if not begun.isdisjoint(range(gap + 1, second[1])):
        return False  # a cell of its own begins under the second word
    return gap in filled or (header[first[0]].isupper() and header[second[0] : second[1]].islower())


def _has_unnamed(first: _Span, cells: Sequence[Sequence[_Span]]) -> bool:
    """Whether something stands in front of the first column, as in `free`."""
    return any(len(row) > 1 and row[0][1] < first[0] and row[1][0] < first[1] for row in cells)


def _cuts(spans: Sequence[_Span], filled: AbstractSet[int]) -> list[int] | None:
    """For each column but the first a place where every line has a space before it; None where one has none."""
    cuts = []
    for left, right in itertools.pairwise(spans):
        places = range(right[0] - 1, left[1] - 1, -1)
        cut = next((at for at in places if at not in filled), None)
        if cut is None:
            return None
        cuts.append(cut)
    return cuts


def _sliced(line: str, cuts: Sequence[int]) -> list[str]:
    edges = [0, *cuts, max(len(line), cuts[-1] if cuts else 0)]
    return [line[a:b].strip() for a, b in itertools.pairwise(edges)]


def _checked(number: int, line: str, cuts: Sequence[int]) -> list[str]:
    cells = _sliced(line, cuts)
    words = line.split()
    if len(words) == len(cells) and words != cells:
        raise _unfitting(number, line)
    return cells


def _counted(number: int, line: str, columns: int) -> list[str]:
    words = line.split(None, columns - 1)
    if len(words) != columns:
        raise _unfitting(number, line)
    return words


def _unfitting(number: int, line: str) -> UnreadError:
    return UnreadError(f"line {number} does not fit under the names of the table: {clipped(line, 80)!r}")
