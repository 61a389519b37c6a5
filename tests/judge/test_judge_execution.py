"""What is said of commands that the end of their run ended."""

from __future__ import annotations

import re

import pytest

from checkrunner.judge.execution import REFUSED, not_looked
from checkrunner.model.plan import Command
from checkrunner.model.results import Execution, Result


@pytest.mark.parametrize(
    ("note", "cause"),
    [
        ("interrupted", "the run was interrupted"),
        ("deadline", "the run's deadline passed"),
        ("cancelled", "the run was cancelled"),
    ],
)
def test_a_check_that_its_run_ended_says_why_the_run_ended(note: str, cause: str) -> None:
    said = []
    for execution in (Execution.KILLED, Execution.NOT_RUN):
        verdict = not_looked(
            Command(shell="sleep 9"), Result(seq=1, session="main", execution=execution, notes=(note,))
        )
        assert verdict is not None
        said.append(verdict.reasons[0].message)

    assert said == [f"was ended because {cause}", f"was not run: {cause}"]


@pytest.mark.parametrize(
    ("line", "refuses"),
    [
        ("sudo: a password is required", True),
        ("doas: Operation not permitted", True),
        ("alice is not in the sudoers file.  This incident will be reported.", True),
        ("alice ist nicht in der sudoers-Datei. Dieser Vorfall wird gemeldet.", True),
        ("aliceはsudoersファイル内にありません。", True),
        ("/etc/sudoers:12:5: syntax error", False),
        ("visudo: /etc/sudoers is owned by uid 1000, should be 0", False),
        ("parse error in /etc/sudoers near line 3", False),
        ("unable to open sudoers: no such file", False),
    ],
)
def test_what_refuses_is_told_from_what_a_command_says_of_the_rules(line: str, refuses: bool) -> None:
    assert bool(re.search(REFUSED.text, line)) is refuses
