"""Agents beside bystanders, in a pid namespace of their own: what they may not touch, and what may be left of them.

The namespace is like a container: its first process starts the bystanders, which get the smallest numbers, then the
agent, and takes up orphans.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agent_process import AgentProcess, eventually

__all__ = ["NOBODY", "World", "why_no_world"]

NOBODY = 65534
ENTER = (str(shutil.which("unshare")), "--pid", "--fork", "--mount-proc", "--kill-child")

# The first process. Each bystander is `KIND:WORD`, all sleep; the words are to tell them apart.
INIT = """
import os, signal, sys
def child(kind):
    if os.fork():
        return
    if kind == "session":
        os.setsid()
    elif kind == "daemon":
        os.setsid()
        if os.fork():
            os._exit(0)
    elif kind == "user":
        os.setgid(65534); os.setuid(65534)
    elif kind == "other":
        os.environ["CHECKRUNNER_SHELL"] = "0-3-00112233445566.1.0."
    os.execv("/bin/sleep", ["sleep", "5000"])
for kind in sys.argv[1].split():
    child(kind)
    if kind == "daemon":
        os.wait()
if os.fork():
    for number in (0, 1):
        os.close(number)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            signal.pause()
os.execvp(sys.argv[2], sys.argv[2:])
"""

# A process with a number that is asked for: NUMBER KIND [NAME].
INTRUDER = """
import ctypes, os, sys, time
number, kind = int(sys.argv[1]), sys.argv[2]
ready, done = os.pipe()
if number:
    open("/proc/sys/kernel/ns_last_pid", "w").write(str(number - 1))
pid = os.fork()
if pid:
    os.read(ready, 1)
    print(pid, flush=True)
    os._exit(0)
if kind in ("session", "daemon"):
    os.setsid()
    if kind == "daemon" and os.fork():
        os._exit(0)
if kind == "user":
    os.setgid(65534); os.setuid(65534)
if len(sys.argv) > 3:
    ctypes.CDLL(None).prctl(15, sys.argv[3].encode(), 0, 0, 0)
os.close(1); os.close(2)
os.write(done, b"x")
os.close(done)
time.sleep(5000)
"""


@functools.cache
def why_no_world() -> str:
    """Why there can be none here; "" where there can."""
    if os.geteuid() or subprocess.run([*ENTER, "true"], capture_output=True, check=False).returncode:
        return "needs root and pid namespaces"
    return ""


class World:
    """The processes of one namespace, by their numbers in it. `agent` is to be started by `argv` in it."""

    def __init__(self, bystanders: str, before: Sequence[str] = ()) -> None:
        """`before` is what the agent is started by."""
        self.prefix = [*ENTER, *before, sys.executable, "-IS", "-c", INIT, bystanders]
        self.count = len(bystanders.split())
        self._agent: AgentProcess | None = None
        self.bystanders: dict[int, str] = {}

    @property
    def agent(self) -> AgentProcess:
        """The one that is in it."""
        assert self._agent is not None
        return self._agent

    @agent.setter
    def agent(self, agent: AgentProcess) -> None:
        self._agent = agent

    def meet(self, agent: AgentProcess) -> None:
        """To be called when the agent is there."""
        self._agent = agent

        def are_there() -> bool:
            others = self.processes()
            self.bystanders = {number: start for number, start in others.items() if number == 1 or self._waits(number)}
            return len(self.bystanders) == self.count + 1

        assert eventually(are_there), self.processes()

    def _waits(self, number: int) -> bool:
        return self._words(number) == "sleep 5000 "

    def _stat(self, number: int) -> list[str]:
        return (self.root / str(number) / "stat").read_text(errors="replace").rpartition(") ")[2].split()

    @functools.cached_property
    def init(self) -> int:
        """The number of its first process out here."""
        children = Path(f"/proc/{self.agent.process.pid}/task/{self.agent.process.pid}/children")
        assert eventually(children.read_text)
        return int(children.read_text().split()[0])

    @functools.cached_property
    def root(self) -> Path:
        """Its /proc."""
        return Path(f"/proc/{self.init}/root/proc")

    def processes(self) -> dict[int, str]:
        """Those that live, each with its start."""
        found = {}
        for path in self.root.iterdir():
            if path.name.isdigit():
                with contextlib.suppress(OSError):
                    words = self._stat(int(path.name))
                    if words[0] not in "ZX":
                        found[int(path.name)] = words[19]
        return found

    def lacks(self, number: int) -> bool:
        """Whether there is no such process."""
        return number not in self.processes()

    def outer(self, number: int) -> int:
        """The number that a process has out here."""
        level = len(self._numbers(self.init)) - 1
        waiting = [self.init]
        while waiting:
            one = waiting.pop()
            with contextlib.suppress(OSError):
                if self._numbers(one)[level] == number:
                    return one
                for children in Path(f"/proc/{one}/task").glob("*/children"):
                    waiting += [int(word) for word in children.read_text().split()]
        raise LookupError(number)

    @staticmethod
    def _numbers(outer: int) -> list[int]:
        status = Path(f"/proc/{outer}/status").read_text(errors="replace").splitlines()
        return [int(word) for line in status if line.startswith("NSpid:") for word in line.split()[1:]]

    def signal(self, number: int, signal: int) -> None:
        """Send one from out here."""
        os.kill(self.outer(number), signal)

    def find(self, text: str) -> list[int]:
        """The processes whose arguments begin with that, or have it in them, in the order of their numbers."""
        return [number for number in sorted(self.processes()) if text in self._words(number)]

    def arguments(self) -> list[str]:
        """Those of every process there is at the moment."""
        return [self._words(int(path.name)) for path in self.root.iterdir() if path.name.isdigit()]

    def _words(self, number: int) -> str:
        try:
            words = (self.root / str(number) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
        return "" if number == 1 or "unshare" in words[:20] else words  # (these name what they start)

    def intrude(self, number: int, kind: str, name: str = "", env: Mapping[str, str] = {}, beside: int = 1) -> int:
        """One more bystander, with that number (of a daemon: with that session) if it is not 0. It is in the namespace of
        the process `beside`."""
        target = self.outer(beside)
        command = ["nsenter", f"--target={target}", "--pid", "--mount", sys.executable, "-c", INTRUDER]
        words = [str(number), kind, *([name] if name else [])]
        while True:
            before = self.processes().keys()
            made = subprocess.run(
                [*command, *words], env={**os.environ, **env}, capture_output=True, check=True, text=True
            )
            new = self._newcomer(before)
            if number in (0, int(made.stdout)):
                self.bystanders[new] = self._stat(new)[19]
                return new
            # Another process was faster.
            self.signal(new, 9)
            assert eventually(partial(self.lacks, new))

    def _newcomer(self, before: Iterable[int]) -> int:
        """The one that waits now and did not before, when who has started it has gone."""
        found: list[int] = []

        def is_alone() -> bool:
            found[:] = [one for one in self.processes().keys() - set(before) if "5000" in self._words(one)]
            return len(found) == 1

        assert eventually(is_alone), found
        return found[0]

    def assert_untouched(self) -> None:
        """Every bystander lives, and none is stopped."""
        there = self.processes()
        touched = [number for number, start in self.bystanders.items() if there.get(number) != start]
        assert not touched, (touched, self.bystanders, there)
        assert {self._stat(number)[0] for number in self.bystanders} <= {"S", "R"}

    def assert_clean(self, seconds: float = 60) -> None:
        """Nobody is left but the bystanders, and they are untouched."""
        left: dict[int, Any] = {}

        def nobody() -> bool:
            left.clear()
            for number in self.processes().keys() - self.bystanders.keys():
                with contextlib.suppress(OSError):
                    left[number] = (self.root / str(number) / "cmdline").read_bytes()[:80]
            return not left

        assert eventually(nobody, seconds), left
        self.assert_untouched()

    def end(self) -> None:
        """Everything in it is killed."""
        if self._agent is None:
            return
        with contextlib.suppress(OSError):
            os.kill(self.agent.process.pid, 9)
        for stream in (self.agent.stdin, self.agent.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        self.agent.process.wait()


@contextlib.contextmanager
def ended(world: World) -> Iterator[World]:
    """The world, until the end of the block."""
    try:
        yield world
    finally:
        world.end()
