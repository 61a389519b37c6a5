"""docs/protocol.md and the agent name the same things: notes, kinds of errors, verbs, executions."""

from __future__ import annotations

import re

import pytest
from house_tree import ROOT

from checkrunner.link.wire import MAX_HEADER, PROTOCOL_VERSION
from checkrunner.model.results import CaptureState, Execution, ProbeKind

PAGE = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
# The agent and its later parts.
AGENT = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "remote").glob("*.py")))
SHELL = (ROOT / "remote" / "agent.sh").read_text(encoding="utf-8")


def quoted(text: str) -> list[str]:
    return re.findall(r"`([a-z_]+)`", text)


def table(heading: str) -> list[str]:
    """The words in backquotes of a table's first column."""
    rows = PAGE.split(heading, 1)[1].split("\n\n", 1)[0].splitlines()[1:]
    return [word for row in rows for word in quoted(row.split("|")[1])]


def kinds() -> list[str]:
    found = re.search(r"`kind` \((.*?)\)", PAGE, re.DOTALL)
    assert found is not None
    return quoted(found[1])


def test_every_note_is_in_one_row_and_the_agent_knows_it() -> None:
    notes = table("| note | meaning |")

    assert len(notes) == len(set(notes))
    assert [note for note in notes if f'"{note}"' not in AGENT] == []


def test_every_note_that_the_agent_gives_is_described() -> None:
    given = set(re.findall(r'\bnote\("([a-z_]+)"', AGENT))

    assert given
    assert given - set(table("| note | meaning |")) == set()


def test_kinds_of_errors_are_the_same_on_both_sides() -> None:
    raised = set(re.findall(r'\b(?:Refused|Broken)\(\s*"([a-z_]+)"', AGENT))
    raised |= set(re.findall(r'_(?:refuse (?:0|"[^"]*")|fatal) ([a-z_]+) ', SHELL))

    assert raised
    assert raised - set(kinds()) == set()
    assert [kind for kind in kinds() if f'"{kind}"' not in AGENT and kind not in raised] == []


@pytest.mark.parametrize(
    "words", [[*Execution], [*CaptureState], [*ProbeKind]], ids=["executions", "capture states", "probes"]
)
def test_the_words_of_the_model_are_those_of_the_protocol(words: list[str]) -> None:
    assert [str(word) for word in words if f"`{word}`" not in PAGE] == []


def test_numbers_are_those_of_the_code() -> None:
    assert f"Protocol version: **{PROTOCOL_VERSION}**" in PAGE
    assert f"A header is at most {MAX_HEADER:,} bytes" in PAGE
