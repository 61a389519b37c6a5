"""What a parser makes of an output: data for queries, rows for columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["NothingError", "Parsed", "UnreadError", "clipped", "distinct", "listed", "short"]

_LISTED = 12


class UnreadError(ValueError):
    """A value could not be read; the text says what was there instead, in one line."""


class NothingError(UnreadError):
    """There is nothing at all where the value should be: what a `missing` is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """`data` is plain (mappings, lists, texts, numbers, booleans, None). `rows` are its records, if it has any, and
    `columns` the names that are known in them; in a `ragged` one, a row may lack a column. `what` names it in messages.
    """

    data: Any
    rows: Sequence[Mapping[str, Any]] = ()
    columns: Sequence[str] = ()
    ragged: bool = False
    what: str = "the table"


def distinct(names: Sequence[str]) -> None:
    """Raises UnreadError where two columns have one name: nobody could tell which is meant."""
    seen: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        first = seen.setdefault(name, number)
        if first != number:
            raise UnreadError(f"columns {first} and {number} are both called {short(name)}")


def listed(names: Iterable[str]) -> str:
    """Names for a message; a long list is cut and says so."""
    shown = list(names)
    more = f", and {len(shown) - _LISTED} more" if len(shown) > _LISTED else ""
    return ", ".join(name if name else "''" for name in (clipped(name) for name in shown[:_LISTED])) + more


def clipped(text: str, most: int = 40) -> str:
    """The beginning of a text, on one line."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def short(value: object, most: int = 60) -> str:
    """A value that was there instead of another, for a message."""
    return repr(clipped(value, most)) if isinstance(value, str) else clipped(repr(value), most)
