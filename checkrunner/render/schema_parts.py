"""What schemas of our documents are made of."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

__all__ = [
    "Schema",
    "array_of",
    "axis_of",
    "count_of",
    "enum_of",
    "number_of",
    "object_of",
    "text_of",
    "time_of",
]

Schema = dict[str, Any]


def object_of(description: str, properties: dict[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    """An object with these properties and no others; all required but the optional ones."""
    left = set(optional)
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": [name for name in properties if name not in left],
        "additionalProperties": False,
    }


def array_of(description: str, items: Schema) -> Schema:
    """A list of such items."""
    return {"type": "array", "description": description, "items": items}


def text_of(description: str) -> Schema:
    """A text."""
    return {"type": "string", "description": description}


def time_of(description: str) -> Schema:
    """A time in ISO 8601."""
    return {"type": "string", "format": "date-time", "description": description}


def number_of(description: str) -> Schema:
    """A number, or null where there is none to tell."""
    return {"type": ["number", "null"], "description": description}


def count_of(description: str) -> Schema:
    """A whole number, 0 or more."""
    return {"type": "integer", "minimum": 0, "description": description}


def enum_of(description: str, kind: type[StrEnum]) -> Schema:
    """One of the words of this kind."""
    return {"enum": [str(member) for member in kind], "description": description}


def axis_of(description: str, kind: type[StrEnum]) -> Schema:
    """How many there are of each word of this kind."""
    return {
        "type": "object",
        "description": description,
        "properties": {str(member): count_of(f"How many are {str(member).replace('_', ' ')}.") for member in kind},
        "additionalProperties": False,
    }
