"""A kept child over a real sshd: it outlives the run and the connection, though it writes all the time."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from cli_runner import CommandLine
from sshd import wait_until


@pytest.mark.parametrize("start", ["{} &", "nohup {} &", "setsid -f {}"])
def test_what_is_kept_writes_on_after_the_connection_has_ended(cli: CommandLine, start: str, tmp_path: Path) -> None:
    pid, log = tmp_path / "pid", tmp_path / "log"
    loop = f"echo $$ >{pid}; while :; do echo out; echo err >&2; echo x >>{log}; sleep 0.05; done"
    (tmp_path / "daemon").write_text(f"#!/bin/sh\n{loop}\n")
    (tmp_path / "daemon").chmod(0o755)
    outcome = cli.run(
        "- hosts: all\n  checks:\n"
        f"    - {{id: kept, run: '{start.format(tmp_path / 'daemon')}', keep_children: true}}\n"
        "    - {id: later, run: 'sleep 0.3'}\n"
    )
    try:
        assert outcome.code == 0, outcome.stderr
        size = log.stat().st_size
        wait_until(lambda: log.stat().st_size > size + 20, what="more words of what is kept")
    finally:
        psutil.Process(int(pid.read_text())).kill()
