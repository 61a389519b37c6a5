"""The agents that the contract holds for: agent.py on each interpreter, and with sessions in each shell that is no bash;
agent.sh in each shell that this machine has."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_process import AgentProcess, interpreters

from checkrunner.link.payload import load_plain_payload, load_shell_payload

__all__ = ["AGENTS", "Contestant", "start_contestant"]

SHELLS = {"dash": "dash", "busybox": "busybox", "bash": "bash"}
# What a host without bash and Python lacks, where its programs are those of this machine.
_ABSENT = ("bash", "rbash", "python", "perl")


def contestants() -> list[str]:
    """Each is `python PATH`, `plain NAME` (sessions in that shell) or `shell NAME`."""
    shells = [name for name in SHELLS if shutil.which(name)]
    plain = [f"plain {name}" for name in shells if name == "dash" or (name == "busybox" and _contained())]
    return [f"python {path}" for path in interpreters()] + plain + [f"shell {name}" for name in shells]


class Contestant(AgentProcess):
    """An agent of one of the kinds."""

    kind = ""
    named = ""  # what the names of sessions begin with, so that a test has them for itself

    def ask(self, verb: str, keys: Mapping[str, object] = {}, sections: Mapping[str, bytes] = {}) -> int:
        if self.named and "session" in keys:
            keys = {**keys, "session": f"{self.named}{keys['session']}"}
        return super().ask(verb, keys, sections)

    @property
    def has_bash(self) -> bool:
        """Whether its sessions are bash."""
        return bool(self.hello["bash"])

    @property
    def lacks(self) -> Sequence[str]:
        """What it says that it cannot do."""
        words: Sequence[str] = self.hello.get("lacks", [])
        return words


@functools.cache
def _contained() -> tuple[str, ...]:
    """A prefix that gives an agent process numbers of its own, so that one that errs can end nothing but itself."""
    prefix = ("unshare", "-p", "-f", "--kill-child", "--mount-proc")
    works = (
        shutil.which("unshare") and not subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode
    )
    return prefix if works else ()


def host_path(shell: str, folder: Path) -> str:
    """A PATH in which `sh` is that shell, with neither bash nor Python; that of this machine for bash."""
    if shell == "bash":
        return os.environ["PATH"]
    if not folder.is_dir():
        folder.mkdir(parents=True)
        if shell == "busybox":
            subprocess.run(["busybox", "--install", "-s", str(folder)], check=True)
        else:
            for place in ("/usr/sbin", "/usr/bin"):
                for name in os.listdir(place):
                    if name != "sh" and not name.startswith(_ABSENT) and not (folder / name).exists():
                        (folder / name).symlink_to(f"{place}/{name}")
            (folder / "sh").symlink_to(str(shutil.which(shell)))
    return str(folder)


def start_contestant(kind: str, folder: Path, **options: Any) -> Contestant:
    """Start it; what `AgentProcess` takes can be given. `folder` is for what it needs."""
    agent, _, name = kind.partition(" ")
    if agent == "python":
        out = Contestant(python=name, **options)
    elif agent == "plain":
        # (`/bin/sh` comes first, whatever the PATH is.)
        place = 'mount --bind "$(command -v busybox)" "$(readlink -f /bin/sh)" && exec "$@"'
        prefix = ["unshare", "-m", "sh", "-c", place, "sh"] if name == "busybox" else []
        python = os.path.realpath(sys.executable)
        out = Contestant(python=python, prefix=prefix, packed=load_plain_payload().packed, **options)
    else:
        payload = load_shell_payload()
        script = shlex.split(payload.stdin_line)[-1]
        program = {"dash": ["dash"], "busybox": ["busybox", "sh"], "bash": ["bash", "--posix"]}[name]
        env = {**os.environ, **options.pop("env", {}), "PATH": host_path(name, folder / f"bin-{name}")}
        program[0] = str(shutil.which(program[0]))
        if _contained():
            options.setdefault("prefix", [str(shutil.which("unshare")), *_contained()[1:]])
        out = Contestant(argv=[*program, "-c", script], head=payload.stdin_head, env=env, **options)
    out.kind = kind
    return out


AGENTS = contestants()
