"""docs/hosts.md says what the agent in shell lacks, in the words that it uses."""

from __future__ import annotations

import re

from house_tree import ROOT

PAGE = (ROOT / "docs" / "hosts.md").read_text(encoding="utf-8")
AGENT = (ROOT / "remote" / "agent.sh").read_text(encoding="utf-8")


def test_the_table_has_every_word_and_no_other() -> None:
    rows = PAGE.split("<!-- lacks -->", 1)[1].split("<!-- lacks: end -->", 1)[0]
    described = re.findall(r"^\| `([a-z_]+)` \|", rows, re.MULTILINE)
    first = re.findall(r"^ *_lacks='([a-z_ ]+)'$", AGENT, re.MULTILINE)
    more = re.findall(r'_lacks="\$_lacks ([a-z_ ]+)"', AGENT)

    assert len(first) == 1
    assert more
    assert sorted(described) == sorted(" ".join([*first, *more]).split())


def test_the_programs_are_those_that_it_looks_for() -> None:
    needed = re.search(r"for _x in ([a-z ]+); do\n *command -v", AGENT)
    named = re.search(r"^`([a-z ]+)`: any busybox", PAGE, re.MULTILINE)

    assert needed is not None
    assert named is not None
    assert sorted(needed[1].split()) == sorted(named[1].split())
