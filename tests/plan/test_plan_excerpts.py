"""The file's own line for a place that was worked out from a text."""

from __future__ import annotations

import pytest

from checkrunner.model.playbook import Playbook
from checkrunner.model.sources import SourceRef, Template
from checkrunner.plan.excerpts import excerpt
from checkrunner.plan.faults import place

LINES = (
    "- run: 'echo {{ a }}'",
    '- run: "echo \\"x\\" {{ b }}"',
    "- run: >-",
    "    echo one",
    "    {{ c }} two",
    "- run: |",
    "    echo one",
    "    {{ d }}",
)
BOOK = Playbook(path="p.yml", plays=(), lines=LINES)


def text(content: str, line: int, column: int, *, literal: bool = False) -> Template:
    return Template(text=content, source=SourceRef(path="p.yml", line=line, column=column), literal=literal)


@pytest.mark.parametrize(
    ("template", "name", "line", "column"),
    [
        (text("echo {{ a }}", 1, 9), "a }}", 1, 17),
        (text('echo "x" {{ b }}', 2, 9), "b }}", 2, 23),
        (text("echo one {{ c }} two", 4, 5), "c }}", 5, 8),
        (text("echo one\n{{ d }}\n", 7, 5, literal=True), "d }}", 8, 8),
    ],
)
def test_the_line_is_the_files_and_the_column_points_at_the_word(
    template: Template, name: str, line: int, column: int
) -> None:
    source, line_text = excerpt(BOOK, *place(template, template.text.index(name)))

    assert (source.line, source.column, line_text) == (line, column, LINES[line - 1])


def test_other_files_keep_what_is_known_of_them() -> None:
    elsewhere = SourceRef(path="other.yml", line=1, column=3)

    assert excerpt(BOOK, elsewhere, "  text") == (elsewhere, "  text")
