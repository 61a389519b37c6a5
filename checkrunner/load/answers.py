"""Answers to questions, which a playbook may hold in clear: no line of the file that is shown later has them."""

from __future__ import annotations

from collections.abc import Iterator

from checkrunner.load.nodes import Node, YamlList, YamlMap, YamlScalar

__all__ = ["cover_answers"]

_SHORTEST = 4
"""Characters of an answer that may be one for a person alone; `yes` and `2` are none."""


def cover_answers(lines: list[str], node: Node | None) -> None:
    """Put stars in the place of every answer that is written out below `node`: the lines are for messages only."""
    for answer in _answers(node):
        for row in range(answer.line - 1, min(answer.line - 1 + answer.lines, len(lines))):
            start = answer.column - 1 if row == answer.line - 1 else len(lines[row]) - len(lines[row].lstrip())
            # A text with escapes or quotes in it is longer in the file: it goes on to the end of the line then.
            plain = lines[row].startswith(answer.raw, start)
            end = start + len(answer.raw) if plain else len(lines[row])
            lines[row] = lines[row][:start] + "*" * (end - start) + lines[row][end:]


def _answers(node: Node | None, prompts: bool = False) -> Iterator[YamlScalar]:
    if isinstance(node, YamlMap):
        for key, value in node.items():
            if prompts and key == "answer" and isinstance(value, YamlScalar):
                if len(value.raw) >= _SHORTEST and "{{" not in value.raw:
                    yield value
            elif isinstance(value, YamlMap | YamlList):
                yield from _answers(value, prompts or key == "prompts")
    elif isinstance(node, YamlList):
        for item in node:
            yield from _answers(item, prompts)
