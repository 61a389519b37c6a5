"""What the mappings of the playbook format share: strictness, kinds of values that several of them hold."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema

from checkrunner.load.forms import OneOrMany, problem
from checkrunner.load.leaves import BecomeFlag, Choice, Count, ExpressionText, Pattern, PlainText, WholeText
from checkrunner.load.nodes import YamlList, YamlMap, YamlScalar, raw_text
from checkrunner.model.results import MOST_SLICE_LINES

__all__ = [
    "ENTRIES",
    "ENTRY",
    "BecomeMethodKey",
    "BecomeUserKey",
    "BecomeValue",
    "Entries",
    "EntriesOrOne",
    "Expressions",
    "LineCount",
    "Patterns",
    "SeverityWord",
    "StreamWord",
    "StrictModel",
    "Texts",
    "up_to",
    "words",
]

ENTRY = {"$comment": "entry"}
"""Stands in a schema for what a list of checks may hold: checks, blocks and inclusions."""

ENTRIES: dict[str, Any] = {"type": "array", "items": ENTRY, "minItems": 1}


def up_to(most: int, least: int = 1) -> dict[str, Any]:
    """The JSON Schema of a whole number within bounds."""
    return {"type": "integer", "minimum": least, "maximum": most}


def words(*choices: str) -> WithJsonSchema:
    """The JSON Schema of one of a few words."""
    return WithJsonSchema({"enum": list(choices)})


class StrictModel(BaseModel):
    """A mapping of which every key is known. Takes nodes, holds finished values."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True, arbitrary_types_allowed=True)


def _entries(value: object) -> YamlList:
    if not isinstance(value, YamlList):
        what = raw_text(value) if isinstance(value, YamlScalar | YamlMap) else repr(value)
        hint = (
            "Put `- ` before the first key of each check."
            if isinstance(value, YamlMap)
            else "Write `- run: ...` below it."
        )
        raise problem(f"a list is expected here, this is {what}", hint)
    if not value:
        raise problem("there is not at least one check here", "Write `- run: ...`, or drop the key.")
    return value


def _entries_or_one(value: object) -> YamlList:
    if not isinstance(value, YamlMap):
        return _entries(value)
    found = YamlList(value.path, value.line, value.column)
    found.append(value)
    return found


# Each is read by itself, so that what is wrong in one hides nothing of the others.
Entries = Annotated[YamlList, PlainValidator(_entries), WithJsonSchema(ENTRIES)]
EntriesOrOne = Annotated[YamlList, PlainValidator(_entries_or_one), WithJsonSchema({"anyOf": [ENTRY, ENTRIES]})]

Texts = Annotated[list[WholeText], OneOrMany()]
Patterns = Annotated[list[Pattern], OneOrMany()]
Expressions = Annotated[list[ExpressionText], OneOrMany()]
LineCount = Annotated[int, Count(1, MOST_SLICE_LINES), WithJsonSchema(up_to(MOST_SLICE_LINES))]
StreamWord = Annotated[str, Choice("stdout", "stderr"), words("stdout", "stderr")]
SeverityWord = Annotated[str, Choice("critical", "warning", "info"), words("critical", "warning", "info")]
BecomeValue = Annotated[
    BecomeFlag | None,
    Field(description="Run as another user; `exact`: only the command itself. See [Privileges](become.md)."),
]
BecomeUserKey = Annotated[PlainText | None, Field(description="That user (default root).")]
BecomeMethodKey = Annotated[
    Annotated[str, Choice("sudo", "su", "doas"), words("sudo", "su", "doas")] | None,
    Field(description="How: `sudo`, `su` or `doas`."),
]
