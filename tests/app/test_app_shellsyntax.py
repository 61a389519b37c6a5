"""Shell syntax as bash reads it, and where lint says it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrunner.app.shellsyntax import shell_problems
from checkrunner.load.playbook import load_playbook
from checkrunner.model.inventory import Host
from checkrunner.plan.build import build_plan


def problems(command: str, **variables: str) -> list[tuple[int, str]]:
    body = "".join(f"        {line}\n" for line in command.splitlines())
    book = load_playbook("p.yml", f"- hosts: all\n  checks:\n    - run: |\n{body}")
    plan = build_plan(book, [[Host(name="h", address="h", vars=variables)]])
    return [(problem.source.line, problem.message) for problem in shell_problems(plan)]


@pytest.mark.parametrize(
    ("command", "line", "needle"),
    [
        ("if true; then\n  id", 5, "unexpected end of file"),
        ("id\n)\nid", 5, "near unexpected token `)'"),
        ("echo 'a\nid", 4, "looking for matching"),
        ("for x in {{ known }}; do\n  id {{ known }} {{ nope }}", 5, "unexpected end of file"),
    ],
)
def test_what_bash_cannot_read_is_told_with_its_line(command: str, line: int, needle: str) -> None:
    ((at, message),) = problems(command, known="1 2")

    assert at == line
    assert message.startswith("bash: ")
    assert needle in message


@pytest.mark.parametrize("command", ["id", "[[ {{ nope }} == 1 ]] && id", "{% if nope %}if{% endif %}"])
def test_sound_and_unknown_texts_are_left_alone(command: str) -> None:
    assert problems(command) == []


def test_nothing_of_a_command_is_run(tmp_path: Path) -> None:
    problems(f"touch {tmp_path}/made")

    assert list(tmp_path.iterdir()) == []
