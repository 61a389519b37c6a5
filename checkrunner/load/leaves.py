"""The kinds of values a playbook can hold, as pydantic annotations: each takes nodes and gives finished values.

A leaf sees the scalar with its place and raw text, so a Template comes out knowing where it was written. Strictness
lives here: a number or boolean where a text is meant is taken as it was written (``0644``), nothing else is coerced.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from checkrunner.load.forms import OneOrMany, problem, scalar
from checkrunner.load.nodes import YamlList, YamlMap, YamlScalar, plain, raw_text
from checkrunner.load.quantities import (
    NotationError,
    check_answer,
    check_pattern,
    duration,
    lines_range,
    number_condition,
    variable_name,
)
from checkrunner.model.errors import nearest
from checkrunner.model.sources import Secret, Template

__all__ = [
    "Answer",
    "Argument",
    "BecomeFlag",
    "Choice",
    "Condition",
    "Count",
    "EnvName",
    "EnvValue",
    "ExpressionText",
    "Flag",
    "Hosts",
    "Identifier",
    "LineRange",
    "Pattern",
    "PlainText",
    "PlayVars",
    "Seconds",
    "Tool",
    "Variable",
    "WholeText",
    "Word",
    "Words",
    "template",
]

_WRAPPED = re.compile(r"\s*(\{\{.*\}\}|\{%.*%\})\s*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ANY_SCALAR = {"type": ["string", "number", "boolean"]}


def _noted(exc: NotationError, node: YamlScalar) -> PydanticCustomError:
    return problem(exc.message, exc.hint, at=node.place(exc.offset))


def template(node: YamlScalar, text: str | None = None) -> Template:
    """The scalar as text with its place."""
    return Template(text=node.raw if text is None else text, source=node.ref, literal=node.style == "|")


def _leaf(parse: Callable[[YamlScalar], Any]) -> PlainValidator:
    def validate(value: object) -> Any:
        node = scalar(value)
        try:
            return parse(node)
        except NotationError as exc:
            raise _noted(exc, node) from exc

    return PlainValidator(validate)


def _whole_text(node: YamlScalar) -> Template:
    if not node.raw.strip():
        raise NotationError("a text is expected here, this is empty", "Write something, or leave the key out.")
    return template(node)


def _argument(node: YamlScalar) -> Template:
    return template(node)


def _env_value(value: object) -> Template | Secret:
    if isinstance(value, YamlScalar) and isinstance(value.value, Secret):
        return value.value
    return template(scalar(value))


def _expression(node: YamlScalar) -> Template:
    if isinstance(node.value, bool):
        return template(node, str(node.value).lower())
    if not node.raw.strip():
        raise NotationError("an expression is expected here, this is empty", "Write something, or leave the key out.")
    if _WRAPPED.fullmatch(node.raw):
        raise NotationError(
            "an expression in braces", f"Expressions are written without braces: {_unwrapped(node.raw)}"
        )
    return template(node)


def _unwrapped(text: str) -> str:
    inner = text.strip()[2:-2].strip()
    return inner if "{" not in inner else "rc == 0"


def _pattern(node: YamlScalar) -> Template:
    found = template(node)
    if found.is_static:
        check_pattern(node.raw)
    return found


def _answer(value: object) -> Template | Secret:
    if isinstance(value, YamlScalar) and isinstance(value.value, Secret):
        return value.value  # looked at when it is opened
    node = scalar(value)
    found = template(node)
    try:
        if found.is_static:
            check_answer(node.raw)
    except NotationError as exc:
        raise _noted(exc, node) from exc
    return found


def _word(node: YamlScalar) -> str:
    if not _WORD.fullmatch(node.raw):
        raise NotationError(
            f"{node.raw!r} is not a name", "A name has letters, digits, '.', '_' and '-', and starts with one."
        )
    return node.raw


def _plain_text(node: YamlScalar) -> str:
    text = node.raw.strip()
    if not text:
        raise NotationError("a text is expected here, this is empty", "Write something, or leave the key out.")
    return text


def _hosts(node: YamlScalar) -> str:
    text = _plain_text(node)
    if "{{" in text:
        raise NotationError(
            "a host pattern cannot hold variables", "Name a group here and narrow it down with --limit."
        )
    return text


def _tool(node: YamlScalar) -> str:
    text = _plain_text(node)
    if "\n" in text or "{{" in text:
        raise NotationError(f"{text!r} is not the name of a tool or a path", "Write `requires: [jq, /usr/sbin/lvs]`.")
    return text


def _flag(node: YamlScalar) -> bool:
    if not isinstance(node.value, bool):
        raise NotationError(f"true or false is expected here, this is {raw_text(node)}", "Write it without quotes.")
    return node.value


def _become(node: YamlScalar) -> bool | str:
    if node.value == "exact":
        return "exact"
    if not isinstance(node.value, bool):
        raise NotationError(f"true, false or exact is expected here, this is {raw_text(node)}", "Write `become: true`.")
    return node.value


def _seconds(node: YamlScalar) -> float:
    return duration(node.value, node.raw)


def _variable(node: YamlScalar) -> str:
    return variable_name(node.raw)


def _line_range(value: object) -> tuple[int, int]:
    if isinstance(value, YamlList):
        if len(value) != 2 or not all(isinstance(item, YamlScalar) for item in value):
            raise problem("a list of lines has two numbers: [first, last]", "Write [3, 10], or '3-10'.")
        raw = f"{value[0].raw}-{value[1].raw}"
    else:
        raw = scalar(value).raw
    try:
        return lines_range(value.value if isinstance(value, YamlScalar) else None, raw)
    except NotationError as exc:
        raise problem(exc.message, exc.hint) from exc


def _condition(value: object) -> int | float | str | tuple[int | float, ...]:
    if not isinstance(value, YamlList):
        return _number(scalar(value))
    numbers = [_number(scalar(item)) for item in value]
    if not numbers or any(isinstance(number, str) for number in numbers):
        raise problem("a list here holds numbers only, at least one", "Several comparisons: write a list of `expect`s.")
    return tuple(number for number in numbers if not isinstance(number, str))


def _number(node: YamlScalar) -> int | float | str:
    try:
        return number_condition(node.value, node.raw)
    except NotationError as exc:
        raise _noted(exc, node) from exc


def _play_vars(value: object) -> dict[str, Any]:
    if isinstance(value, YamlScalar) and value.value is None:
        return {}
    if not isinstance(value, YamlMap):
        what = raw_text(value) if isinstance(value, YamlScalar | YamlList) else repr(value)
        raise problem(f"variables are a mapping (name: value), this is {what}", "Write `vars: {name: value}`.")
    for key in value:
        try:
            variable_name(key)
        except NotationError as exc:
            raise problem(exc.message, exc.hint, key=key) from exc
    return {key: plain(node) for key, node in value.items()}


def _env_name(key: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
        raise problem(f"{key!r} is not the name of an environment variable", "Letters, digits and _, no digit first.")
    return key


def Choice(*words: str) -> PlainValidator:  # noqa: N802 - used as an annotation, like the classes beside it
    """One of a few words; gives the word."""

    def parse(node: YamlScalar) -> str:
        if node.raw not in words:
            near = _near(node.raw, words) or f"Write {words[0]} or another one of these."
            raise NotationError(f"{node.raw!r} is not one of {', '.join(words)}", near)
        return node.raw

    return _leaf(parse)


def _near(word: str, known: tuple[str, ...]) -> str:
    close = nearest(word, known)
    return f"Did you mean {close!r}?" if close else ""


def Count(minimum: int, maximum: int) -> PlainValidator:  # noqa: N802 - see Choice
    """A whole number within bounds."""

    def parse(node: YamlScalar) -> int:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int):
            raise NotationError(
                f"a whole number is expected here, this is {raw_text(node)}", "Write digits alone, such as 5."
            )
        if not minimum <= value <= maximum:
            raise NotationError(f"{value} is out of range", f"It may be {minimum} to {maximum}.")
        return value

    return _leaf(parse)


def _text_schema(description: str = "", **more: Any) -> WithJsonSchema:
    return WithJsonSchema({**_ANY_SCALAR, **({"description": description} if description else {}), **more})


WholeText = Annotated[Template, _leaf(_whole_text), _text_schema()]
Argument = Annotated[Template, _leaf(_argument), _text_schema()]
Answer = Annotated[Template | Secret, PlainValidator(_answer), _text_schema()]
EnvValue = Annotated[Template | Secret, PlainValidator(_env_value), _text_schema()]
ExpressionText = Annotated[Template, _leaf(_expression), _text_schema()]
Pattern = Annotated[Template, _leaf(_pattern), WithJsonSchema({"type": "string", "format": "regex"})]
PlainText = Annotated[str, _leaf(_plain_text), _text_schema()]
Identifier = Annotated[str, _leaf(_word), WithJsonSchema({"type": "string", "pattern": f"^{_WORD.pattern}$"})]
Word = Annotated[str, _leaf(_word), _text_schema()]
Words = Annotated[list[Word], OneOrMany(split=True)]
Tool = Annotated[str, _leaf(_tool), WithJsonSchema({"type": "string"})]
Hosts = Annotated[str, _leaf(_hosts), WithJsonSchema({"type": "string"})]
BecomeFlag = Annotated[bool | str, _leaf(_become), WithJsonSchema({"anyOf": [{"type": "boolean"}, {"const": "exact"}]})]
Flag = Annotated[bool, _leaf(_flag), WithJsonSchema({"type": "boolean"})]
Seconds = Annotated[float, _leaf(_seconds), WithJsonSchema({"type": ["number", "string"]})]
Variable = Annotated[str, _leaf(_variable), WithJsonSchema({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"})]
LineRange = Annotated[
    tuple[int, int],
    PlainValidator(_line_range),
    WithJsonSchema({"type": ["string", "integer", "array"], "items": {"type": "integer"}}),
]
Condition = Annotated[
    int | float | str | tuple[int | float, ...],
    PlainValidator(_condition),
    WithJsonSchema({"type": ["number", "string", "array"], "items": {"type": "number"}}),
]
PlayVars = Annotated[dict[str, Any], PlainValidator(_play_vars), WithJsonSchema({"type": "object"})]
EnvName = Annotated[str, BeforeValidator(_env_name)]
