"""What hanging commands are seen doing, from the host's kernel to the report: the example of the manual, run for real."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from cli_runner import CommandLine
from sshd import SshdFixture, wait_until

from checkrunner.findings.masks import mask_numbers

PAGE = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")


def part(name: str) -> str:
    found = re.search(rf"<!-- states {name} -->\n```\w+\n(.*?)```\n<!-- /states {name} -->", PAGE, re.DOTALL)
    assert found, f"the page has no part {name!r}"
    return found[1]


@contextmanager
def hangs(folder: Path) -> Iterator[dict[str, str]]:
    """Yield what the manual's names are here: a held lock, a FIFO without a writer, a server that says nothing."""
    lock, fifo = folder / "backup.lock", folder / "replica.fifo"
    os.mkfifo(fifo)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        subprocess.Popen(["flock", str(lock), "sleep", "100"], stdin=subprocess.DEVNULL) as holder,
    ):
        try:
            free = ["flock", "-n", str(lock), "true"]
            wait_until(lambda: lock.exists() and subprocess.run(free, check=False).returncode, what="the lock")
            yield {
                "/run/lock/backup.lock": str(lock),
                "/run/replica.fifo": str(fifo),
                "5001": str(server.getsockname()[1]),
            }
        finally:
            # flock hands its lock on to what it runs.
            for process in psutil.Process(holder.pid).children():
                process.kill()
            holder.kill()


def plain(text: str) -> str:
    """Without what differs between machines, kernels and runs."""
    text = " ".join(text.split())
    return mask_numbers(re.sub(r"wchan \w+, ", "", text)).replace("idle for # s", "idle for #").replace("# s", "#")


def test_the_example_of_the_manual_is_what_a_run_says(cli: CommandLine) -> None:
    playbook = part("playbook")
    with hangs(cli.folder) as names:
        for name, here in names.items():
            playbook = playbook.replace(name, here)
        outcome = cli.run(playbook)

    found = {finding["check"]: finding for finding in outcome.report["findings"]}
    assert list(found) == re.findall(r"- id: (\S+)", playbook)
    page = plain(part("report"))
    for finding in found.values():
        message = finding["reasons"][0]["message"]
        for name, here in names.items():
            message = message.replace(here, name)
        assert plain(message) in page
    seen = {**found["backup-lock"]["seen"]}
    seen["on"] = mask_numbers(seen["on"].replace(names["/run/lock/backup.lock"], "/run/lock/backup.lock"))
    documented: dict[str, Any] = json.loads(part("seen"))
    documented["on"] = mask_numbers(documented["on"])
    varying = {"pid", "wchan", "since_s"}
    assert {key: seen[key] for key in seen.keys() - varying} == {
        key: documented[key] for key in documented.keys() - varying
    }


def test_many_hosts_in_one_state_are_one_finding(tmp_path: Path, sshd: SshdFixture) -> None:
    cli = CommandLine(folder=tmp_path, sshd=sshd, hosts=6)
    with hangs(tmp_path) as names:
        outcome = cli.run(
            "- hosts: fleet\n  checks:\n"
            f"    - {{id: fifo, run: 'cat <{names['/run/replica.fifo']}', timeout: 3}}\n"
            "    - {id: ask, session: b, run: 'read -rs -p \"Password: \" x </dev/tty', timeout: 10}\n"
        )

    fifo, ask = outcome.finding("fifo"), outcome.finding("ask")
    assert (fifo["hosts"], fifo["execution"]) == ("h[1-6]", "timed_out")
    assert (fifo["seen"]["kind"], fifo["seen"]["on"]) == ("idle", names["/run/replica.fifo"])
    assert "pid" not in fifo["seen"]
    assert (ask["hosts"], ask["execution"]) == ("h[1-6]", "waiting_input")
    assert ask["seen"]["prompt"] == "Password:"
    assert ask["reasons"][0]["message"].endswith("what is typed; it asks: Password:")
    assert ask["seen"]["echo"] is False


def test_progress_says_what_a_command_waits_for(cli: CommandLine) -> None:
    with hangs(cli.folder) as names:
        playbook = cli.playbook(
            f"- hosts: all\n  checks: [{{id: lock, run: 'flock {names['/run/lock/backup.lock']} true', timeout: 13}}]\n"
        )
        outcome = cli.call_here(cli.run_args(playbook, "--format", "json"))

    assert re.search(r"running: h1 lock [\d.]+ s idle flock \S*backup\.lock, locked by .* \(flock\)", outcome.stderr)
