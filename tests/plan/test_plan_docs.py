"""docs/expressions.md against the code."""

from __future__ import annotations

import re
from pathlib import Path

from checkrunner.model.metadata import REGISTERED_NAMES, RESULT_NAMES
from checkrunner.model.sources import Template
from checkrunner.patience import LONGEST_PATTERN, SECONDS
from checkrunner.plan.bounds import MAX_BUILT, MAX_STEPS, MAX_TEXT
from checkrunner.plan.filters import FILTERS, LEFT_OUT, TESTS
from checkrunner.plan.magic import ANSIBLE_VERSION
from checkrunner.plan.shellnames import READERS
from checkrunner.plan.templates_environment import GLOBALS
from checkrunner.plan.texts import Templates
from checkrunner.plan.values import RemoteText
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


def test_what_becomes_of_a_hosts_text_in_a_command() -> None:
    names = {"out": RemoteText("a b; reboot"), "names": [RemoteText("x"), RemoteText("y z")]}
    table = rows(section("quoting").replace("\\|", "\0"))[1:]
    assert len(table) > 5
    for written, command in table:
        template = Template(text=written.strip("`").replace("\0", "|"))
        assert Templates().render(template, names, for_shell=True) == command.strip("`").replace("\0", "|")
    assert "some fifty" in PAGE
    assert 45 < len(READERS) < 60


def test_magic_names_and_functions() -> None:
    names = PAGE[PAGE.index("## Names\n") : PAGE.index("## What is known of a result")]
    told = {name for row in rows(names) for name in re.findall(r"`(\w+)[^`]*`", row[0])}
    assert {*MAGIC, *GLOBALS} - {"range", "dict", "namespace"} <= told
    assert ANSIBLE_VERSION["full"] in names


def test_bounds_of_patterns() -> None:
    text = " ".join(PAGE.split())
    assert f"may have {LONGEST_PATTERN:,} characters, and is given up when it has taken {SECONDS:g} seconds" in text
