"""What the agent in shell does to end a command comes too late for that command, and hits nobody else."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import struct
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_process import eventually
from contestants import at_once
from contract_agents import AGENTS, Contestant, start_contestant
from namespaced import World, ended, why_no_world

pytestmark = pytest.mark.skipif(bool(why_no_world()), reason=why_no_world() or "-")

SHELL_AGENTS = [kind for kind in AGENTS if kind.startswith("shell")]
LIBC = ctypes.CDLL(None, use_errno=True)


def is_stopped(outer: int) -> bool:
    return Path(f"/proc/{outer}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "T"


class Slow:
    """An agent whose main process can be held, so that it comes to know of things later than they happen."""

    def __init__(self, world: World, agent: Contestant) -> None:
        self.world, self.agent = world, agent
        self.place = world.root.parent / str(agent.directory)[1:]
        self.shell = int(agent.output("cd /usr; x=5; echo $$"))

    def hold(self, number: int) -> None:
        outer = self.world.outer(number)
        os.kill(outer, signal.SIGSTOP)
        assert eventually(lambda: is_stopped(outer))

    def release(self, number: int) -> None:
        self.world.signal(number, signal.SIGCONT)

    def knows_not(self, event: str, times: int = 1) -> bool:
        """Whether events that begin like this wait for the main process; they stay where they are."""
        events = os.open(self.place / "ev", os.O_RDWR | os.O_NONBLOCK)
        out, copy = os.pipe()
        try:
            size = LIBC.tee(events, copy, 65536, 2)  # SPLICE_F_NONBLOCK
            lines = os.read(out, size).decode().splitlines() if size > 0 else []
        finally:
            for number in (events, out, copy):
                os.close(number)
        return sum(line.startswith(event) for line in lines) >= times

    def is_sent(self) -> bool:
        """Whether a command waits for the shell of the first session."""
        fifo = os.open(self.place / "s1.0", os.O_RDWR | os.O_NONBLOCK)
        try:
            waiting: int = struct.unpack("i", fcntl.ioctl(fifo, termios.FIONREAD, b"1234"))[0]
        finally:
            os.close(fifo)
        return waiting > 0

    def goes_on(self, following: int) -> None:
        """The command behind was run as if nothing had been, and so is another one."""
        for ident in (following, self.agent.start("echo $x $PWD")):
            result = self.agent.wait_for(ident)
            assert (result["execution"], result.get("rc"), result.get("notes")) == ("done", 0, None), result
            assert self.agent.data(ident) == b"5 /usr\n"


@contextlib.contextmanager
def slow(kind: str, folder: Path) -> Iterator[Slow]:
    world = World("")
    with ended(world):
        agent = start_contestant(kind, folder, prefix=world.prefix)
        world.meet(agent)
        yield Slow(world, agent)
        assert agent.wait_for(agent.ask("bye"))["t"] == "bye"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp() / "contestants"


@at_once(SHELL_AGENTS)
def test_a_cap_that_is_seen_when_the_command_is_over(kind: str, folder: Path, tmp_path: Path) -> None:
    with slow(kind, folder) as one:
        agent, place = one.agent, tmp_path / kind.replace(" ", "-")
        place.mkdir()
        wait = f"until [ -e {place}/NAME ]; do sleep 0.02; done"
        capped = agent.start(
            f"echo >{place}/up; {wait}; head -c 30000 /dev/zero; {wait.replace('NAME', 'on')}".replace("NAME", "go"),
            cap=1000,
        )
        following = agent.start("echo $x $PWD")
        assert eventually((place / "up").exists)
        one.hold(agent.hello["pid"])
        (place / "go").touch()
        assert eventually(lambda: one.knows_not(f"c {capped} o"))
        (place / "on").touch()
        assert eventually(lambda: one.knows_not(f"d 1 {capped} 0"))
        one.release(agent.hello["pid"])
        result = agent.wait_for(capped)
        assert (result["execution"], result["notes"], result["stdout"]["captured"]) == ("killed", ["capped"], 1000)
        one.goes_on(following)


@pytest.mark.parametrize("requires", ["", "no-such-tool"])
@at_once(SHELL_AGENTS)
def test_a_timeout_that_is_seen_when_the_command_is_over(kind: str, folder: Path, requires: str) -> None:
    with slow(kind, folder) as one:
        agent = one.agent
        one.hold(one.shell)
        late = agent.start("true", timeout_s=0.5, requires=requires)
        following = agent.start("echo $x $PWD")
        assert eventually(one.is_sent)
        one.hold(agent.hello["pid"])
        assert eventually(lambda: one.knows_not("k", times=3))
        one.release(one.shell)
        assert eventually(lambda: one.knows_not(f"{'n' if requires else 'd'} 1 {late} "))
        one.release(agent.hello["pid"])
        result = agent.wait_for(late)
        if requires:
            assert (result["execution"], result["missing"]) == ("not_run", [requires])
        else:
            assert (result["execution"], result.get("rc")) == ("timed_out", None)
        one.goes_on(following)


@at_once(SHELL_AGENTS)
def test_a_cancel_while_the_result_is_made(kind: str, folder: Path) -> None:
    with slow(kind, folder) as one:
        agent = one.agent
        one.hold(one.shell)
        over = agent.start("head -c 5000000 /dev/zero")
        agent.last += 1
        agent.send(b"slice %d of=999 pattern:4\n" % agent.last)
        # The main process waits for the rest of this request, and the reader for the main process.
        assert eventually(lambda: one.world.find("dd bs="))
        one.release(one.shell)
        assert eventually(lambda: one.knows_not(f"d 1 {over} 0"))
        assert eventually(lambda: one.knows_not(f"c {over} ", times=2))
        agent.send(b"rest")
        cancel = agent.ask("cancel")
        result = agent.wait_for(over)
        assert (result["execution"], result["rc"], result["stdout"]["bytes"]) == ("done", 0, 5_000_000)
        assert agent.wait_for(cancel)["t"] == "ok"
        one.goes_on(agent.start("echo $x $PWD"))
