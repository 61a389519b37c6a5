"""keeping.py: captures that stay on the host after the end, and who removes them."""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent_process import AgentProcess, alive, eventually, kill_quietly

from checkrunner.link.payload import load_part

Start = Callable[..., AgentProcess]
SECONDS = 60.0


def place(name: str) -> Path:
    return Path(f"/var/tmp/checkrunner-{os.getuid()}-kept-{name}")


def keepers(name: str) -> list[int]:
    """The processes that know of the directory."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if bytes(place(name)) in words:
            found.append(int(path.parent.name))
    return found


def guard_of(name: str) -> tuple[int, int]:
    """The process that guards the directory, and the one in which it waits."""
    found: list[int] = []

    def is_there() -> bool:
        # A child that has not yet become another program has the same arguments.
        found[:] = keepers(name)
        return len(found) == 1 and len(children(found[0])) == 1

    assert eventually(is_there, SECONDS)
    return found[0], children(found[0])[0]


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.fixture
def name() -> Iterator[str]:
    name = f"test-{secrets.token_hex(6)}"
    yield name
    for pid in keepers(name):
        kill_quietly(pid)


def leave(agent: AgentProcess, name: str, seconds: int, captures: bytes) -> None:
    agent.send_part("keeping", load_part("keeping"))
    answer = agent.wait_for(agent.ask("stay", {"seconds": seconds, "name": name}, {"captures": captures}))
    assert answer["t"] == "ok", answer


def test_captures_with_a_name_stay_and_are_removed_when_their_guard_is_ended(
    few_agent: AgentProcess, name: str
) -> None:
    small = few_agent.run("echo out; echo err >&2")["id"]
    large = few_agent.run("seq 30000")["id"]
    silent = few_agent.run("true")["id"]
    few_agent.run("echo nobody named this")
    leave(few_agent, name, 600, b"%d small\n%d large[x]\n%d silent" % (small, large, silent))
    few_agent.bye()

    there = place(name)
    assert eventually(lambda: keepers(name), SECONDS)
    assert there.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in there.iterdir()) == ["large[x].stdout", "lock", "small.stderr", "small.stdout"]
    assert (there / "small.stdout").read_text() == "out\n"
    assert (there / "large[x].stdout").read_text().split() == [str(n) for n in range(1, 30001)]
    assert (there / "small.stdout").stat().st_mode & 0o777 == 0o600
    assert not few_agent.directory.exists()

    guard, sleeps = guard_of(name)
    os.kill(guard, signal.SIGTERM)
    assert eventually(lambda: not there.exists() and not alive(guard) and not alive(sleeps), SECONDS)


def test_they_are_removed_when_their_time_is_over(agent: AgentProcess, name: str) -> None:
    leave(agent, name, 1, b"%d one" % agent.run("echo out")["id"])
    agent.bye()
    assert eventually(lambda: place(name).exists(), SECONDS)
    assert eventually(lambda: not place(name).exists() and not keepers(name), SECONDS)


def test_the_next_agent_leaves_them_alone_until_nobody_guards_them(start_agent: Start, name: str) -> None:
    first = start_agent()
    leave(first, name, 600, b"%d one" % first.run("echo out")["id"])
    first.bye()
    guard, sleeps = guard_of(name)

    start_agent().bye()
    assert (place(name) / "one.stdout").exists()

    for pid in (guard, sleeps):
        os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: not alive(guard), SECONDS)
    start_agent().bye()
    assert not place(name).exists()


def test_a_name_that_is_taken_gets_a_number(start_agent: Start, name: str) -> None:
    for _ in range(2):
        agent = start_agent()
        leave(agent, name, 600, b"%d one" % agent.run("echo out")["id"])
        agent.bye()
        assert eventually(lambda: keepers(name), SECONDS)
    assert eventually(lambda: keepers(f"{name}-2"), SECONDS)
    for pid in keepers(name) + keepers(f"{name}-2"):
        os.kill(pid, signal.SIGTERM)
    assert eventually(lambda: not place(name).exists() and not place(f"{name}-2").exists(), SECONDS)


def test_what_nobody_may_be_called_is_refused_and_without_captures_nothing_stays(
    agent: AgentProcess, name: str
) -> None:
    agent.send_part("keeping", load_part("keeping"))
    for bad, captures in ((f"../{name}", b"1 x"), ("", b"1 x"), (name, b"1 ../x"), (name, b"1 .."), (name, b"x")):
        answer = agent.wait_for(agent.ask("stay", {"seconds": 9, "name": bad}, {"captures": captures}))
        assert answer["kind"] == "bad_request", (bad, captures)
    silent = agent.run("true")["id"]
    leave(agent, name, 600, b"%d x\n999 y" % silent)
    agent.bye()
    assert eventually(lambda: not agent.directory.exists(), SECONDS)
    assert eventually(lambda: not place(name).exists() and not keepers(name), SECONDS)
