"""What is said of commands that the end of their run ended."""

from __future__ import annotations

import pytest

from checkrunner.judge.execution import not_looked
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
