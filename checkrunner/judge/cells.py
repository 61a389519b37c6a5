"""Cells of a row as `where` conditions see them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from checkrunner.model.comparing import Comparing
from checkrunner.model.quantities import QuantityError, quantity

__all__ = ["Cell", "row_names"]

_NOT_WORD = re.compile(r"[^0-9A-Za-z_]+")


class Cell(Comparing, str):
    """A text that compares with a number as a number: ``Use_pct > 90`` holds for the cell ``93%``. A cell that is no
    number is neither equal to, nor more or less than one."""

    __slots__ = ()

    def _compared(self, other: object, compare: Callable[[Any, Any], bool]) -> bool:
        if isinstance(other, int | float) and not isinstance(other, bool):
            try:
                return compare(quantity(str(self)).number, other)
            except QuantityError:
                return compare is operator.ne
        return compare(str(self), other)

    def __str__(self) -> str:
        return str.__str__(self)

    def __hash__(self) -> int:
        return str.__hash__(self)


def row_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """The names under which a condition reads a row: each column as a word (``Use%`` is `Use_pct`, ``Mounted on`` is
    `Mounted_on`), and all of them as they are written in `row`. Columns that come to the same word have none."""
    cells = {str(name): Cell(value) if isinstance(value, str) else value for name, value in row.items()}
    words: dict[str, Any] = {}
    twice = {"row"}
    for name, cell in cells.items():
        word = _NOT_WORD.sub("_", name.replace("%", "_pct")).strip("_")
        word = f"_{word}" if not word or word[0].isdigit() else word
        if word in words:
            twice.add(word)
        words[word] = cell
    return {**{word: cell for word, cell in words.items() if word not in twice}, "row": cells}
