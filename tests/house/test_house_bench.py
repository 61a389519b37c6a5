"""The benchmarks are programs that people run: they must start, and write playbooks that load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from house_tree import ROOT

from checkrunner.load.playbook import load_playbook

BENCH = ROOT / "bench"


def test_a_list_of_commands_becomes_a_playbook_of_exactly_these(tmp_path: Path) -> None:
    commands = ["hostname", "grep -c '{{ not a template }}' x || true", "printf '%s\\n' \"a: b\" # \\ é"]
    made = subprocess.run(
        [sys.executable, str(BENCH / "make_playbook.py")],
        input="\n".join(commands) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    path = tmp_path / "made.yml"
    path.write_text(made.stdout, encoding="utf-8")

    (play,) = load_playbook(str(path)).plays

    assert [check.run.text if check.run else "" for check in play.checks] == commands
    assert [check.run.is_static if check.run else False for check in play.checks] == [True] * 3
    assert [len(check.slices) for check in play.checks] == [1, 0, 0]


@pytest.mark.parametrize(
    "name",
    [
        "startup.py",
        "report_size.py",
        "inventory.py",
        "planted.py",
        "context.py",
        "redaction.py",
        "html_report.py",
        "history.py",
    ],
)
def test_benchmarks_say_how_they_are_used(name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH / name), "--help"], capture_output=True, text=True, check=True, timeout=30
    )

    assert f"bench/{name}" in done.stdout


def test_the_lab_script_says_how_it_is_used() -> None:
    done = subprocess.run(["/bin/sh", str(BENCH / "lab.sh")], capture_output=True, text=True, check=False, timeout=30)

    assert done.returncode == 64
    assert "bench/lab.sh LAB" in done.stderr
