"""What cannot be ended is named by the agent in shell too, and nothing else waits for it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent_process import eventually
from contestants import at_once
from contract_agents import AGENTS, Contestant, start_contestant
from dead_fuse import DeadFuse, dead_fuse
from namespaced import World, ended, why_no_world
from state_cases import CannotProvokeError

pytestmark = pytest.mark.skipif(bool(why_no_world()), reason=why_no_world() or "-")

SHELL_AGENTS = [kind for kind in AGENTS if kind.startswith("shell")]
Start = Callable[[str], contextlib.AbstractContextManager[tuple[Contestant, DeadFuse]]]


@pytest.fixture
def start(tmp_path_factory: pytest.TempPathFactory) -> Start:
    """Starts an agent that sees a file server, which ends before the agent's namespace is to: that waits for everyone in it."""
    folder: Path = tmp_path_factory.getbasetemp() / "contestants"
    try:
        with dead_fuse():
            pass
    except CannotProvokeError as why:
        pytest.skip(str(why))

    @contextlib.contextmanager
    def start(kind: str) -> Iterator[tuple[Contestant, DeadFuse]]:
        world = World("")
        with ended(world), dead_fuse() as fuse:
            agent = start_contestant(kind, folder, prefix=world.prefix)
            world.agent = agent
            yield agent, fuse

    return start


@pytest.mark.parametrize("command", ["cat PLACE", "true | (trap '' TERM; cat PLACE; cat PLACE) | cat", "read x <PLACE"])
@at_once(SHELL_AGENTS)
def test_a_command_that_a_dead_file_server_holds(kind: str, start: Start, command: str) -> None:
    with start(kind) as (agent, fuse):
        agent.run("export E=1; v=2; cd /usr")
        fuse.silence = "taken"
        ident = agent.start(command.replace("PLACE", f"{fuse.point}/file") + "; echo not reached", timeout_s=1)
        queued = agent.start('echo "$E $v $PWD"; sh -c \'echo "$E"\'')
        assert agent.output("echo on", session="other") == "on\n"
        assert ident not in [answer.get("id") for answer in agent.kept], "another session does not wait for this one"

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
        assert agent.wait_for(agent.ask("bye"))["t"] == "bye"


@at_once(SHELL_AGENTS)
def test_a_session_whose_directory_dies(kind: str, start: Start) -> None:
    """The next shell cannot enter it, and the one after does without. A sh enters a directory without asking what it is."""
    with start(kind) as (agent, fuse):
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
@at_once(SHELL_AGENTS)
def test_what_must_be_known_before_a_command_has_its_timeout(kind: str, start: Start, key: str) -> None:
    with start(kind) as (agent, fuse):
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


@at_once(SHELL_AGENTS)
def test_a_cancel_does_not_wait_for_what_is_stuck(kind: str, start: Start) -> None:
    with start(kind) as (agent, fuse):
        fuse.silence = "taken"
        ident = agent.start(f"cat {fuse.point}/file")
        assert eventually(lambda: fuse.taken)
        assert agent.cancelled(ident)["execution"] == "stuck"
        assert agent.output("echo on") == "on\n"


@at_once(SHELL_AGENTS)
def test_one_that_can_still_be_killed(kind: str, start: Start) -> None:
    with start(kind) as (agent, fuse):
        agent.run("v=2")
        fuse.silence = "left"
        assert agent.run(f"cat {fuse.point}/file", timeout_s=0.5)["execution"] == "timed_out"
        assert agent.output("echo $v") == "2\n"


@at_once(SHELL_AGENTS)
def test_shells_that_are_lost_again_and_again_keep_the_state(kind: str, start: Start) -> None:
    with start(kind) as (agent, _):
        agent.run("cd /usr; x=5; export Y=6")
        for _ in range(7):
            assert agent.run("x=7; kill -9 $$")["notes"] == ["shell_replaced"]
        for _ in range(3):
            assert agent.run("exec sh -c 'exit 3'")["rc"] == 3
        assert agent.output("echo $x $PWD; sh -c 'echo $Y'") == "5 /usr\n6\n"
