"""Ansible as the oracle of inventory tests: one real call, or many in one process. See scripts/oracle.

Comparisons cost about 0.7 s a real call, but a few hundredths of a second in a batch: ask for many at once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Answer", "Call", "Oracle", "find_oracle"]

ROOT = Path(__file__).resolve().parents[2]
_LOADER = Path(__file__).with_name("oracle_loader.py")
_VAULT = Path(__file__).with_name("oracle_vault.py")
_SECONDS = 50


@dataclass(frozen=True)
class Call:
    """Arguments of `ansible-inventory`, as in ``Call(["-i", "hosts", "--list"], cwd=tmp_path)``.

    With `env`, it costs a start of its own in a batch too: settings are read when the program starts.
    """

    args: Sequence[str]
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What one call came to. Ansible says that it could not read a source in a warning only, and ends with 0."""

    rc: int
    stdout: str
    stderr: str

    @property
    def unread(self) -> bool:
        """Whether a source could not be read as an inventory."""
        return "Unable to parse" in self.stderr

    def json(self) -> Any:
        """Standard output of `--list` or `--host`; a failed call fails the test."""
        assert self.rc == 0, self.stderr
        return json.loads(self.stdout)


@dataclass(frozen=True)
class Oracle:
    """The programs of the oracle's environment. Nothing of the user's own settings reaches them."""

    inventory: Path

    @property
    def folder(self) -> Path:
        return self.inventory.parents[1]

    @property
    def python(self) -> Path:
        return self.inventory.with_name("python")

    def really(self, call: Call) -> Answer:
        """One call of the real program, from its start."""
        done = subprocess.run(
            [str(self.inventory), *call.args], cwd=call.cwd, env=_environment(self.folder, call), capture_output=True,
            text=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Answer(done.returncode, done.stdout, done.stderr)

    def batch(self, calls: Iterable[Call]) -> list[Answer]:
        """The answers to many calls, in their order."""
        jobs = [
            {"argv": [str(self.inventory), *call.args], "cwd": str(call.cwd), "env": dict(call.env)} for call in calls
        ]
        done = subprocess.run(
            [str(self.python), str(_LOADER)], input=json.dumps(jobs), env=_environment(self.folder), capture_output=True,
            text=True, check=False, timeout=_SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return [Answer(**answer) for answer in json.loads(done.stdout)]

    def encrypted(self, texts: Iterable[tuple[str, str, str | None]]) -> list[str]:
        """Texts as Ansible Vault encrypts them, each with a password, and a label or none."""
        done = subprocess.run(
            [str(self.python), str(_VAULT)], input=json.dumps(list(texts)), env=_environment(self.folder),
            capture_output=True, text=True, check=False, timeout=_SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found: list[str] = json.loads(done.stdout)
        return found

    def vault(self, *args: str, cwd: Path) -> Answer:
        """One call of the real ``ansible-vault``."""
        done = subprocess.run(
            [str(self.inventory.with_name("ansible-vault")), *args], cwd=cwd, env=_environment(self.folder),
            capture_output=True, text=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Answer(done.returncode, done.stdout, done.stderr)

    def list(self, *sources: str, cwd: Path, more: Sequence[str] = ()) -> Any:
        """What ``--list`` says of sources, in a batch of one."""
        return self.batch([list_call(*sources, cwd=cwd, more=more)])[0].json()


def list_call(*sources: str, cwd: Path, more: Sequence[str] = ()) -> Call:
    """The call of ``--list`` for sources, each with an -i of its own."""
    return Call([*(word for source in sources for word in ("-i", source)), "--list", *more], cwd)


def find_oracle() -> Oracle:
    """Make the oracle's environment where it is not there yet (seconds, once a checkout)."""
    env = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run([str(ROOT / "scripts/oracle")], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"scripts/oracle failed: {done.stderr}"
    return Oracle(Path(done.stdout.strip()))


def _environment(folder: Path, call: Call | None = None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    own = {
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return {**kept, **own, **(call.env if call else {})}
