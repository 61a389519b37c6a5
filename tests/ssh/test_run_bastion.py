"""Many hosts behind one jump host, through the real command line: none is called unreachable, and the wait is told."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
from pathlib import Path
from typing import Protocol

from cli_runner import CommandLine, Outcome
from sshd import SshdFixture, wait_until


class MakeSshd(Protocol):
    def __call__(
        self, *, options: dict[str, str] | None = None, shell: str | None = None, password: str | None = None
    ) -> SshdFixture: ...


PLAY = "- hosts: all\n  checks: [{id: a, run: 'echo fine', expect: {stdout: {equals: fine}}}]\n"
HOSTS = 100


def inventory_behind(bastion: SshdFixture, target: SshdFixture, folder: Path, hosts: int = HOSTS) -> Path:
    """Every host is an address of one target, which is reached through the bastion only."""
    known = folder / "known_both"
    known.write_text(target.known_hosts.read_text() + bastion.known_hosts.read_text())
    bastion.authorize(target.private_key)
    path = target.write_inventory(folder / "behind.ini", hosts)
    jump = f"-J {bastion.user}@{bastion.address()}:{bastion.port}"
    path.write_text(path.read_text().replace("-F none", f"-F none {jump}").replace(str(target.known_hosts), str(known)))
    return path


class Occupied:
    """Holds the places of a server that takes two logins at a time, until it has dropped somebody for it."""

    def __init__(self, sshd: SshdFixture, places: int) -> None:
        self._sshd = sshd
        self._held: list[socket.socket] = []
        wait_until(lambda: self._hold() == places, what="a place")
        self._before = sshd.log().count("drop connection")
        self._thread = threading.Thread(target=self._until_dropped)
        self._thread.start()

    def _hold(self) -> int:
        """Take one more place; the server may still be busy with who looked whether it is up."""
        connection = socket.create_connection((self._sshd.address(), self._sshd.port), timeout=10)
        if connection.recv(100).startswith(b"SSH-"):
            self._held.append(connection)
        else:
            connection.close()
        return len(self._held)

    def _until_dropped(self) -> None:
        with contextlib.suppress(AssertionError):
            wait_until(
                lambda: self._sshd.log().count("drop connection") > self._before, deadline_s=60, what="a dropped login"
            )
        for connection in self._held:
            connection.close()

    def join(self) -> None:
        self._thread.join()


def run_behind(cli: CommandLine, inventory: Path, *args: object) -> Outcome:
    key = ["--private-key", cli.sshd.private_key, "--known-hosts", cli.folder / "known_both"]
    argv = cli.argv("run", cli.playbook(PLAY), "-i", inventory, "--ssh-config", "none", *key, *args)
    return cli.call(argv, 55)


def test_a_hundred_hosts_behind_a_jump_host_that_lets_in_two_at_a_time(make_sshd: MakeSshd, tmp_path: Path) -> None:
    target = make_sshd()
    bastion = make_sshd(options={"MaxStartups": "2:100:4", "MaxSessions": "2"})
    inventory = inventory_behind(bastion, target, tmp_path)
    occupied = Occupied(bastion, 2)
    outcome = run_behind(CommandLine(folder=tmp_path, sshd=target), inventory, "--format", "json")
    occupied.join()
    assert outcome.code == 0, outcome.stdout[:3000] + outcome.stderr[-2000:]
    report = outcome.report
    assert report["totals"]["host"] == {"reached": HOSTS}
    assert report["totals"]["verdict"] == {"ok": HOSTS}
    assert outcome.warnings == []
    (wait,) = report["run"]["waits"]
    assert wait["place"] == f"jump host {bastion.user}@{bastion.address()}:{bastion.port}"
    assert wait["hosts"] == HOSTS
    assert 0.2 < wait["longest_s"] <= wait["waited_s"] < report["run"]["elapsed_s"]
    assert wait["dropped"] >= 1
    assert wait["connections"] == 1, "one connection carries them all"


def test_the_wait_is_shown_in_the_report_and_while_it_lasts(make_sshd: MakeSshd, tmp_path: Path) -> None:
    target = make_sshd()
    bastion = make_sshd(options={"MaxStartups": "1:100:1"})
    inventory = inventory_behind(bastion, target, tmp_path, 2)
    occupied = Occupied(bastion, 1)
    outcome = run_behind(CommandLine(folder=tmp_path, sshd=target), inventory)
    occupied.join()
    assert outcome.code == 0
    place = re.escape(f"jump host {bastion.user}@{bastion.address()}:{bastion.port}")
    assert re.search(rf"^waited \d+(\.\d)? s for {place} \(2 hosts, it dropped \d connection", outcome.stdout, re.M)


def test_a_jump_host_that_is_down_is_one_entry_for_all_hosts(make_sshd: MakeSshd, tmp_path: Path) -> None:
    target, bastion = make_sshd(), make_sshd()
    inventory = inventory_behind(bastion, target, tmp_path, 30)
    bastion.stop()
    outcome = run_behind(CommandLine(folder=tmp_path, sshd=target), inventory, "--format", "json")
    assert outcome.code == 3
    (entry,) = outcome.report["incomplete"]
    assert entry["hosts"].startswith("h[1-30]") or "30" in entry["hosts"]
    assert entry["state"] == "unreachable"
    assert "jump host" in entry["reason"]
    assert "connection refused" in entry["reason"]
    assert json.dumps(outcome.report).count("connection refused") < 5
