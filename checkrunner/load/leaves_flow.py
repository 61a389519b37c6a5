"""Kinds of values of loops, shares of hosts and thresholds, as pydantic annotations (see `leaves`)."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainValidator, WithJsonSchema

from checkrunner.load.forms import OneOrMany, problem, scalar
from checkrunner.load.leaves import template
from checkrunner.load.nodes import YamlList, YamlMap, YamlScalar, plain, raw_text
from checkrunner.load.quantities import NotationError, level_range, variable_name
from checkrunner.model.durations import seconds_of
from checkrunner.model.playbook import Share
from checkrunner.model.sources import Secret, Template

__all__ = [
    "AnyValue",
    "FilePath",
    "Fraction",
    "Level",
    "LoopItems",
    "NameKey",
    "ParserName",
    "Pause",
    "ShareOfHosts",
    "SharesOfHosts",
    "holds_secret",
    "share_of",
]

_WRAPPED = re.compile(r"\s*\{\{(.*)\}\}\s*", re.DOTALL)
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*%")
_PARSER = re.compile(r"json|yaml|csv|kv|table|lines|regex|jc:[a-z0-9][a-z0-9_-]*")
_MOST_HOSTS = 1_000_000
_LONGEST_PAUSE_S = 3600.0


def holds_secret(node: object) -> bool:
    """Whether a secret stands somewhere in a value."""
    if isinstance(node, YamlScalar):
        return isinstance(node.value, Secret)
    items = node.values() if isinstance(node, YamlMap) else node if isinstance(node, YamlList) else ()
    return any(holds_secret(item) for item in items)


def _loop_items(value: object) -> list[Any] | Template:
    if holds_secret(value):
        raise problem("a secret cannot be an item of a loop", "Put it into `vars`, and loop over what is no secret.")
    if isinstance(value, YamlList):
        return [plain(item) for item in value]
    if isinstance(value, YamlMap):
        hint = "For the pairs of a mapping write an expression: `loop: NAME | dict2items`."
        raise problem("a list or an expression is expected here, this is a mapping", hint)
    node = scalar(value)
    if not node.raw.strip():
        raise problem(
            "a list or an expression is expected here, this is empty", "Write something, or leave the key out."
        )
    if isinstance(node.value, bool | int | float):
        hint = f"Write `loop: [{node.raw}]`, or `range({node.raw})` to count."
        raise problem(f"a list or an expression is expected here, this is {raw_text(node)}", hint)
    # Ansible's way of writing it: the braces around it say nothing more.
    wrapped = _WRAPPED.fullmatch(node.raw)
    if wrapped is None:
        if "{{" in node.raw or "{%" in node.raw:
            raise problem("an expression in braces", "A loop's expression is written without braces: `loop: disks`.")
        return template(node)
    inner = wrapped[1].strip()
    if not inner or "}}" in inner:
        raise problem("an expression in braces", "A loop's expression is written without braces: `loop: disks`.")
    start = wrapped.start(1) + len(wrapped[1]) - len(wrapped[1].lstrip())
    return Template(text=inner, source=node.place(start))


def share_of(node: YamlScalar) -> Share:
    """``3`` or ``30%`` of the hosts. Raises NotationError."""
    percent = _PERCENT.fullmatch(node.raw.strip())
    if percent:
        number = float(percent[1])
        if not 0 < number <= 100:
            raise NotationError(f"{node.raw!r} is out of range", "It may be more than 0% and at most 100%.")
        return Share(fraction=number / 100)
    if isinstance(node.value, bool) or not isinstance(node.value, int):
        hint = "Write a number of hosts (2) or a share of them (30%)."
        raise NotationError(f"{node.raw!r} is no number of hosts", hint)
    if not 1 <= node.value <= _MOST_HOSTS:
        raise NotationError(f"{node.raw!r} is out of range", "At least one host, or a share such as 30%.")
    return Share(count=node.value)


def _noted(parse: Any) -> PlainValidator:
    def validate(value: object) -> Any:
        node = scalar(value)
        try:
            return parse(node)
        except NotationError as exc:
            raise problem(exc.message, exc.hint, at=node.place(exc.offset)) from exc

    return PlainValidator(validate)


def _fraction(node: YamlScalar) -> float:
    percent = _PERCENT.fullmatch(node.raw.strip())
    number = float(percent[1]) / 100 if percent else node.value
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise NotationError(f"{node.raw!r} is no share", "Write 0.8 or 80%.")
    if not 0 < number <= 1:
        hint = f"Write {number:g}%." if 1 < number <= 100 else "It may be more than 0 and at most 1 (or 100%)."
        raise NotationError(f"{node.raw!r} is out of range", hint)
    return float(number)


def _level(value: object) -> Template:
    if isinstance(value, YamlMap) and len(value) == 1:  # `{warn: 10:}` is a mapping to YAML
        raise problem("a threshold is expected here, this is a mapping", f"Quote it: '{next(iter(value))}:'.")
    node = scalar(value)
    found = template(node, node.raw.strip())
    if isinstance(node.value, bool):
        raise problem(f"a threshold is expected here, this is {raw_text(node)}", "Write 90, 90% or '10:'.")
    if found.is_static:
        try:
            level_range(found.text)
        except NotationError as exc:
            raise problem(exc.message, exc.hint, at=node.place(exc.offset)) from exc
    return found


def _name_key(key: str) -> str:
    try:
        return variable_name(key)
    except NotationError as exc:
        raise problem(exc.message, exc.hint) from exc


def _parser(node: YamlScalar) -> str:
    if not _PARSER.fullmatch(node.raw):
        hint = "Write json, yaml, csv, kv, table, lines, regex or jc:PARSER, such as jc:df."
        raise NotationError(f"{node.raw!r} is no way to read an output", hint)
    return node.raw


def _path(node: YamlScalar) -> YamlScalar:
    if not node.raw.strip():
        raise NotationError("the name of a file is expected here, this is empty", "Name a file beside this one.")
    if "{{" in node.raw or "{%" in node.raw:
        hint = "It is read before anything is known of a host; include each file, with `when`."
        raise NotationError("the name of a file cannot hold variables here", hint)
    return node


def _pause(node: YamlScalar) -> float:
    seconds = None if isinstance(node.value, bool) else seconds_of(node.raw)
    if seconds is None:
        raise NotationError(f"{node.raw!r} is not a duration", "Write seconds (3) or a number with ms, s, m or h (2m).")
    if seconds > _LONGEST_PAUSE_S:
        raise NotationError(f"{node.raw!r} is out of range", "It may be at most 1h.")
    return seconds


def _any(value: object) -> Any:
    if holds_secret(value):
        raise problem("a secret cannot stand here", "Secrets go into `vars` of a play, and into `env` of a check.")
    return plain(value) if isinstance(value, YamlScalar | YamlList | YamlMap) else value


_NUMBER_OR_TEXT = {"type": ["number", "string"]}
_SHARE = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^[0-9.]+ *%$"}]}

LoopItems = Annotated[list[Any] | Template, PlainValidator(_loop_items), WithJsonSchema({"type": ["array", "string"]})]
ShareOfHosts = Annotated[Share, _noted(share_of), WithJsonSchema(_SHARE)]
SharesOfHosts = Annotated[list[ShareOfHosts], OneOrMany()]
Fraction = Annotated[float, _noted(_fraction), WithJsonSchema(_NUMBER_OR_TEXT)]
Level = Annotated[Template, PlainValidator(_level), WithJsonSchema(_NUMBER_OR_TEXT)]
NameKey = Annotated[str, BeforeValidator(_name_key)]
ParserName = Annotated[str, _noted(_parser), WithJsonSchema({"type": "string", "pattern": f"^({_PARSER.pattern})$"})]
FilePath = Annotated[YamlScalar, _noted(_path), WithJsonSchema({"type": "string"})]
Pause = Annotated[float, _noted(_pause), WithJsonSchema(_NUMBER_OR_TEXT)]
AnyValue = Annotated[Any, PlainValidator(_any), WithJsonSchema({})]
