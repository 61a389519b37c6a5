"""What stands at the keys of tasks, as the words of `model`: texts and conditions that know their place, flags, values.

Errors are PlaybookErrors with file, line and column. What Ansible takes in several ways is taken in all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from checkrunner.load.fileset import FileSet
from checkrunner.load.nodes import Node, YamlList, YamlMap, YamlScalar, raw_text
from checkrunner.load.quantities import RESERVED_NAMES
from checkrunner.load.task_words import Word
from checkrunner.model.errors import PlaybookError, nearest
from checkrunner.model.metadata import RESULT_NAMES
from checkrunner.model.sources import Secret, SourceRef, Template

__all__ = ["Values", "lone_expression"]

_WORDS = re.compile(r"[^\s,]+")
_TRUE = frozenset({"yes", "true", "on", "1", "y", "t"})
_FALSE = frozenset({"no", "false", "off", "0", "n", "f"})
_TAKEN = RESERVED_NAMES - {*RESULT_NAMES, "stdout", "stderr", "values"}


def lone_expression(text: str) -> str | None:
    """The expression of a text that is one ``{{ ... }}`` and nothing else; else None."""
    inner = text.strip()
    if not (inner.startswith("{{") and inner.endswith("}}")):
        return None
    inner = inner[2:-2]
    return None if "{{" in inner or "}}" in inner else inner


class Values:
    """Reads nodes of the files of a playbook."""

    def __init__(self, files: FileSet) -> None:
        self._files = files

    def fail(self, at: Node | SourceRef, message: str, hint: str = "") -> PlaybookError:
        """An error at a place of one of the files."""
        return self._files.fail(at, message, hint)

    def mapping(self, node: Node, what: str) -> YamlMap:
        """The node, which must be a mapping."""
        if not isinstance(node, YamlMap):
            raise self.fail(node, f"{what} is a mapping, this is {raw_text(node)}")
        return node

    def scalar(self, node: Node, what: str) -> YamlScalar:
        """The node, which must be a text, number or boolean."""
        if not isinstance(node, YamlScalar):
            hint = "A text that starts with `{` or holds `: ` must be quoted." if isinstance(node, YamlMap) else ""
            raise self.fail(node, f"{what} is a text, this is {raw_text(node)}", hint)
        if isinstance(node.value, Secret):
            raise self.fail(
                node, f"{what} cannot be a secret", "Put it into `vars`, and read it through `environment`."
            )
        return node

    def text(self, node: Node, what: str) -> Template:
        """A text that may hold templates."""
        found = self.scalar(node, what)
        if isinstance(found.value, Template):  # tagged as unsafe: taken as it stands
            return found.value
        if found.value is None and not found.style:
            raise self.fail(node, f"{what} is a text, there is nothing")
        return Template(text=found.raw, source=found.ref, literal=found.style == "|")

    def plain(self, node: Node, what: str) -> str:
        """A text without templates."""
        found = self.text(node, what)
        if not found.text.strip():
            raise self.fail(node, f"{what} is empty")
        return found.text.strip()

    def flag(self, node: Node, what: str) -> bool:
        """True or false, also as the words that Ansible takes for them."""
        found = self.scalar(node, what)
        if isinstance(found.value, bool):
            return found.value
        word = found.raw.strip().lower()
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
        hint = "It cannot be a template here." if "{{" in word else ""
        raise self.fail(node, f"{what} is true or false, this is {raw_text(found)}", hint)

    def number(self, node: Node, what: str, least: float = 0.0) -> float:
        """A number, also as a text."""
        found = self.scalar(node, what)
        try:
            value = float(found.raw) if not isinstance(found.value, bool) else None
        except ValueError:
            value = None
        if value is None or not math.isfinite(value) or value < least:
            hint = "It cannot be a template here." if "{{" in found.raw else ""
            raise self.fail(node, f"{what} is a number from {least:g} on, this is {raw_text(found)}", hint)
        return value

    def words(self, node: Node, what: str) -> tuple[str, ...]:
        """A list of words, or one text of them with commas."""
        if isinstance(node, YamlList):
            return tuple(word for item in node for word in self.words(item, what))
        return tuple(_WORDS.findall(self.scalar(node, what).raw))

    def names(self, node: Node, what: str) -> tuple[str, ...]:
        """A list of texts without templates, or one of them."""
        items = node if isinstance(node, YamlList) else [node]
        return tuple(self.plain(item, what) for item in items)

    def variable(self, node: Node, what: str) -> str:
        """The name of a variable."""
        found = self.scalar(node, what)
        self.check_variable(found.raw, found.ref)
        return found.raw

    def check_variable(self, name: str, at: SourceRef) -> None:
        """Raise for what no expression could read. Unlike in checks, names of a result's parts are free here."""
        if not (name.isascii() and name.isidentifier()):
            hint = "A name has ASCII letters, digits and _, no digit first."
            raise self.fail(at, f"{name!r} is not a variable name", hint)
        if name in _TAKEN:
            raise self.fail(at, f"{name!r} has a meaning in expressions already", "Choose another name.")

    def condition(self, node: Node, what: str) -> Template:
        """An expression. One in braces, which Ansible takes with a warning, is taken out of them."""
        found = self.scalar(node, what)
        if isinstance(found.value, bool):
            return Template(text=str(found.value).lower(), source=found.ref)
        if not found.raw.strip():
            raise self.fail(node, f"{what} is an expression, this is empty")
        if "{{" not in found.raw and "{%" not in found.raw:
            return Template(text=found.raw, source=found.ref, literal=found.style == "|")
        inner = lone_expression(found.raw)
        if inner is None:
            hint = "Write it without braces, with names as they are: `when: port == wanted_port`."
            raise self.fail(node, f"{what} is an expression, and cannot have templates in it", hint)
        return Template(text=inner, source=found.place(found.raw.index("{{") + 2), literal=found.style == "|")

    def conditions(self, node: Node, what: str) -> tuple[Template, ...]:
        """An expression, or a list of them; none for nothing."""
        if isinstance(node, YamlScalar) and node.value is None and not node.style:
            return ()
        items = node if isinstance(node, YamlList) else [node]
        return tuple(self.condition(item, what) for item in items)

    def value(self, node: Node) -> Any:
        """Any YAML as lists, dicts and values, its texts with templates as Templates."""
        if isinstance(node, YamlList):
            return [self.value(item) for item in node]
        if isinstance(node, YamlMap):
            keys = node.keys_at
            return {keys[key].value: self.value(item) for key, item in node.items()}
        if isinstance(node.value, str) and ("{{" in node.raw or "{%" in node.raw or "{#" in node.raw):
            return Template(text=node.raw, source=node.ref, literal=node.style == "|")
        return node.value

    def variables(self, node: Node, what: str = "vars") -> Mapping[str, Any]:
        """A mapping of names to any YAML; nothing stands for none."""
        if isinstance(node, YamlScalar) and node.value is None:
            return MappingProxyType({})
        found: dict[str, Any] = {}
        if isinstance(node, YamlList):  # the old form: a list of mappings
            for item in node:
                found |= self.variables(item, what)
            return MappingProxyType(found)
        mapping = self.mapping(node, what)
        for key, value in mapping.items():
            self.check_variable(key, mapping.keys_at[key].ref)
            found[key] = self.value(value)
        return MappingProxyType(found)

    def expect_keys(self, node: YamlMap, known: Mapping[str, Word], what: str, also: Iterable[str] = ()) -> None:
        """Raise for the first key of a mapping that is not supported, and say why, or what it may have been."""
        for key in node:
            word = known.get(key)
            if key in also or (word is not None and word.how != "no"):
                continue
            at = node.keys_at[key].ref
            if word is not None:
                raise self.fail(at, f"{key!r} of a {what} is not supported: {word.says}", "See docs/ansible.md.")
            close = nearest(key, [*(name for name, each in known.items() if each.how != "no"), *also])
            listed = ", ".join(sorted(name for name, each in known.items() if each.how == "yes"))
            hint = f"Did you mean {close!r}?" if close else f"Supported here: {listed}."
            raise self.fail(at, f"a {what} has no key {key!r}", hint)

    def each(self, node: Node, what: str) -> list[YamlMap]:
        """The items of a list of mappings; nothing stands for an empty one."""
        if isinstance(node, YamlScalar) and node.value is None:
            return []
        if not isinstance(node, YamlList):
            raise self.fail(node, f"{what} is a list, this is {raw_text(node)}", "Put `- ` before its items.")
        return [self.mapping(item, f"an item of {what}") for item in node]
