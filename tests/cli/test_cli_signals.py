"""Interrupts that come before the run can act on them are kept, and find their report."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sshd import wait_until

ROOT = Path(__file__).parents[2]


def start(folder: Path) -> subprocess.Popen[bytes]:
    """A run that is reading its extra vars from a pipe: in the middle of its preparation."""
    (folder / "play.yml").write_text("- hosts: all\n  checks: [{id: a, run: 'touch ran'}]\n")
    os.mkfifo(folder / "vars.yml")
    return subprocess.Popen(
        [sys.executable, "-m", "checkrunner", "run", "play.yml", "-e", "@vars.yml", "--format", "json", "-q"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_during_preparation_gives_a_report_and_runs_nothing(
    tmp_path: Path, number: signal.Signals
) -> None:
    process = start(tmp_path)
    with (tmp_path / "vars.yml").open("w") as pipe:  # opens once the other end is being read
        process.send_signal(number)
        pipe.write("x: 1\n")

    out, err = process.communicate(timeout=150)

    report = json.loads(out)
    assert (process.returncode, report["run"]["ended"]) == (130, "interrupted"), err
    assert report["totals"]["not_run"] == 1
    assert not (tmp_path / "ran").exists()
    assert err == b""


def test_a_second_interrupt_ends_the_process(tmp_path: Path) -> None:
    process = start(tmp_path)
    with (tmp_path / "vars.yml").open("w"):
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) in (-signal.SIGINT, -signal.SIGTERM)

    process.communicate(timeout=150)


def test_a_terminal_that_is_closed_ends_the_run_and_its_report_is_written(tmp_path: Path) -> None:
    (tmp_path / "play.yml").write_text("- hosts: all\n  checks: [{id: a, run: 'touch ran; sleep 60'}]\n")
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "checkrunner", "run", "play.yml", "-o", "report.json"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "TERM": "xterm"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    ) as process:
        os.close(slave)
        try:
            wait_until((tmp_path / "ran").exists, deadline_s=30, what="the check's start")
        finally:
            os.close(master)
            process.send_signal(signal.SIGHUP)
        assert process.wait(30) == 130

    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["run"]["ended"], report["totals"]["verdict"]) == ("interrupted", {"unknown": 1})
