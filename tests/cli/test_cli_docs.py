"""docs/cli.md names every verb and every option, and no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer.main

from checkrunner.cli.hints import ELSEWHERE
from checkrunner.cli.main import app
from checkrunner.findings.exit_code import EXIT_CODES

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def options(group: Any = None) -> set[str]:
    """Those of all verbs, and of what verbs have below them."""
    group = group or typer.main.get_command(app)
    found = set()
    for command in group.commands.values():
        for parameter in command.params:
            if parameter.param_type_name == "option" and parameter.name != "help":
                found |= {name for name in parameter.opts if name.startswith("--")}
        if hasattr(command, "commands"):
            found |= options(command)
    return found


def test_every_verb_is_described() -> None:
    group = typer.main.get_command(app)

    for verb in group.commands:  # type: ignore[attr-defined]  # as above
        assert f"| `{verb}` |" in PAGE
        assert f"## {verb}\n" in PAGE


def test_every_option_is_described_and_no_other() -> None:
    described = set(re.findall(r"`(--[a-z-]+)`", PAGE)) - {"--help"}

    assert described == options()


def test_help_names_every_exit_code() -> None:
    epilog = typer.main.get_command(app).epilog or ""

    assert [int(code) for code in re.findall(r"(?:: |, )(\d+) ", epilog)] == sorted(EXIT_CODES)


def test_no_option_of_ours_is_said_to_be_elsewhere() -> None:
    group = typer.main.get_command(app)
    ours = {name for verb in group.commands.values() for p in verb.params for name in p.opts}  # type: ignore[attr-defined]  # as above

    assert ours & set(ELSEWHERE) == set()
