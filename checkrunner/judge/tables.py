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

from checkrunner.judge.parsed import NothingError, Parsed, UnreadError, clipped, distinct

__all__ = ["read_table"]

_WORD = re.compile(r"\S+")
_PIECE = re.compile(r"\S+(?: \S+)*")
_RULE = re.compile(r"[-=+| ]+")
_BLANK = ("", " ")
_APART = 3
_TWO_WORDS = ("Mounted on", "Local Address", "Foreign Address", "Local Address:Port", "Peer Address:Port")
"""Names of columns that every reader of such tables knows."""

_Span = tuple[int, int]


def read_table(text: str, wanted: Iterable[str] = ()) -> Parsed:
    """The table. `wanted` are names of columns that are looked for: they help to tell names apart.

    Raises UnreadError where lines do not fit under the names, or two columns have one name; NothingError where there
    is no line at all.
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
    names, rows = _read(header, body, [*_TWO_WORDS, *wanted])
    distinct(names)
    made = [dict(zip(names, cells, strict=True)) for cells in rows]
    return Parsed(data=made, rows=made, columns=names)


def _read(header: str, body: Sequence[tuple[int, str]], wanted: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    texts = [line for _, line in body]
    apart = _standing_apart(header, texts)
    if apart:
        starts = [start for start, _ in apart]
        return [header[a:b] for a, b in apart], [_sliced(line, starts[1:]) for line in texts]
    words = [found.span() for found in _WORD.finditer(header)]
    cells = [[found.span() for found in _WORD.finditer(line)] for line in texts]
    spans = _names(header, words, texts, cells, wanted)
    names = [" ".join(header[a:b].split()) for a, b in spans]
    if _has_unnamed(spans[0], cells):
        spans, names = [(0, 0), *spans], ["", *names]
    cuts = _cuts(spans, texts)
    if cuts is None:
        return names, [_counted(number, line, len(names)) for number, line in body]
    return names, [_checked(number, line, cuts) for number, line in body]


def _standing_apart(header: str, lines: Sequence[str]) -> list[_Span]:
    """The names of a table of the first kind; nothing for another."""
    names = [found.span() for found in _PIECE.finditer(header)]
    gaps = [b[0] - a[1] for a, b in itertools.pairwise(names)]
    if not gaps or min(gaps) < _APART or names[0][0]:
        return []
    starts = {start for start, _ in names}
    fits = all(found.start() in starts for line in lines for found in _PIECE.finditer(line))
    fits = fits and all(line[start - 1 : start] in _BLANK for line in lines for start in starts if start)
    return names if fits else []


def _names(
    header: str, words: Sequence[_Span], lines: Sequence[str], cells: Sequence[Sequence[_Span]], wanted: Sequence[str]
) -> list[_Span]:
    spans = [words[0]]
    joins, splits = _wishes(header, words, wanted)
    for number, word in enumerate(words[1:], 1):
        last = spans[-1]
        one = number in joins or (
            number not in splits
            and word[0] - last[1] == 1
            and _is_one_name(header, words[number - 1], word, lines, cells)
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


def _is_one_name(
    header: str, first: _Span, second: _Span, lines: Sequence[str], cells: Sequence[Sequence[_Span]]
) -> bool:
    gap = first[1]
    if any(gap < start < second[1] for row in cells for start, _ in row):
        return False  # a cell of its own begins under the second word
    crossed = any(line[gap : gap + 1].strip() for line in lines)
    return crossed or (header[first[0]].isupper() and header[second[0] : second[1]].islower())


def _has_unnamed(first: _Span, cells: Sequence[Sequence[_Span]]) -> bool:
    """Whether something stands in front of the first column, as in `free`."""
    return any(len(row) > 1 and row[0][1] < first[0] and row[1][0] < first[1] for row in cells)


def _cuts(spans: Sequence[_Span], lines: Sequence[str]) -> list[int] | None:
    """For each column but the first a place where every line has a space before it; None where one has none."""
    cuts = []
    for left, right in itertools.pairwise(spans):
        places = range(right[0] - 1, left[1] - 1, -1)
        cut = next((at for at in places if all(line[at : at + 1] in _BLANK for line in lines)), None)
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
