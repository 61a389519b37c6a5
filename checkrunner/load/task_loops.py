"""`loop`, `with_...` and `loop_control` of tasks."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from checkrunner.load.nodes import Node, YamlList, YamlMap, YamlScalar, raw_text
from checkrunner.load.task_values import Values, lone_expression
from checkrunner.model.errors import nearest
from checkrunner.model.playbook import Loop
from checkrunner.model.sources import Template

__all__ = ["WITH", "read_loop"]

_CONTROL = ("loop_var", "index_var", "label", "pause", "extended", "extended_allitems")
_SEQUENCE = re.compile(r"(?P<name>start|end|count|stride|format)=(?P<value>\S+)")
_FORM = re.compile(r"[^%]*%[-#0 +]*\d{0,3}(?:\.\d{1,3})?[diouxXeEfFgGs][^%]*")
_MOST_NUMBERS = 10_000
_PARTS = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


def read_loop(values: Values, node: YamlMap) -> Loop | None:
    """The loop of a task, None where it has none."""
    names = [key for key in node if key == "loop" or key.startswith("with_")]
    if not names:
        if "loop_control" in node:
            raise values.fail(node.keys_at["loop_control"], "loop_control stands here without a loop")
        return None
    key = names[0]
    if len(names) > 1:
        raise values.fail(node.keys_at[names[1]], f"a task has one loop, this has {key!r} and {names[1]!r}")
    items = _loop_items(values, node[key]) if key == "loop" else _with(values, key, node)
    return _controlled(values, node, Loop(items=items, source=node.keys_at[key].ref))


def _loop_items(values: Values, node: Node) -> Any:
    if isinstance(node, YamlList):
        return values.value(node)
    expression = lone_expression(node.raw) if isinstance(node, YamlScalar) else None
    if expression is None:
        hint = 'Write a list, or a template that comes to one: `loop: "{{ names }}"`.'
        if isinstance(node, YamlMap):
            hint = 'For a mapping write `loop: "{{ NAME | dict2items }}"`.'
        raise values.fail(node, f"a loop goes over a list, this is {raw_text(node)}", hint)
    assert isinstance(node, YamlScalar)
    return Template(text=expression.strip(), source=_inner_place(node))


def _inner_place(node: YamlScalar) -> Any:
    inner = node.raw.index("{{") + 2
    return node.place(inner + len(node.raw[inner:]) - len(node.raw[inner:].lstrip()))


def _with(values: Values, key: str, node: YamlMap) -> Any:
    kind, given = key.removeprefix("with_"), node[key]
    if kind not in WITH:
        close = nearest(kind, WITH)
        listed = ", ".join(f"with_{name}" for name in WITH)
        hint = f"Did you mean 'with_{close}'?" if close else f"Supported: loop, {listed}."
        raise values.fail(node.keys_at[key], f"{key!r} is not supported", hint)
    if kind == "list":
        return _loop_items(values, given)
    if kind == "sequence":
        return _sequence(values, given)
    value = values.value(given)
    if kind == "dict" and isinstance(value, dict):
        return [{"key": name, "value": item} for name, item in value.items()]
    if _holds_statement(value):
        hint = "Write the condition as an expression: `{{ 'a' if x else 'b' }}`."
        raise values.fail(given, f"{key} takes no statements and comments of templates", hint)
    if isinstance(value, Template) and lone_expression(value.text) is None:
        raise values.fail(given, f"{key} takes a list or a template that comes to one, this is {raw_text(given)}")
    return _expression(kind, value, given)


def _expression(kind: str, value: Any, node: Node) -> Any:
    if kind in {"items", "flattened"} and not isinstance(value, (list, Template)):
        return [value]
    if kind in {"items", "flattened"} and isinstance(value, list) and not _holds_template(value):
        return _flat(value, 1 if kind == "items" else 99)
    lone = isinstance(value, Template)
    inner = _written(value)
    if kind == "items":
        text = _one_level(inner, lone)
    elif kind == "flattened":
        text = f"[{inner}] | flatten"
    elif kind == "dict":
        text = f"{inner} | dict2items"
    elif kind == "indexed_items":
        if isinstance(value, list) and not _holds_template(value):
            return [[number, item] for number, item in enumerate(_flat(value, 1))]
        flat = _one_level(inner, lone)
        text = f"range(({flat}) | length) | zip({flat}) | map('list') | list"
    else:
        parts = [_written(item) for item in value] if isinstance(value, list) else [f"({inner})[0]", f"({inner})[1]"]
        if isinstance(value, list) and not _holds_template(value) and all(isinstance(item, list) for item in value):
            if kind in {"nested", "cartesian"}:
                return [list(each) for each in itertools.product(*value)]
            return [list(each) for each in itertools.zip_longest(*value)]
        joined = "product" if kind in {"nested", "cartesian"} else "zip_longest"
        text = f"({parts[0]}) | {joined}({', '.join(parts[1:])}) | map('list') | list"
    return Template(text=text, source=node.ref)


def _one_level(inner: str, lone: bool) -> str:
    """The list of an expression, the lists in it replaced by their items."""
    listed = f"[{inner}] | flatten(levels=2" if lone else f"{inner} | flatten(levels=1"
    return f"{listed}, skip_nulls=false)"


def _flat(items: Sequence[Any], levels: int) -> list[Any]:
    found: list[Any] = []
    for item in items:
        found += _flat(item, levels - 1) if isinstance(item, list) and levels else [item]
    return found


def _templates(value: Any) -> Iterator[Template]:
    if isinstance(value, Template):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _templates(item)


def _holds_template(value: Any) -> bool:
    return any(True for _ in _templates(value))


def _holds_statement(value: Any) -> bool:
    return any("{%" in text.text or "{#" in text.text for text in _templates(value))


def _written(value: Any) -> str:
    """A value as an expression says it."""
    if isinstance(value, Template):
        inner = lone_expression(value.text)
        if inner is not None:
            return f"({inner.strip()})"
        parts = _PARTS.split(value.text)
        return " ~ ".join(f"({part})" if number % 2 else _quoted(part) for number, part in enumerate(parts) if part)
    if isinstance(value, list):
        return f"[{', '.join(_written(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_quoted(str(key))}: {_written(item)}' for key, item in value.items())}}}"
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return _quoted(value) if isinstance(value, str) else repr(value)


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def _sequence(values: Values, node: Node) -> list[str]:
    text = values.scalar(node, "with_sequence").raw
    words = {match["name"]: match["value"] for match in _SEQUENCE.finditer(text)}
    if "{{" in text or not words or _SEQUENCE.sub("", text).strip(" ,"):
        hint = 'Write `with_sequence: start=1 end=5`; for variables, `loop: "{{ range(1, n + 1) | list }}"`.'
        raise values.fail(node, f"with_sequence takes numbers, this is {raw_text(node)}", hint)
    try:
        start, stride = int(words.get("start", "1"), 0), int(words.get("stride", "1"), 0)
        end = int(words["end"], 0) if "end" in words else start + (int(words["count"], 0) - 1) * stride
        numbers = range(start, end + (1 if stride > 0 else -1), stride)
        form = words.get("format", "%d")
        if not _FORM.fullmatch(form):
            raise values.fail(node, f"{form!r} is no format of a number", "Write `format=disk%02d`.")
        if not numbers and "end" in words:
            hint = "Count backwards with a negative `stride`, and forwards with a positive one."
            raise values.fail(node, f"{text!r} does not lead from its start to its end", hint)
        if len(numbers) > _MOST_NUMBERS:
            raise values.fail(node, f"a sequence has at most {_MOST_NUMBERS:,} numbers, this has {len(numbers):,}")
        return [form % number for number in numbers]
    except (ValueError, KeyError, TypeError, OverflowError) as exc:
        hint = "Write `with_sequence: start=1 end=5`."
        raise values.fail(node, f"{text!r} is no sequence of numbers", hint) from exc


def _controlled(values: Values, node: YamlMap, loop: Loop) -> Loop:
    if "loop_control" not in node:
        return loop
    control = values.mapping(node["loop_control"], "loop_control")
    for key in control:
        if key not in _CONTROL:
            close = nearest(key, _CONTROL)
            hint = f"Did you mean {close!r}?" if close else f"Supported: {', '.join(_CONTROL)}."
            raise values.fail(control.keys_at[key], f"loop_control has no key {key!r}", hint)
    variable = values.variable(control["loop_var"], "loop_var") if "loop_var" in control else loop.variable
    return replace(
        loop,
        variable=variable,
        index_variable=values.variable(control["index_var"], "index_var") if "index_var" in control else None,
        label=_label(values, control["label"]) if "label" in control else None,
        pause_s=values.number(control["pause"], "pause") if "pause" in control else 0.0,
    )


def _label(values: Values, node: Node) -> Template:
    value = values.value(node)
    if isinstance(value, (list, dict)):
        return Template(text="{{ " + _written(value) + " }}", source=node.ref)
    return values.text(node, "label")


WITH = ("items", "list", "dict", "flattened", "indexed_items", "nested", "cartesian", "together", "sequence")
"""What may stand behind ``with_``."""
