"""However a run ends, nothing of it stays on the host, and JSON on stdout is one document."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from cli_runner import CommandLine
from sshd import SshdFixture, wait_until

LONG = """
- hosts: all
  checks:
    - {{id: before, run: 'true'}}
    - {{id: long, run: 'touch {marker}; sleep 300 & sleep 300', timeout: 5m}}
    - {{id: after, run: 'true'}}
    - {{id: beside, run: 'sleep 300', session: other, timeout: 5m}}
"""


@pytest.fixture
def alone(make_sshd: object, tmp_path: Path) -> CommandLine:
    """A command line over an sshd of the test's own: what runs on it is this test's."""
    sshd: SshdFixture = make_sshd()  # type: ignore[operator]  # the fixture is a callable that makes one
    return CommandLine(folder=tmp_path, sshd=sshd, hosts=3)


def start_long(cli: CommandLine, *args: str) -> subprocess.Popen[bytes]:
    """A run in which every host is in the middle of its long check."""
    marker = cli.folder / "running"
    playbook = cli.playbook(LONG.format(marker=marker))
    process = cli.start(cli.run_args(playbook, "--format", "json", *args))
    wait_until(lambda: marker.exists() and len(cli.sshd.connections()) >= 3, deadline_s=60, what="the checks to run")
    return process


def test_a_normal_end_leaves_nothing(alone: CommandLine) -> None:
    outcome = alone.run("""
        - hosts: all
          checks:
            - {id: leaves, run: 'sleep 300 & (setsid sleep 300 &) ; nohup sleep 300 >/dev/null 2>&1 & true'}
        """)

    assert outcome.code == 0
    alone.sshd.assert_clean()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_writes_the_report_so_far(alone: CommandLine, number: signal.Signals) -> None:
    process = start_long(alone)

    process.send_signal(number)
    out, err = process.communicate(timeout=150)

    report = json.loads(out)
    assert process.returncode == 130, err
    assert report["run"]["ended"] == "interrupted"
    assert report["run"]["exit_code"] == 130
    assert not report["run"]["complete"]
    totals = report["totals"]
    assert totals["planned"] == 12
    assert totals["verdict"]["ok"] >= 1
    assert totals["done"] + totals["skipped"] + totals["not_run"] == 12
    assert "Traceback" not in err.decode()
    alone.sshd.assert_clean()


def test_an_interrupt_waits_for_what_only_a_kill_ends(alone: CommandLine) -> None:
    marker = alone.folder / "running"
    playbook = alone.playbook(f"""
        - hosts: all
          checks:
            - {{id: deaf, run: "trap '' INT TERM; touch {marker}; (setsid sleep 300 &); sleep 300"}}
        """)
    process = alone.start(alone.run_args(playbook, "--format", "json", "-l", "h1"))
    wait_until(marker.exists, deadline_s=60, what="the check to run")

    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=150)

    report = json.loads(out)
    assert report["totals"]["execution"] == {"killed": 1}
    assert report["totals"]["host"] == {"reached": 1}
    alone.sshd.assert_clean()


def test_a_killed_controller_leaves_nothing(alone: CommandLine) -> None:
    (alone.folder / "checkrunner.toml").write_text('reconnect = "1s"\nkeepalive = "250ms"\n')
    process = start_long(alone)

    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=150)

    alone.sshd.assert_clean()


def test_a_killed_connection_is_lost_and_leaves_nothing(alone: CommandLine) -> None:
    (alone.folder / "checkrunner.toml").write_text("reconnect = 0\n")
    process = start_long(alone)

    alone.sshd.kill_connections()
    out, err = process.communicate(timeout=150)

    report = json.loads(out)
    assert process.returncode == 3, err
    assert report["totals"]["host"] == {"lost": 3}
    assert report["totals"]["verdict"]["ok"] >= 1
    assert report["totals"]["execution"]["lost"] >= 3
    (incomplete,) = report["incomplete"]
    assert incomplete["state"] == "lost"
    alone.sshd.assert_clean()


def test_a_dead_link_is_found_by_keepalive(alone: CommandLine) -> None:
    (alone.folder / "checkrunner.toml").write_text('keepalive = "500ms"\nreconnect = 0\n')
    process = start_long(alone)

    with alone.sshd.stopped():
        out, err = process.communicate(timeout=150)

    report = json.loads(out)
    assert process.returncode == 3, err
    assert report["totals"]["host"] == {"lost": 3}


def test_a_deadline_ends_the_run_in_order(alone: CommandLine) -> None:
    marker = alone.folder / "running"

    outcome = alone.run(LONG.format(marker=marker), "--deadline", "3s")

    assert outcome.code == 3
    assert outcome.report["run"]["ended"] == "deadline"
    assert outcome.report["totals"]["verdict"]["ok"] >= 1
    alone.sshd.assert_clean()


def test_a_local_run_that_is_killed_leaves_nothing(tmp_path: Path, sshd: SshdFixture) -> None:
    cli = CommandLine(folder=tmp_path, sshd=sshd)
    marker = tmp_path / "running"
    child = tmp_path / "child"
    playbook = cli.playbook(
        f"- hosts: all\n  checks: [{{id: a, run: 'sleep 300 & echo $! >{child}; touch {marker}; wait'}}]\n"
    )
    process = cli.start(cli.argv("run", playbook))
    wait_until(marker.exists, deadline_s=60, what="the check to run")
    pid = int(child.read_text())

    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=150)

    wait_until(lambda: not Path(f"/proc/{pid}").exists(), deadline_s=60, what="the check's child to end")
