"""On a terminal: live progress on stderr alone, a password asked for without echo."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import time
from pathlib import Path

from cli_runner import CommandLine
from sshd import SshdFixture


class Terminal:
    """A program whose stdin and stderr are a terminal; stdout is a file."""

    def __init__(self, cli: CommandLine, argv: list[str]) -> None:
        self.shown = b""
        self.stdout = cli.folder / "stdout"
        self._master, slave = pty.openpty()
        with self.stdout.open("wb") as out:
            self._process = subprocess.Popen(
                argv, cwd=cli.folder, env=cli.env() | {"TERM": "xterm"}, stdin=slave, stdout=out, stderr=slave,
                start_new_session=True,
            )  # fmt: skip
        os.close(slave)

    def read(self, until: bytes | None, deadline_s: float = 40.0) -> None:
        """Read what is shown until it holds `until`, or to the end."""
        end = time.monotonic() + deadline_s
        while until is None or until not in self.shown:
            assert time.monotonic() < end, self.shown
            if select.select([self._master], [], [], 0.5)[0]:
                try:
                    data = os.read(self._master, 4096)
                except OSError:
                    data = b""
                if not data:
                    assert until is None, self.shown
                    return
                self.shown += data

    def type(self, text: bytes) -> None:
        os.write(self._master, text)

    def finish(self) -> int:
        self.read(None)
        os.close(self._master)
        return self._process.wait(20)


def test_live_progress_leaves_stdout_alone(cli: CommandLine) -> None:
    playbook = cli.playbook("- hosts: all\n  checks: [{id: a, run: sleep 1.5}, {id: b, run: 'true'}]\n")
    terminal = Terminal(cli, cli.run_args(playbook, "--format", "json"))

    assert terminal.finish() == 0

    assert json.loads(terminal.stdout.read_text())["totals"]["verdict"] == {"ok": 2}
    assert b"h1" in terminal.shown
    assert terminal.shown.count(b"\x1b[?25l") == terminal.shown.count(b"\x1b[?25h")


def test_a_password_is_asked_for_without_echo(make_sshd: object, tmp_path: Path) -> None:
    sshd: SshdFixture = make_sshd(password="open-sesame-4711")  # type: ignore[operator]  # the fixture is a callable
    cli = CommandLine(folder=tmp_path, sshd=sshd)
    (tmp_path / "inventory.ini").write_text(
        f"h1 ansible_host={sshd.address(1)} ansible_port={sshd.port} ansible_user=root\n"
    )
    argv = cli.argv(
        "run", cli.playbook("- hosts: all\n  checks: [{id: a, run: 'true'}]\n"), "-i", "inventory.ini", "-k",
        "--known-hosts", sshd.known_hosts, "--ssh-config", "none", "--format", "json",
    )  # fmt: skip
    terminal = Terminal(cli, argv)
    terminal.read(b"SSH password")

    terminal.type(b"open-sesame-4711\n")

    assert terminal.finish() == 0, terminal.shown
    assert json.loads(terminal.stdout.read_text())["totals"]["host"] == {"reached": 1}
    assert b"open-sesame" not in terminal.shown
