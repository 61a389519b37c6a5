"""docs/lint.md against the rules and tables of lint."""

from __future__ import annotations

import re
from pathlib import Path

from checkrunner.plan.changing import CHANGING
from checkrunner.plan.habits import ENDLESS
from checkrunner.plan.rules import RULES

PAGE = (Path(__file__).parents[2] / "docs" / "lint.md").read_text(encoding="utf-8")


def rows(name: str) -> list[tuple[str, ...]]:
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", PAGE, re.DOTALL)
    assert found, f"the page has no part {name!r}"
    lines = [line for line in found[1].splitlines() if line.startswith("| ")][1:]
    return [tuple(cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]) for line in lines]


def test_rules() -> None:
    assert rows("rules") == [(f"`{rule.id}`", str(rule.level), f"{rule.title}.", rule.help) for rule in RULES.values()]


def test_commands() -> None:
    assert rows("changing") == [(_names(row.names), row.does, row.files) for row in CHANGING]
    assert rows("endless") == [(_names(row.names), row.does) for row in ENDLESS]


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
