"""Values that know where they were written: what a YAML, JSON or extra-vars text becomes (see `documents`)."""

from __future__ import annotations

from typing import Any, TypeAlias

from checkrunner.model.sources import SourceRef

__all__ = ["MAX_DEPTH", "Node", "YamlList", "YamlMap", "YamlScalar", "copy_map", "is_too_deep", "plain", "raw_text"]

MAX_DEPTH = 100
"""How deep lists and mappings may be nested."""


class YamlScalar:
    """A text, number, boolean, null or date. `raw` is its text before YAML gave it a type (``yes``, ``0644``).

    `line` and `column` are of the first character of the text itself: after an opening quote, or on the first line of
    a block. `style` is one of ``"'``, ``'"'``, ``|``, ``>`` and ``""`` for a plain scalar.
    """

    __slots__ = ("column", "depth", "line", "lines", "path", "raw", "size", "style", "value")

    def __init__(self, path: str, raw: str, value: Any, style: str, line: int, column: int, lines: int) -> None:
        self.path, self.raw, self.value, self.style = path, raw, value, style
        self.line, self.column, self.lines, self.size, self.depth = line, column, lines, 1, 0

    @property
    def ref(self) -> SourceRef:
        """The place of its first character."""
        return SourceRef(path=self.path, line=self.line, column=self.column)

    def place(self, offset: int) -> SourceRef:
        """The place of character `offset` of the text; the scalar's start where folding or escapes hide it."""
        if self.style == "|":
            before = self.raw[:offset]
            row = before.count("\n")
            return SourceRef(path=self.path, line=self.line + row, column=self.column + len(before.split("\n")[-1]))
        if self.lines == 1 and not (self.style == '"' and self._has_escapes()):
            doubled = self.raw[:offset].count("'") if self.style == "'" else 0
            return SourceRef(path=self.path, line=self.line, column=self.column + offset + doubled)
        return self.ref

    def _has_escapes(self) -> bool:
        # A backslash in the text, or a character that only an escape can give, shifts what comes after it.
        return any(c in '\\"' or not c.isprintable() for c in self.raw)

    def __repr__(self) -> str:
        return f"YamlScalar({self.raw!r}, {self.line}:{self.column})"


class YamlList(list[Any]):
    """A list of nodes. Line and column are of its first item, or of its bracket."""

    __slots__ = ("column", "depth", "line", "path", "size")

    def __init__(self, path: str, line: int, column: int) -> None:
        super().__init__()
        self.path, self.line, self.column, self.size, self.depth = path, line, column, 1, 1

    @property
    def ref(self) -> SourceRef:
        """The place of its first character."""
        return SourceRef(path=self.path, line=self.line, column=self.column)


class YamlMap(dict[str, Any]):
    """Nodes by the text of their keys; `keys_at` holds the keys themselves, with place and typed value."""

    __slots__ = ("column", "depth", "keys_at", "line", "path", "size")

    def __init__(self, path: str, line: int, column: int) -> None:
        super().__init__()
        self.path, self.line, self.column, self.size, self.depth = path, line, column, 1, 1
        self.keys_at: dict[str, YamlScalar] = {}

    @property
    def ref(self) -> SourceRef:
        """The place of its first character."""
        return SourceRef(path=self.path, line=self.line, column=self.column)


Node: TypeAlias = YamlScalar | YamlList | YamlMap


def copy_map(node: YamlMap) -> YamlMap:
    """The same mapping, of which values can be exchanged."""
    found = YamlMap(node.path, node.line, node.column)
    found.update(node)
    found.keys_at = node.keys_at
    return found


def plain(node: Node | None) -> Any:
    """The node as ordinary dicts, lists and values; mapping keys get their YAML type back."""
    if node is None:
        return None
    if isinstance(node, YamlScalar):
        return node.value
    if isinstance(node, YamlList):
        return [plain(item) for item in node]
    return {node.keys_at[key].value: plain(value) for key, value in node.items()}


def is_too_deep(value: object) -> bool:
    """Whether lists and mappings are nested deeper than anything that a person writes, and than code that follows them
    can go."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for found in level
            if isinstance(found, list | dict)
            for item in (found.values() if isinstance(found, dict) else found)
        ]
        if not level:
            return False
    return True


def raw_text(node: Node) -> str:
    """What a scalar says, for messages; ``a list`` or ``a mapping`` otherwise."""
    if isinstance(node, YamlScalar):
        text = node.raw if len(node.raw) <= 40 else node.raw[:37] + "..."
        return "nothing" if node.value is None else repr(text)
    return "a list" if isinstance(node, YamlList) else "a mapping"
