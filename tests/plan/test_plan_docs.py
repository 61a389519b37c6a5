"""docs/expressions.md against the code."""

from __future__ import annotations

import re
from pathlib import Path

from checkrunner.model.metadata import REGISTERED_NAMES, RESULT_NAMES
from checkrunner.plan.bounds import MAX_BUILT, MAX_STEPS, MAX_TEXT
from checkrunner.plan.filters import FILTERS, LEFT_OUT, TESTS
from checkrunner.plan.texts import Templates
from checkrunner.plan.variables import MAGIC

PAGE = (Path(__file__).parents[2] / "docs" / "expressions.md").read_text()


def section(name: str) -> str:
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", PAGE, re.DOTALL)
    assert found, f"the page has no part {name!r}"
    return found[1]


def rows(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("| ")
    ]


def test_all_filters_and_tests_are_listed() -> None:
    filters, tests = Templates().vocabulary()
    assert re.findall(r"`([^`]+)`", section("filters")) == sorted(filters)
    assert re.findall(r"`([^`]+)`", section("tests")) == sorted(tests)


def test_what_is_left_out_is_listed() -> None:
    assert re.findall(r"`([^`]+)`", section("left out")) == sorted(LEFT_OUT)


def test_our_own_are_explained() -> None:
    text = PAGE[PAGE.index("## Filters") :]
    explained = {name for row in rows(text) for name in re.findall(r"`(\w+)[^`]*`", row[0])}
    assert set(FILTERS) | set(TESTS) <= explained


def test_names_of_results() -> None:
    table = PAGE[PAGE.index("## What is known of a result") : PAGE.index("There is no text.")]
    own, registered = set(), set()
    for row in rows(table)[1:]:
        names = re.findall(r"`([^`]+)`", row[0])
        registered |= set(names)
        own |= set(names) if row[2] == "yes" else set()
    assert (own, registered) == (set(RESULT_NAMES), set(REGISTERED_NAMES))
    assert all(f"`{name}`" in PAGE for name in MAGIC)


def test_bounds() -> None:
    text = " ".join(PAGE.split())
    assert f"{MAX_STEPS:,} steps, build texts and lists of {MAX_TEXT >> 20} MiB each" in text
    assert f"and {MAX_BUILT >> 20} MiB altogether" in text
