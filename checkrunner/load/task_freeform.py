"""Arguments that Ansible takes within one text: ``chdir=/tmp ls -l``, ``msg="all is well"``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrunner.load.nodes import YamlScalar
from checkrunner.model.sources import SourceRef, Template

__all__ = ["command_words", "pairs"]

_PIECE = re.compile(
    r"\{\{.{0,500}?\}\}|\{%.{0,500}?%\}|\{#.{0,500}?#\}"
    r"|\\.|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\S",
    re.DOTALL,
)
_PAIR = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
_COMMAND_OPTIONS = frozenset(
    {"chdir", "creates", "executable", "removes", "stdin", "stdin_add_newline", "strip_empty_ends"}
)


def _words(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each word: quotes and templates hold their spaces together."""
    start = end = -1
    for piece in _PIECE.finditer(text):
        if piece.start() != end:
            if start >= 0:
                yield start, end
            start = piece.start()
        end = piece.end()
    if start >= 0:
        yield start, end


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1].replace(f"\\{value[0]}", value[0])
    return value


def _place(node: YamlScalar, offset: int) -> SourceRef:
    return node.place(offset)


def command_words(node: YamlScalar) -> tuple[Template, dict[str, Template]]:
    """A command, and the options that stand among its words, which are not part of it."""
    text, options, kept, at = node.raw, {}, "", 0
    for start, end in _words(text):
        pair = _PAIR.fullmatch(text[start:end])
        if pair is None or pair["name"] not in _COMMAND_OPTIONS:
            continue
        value = Template(text=_unquoted(pair["value"]), source=_place(node, start + len(pair["name"]) + 1))
        options[pair["name"]] = value
        kept += text[at:start]
        at = end + 1 if text[end : end + 1] == " " else end
    if not options:
        return Template(text=text, source=node.ref, literal=node.style == "|"), {}
    kept += text[at:]
    begin = len(text) - len(text.lstrip()) if at == 0 else 0
    return Template(text=kept.strip(), source=_place(node, begin) if at == 0 else node.ref), options


def pairs(node: YamlScalar) -> dict[str, YamlScalar] | None:
    """``a=1 b="two words"`` as a mapping of texts; None for a text of another form."""
    found: dict[str, YamlScalar] = {}
    for start, end in _words(node.raw):
        pair = _PAIR.fullmatch(node.raw[start:end])
        if pair is None:
            return None
        value = _unquoted(pair["value"])
        ref = _place(node, start + len(pair["name"]) + 1 + (value != pair["value"]))
        found[pair["name"]] = YamlScalar(node.path, value, value, '"', ref.line, ref.column, 1)
    return found or None
