"""The JSON values of an answer, each read as what it should be: nothing that a host sends is taken on trust.

Every reader raises MalformedError that names the key, what it holds and what it should be. Texts are bounded here,
once: what is kept of an answer for the rest of the run is small, whatever its line held.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeVar

from checkrunner.model.characters import one_line

__all__ = [
    "MAX_TEXT",
    "Fields",
    "MalformedError",
    "flag_of",
    "int_of",
    "items_of",
    "line_of",
    "mapping_of",
    "member_of",
    "moment_of",
    "number_of",
    "optional_int_of",
    "shown",
    "text_of",
    "texts_of",
    "whole_of",
]

Fields = Mapping[str, object]
_E = TypeVar("_E", bound=StrEnum)

MAX_TEXT = 4096
"""Characters of a text: room for any path. Longer ones are cut, since an honest host may have them."""
_MAX_INT = 1 << 63
_MAX_ITEMS = 65_536


class MalformedError(ValueError):
    """An answer that does not have the form of one."""


def shown(value: object) -> str:
    """A value for an error message, at most 60 characters of it."""
    # The repr of a whole megabyte would be made for its first few characters.
    if isinstance(value, str | list | dict) and len(value) > 60:
        return f"a {type(value).__name__} of {len(value)} items"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _clean(text: str) -> str:
    # JSON can name lone surrogates; no text that leaves here may fail to encode later on.
    if len(text) > MAX_TEXT:
        text = text[: MAX_TEXT - 3] + "..."
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def text_of(fields: Fields, key: str, default: str | None = None) -> str:
    """A text of at most `MAX_TEXT` characters, what is longer cut; any characters but lone surrogates."""
    value = fields.get(key, default)
    if not isinstance(value, str):
        raise MalformedError(f"{key} is {shown(value)}, not a text")
    return _clean(value)


def line_of(fields: Fields, key: str, most: int = MAX_TEXT) -> str:
    """A text that people are shown as it is: one line of printable characters."""
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedError(f"{key} is {shown(value)}, not a text")
    # Folding takes time in proportion; what is far beyond the limit is not looked at.
    return one_line(value[: 4 * most], most)


def texts_of(fields: Fields, key: str, *, most: int = _MAX_ITEMS) -> tuple[str, ...]:
    """A list of texts; an absent one is empty."""
    items = items_of(fields, key, most)
    if not all(isinstance(item, str) for item in items):
        raise MalformedError(f"{key} is {shown(items)}, not a list of texts")
    return tuple(_clean(str(item)) for item in items)


def items_of(fields: Fields, key: str, most: int = _MAX_ITEMS) -> list[object]:
    """A list of at most `most` items; an absent one is empty."""
    value = fields.get(key, [])
    if not isinstance(value, list):
        raise MalformedError(f"{key} is {shown(value)}, not a list")
    if len(value) > most:
        raise MalformedError(f"{key} is a list of {len(value)} items, at most {most} are allowed")
    return value


def mapping_of(value: object, key: str) -> dict[str, object]:
    """The value as an object; `key` is its name in the message."""
    if not isinstance(value, dict):
        raise MalformedError(f"{key} is {shown(value)}, not an object")
    return value


def whole_of(value: object, key: str, lowest: int = 0) -> int:
    """The value as a whole number from `lowest` to 2**63 - 1."""
    # bool is an int to isinstance, and is none here.
    if type(value) is not int or not lowest <= value < _MAX_INT:
        raise MalformedError(f"{key} is {shown(value)}, not a whole number")
    return value


def int_of(fields: Fields, key: str, default: int | None = None, *, lowest: int = 0) -> int:
    """A whole number from `lowest` to 2**63 - 1."""
    return whole_of(fields.get(key, default), key, lowest)


def optional_int_of(fields: Fields, key: str, highest: int) -> int | None:
    """A whole number up to `highest`; None where it is absent or null."""
    value = fields.get(key)
    if value is None:
        return None
    number = whole_of(value, key)
    if number > highest:
        raise MalformedError(f"{key} is {number}, at most {highest} is allowed")
    return number


def number_of(fields: Fields, key: str) -> float:
    """A number that is not negative; 0 where it is absent."""
    value = fields.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MAX_INT:
        raise MalformedError(f"{key} is {shown(value)}, not a number of seconds")
    number = float(value)
    assert math.isfinite(number)
    return number


def moment_of(fields: Fields, key: str) -> datetime | None:
    """Unix seconds as a moment in UTC; None for 0 and where it is absent."""
    seconds = number_of(fields, key)
    if not seconds:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        raise MalformedError(f"{key} is {seconds}, not a moment in Unix seconds") from None


def flag_of(fields: Fields, key: str, *, default: bool) -> bool:
    """True or false, also as 1 or 0."""
    value = fields.get(key, default)
    # A flag may come as 0 or 1 from an agent that has no booleans.
    if value is True or value is False:
        return value
    if type(value) is int and value in (0, 1):
        return value == 1
    raise MalformedError(f"{key} is {shown(value)}, not true or false")


def member_of(kind: type[_E], fields: Fields, key: str, default: _E | None = None) -> _E:
    """A word of the enumeration."""
    value = fields.get(key, default)
    try:
        return kind(value if isinstance(value, str) else "")
    except ValueError:
        raise MalformedError(f"{key} is {shown(value)}, not one of {', '.join(kind)}") from None
