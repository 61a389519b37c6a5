"""Ways of writing that playbooks share: one or many, and short forms. Errors of ours in pydantic's terms."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from checkrunner.load.nodes import YamlList, YamlMap, YamlScalar, raw_text
from checkrunner.model.sources import Secret, SourceRef

__all__ = ["OneOrMany", "Shorthand", "Switch", "problem", "scalar"]


def problem(
    message: str, hint: str = "", *, at: SourceRef | None = None, key: str | tuple[str, ...] | None = None
) -> PydanticCustomError:
    """An error of ours, at a place, at a key of the mapping (several lead to a key further down), or at the value
    itself.

    Braces in texts must not be read as a format, so the texts travel in the context.
    """
    return PydanticCustomError("ours", "{message}", {"message": message, "hint": hint, "at": at, "key": key})


def scalar(value: object) -> YamlScalar:
    """The value, which must be a text, number or boolean."""
    if not isinstance(value, YamlScalar):
        what = raw_text(value) if isinstance(value, YamlList | YamlMap) else repr(value)
        hint = "Write a text."
        if isinstance(value, YamlMap) and len(value) == 1:
            hint = "A text that holds ': ' must be quoted."
        elif isinstance(value, YamlList):
            hint = "A text that starts with [ must be quoted."
        raise problem(f"a text is expected here, this is {what}", hint)
    if isinstance(value.value, Secret):
        raise problem("a secret cannot stand here", "Secrets go into `vars` of a play, and into `env` of a check.")
    if value.value is None and not value.style:
        raise problem("a text is expected here, there is nothing", "Write something, or leave the key out.")
    if "\x00" in value.raw:
        raise problem(
            "a NUL byte cannot be part of a command or text", "Take it out.", at=value.place(value.raw.index("\x00"))
        )
    return value


@dataclass(frozen=True)
class OneOrMany:
    """A list, or its only item as it stands; with `split`, a text of words with commas or spaces as well."""

    split: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Wrap what is not a list into one."""
        return core_schema.no_info_before_validator_function(self._listed, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Both ways of writing it."""
        many = handler(schema)
        return {"anyOf": [many["items"], many]}

    def _listed(self, value: object) -> object:
        if isinstance(value, YamlList):
            if not value:
                raise problem("the list is empty", "Leave the key out instead.")
            return value
        if self.split and isinstance(value, YamlScalar):
            return _split(value)
        return [value]


def _split(node: YamlScalar) -> list[YamlScalar]:
    words = []
    for match in re.finditer(r"[^\s,]+", node.raw):
        ref = node.place(match.start())
        words.append(YamlScalar(node.path, match.group(), match.group(), '"', ref.line, ref.column, 1))
    return words or [node]


@dataclass(frozen=True)
class Shorthand:
    """A mapping, or a text that stands for one: `read` makes the mapping's entries of the scalar."""

    read: Callable[[YamlScalar], dict[str, YamlScalar]]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Turn a scalar into the mapping that it stands for."""
        return core_schema.no_info_before_validator_function(self._expanded, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Both ways of writing it."""
        return {"anyOf": [{"type": "string"}, handler(schema)]}

    def _expanded(self, value: object) -> object:
        if not isinstance(value, YamlScalar):
            return value
        node = scalar(value)
        mapping = YamlMap(node.path, node.line, node.column)
        for key, child in self.read(node).items():
            mapping[key] = child
            mapping.keys_at[key] = node
        return mapping


@dataclass(frozen=True)
class Switch:
    """A mapping whose keys may all be left out: `true` stands for that, `false` for no mapping at all."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Turn the boolean into the mapping that it stands for."""
        return core_schema.no_info_before_validator_function(self._expanded, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Both ways of writing it."""
        return {"anyOf": [{"type": "boolean"}, handler(schema)]}

    def _expanded(self, value: object) -> object:
        if isinstance(value, YamlScalar) and isinstance(value.value, bool):
            return YamlMap(value.path, value.line, value.column) if value.value else None
        if isinstance(value, YamlScalar):
            raise problem(f"true or a mapping is expected here, this is {raw_text(value)}", "Write `true`.")
        return value
