"""Tables: which line is the head, and which rows have a value that is at its limit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from checkrunner.findings.salience.outliers import far_lines
from checkrunner.findings.salience.severity import is_counter
from checkrunner.findings.salience.shapes import VARIABLE

__all__ = ["FAR", "Cell", "table_cells"]

FAR = 1.0
"""The grade of a row with a number far from those of the other rows."""


_FIRST_LINES = 4
_MOST_COLUMNS = 24
_FEWEST_ROWS = 1
_ROWS_LOOKED_AT = 40
_MOST_ROWS = 5000
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?%?\Z")
_RATIO = re.compile(r"([0-9]{1,4})/([0-9]{1,4})\Z")
_FILLED = re.compile(r"(?:i?use[d]?%|capacity|%util|use%|%used|pcent|ipcent|%mem|fill%)\Z", re.IGNORECASE)
_STATE_HEADS = frozenset(("stat", "s", "state", "st"))
_DONE = frozenset(("completed", "succeeded", "complete"))


@dataclass(frozen=True, slots=True)
class Cell:
    """What a row of a table says by its place in it: a `grade` as of `severity.told`, and the index of its head."""

    grade: float
    head: int


def table_cells(lines: Sequence[Sequence[str]]) -> dict[int, Cell]:
    """For each row of a table its grade: by line index. Heads are no rows. Linear.

    A use of at least 90 % (97 %), a process in the state D or Z, and fewer ready than wanted (``1/3``) are trouble.
    """
    cells: dict[int, Cell] = {}
    at = 0
    while at < len(lines):
        starts = bool(lines[at]) and (
            at < _FIRST_LINES
            or not lines[at - 1]
            or _is_rule(lines[at - 1])
            or all(name.isupper() for name in lines[at])
        )
        if starts and (rows := _rows(lines, at)):
            far = _far_rows(lines, lines[at], rows)
            for row in rows:
                cells[row] = Cell(max(_grade(lines[at], lines[row]), FAR if row in far else 0.0), at)
            at = rows[-1]
        at += 1
    return cells


def _is_rule(tokens: Sequence[str]) -> bool:
    """A line that separates: ``----``, ``=== disks ===``, ``# df``."""
    return bool(tokens) and (tokens[0][0] in "#=-+*" or tokens[-1].endswith(":"))


def _rows(lines: Sequence[Sequence[str]], head: int) -> list[int]:
    """The indices of the rows under a head; empty where it is none."""
    names = lines[head]
    numbers = [name for name in names if any(map(str.isdigit, name))]
    if len(names) < 3 or len(numbers) * 3 > len(names) or names[-1][-1] in ".!?":
        return []
    if not all(any(map(str.isalpha, name)) for name in numbers):
        return []
    if head + 2 < len(lines) and not any(map(_has_digit, lines[head + 1])) and any(map(_has_digit, lines[head + 2])):
        return []  # a title over the head
    rows: list[int] = []
    for at in range(head + 1, min(len(lines), head + 1 + _MOST_ROWS)):
        if not lines[at]:
            break
        rows.append(at)
    sample = rows[:_ROWS_LOOKED_AT]
    fitting = [at for at in sample if len(lines[at]) >= len(names) - 2]
    if len(sample) < _FEWEST_ROWS or len(fitting) * 5 < len(sample) * 4:
        return []
    columns = range(min(len(names), 12))
    numeric = any(
        sum(1 for at in fitting if column < len(lines[at]) and _has_number(lines[at][column])) * 10 >= len(fitting) * 7
        for column in columns
    )
    shouted = sum(1 for name in names if name.isupper() or name[0] in "%#") * 3 >= len(names) * 2
    return rows if (numeric and _are_names(names)) or shouted else []


def _are_names(names: Sequence[str]) -> bool:
    """A head has no sentence's small words and no marks of one."""
    small = sum(1 for name in names if name.lower() in {"the", "a", "is", "to", "for", "with", "of", "in", "and"})
    return small < 2 and not any(name[-1] in ",;:" for name in names)


def _has_digit(token: str) -> bool:
    return any(map(str.isdigit, token))


def _has_number(token: str) -> bool:
    return token[:1].isdigit() or (token[:1] == "-" and token[1:2].isdigit())


def _grade(names: Sequence[str], row: Sequence[str]) -> float:
    best = 0.0
    done = any(value.lower() in _DONE for value in row)
    for name, value in zip(names, row, strict=False):
        if _FILLED.match(name) and _NUMBER.match(value):
            number = float(value.rstrip("%"))
            best = max(best, 4.0 if number >= 97 else 3.0 if number >= 90 else 0.0)
        elif _is_waiting(name, value) or _is_full_queue(name, names, row) or (not done and _is_short_of(name, value)):
            best = max(best, 3.0)
    if row and row[-1].isdigit() and int(row[-1][:15]) and any(map(is_counter, row[:3])):
        best = max(best, 2.5)
    return best


def _far_rows(lines: Sequence[Sequence[str]], names: Sequence[str], rows: list[int]) -> set[int]:
    far: set[int] = set()
    for column in range(1, min(len(names), _MOST_COLUMNS)):
        some = [at for at in rows if column < len(lines[at]) and _has_number(lines[at][column])]
        if len(some) * 2 >= len(rows):
            found = far_lines([lines[at][column : column + 1] for at in some], [VARIABLE])
            far |= {some[index] for index in found}
    return far


def _is_waiting(name: str, value: str) -> bool:
    return name.lower() in _STATE_HEADS and value[0] in "DZ" and len(value) <= 4


def _is_full_queue(name: str, names: Sequence[str], row: Sequence[str]) -> bool:
    """A socket that listens has the connections that wait as Recv-Q and how many may as Send-Q."""
    if name != "Recv-Q":
        return False
    at = names.index(name)
    values = row[at : at + 2]
    return "LISTEN" in row[:at] and all(map(str.isdigit, values)) and int(values[0]) >= max(int(values[-1]), 1)


def _is_short_of(name: str, value: str) -> bool:
    ratio = _RATIO.match(value) if name.isupper() else None
    return ratio is not None and int(ratio[1]) < int(ratio[2])
