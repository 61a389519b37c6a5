"""What the store has of single checks, as a person is told."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime

from checkrunner.model.history import Cell, RunSummary, Selection, StoredResult
from checkrunner.model.results import HostState, Stream, VerdictState
from checkrunner.render.history import result_lines
from checkrunner.render.style import Style


def test_the_command_that_shows_an_output_can_be_handed_to_a_shell() -> None:
    run = RunSummary(
        number=7,
        id="run",
        kind="run",
        started_at=datetime(2026, 1, 2, tzinfo=UTC),
        elapsed_s=1.0,
        playbook="web.yml",
        selection=Selection(),
        ended="normal",
        complete=True,
        exit_code=2,
        hosts=1,
        verdicts={VerdictState.CRIT: 1},
    )
    check = "each[$(reboot); `id` 'x' \"y\"]"
    result = StoredResult(
        host="web01",
        check=check,
        name="Each",
        play="one",
        state=HostState.REACHED,
        cell=Cell(verdict=VerdictState.CRIT),
        kept=(Stream.STDOUT,),
    )

    lines = result_lines(run, [result], [], noun="check", style=Style(False), width=400)

    (line,) = (one for one in lines if "was kept" in one)
    command = line.strip().removeprefix("stdout was kept: ")
    assert shlex.split(command) == ["checkrunner", "read", "7", "web01", check, "--stream", "stdout"]
