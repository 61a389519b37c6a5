"""The ranking: groups scored, and put into an order in which nobody takes all the room."""

from __future__ import annotations

import heapq
import math
from collections.abc import Container, Sequence

from checkrunner.findings.salience.clipping import clip, shorten
from checkrunner.findings.salience.grouping import Group, collect
from checkrunner.findings.salience.levels import WARN
from checkrunner.findings.salience.rows import Entry, Ranking, Row
from checkrunner.findings.salience.shapes import Masks, is_variable, shape_of
from checkrunner.findings.salience.traces import Frame

__all__ = ["TROUBLE", "rank"]

TROUBLE = 2.0
"""From this severity on an entry is about trouble."""

_KNOWN = 3.0
_ODD = 1.5
_FAR = 1.0
_DETAIL = 1.5
_STDERR = 0.5
_ENDING = 1.0
_BURST = 0.5
_FREQUENT = 0.15
_MOST_OFTEN = 5.0
_WORDS_OF_TROUBLE = 0.3
_WORDS_OF_NONE = 0.5
_REPEATED = 0.6
_ALIKE = 8.0
_ALIKE_FROM = 0.8
_SAME_COMPONENT = 0.08
_MOST_LOOKS = 8


def rank(
    rows: Sequence[Row],
    *,
    total_lines: int,
    stream: str = "stdout",
    rc: int | None = None,
    known: Container[str] = (),
    most: int = 24,
) -> Ranking:
    """Rank the lines of an output. `rows` are in reading order and stand for `total_lines` lines, or for fewer where
    the host left some out; `rc` is the command's exit code; shapes in `known` are no news. Pure, and linear in `rows`
    but for the order of the shapes.
    """
    found = collect(rows)
    last = max((row.last or row.number for row in rows), default=0)
    masks = Masks()
    scored = [(group, _severity(group, stream)) for group in found.groups]
    scores = {
        id(group): _score(group, severity, last, rc)
        - (_KNOWN if known != () and shape_of(group.row.text, masks) in known else 0.0)
        for group, severity in scored
    }
    severities = {id(group): severity for group, severity in scored}
    order = _with_heads(_order(found.groups, scores, most), found.groups, severities)[:most]
    entries = tuple(
        _entry(group, at, severities.get(id(group), 0.0), shape_of(group.row.text, masks))
        for at, group in enumerate(order, 1)
    )
    firsts = {entry.number for entry in entries}
    return Ranking(
        entries=entries,
        total_lines=total_lines,
        more_shapes=sum(1 for group in found.groups if group.row.number not in firsts),
        more_lines=max(total_lines - sum(entry.count for entry in entries), 0),
        prefix=found.prefix,
    )


def _severity(group: Group, stream: str) -> float:
    grade = group.told.grade
    if group.cell is not None:
        grade = max(grade, group.cell.grade)
    if group.level is None:
        severity = grade
    elif group.level >= WARN:
        severity = group.level + _WORDS_OF_TROUBLE * grade
    else:
        severity = max(group.level, 0) + _WORDS_OF_NONE * grade
    if group.frame is not Frame.NONE:
        return 2.0 if group.frame is Frame.TELLING else 0.0
    if group.cell is None and _is_detail(group):
        severity -= _DETAIL
    if group.odd:
        severity += _ODD
    if group.far:
        severity = max(severity + _FAR / 2, _FAR)
    if stream == "stderr":
        severity += _STDERR
    return max(severity, 0.0)


def _score(group: Group, severity: float, last: int, rc: int | None) -> float:
    often = min(math.log2(group.count), _MOST_OFTEN) if group.frame is Frame.NONE else 0.0
    score = severity + (_FREQUENT if severity >= TROUBLE else -_FREQUENT / 10) * often
    span = group.last - group.row.number + 1
    if severity >= TROUBLE and group.count >= 10 and span * 10 <= last:
        score += _BURST
    if group.last >= last - 2:
        score += _ENDING if rc and group.row.number >= last - 2 else _ENDING / 4
    if group.row.number == 1:
        score += _ENDING / 8
    return score


def _is_detail(group: Group) -> bool:
    """A label and its value, as in a dump of registers: it says nothing without the line above it."""
    masked = group.masked[group.first_name + group.names :]
    if "....." in group.text:
        return True
    values = sum(1 for mask in masked if is_variable(mask) or "=#" in mask or ":#" in mask)
    if values * 2 > len(masked):
        return True
    return (
        1 < len(masked) <= 5
        and is_variable(masked[-1])
        and masked[-2].endswith((":", "="))
        and group.told.grade < TROUBLE
    )


def _order(groups: Sequence[Group], scores: dict[int, float], most: int) -> list[Group]:
    """By score, less for words that were shown already and for components that have had their turn. Scores only fall,
    so one that still leads when it is looked at again is the next; one that was looked at eight times waits no more."""
    heap = [(-scores[id(group)], group.row.number, group) for group in groups]
    heapq.heapify(heap)
    turns: dict[str, int] = {}
    shown: set[str] = set()
    order: list[Group] = []
    again: dict[int, int] = {}
    while heap and len(order) < most:
        old, number, group = heapq.heappop(heap)
        words = set(group.words)
        overlap = len(words & shown) / len(words) if words else 1.0
        alike = max(overlap - _ALIKE_FROM, 0.0) * _ALIKE
        now = _REPEATED * overlap + alike + _SAME_COMPONENT * min(turns.get(group.component, 0), 10) - scores[id(group)]
        if heap and now > heap[0][0] and now > old and again.get(number, 0) < _MOST_LOOKS:
            again[number] = again.get(number, 0) + 1
            heapq.heappush(heap, (now, number, group))
            continue
        order.append(group)
        turns[group.component] = turns.get(group.component, 0) + 1
        shown |= words
    return order


def _with_heads(order: list[Group], groups: Sequence[Group], severities: dict[int, float]) -> list[Group]:
    """The head of a table stands before the first of its rows, and is as severe."""
    out: list[Group] = []
    known = {id(group) for group in groups}
    done: set[int] = set()
    for group in order:
        head = group.head
        if head is not None and id(head) in known and id(head) not in done:
            severities[id(head)] = severities[id(group)]
            out.append(head)
            done.add(id(head))
        if id(group) not in done:
            out.append(group)
            done.add(id(group))
    return out


def _entry(group: Group, at: int, severity: float, shape: str) -> Entry:
    start, end = group.told.start, group.told.end
    telling = group.text.count(" ", 0, start) if end else -1
    return Entry(
        number=group.row.number,
        text=clip(group.text, start, end),
        short=shorten(group.tokens, group.masked, telling, range(group.first_name, group.first_name + group.names)),
        count=group.count,
        last=group.last,
        shape=shape,
        rank=at,
        severity=severity,
        cut_bytes=group.row.cut_bytes,
    )
