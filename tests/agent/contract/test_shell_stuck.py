"""What cannot be ended is named by the agent in shell too, and nothing else waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent_process import eventually
from contract_agents import AGENTS, Contestant, start_contestant
from dead_fuse import DeadFuse, dead_fuse
from namespaced import World, ended, why_no_world
from state_cases import CannotProvokeError

pytestmark = pytest.mark.skipif(bool(why_no_world()), reason=why_no_world() or "-")

Start = Callable[[], tuple[Contestant, DeadFuse]]


@pytest.fixture(params=[kind for kind in AGENTS if kind.startswith("shell")])
def start(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Starts an agent that sees a file server, which ends before the agent's namespace is to: that waits for everyone in it."""
    folder: Path = tmp_path_factory.getbasetemp() / "contestants"
    world = World("")
    try:
        with dead_fuse() as fuse:

            def start() -> tuple[Contestant, DeadFuse]:
                agent = start_contestant(request.param, folder, prefix=world.prefix)
                world.agent = agent
                return agent, fuse

            yield start
    except CannotProvokeError as why:
        pytest.skip(str(why))
    with ended(world):
        pass


@pytest.mark.parametrize("command", ["cat PLACE", "true | (trap '' TERM; cat PLACE; cat PLACE) | cat", "read x <PLACE"])
def test_a_command_that_a_dead_file_server_holds(start: Start, command: str) -> None:
    agent, fuse = start()
    agent.run("export E=1; v=2; cd /usr")
    fuse.silence = "taken"
    ident = agent.start(command.replace("PLACE", f"{fuse.point}/file") + "; echo not reached", timeout_s=1)
    queued = agent.start('echo "$E $v $PWD"; sh -c \'echo "$E"\'')
    started = time.monotonic()
    assert agent.output("echo on", session="other") == "on\n"
    assert time.monotonic() - started < 3

    result = agent.wait_for(ident)
    assert (result["execution"], result["notes"]) == ("stuck", ["session_abandoned"])
    assert "rc" not in result
    assert "pid " in result["state"]
    if "cat" in command:
        assert "cat" in result["state"]
    assert agent.wait_for(queued)["rc"] == 0
    assert agent.data(queued) == b"1 2 /usr\n1\n"
    assert agent.run("sleep 30", timeout_s=0.3)["execution"] == "timed_out", "what is stuck is not of this one"
    assert agent.output("echo $v") == "2\n"

    started = time.monotonic()
    assert agent.wait_for(agent.ask("bye"))["t"] == "bye"
    assert time.monotonic() - started < 4


def test_a_session_whose_directory_dies(start: Start) -> None:
    """The next shell cannot enter it, and the one after does without. A sh enters a directory without asking what it is."""
    agent, fuse = start()
    agent.run(f"v=1; cd {fuse.point}")
    fuse.silence = "taken"
    assert agent.run("cat file", timeout_s=0.5)["execution"] == "stuck"
    follow = agent.start('echo "${v-none}"')
    assert agent.output("echo on", session="other") == "on\n"
    result = agent.wait_for(follow)
    assert (result["rc"], result.get("notes")) == (0, ["state_lost"] if agent.has_bash else None)
    assert agent.data(follow) == (b"none\n" if agent.has_bash else b"1\n")
    assert "notes" not in agent.run("v=3")
    assert agent.output("echo $v") == "3\n"


@pytest.mark.parametrize("key", ["cwd", "requires"])
def test_what_must_be_known_before_a_command_has_its_timeout(start: Start, key: str) -> None:
    agent, fuse = start()
    agent.run("v=1; cd /usr")
    fuse.silence = "taken"
    place = f"{fuse.point}/file"
    if key == "cwd":
        ident = agent.start("echo not reached", timeout_s=0.5, cwd=place)
    else:
        ident = agent.start("echo not reached", timeout_s=0.5, requires=place)
    result = agent.wait_for(ident)
    assert result["execution"] == "stuck"
    assert "stdout" not in result
    assert agent.output("echo $v $PWD") == "1 /usr\n"


def test_a_cancel_does_not_wait_for_what_is_stuck(start: Start) -> None:
    agent, fuse = start()
    fuse.silence = "taken"
    ident = agent.start(f"cat {fuse.point}/file")
    assert eventually(lambda: fuse.taken)
    started = time.monotonic()
    assert agent.wait_for(agent.ask("cancel"))["t"] == "ok"
    assert time.monotonic() - started < 6
    assert agent.wait_for(ident)["execution"] == "stuck"
    assert agent.output("echo on") == "on\n"


def test_one_that_can_still_be_killed(start: Start) -> None:
    agent, fuse = start()
    agent.run("v=2")
    fuse.silence = "left"
    assert agent.run(f"cat {fuse.point}/file", timeout_s=0.5)["execution"] == "timed_out"
    assert agent.output("echo $v") == "2\n"


def test_shells_that_are_lost_again_and_again_keep_the_state(start: Start) -> None:
    agent, _ = start()
    agent.run("cd /usr; x=5; export Y=6")
    for _ in range(7):
        assert agent.run("x=7; kill -9 $$")["notes"] == ["shell_replaced"]
    for _ in range(3):
        assert agent.run("exec sh -c 'exit 3'")["rc"] == 3
    assert agent.output("echo $x $PWD; sh -c 'echo $Y'") == "5 /usr\n6\n"
