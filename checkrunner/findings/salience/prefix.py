"""What all lines of a log begin with: time, host, process id, level, component. Found by the statistics of columns.

Lines are taken in families by the form of their first word, so that a stack trace under a message, or a second program
in the same output, does not hide what the others have in common. An output without times and levels has no prefix: it
may be a table, whose numbers are its content.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from checkrunner.findings.salience.levels import LETTERS, level_of_token
from checkrunner.findings.salience.severity import told
from checkrunner.findings.salience.shapes import VARIABLE, Masks, is_variable
from checkrunner.findings.salience.times import MONTHS_AND_DAYS, is_time, is_zone

__all__ = ["Column", "Kind", "Layout", "Layouts", "family_of"]

_MOST_COLUMNS = 14
_SAMPLE = 400
_FEWEST_LINES = 6
_FEW_VALUES = 12
_MOST = 0.9
_MAIN = 0.5
"""What nearly all lines of a family have is not news where so many of the lines are of that family."""
_NEARLY_ALL = 0.95

_GLOG = re.compile(r"[IWEF][0-9]{4}\Z")
_NAMED = "the name of a day or month"
_EDGES = "[]()<>\"',;|"
_TAG = re.compile(r"[A-Za-z_][\w./@-]{0,60}(?:\([\w-]{0,30}\))?(?:\[[0-9]+\])?:\Z")
_NUMBER = re.compile(r"-?[0-9]+\Z")
_LONG_ID = re.compile(
    r"(?:[0-9A-Fa-f]{6,}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|-+|[a-z]{2,4}-[0-9a-f-]{16,})\Z"
)


class Kind(Enum):
    """What a column of a log's beginning holds."""

    TIME = "time"
    LEVEL = "level"
    ID = "id"
    SAME = "same"
    NAME = "component"
    HOST = "host"
    THREAD = "thread"
    FREE = "text"


@dataclass(frozen=True, slots=True)
class Column:
    """`usual` is the value that nearly all lines have, "" where there is none; with `is_code` it is a number, and a
    line with another one is odd."""

    kind: Kind
    usual: str = ""
    is_code: bool = False

    def is_usual(self, token: str, masked: str) -> bool:
        """Whether the token, or the name in it before a process id, is what nearly all lines have here."""
        return self.usual in {token, masked, token.partition("[")[0]}


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns that lines of a family begin with; what follows is the message. The first `core` ones, up to the last
    time or level, are sure; a line may leave the others out."""

    columns: tuple[Column, ...] = ()
    core: int = 0

    def fits(self, at: int, token: str, masked: str) -> bool:
        """Whether a token can be in the column `at`."""
        column = self.columns[at]
        if at < self.core or column.kind in {Kind.NAME, Kind.HOST, Kind.THREAD} or column.is_code:
            return True
        return is_variable(masked) or _is_mark(token) or column.is_usual(token, masked) or _is_id(token, column)


def family_of(token: str, masks: Masks) -> str:
    """The form of a first word: lines of a log share it, lines between them do not."""
    low = token.strip(_EDGES).lower()
    if low in MONTHS_AND_DAYS:
        return "<name of a day>"
    return "<I0101>" if _GLOG.match(token) else masks[token]


class Layouts:
    """The layouts of the families of an output. Cost: linear in the lines, of which at most 400 a family are looked
    at."""

    def __init__(self, lines: Sequence[Sequence[str]], masks: Masks) -> None:
        self._masks = masks
        families: dict[str, list[Sequence[str]]] = {}
        for tokens in lines:
            if tokens:
                families.setdefault(family_of(tokens[0], masks), []).append(tokens)
        self._layouts = {name: self._layout(some, len(some) / len(lines)) for name, some in families.items()}
        self._said = _in_words([(self._layouts[name], len(some)) for name, some in families.items()])

    @property
    def in_words(self) -> str:
        """What is left out of the texts: ``time, host, id``; "" for nothing."""
        return self._said

    def of(self, tokens: Sequence[str]) -> Layout:
        """The layout of a line; an empty one where it has no prefix."""
        return self._layouts.get(family_of(tokens[0], self._masks), _NONE) if tokens else _NONE

    def _layout(self, lines: list[Sequence[str]], share: float) -> Layout:
        if len(lines) > _SAMPLE:
            step = len(lines) / _SAMPLE
            lines = [lines[int(at * step)] for at in range(_SAMPLE)]
        columns: list[Column] = []
        for at in range(_MOST_COLUMNS):
            values = [tokens[at] for tokens in lines if len(tokens) > at + 1]
            if len(values) < _MOST * len(lines):
                break
            column = self._column(values, columns, few=len(lines) < _FEWEST_LINES)
            if column.kind is Kind.FREE:
                break
            columns.append(column)
        return _to_the_message(columns, lines, main=share >= _MAIN)

    def _column(self, values: list[str], before: list[Column], *, few: bool) -> Column:
        count = len(values)
        if sum(map(is_time, values)) >= _MOST * count:
            return Column(Kind.TIME, _NAMED if values[0].strip(_EDGES).isalpha() else "")
        if _goes_on_with_time(values, before):
            return Column(Kind.TIME)
        kinds = {column.kind for column in before}
        if Kind.LEVEL not in kinds and _are_levels(values, timed=Kind.TIME in kinds):
            return Column(Kind.LEVEL)
        if sum(1 for value in values if _TAG.match(value)) >= _MOST * count:
            name, times = Counter(value.partition("[")[0] for value in values).most_common(1)[0]
            return Column(Kind.SAME, name) if times > _NEARLY_ALL * count and not few else Column(Kind.NAME)
        masked = Counter(map(self._masks.__getitem__, values))
        usual, times = masked.most_common(1)[0]
        distinct = len(set(values))
        if times > _NEARLY_ALL * count and not few:
            varying = VARIABLE in usual and distinct > _FEW_VALUES
            value, same = Counter(values).most_common(1)[0]
            if same > _NEARLY_ALL * count:
                return Column(Kind.SAME, value, _NUMBER.match(value) is not None)
            return Column(Kind.ID if varying and _has_no_name(usual) else Kind.SAME, usual)
        digits = sum(1 for value in values if value.strip(_EDGES) == "-" or any(map(str.isdigit, value)))
        if digits >= _MOST * count and not few and distinct > min(_FEW_VALUES, count // 2):
            return Column(Kind.ID)
        if len(masked) <= max(6, count // 8) and not few:
            return Column(Kind.NAME)
        return Column(Kind.FREE)


_NONE = Layout()


def _has_no_name(masked: str) -> bool:
    return not any(map(str.isalpha, masked))


def _goes_on_with_time(values: list[str], before: list[Column]) -> bool:
    """A day of the month, a year, a zone: numbers that only what stands before them makes a part of a time. A kernel
    sets its short times apart from their bracket."""
    if not before or before[-1].kind is not Kind.TIME:
        return False
    part = sum(1 for value in values if _continues(value, before[-1].usual))
    return part >= _MOST * len(values)


def _continues(value: str, usual: str) -> bool:
    core = value.strip(_EDGES)
    if is_zone(core):
        return True
    if not core.isdigit() or len(core) > 4 or value[0] in "[(<":
        return False
    return 1 <= int(core) <= 31 if usual == _NAMED else len(core) == 4 and 1970 <= int(core) < 2100


def _are_levels(values: list[str], *, timed: bool) -> bool:
    known = sum(1 for value in values if level_of_token(value) is not None)
    if known >= _MOST * len(values):
        return True
    letters = {value.strip(_EDGES + ":") for value in values}
    return timed and len(letters) > 1 and letters <= LETTERS.keys()


def _to_the_message(columns: list[Column], lines: list[Sequence[str]], *, main: bool) -> Layout:
    """The columns up to the last time or level, and the ids, the host and the program's name right after it."""
    sure = [at for at, column in enumerate(columns) if column.kind in {Kind.TIME, Kind.LEVEL}]
    if not sure or not _is_a_log(columns, sure):
        return _NONE
    if all(column.kind is not Kind.TIME for column in columns) and not _are_numbers(lines, sure[0]):
        return _NONE  # what stands before the level is what it is about
    if sure[0] > 1 and not main and _tell(lines, sure[0]):
        return _NONE
    core = end = sure[-1] + 1
    while end < len(columns):
        step = _steps(columns, end, [tokens[end] for tokens in lines if len(tokens) > end + 1], lines)
        if not step:
            break
        if step == 2 and columns[end].kind is not Kind.SAME and columns[end - 1].kind is Kind.TIME:
            columns[end] = Column(Kind.HOST)
        end += step
    columns = _with_threads(columns[:end], lines)
    if not main:
        columns = [_as_name(column) if at >= sure[0] else column for at, column in enumerate(columns)]
    return Layout(tuple(columns[:end]), core)


def _with_threads(columns: list[Column], lines: list[Sequence[str]]) -> list[Column]:
    """A name in brackets beside another name is a thread's, or a like circumstance of no matter."""
    names = [at for at, column in enumerate(columns) if column.kind is Kind.NAME]
    bracketed = [
        at
        for at in names
        if sum(1 for tokens in lines if len(tokens) > at and tokens[at][0] == "[") >= _MOST * len(lines)
    ]
    if len(names) == len(bracketed):
        return columns
    return [Column(Kind.THREAD) if at in bracketed else column for at, column in enumerate(columns)]


def _are_numbers(lines: list[Sequence[str]], end: int) -> bool:
    return not any(char.isalpha() for tokens in lines for token in tokens[:end] for char in token)


def _tell(lines: list[Sequence[str]], end: int) -> bool:
    """Whether what stands before the time is a message, as in ``Active: failed since 2026-11-30``."""
    said = {" ".join(tokens[:end]) for tokens in lines}
    return any(token[0] == "(" for tokens in lines for token in tokens[:end]) or any(told(text).grade for text in said)


def _as_name(column: Column) -> Column:
    worded = column.kind is Kind.SAME and any(map(str.isalpha, column.usual))
    return Column(Kind.NAME) if worded else column


def _is_a_log(columns: list[Column], sure: list[int]) -> bool:
    """A date of a file in a listing, or a state in a table, is not what a line begins with."""
    return sure[0] <= 6 and (columns[sure[0]].kind is Kind.LEVEL or sure[0] <= 4)


def _steps(columns: list[Column], at: int, values: list[str], lines: list[Sequence[str]]) -> int:
    """How many columns from `at` on still belong to the prefix: marks, ids and codes; host and program as syslog writes
    them after the time; the name of a logger or thread that stands before long ids. A word that tells of trouble never
    does, even where all lines say it."""
    column = columns[at]
    if column.kind is Kind.SAME and told(column.usual).grade:
        return 0
    after_time = columns[at - 1].kind is Kind.TIME
    if (after_time and column.kind is Kind.ID) or _are_marks(values) or _are_ids(column, values):
        return 1
    if _is_code(column, values) or _end_clauses(values):
        return 1
    if at + 1 >= len(columns):
        return 0
    following = [tokens[at + 1] for tokens in lines if len(tokens) > at + 2]
    if not following or told(columns[at + 1].usual).grade:
        return 0
    return 2 if (after_time and _end_clauses(following)) or _are_long_ids(following) else 0


def _are_marks(values: list[str]) -> bool:
    return sum(map(_is_mark, values)) >= _MOST * len(values)


def _is_mark(value: str) -> bool:
    return not any(map(str.isalnum, value[:8]))


def _are_ids(column: Column, values: list[str]) -> bool:
    return sum(1 for value in values if _is_id(value, column)) >= _MOST * len(values)


def _is_id(value: str, column: Column) -> bool:
    return _is_long_id(value) or (column.kind is Kind.ID and value.strip(_EDGES + ":#").isdigit())


def _are_long_ids(values: list[str]) -> bool:
    return sum(map(_is_long_id, values)) >= _MOST * len(values)


def _is_long_id(value: str) -> bool:
    return (value[0] == "[" and len(value) > 8 and any(map(str.isdigit, value))) or _LONG_ID.match(
        value.strip(_EDGES + ":#")
    ) is not None


def _is_code(column: Column, values: list[str]) -> bool:
    return column.kind is Kind.SAME and sum(1 for value in values if _NUMBER.match(value)) >= _MOST * len(values)


def _end_clauses(values: list[str]) -> bool:
    return sum(1 for value in values if value[-1] in ":]") >= 0.8 * len(values)


def _in_words(layouts: list[tuple[Layout, int]]) -> str:
    """The kinds of what is left out of the lines of the largest family with a prefix."""
    with_prefix = [(count, layout) for layout, count in layouts if layout.columns]
    if not with_prefix:
        return ""
    _, layout = max(with_prefix, key=lambda pair: pair[0])
    kinds = {
        Kind.TIME: "time",
        Kind.HOST: "host",
        Kind.THREAD: "thread",
        Kind.ID: "id",
        Kind.SAME: "what is always the same",
    }
    return ", ".join(dict.fromkeys(kinds[column.kind] for column in layout.columns if column.kind in kinds))
