"""Lines to groups of the same shape, the prefix of their log taken off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checkrunner.findings.salience.levels import LETTERS, level_of_token, spoken_level
from checkrunner.findings.salience.outliers import far_lines
from checkrunner.findings.salience.prefix import Column, Kind, Layout, Layouts
from checkrunner.findings.salience.rows import Row
from checkrunner.findings.salience.severity import NOTHING, Told, told
from checkrunner.findings.salience.shapes import Masks, mask_tokens, tokens_of, words_of
from checkrunner.findings.salience.structured import words_in_order
from checkrunner.findings.salience.tables import Cell, table_cells
from checkrunner.findings.salience.traces import Frame, frames

__all__ = ["LOOKED_AT", "Group", "Groups", "collect"]

LOOKED_AT = 2000
"""So many characters of a line are looked at."""

_MOST_SHAPES = 20_000
_MOST_COMPARED = 5000
_FEWEST_WORDS = 2
_ENOUGH_MILD = 4
_ENOUGH_SEVERE = 10


@dataclass(slots=True)
class Group:
    """Lines of one shape. `tokens` are the words of the first one that may be shown (level, names, message), `masked`
    the same masked; `names` counts how many of them, from `first_name` on, name a component. `odd` has an unusual code
    in its prefix, `far` a number far from that of the other lines like it; `head` is the head of the table that it is
    a row of."""

    row: Row
    tokens: list[str]
    masked: list[str]
    level: int | None = None
    component: str = ""
    first_name: int = 0
    names: int = 0
    odd: bool = False
    far: bool = False
    frame: Frame = Frame.NONE
    cell: Cell | None = None
    head: Group | None = None
    is_head: bool = False
    count: int = 0
    last: int = 0
    words: tuple[str, ...] = ()
    text: str = ""
    told: Told = NOTHING

    def add(self, count: int, last: int) -> None:
        """Lines more of this shape."""
        self.count += count
        self.last = max(self.last, last)


@dataclass(frozen=True, slots=True)
class Groups:
    """`groups` in the order of their first lines; `prefix` says what was taken off."""

    groups: list[Group]
    prefix: str


def collect(rows: Sequence[Row]) -> Groups:
    """Group rows. Linear in their length; blank lines are in no group."""
    masks = Masks()
    in_json = [words_in_order(row.text[:LOOKED_AT]) for row in rows]
    lines = [words if words else tokens_of(row.text[:LOOKED_AT]) for row, words in zip(rows, in_json, strict=True)]
    layouts = Layouts(lines, masks)
    marks = frames(lines)
    # The numbers of a log are no columns of a table.
    logged = sum(1 for tokens in lines if layouts.of(tokens).columns)
    cells = {} if logged * 2 > len(lines) else table_cells(lines)
    alone = [
        _group(row, tokens, layouts.of(tokens), mark, masks) if tokens else None
        for row, tokens, mark in zip(rows, lines, marks, strict=True)
    ]
    for at, cell in cells.items():
        one, head = alone[at], alone[cell.head]
        if one is not None and head is not None:
            one.cell, one.head, head.is_head = cell, head, True
    found: dict[tuple[object, ...], Group] = {}
    for some in _by_key(alone).values():
        far = _far_of(some)
        for at, group in enumerate(some):
            group.far = at in far
            key = _key(group)
            if len(found) >= _MOST_SHAPES and key not in found:
                key = ("of the shapes that are too many",)
            found.setdefault(key, group).add(group.row.count, group.row.last or group.row.number)
    groups = sorted(found.values(), key=lambda group: group.row.number)
    groups = [group for group in groups if any(map(str.isalnum, "".join(group.tokens)))]
    for group in groups:
        _read(group)
    return Groups(_merged(groups), layouts.in_words)


def _key(group: Group) -> tuple[object, ...]:
    if group.is_head:
        return ("head", group.row.number)
    if group.frame is Frame.OTHER:
        return (Frame.OTHER,)
    grade = group.cell.grade if group.cell else 0.0
    return (group.level, group.odd, group.far, group.frame, grade, *group.masked)


def _by_key(alone: Sequence[Group | None]) -> dict[tuple[object, ...], list[Group]]:
    found: dict[tuple[object, ...], list[Group]] = {}
    for group in alone:
        if group is not None:
            found.setdefault(_key(group), []).append(group)
    return found


def _far_of(groups: list[Group]) -> set[int]:
    """Those with a number far from the others'. Lines that stand for many are no measure."""
    first = groups[0]
    if first.frame is not Frame.NONE or any(group.row.count > 1 for group in groups):
        return set()
    return far_lines([group.tokens for group in groups], first.masked)


def _group(row: Row, tokens: list[str], layout: Layout, frame: Frame, masks: Masks) -> Group:
    if len(tokens) <= layout.core:
        return Group(row, tokens, mask_tokens(tokens, masks), frame=frame)
    level: int | None = None
    shown: list[str] = []
    names: list[str] = []
    kept: list[str] = []
    odd = False
    width = 0
    for column, token in zip(layout.columns, tokens[:-1], strict=False):
        if not layout.fits(width, token, masks[token]):
            break
        width += 1
        if column.kind is Kind.LEVEL:
            level = _level(token)
            shown.append(token)
        elif column.is_code and token != column.usual:
            odd = True
            names.append(token)
            kept.append(token)
        elif _is_named(column, token, masks):
            names.append(token.partition("[")[0] or token)
            kept.append(masks[token])
    message = tokens[width:]
    return Group(
        row,
        [*shown, *names, *message],
        [*shown, *kept, *mask_tokens(message, masks)],
        level=level,
        component=kept[0] if kept else "",
        first_name=len(shown),
        names=len(names),
        odd=odd,
        frame=frame,
    )


def _level(token: str) -> int | None:
    level = level_of_token(token)
    return LETTERS.get(token.strip("[]<>():")) if level is None else level


def _is_named(column: Column, token: str, masks: Masks) -> bool:
    """Whether a token of the prefix is a name worth showing: one of several, or not the usual one."""
    if column.kind is Kind.SAME:
        if column.is_code or column.is_usual(token, masks[token]):
            return False
    elif column.kind is not Kind.NAME:
        return False
    return any(map(str.isalpha, masks[token]))


def _read(group: Group) -> None:
    group.text = " ".join(group.tokens)
    group.words = words_of(group.masked)
    skip = len(" ".join(group.tokens[: group.first_name])) + 1 if group.first_name else 0
    said = NOTHING if group.is_head else told(group.text[skip:])
    group.told = Told(said.grade, said.start + skip, said.end + skip) if said.grade else NOTHING
    if group.level is None:
        group.level = spoken_level(group.row.text)


def _merged(groups: list[Group]) -> list[Group]:
    """Groups that say the same words, then those that differ in one word of which there are many."""
    found: dict[object, Group] = {}
    for group in groups:
        same: object = tuple(group.masked) if len(group.words) < _FEWEST_WORDS else group.words
        same = ("head", group.row.number) if group.is_head else same
        key = (group.level, group.odd, group.far, group.frame, group.cell.grade if group.cell else 0, same)
        first = found.setdefault(key, group)
        if first is not group:
            first.add(group.count, group.last)
    return _one_word_apart(list(found.values()))


def _one_word_apart(groups: list[Group]) -> list[Group]:
    """Names are variables too: ``Failed password for NAME``. A word that is one of many in its place is taken for one,
    of many more where trouble is told: there it is likely to be what the trouble is with."""
    places: dict[tuple[object, int, int], list[int]] = {}
    if len(groups) > _MOST_COMPARED:
        return groups
    for at, group in enumerate(groups):
        if group.is_head or group.frame is not Frame.NONE or len(group.words) < 4 or len(group.masked) > 60:
            continue
        parts = [hash((place, word)) for place, word in enumerate(group.masked)]
        whole = 0
        for part in parts:
            whole ^= part
        for place, part in enumerate(parts):
            if place >= group.first_name + group.names:
                kind = (len(parts), group.level, group.odd, group.far, group.cell.grade if group.cell else 0.0)
                places.setdefault((kind, place, whole ^ part), []).append(at)
    gone: dict[int, int] = {}
    for (_, place, _), some in sorted(places.items(), key=lambda item: -len(item[1])):
        live = [at for at in some if at not in gone]
        if len(live) < _ENOUGH_MILD:
            continue
        severe = max(max(groups[at].told.grade, groups[at].level or 0) for at in live) >= 3
        if (severe and len(live) < _ENOUGH_SEVERE) or any(told(groups[at].masked[place]).grade for at in live):
            continue
        for at in live[1:]:
            gone[at] = live[0]
            groups[live[0]].add(groups[at].count, groups[at].last)
    return [group for at, group in enumerate(groups) if at not in gone]
