"""Drives the real command line, as a user would, against a private sshd."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_line import call_here
from sshd import SshdFixture

ROOT = Path(__file__).parents[2]


@dataclass
class Outcome:
    """What a finished command line left."""

    code: int
    stdout: str
    stderr: str

    @property
    def report(self) -> dict[str, Any]:
        """Stdout, which must be one JSON document."""
        document = json.loads(self.stdout)
        assert isinstance(document, dict)
        return document

    @property
    def warnings(self) -> list[str]:
        """What the report warns of. Not that something was cleared away: tests beside this one kill agents of the same account,
        and the next agent, whoever's it is, removes what they have left."""
        return [text for text in self.report["warnings"] if "removed what a killed agent had left" not in text]

    def finding(self, check: str) -> dict[str, Any]:
        """The one finding of a check."""
        found = [finding for finding in self.report["findings"] if finding["check"] == check]
        assert len(found) == 1, self.report
        return dict(found[0])


@dataclass
class CommandLine:
    """Runs `checkrunner` with a playbook and the sshd's inventory, in a folder of the test's own."""

    folder: Path
    sshd: SshdFixture
    hosts: int = 1

    def playbook(self, text: str, name: str = "play.yml") -> Path:
        """Write a playbook (indented text is fine)."""
        path = self.folder / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def argv(self, *args: object) -> list[str]:
        return [sys.executable, "-m", "checkrunner", *map(str, args)]

    def run_args(self, playbook: object, *args: object) -> list[str]:
        inventory = self.sshd.write_inventory(self.folder / "inventory.yml", self.hosts)
        known = ["--known-hosts", self.sshd.known_hosts, "--ssh-config", "none"]
        return self.argv("run", playbook, "-i", inventory, *known, *args)

    def env(self) -> dict[str, str]:
        return self.sshd.env(PYTHONPATH=str(ROOT), COLUMNS="100")

    def call(self, argv: list[str], timeout_s: float = 50.0) -> Outcome:
        """Run to the end."""
        done = subprocess.run(
            argv,
            cwd=self.folder,
            env=self.env(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, argv: list[str]) -> subprocess.Popen[bytes]:
        """Start, for tests that end it."""
        return subprocess.Popen(
            argv,
            cwd=self.folder,
            env=self.env(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=os.setpgrp,
        )

    def call_here(self, argv: list[str]) -> Outcome:
        """Run to the end in this process: a quarter of what it costs, see `command_line`."""
        done = call_here(argv[3:], folder=self.folder, env=self.env())
        return Outcome(done.returncode, done.stdout, done.stderr)

    def run(self, text: str, *args: object) -> Outcome:
        """Run a playbook, in this process; the report comes as JSON on stdout."""
        return self.call_here(self.run_args(self.playbook(text), "--format", "json", *args))
