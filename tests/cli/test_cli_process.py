"""What the command line does when it is called in this process, it does as a process: most tests call it here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import call_here, call_process
from test_cli_verbs import Cli

SAYS_ALWAYS_THE_SAME = [
    (["--version"], 0),
    ([], 0),
    (["run", "--help"], 0),
    (["hosts", "web", "-i", "inv.ini", "--explain", "web01"], 0),
    (["inventory", "-i", "inv.ini", "--list"], 0),
    (["checks", "play.yml"], 0),
    (["lint", "bad.yml", "-i", "inv.ini", "--format", "json"], 64),
    (["explain", "play.yml", "disk", "-i", "inv.ini"], 0),
    (["schema", "report"], 0),
    (["silence", "web01", "disk", "--until", "2 hours", "--why", "x"], 64),
    (["baseline", "show", "--history", "none"], 64),
    (["run", "play.yml", "--no-such-flag"], 64),
    (["run", "bad.yml"], 64),
    (["run", "play.yml", "-i", "inv.ini", "-l", "wbe"], 4),
]
SAYS_TIMES = [
    (["run", "local.yml", "--format", "json", "-e", "code=0"], 0),
    (["run", "local.yml", "--format", "json", "-e", "code=3"], 2),
    (["run", "nowhere.yml", "--format", "json"], 64),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Cli(tmp_path)
    (tmp_path / "bad.yml").write_text("- hosts: all\n  checks:\n    - {run: 'echo é', expct: {rc: 0}}\n")
    (tmp_path / "local.yml").write_text("- hosts: all\n  checks: [{id: a, run: 'exit {{ code }}'}]\n")
    return tmp_path


@pytest.mark.parametrize(("arguments", "code"), SAYS_ALWAYS_THE_SAME)
def test_both_ways_say_the_same(folder: Path, arguments: Sequence[str], code: int) -> None:
    here, process = (call(arguments, folder=folder) for call in (call_here, call_process))

    assert process.returncode == code, process.stderr
    assert (here.returncode, here.stdout, here.stderr) == (code, process.stdout, process.stderr)
    assert process.stdout + process.stderr


@pytest.mark.parametrize(("arguments", "code"), SAYS_TIMES)
def test_both_ways_end_the_same(folder: Path, arguments: Sequence[str], code: int) -> None:
    here, process = (call(arguments, folder=folder) for call in (call_here, call_process))

    assert (here.returncode, process.returncode) == (code, code), process.stderr
    assert [json.loads(done.stdout)["run"]["exit_code"] for done in (here, process)] == [code, code]
