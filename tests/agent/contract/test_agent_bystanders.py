"""An agent ends what its sessions have started, and nobody else: whatever it ends for, whoever is beside it."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from agent_process import REMOTE, eventually
from contestants import at_once
from contract_agents import AGENTS, start_contestant
from namespaced import ENTER, NOBODY, World, ended, why_no_world

pytestmark = pytest.mark.skipif(bool(why_no_world()), reason=why_no_world() or "-")

SHELL_AGENTS = [kind for kind in AGENTS if kind.startswith("shell")]
KINDS = [kind for kind in AGENTS if kind.startswith("python")][-1:] + SHELL_AGENTS
# In the agent's own group and session, in a session of its own, in one whose leader has gone, of another user, of another agent.
BYSTANDERS = "group session daemon user other"
# What a check leaves: a child, one in another session, one that has lost its environment, one that has lost all three.
LEAVES = "sleep 4001 & setsid sleep 4002 & env -i sleep 4003 & (env -i sh -c 'sleep 4004 & sleep 4005' &) ; sleep 0.1; echo ok"
RESISTS = "trap '' TERM INT HUP; sh -c 'trap \"\" TERM INT; sleep 4006' & env -i sleep 4007 & sleep 4008; sleep 4009"

Make = Callable[..., World]


@pytest.fixture
def make_world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Make]:
    """Makes a world with an agent of a kind, which has said hello."""
    made: list[World] = []

    def make(kind: str, bystanders: str = BYSTANDERS, before: tuple[str, ...] = (), **options: Any) -> World:
        world = World(bystanders, before)
        folder = tmp_path_factory.getbasetemp() / "contestants"
        made.append(world)
        world.meet(start_contestant(kind, folder, prefix=[*world.prefix, *options.pop("inside", ())], **options))
        return world

    yield make
    for world in made:
        with ended(world):
            pass


def end(world: World, how: str) -> None:
    """End the agent."""
    agent = world.agent
    if how == "bye":
        agent.wait_for(agent.ask("bye"))
    elif how == "end":
        agent.stdin.close()
    elif how == "deaf":
        agent.stdout.close()
        agent.stdin.close()
    elif how == "killed":
        world.signal(agent.hello["pid"], signal.SIGKILL)
        agent.stdin.close()
    else:
        world.signal(agent.hello["pid"], getattr(signal, how))


@pytest.mark.parametrize("how", ["bye", "end", "deaf", "killed", "SIGTERM"])
@at_once(KINDS)
def test_nobody_else_is_touched(kind: str, how: str, make_world: Make) -> None:
    if kind.startswith("python") and how == "killed":
        return  # of one in Python the next one removes what is left
    world = make_world(kind)
    agent = world.agent
    assert agent.output(LEAVES) == "ok\n"
    if how == "bye":
        assert agent.run(RESISTS, timeout_s=0.3, session="b")["execution"] == "timed_out"
        world.assert_untouched()
        first = agent.start(RESISTS, session="c")
        assert agent.run("sleep 0.3; kill -9 $$", session="d")["signal"] == 9
        assert agent.wait_for(agent.ask("cancel"))["t"] == "ok"
        assert agent.wait_for(first)["execution"] == "killed"
        world.assert_untouched()
    agent.start(RESISTS, session="e")
    agent.run("sleep 0.2", session="f")
    end(world, how)
    world.assert_clean()
    assert eventually(lambda: not (world.root.parent / str(agent.directory)[1:]).exists())


@at_once(SHELL_AGENTS)
def test_the_smallest_numbers(kind: str, make_world: Make) -> None:
    """The agent is the second process of a container, and who comes after it is none of its own."""
    world = make_world(kind, "")
    agent = world.agent
    assert agent.hello["pid"] == 2
    for what in ("session", "daemon", "user"):
        world.intrude(0, what)
    assert agent.output(LEAVES) == "ok\n"
    assert agent.run(RESISTS, timeout_s=0.3, session="b")["execution"] == "timed_out"
    end(world, "bye")
    world.assert_clean()


@pytest.mark.parametrize("how", ["cancel", "killed"])
@at_once(SHELL_AGENTS)
def test_numbers_that_are_given_out_again(kind: str, how: str, make_world: Make) -> None:
    """The shell is gone while its command's output is still open; then somebody else gets its number, and its session's."""
    world = make_world(kind, "group")
    agent = world.agent
    numbers = []
    limit = 100 if how == "cancel" else 2
    for session, what in (("a", "session"), ("b", "daemon")):
        shell = int(agent.output("echo $$", session=session))
        # Who holds the output cannot be told to be ours, so that it is waited for.
        ident = agent.start("env -i setsid sleep 4000 & sleep 0.2; kill -9 $$", session=session, timeout_s=limit)
        assert eventually(partial(world.lacks, shell))
        time.sleep(0.1)  # no number comes round again any faster
        numbers.append((world.intrude(shell, what), ident))
    if how == "cancel":
        agent.ask("cancel")
    for _, ident in numbers if how != "killed" else ():
        agent.wait_for(ident)
    assert agent.output("echo on", session="a") == "on\n"
    world.assert_untouched()
    end(world, "killed" if how == "killed" else "bye")
    assert eventually(lambda: agent.hello["pid"] not in world.processes())
    time.sleep(1.5 if how == "killed" else 0)
    world.assert_untouched()


@at_once(SHELL_AGENTS)
def test_what_others_say_of_themselves_names_nobody(kind: str, make_world: Make) -> None:
    """Any user can choose the name and the environment of a process, newlines and all."""
    world = make_world(kind)
    agent = world.agent
    shell = int(agent.output("echo $$"))
    token = agent.directory.name.removeprefix("checkrunner-")
    for mark in (token, agent.output("echo $CHECKRUNNER_SHELL").strip().rpartition(".")[0].rpartition(".")[0]):
        for number in (3, 4, 5):
            forged = f"\n==> {number}/environ <==\nCHECKRUNNER_SHELL={mark}.1.0.\nCHECKRUNNER_SHELL={mark}1.0."
            world.intrude(0, "user", env={"FORGED": forged})
    world.intrude(0, "user", f"\n3 S {shell} 9 9 ")
    world.intrude(0, "user", f"\n4 S 1 9 {shell} ")
    world.intrude(0, "user", ") S 3 3 3 3 (")
    assert agent.run(RESISTS, timeout_s=0.3)["execution"] == "timed_out"
    world.assert_untouched()
    end(world, "bye")
    world.assert_clean()


@at_once(SHELL_AGENTS)
def test_a_process_with_an_odd_name_is_ended_all_the_same(kind: str, make_world: Make, tmp_path: Path) -> None:
    world = make_world(kind)
    folder = tmp_path / kind.split()[1]
    folder.mkdir()
    for name in ("a) S 1 2 3 (", "x\ny", ") (", "12 (sleep) S"):
        (folder / name).symlink_to("/usr/bin/tail")
        assert world.agent.run(f"env -i '{folder}/{name}' -f /dev/null >/dev/null 2>&1 & :", session="odd")["rc"] == 0
    end(world, "bye")
    world.assert_clean()


@at_once(SHELL_AGENTS)
def test_the_secret_of_an_agent_is_shown_to_nobody(kind: str, make_world: Make) -> None:
    world = make_world(kind)
    agent = world.agent
    mark = agent.output("echo $CHECKRUNNER_SHELL").strip().split(".")[0]
    assert mark not in str(agent.directory)
    seen: set[str] = set()
    ident = agent.start("sleep 5", timeout_s=0.3)
    until = time.monotonic() + 1.2
    while time.monotonic() < until:
        seen.update(word for word in world.arguments() if mark in word)
    assert agent.wait_for(ident)["execution"] == "timed_out"
    assert not seen


@at_once(SHELL_AGENTS)
def test_where_processes_of_another_namespace_are_told_of(kind: str, make_world: Make) -> None:
    """What /proc says there are numbers of others; here, the same ones are bystanders."""
    inner = tuple(word for word in ENTER if word != "--mount-proc")
    world = make_world(kind, BYSTANDERS, inside=inner)
    agent = world.agent
    assert agent.hello["pid"] == 1
    world.intrude(500, "session")
    agent.run(":")
    ident = agent.start("sleep 4001; echo no")
    assert eventually(lambda: world.find("sleep 4001"))
    # Beside the agent, the number that its command has in the eyes of those outside.
    world.intrude(world.find("sleep 4001")[0], "session", beside=world.find("checkrunner-starting")[0])
    assert agent.cancelled(ident)["execution"] == "killed"
    assert agent.output("echo on") == "on\n"
    world.assert_untouched()
    agent.ask("bye")
    assert eventually(lambda: not world.find("checkrunner-starting"))


@at_once([kind for kind in SHELL_AGENTS if "busybox" not in kind])
def test_without_setsid(kind: str, make_world: Make) -> None:
    """Then a session's shell is in the agent's own session, as the first bystander is."""
    hidden = 'mount --bind /dev/null /usr/bin/setsid && exec "$@"'
    world = make_world(kind, before=("unshare", "-m", "sh", "-c", hidden, "sh"))
    agent = world.agent
    assert agent.output("read a b c d e f g </proc/$$/stat; echo $f").strip() != agent.output("echo $$").strip()
    assert agent.run("sleep 4001 & :")["rc"] == 0
    assert agent.run(RESISTS.replace("env -i ", ""), timeout_s=0.3)["execution"] == "timed_out"
    world.assert_untouched()
    end(world, "bye")
    world.assert_clean()


def test_where_others_are_hidden(make_world: Make) -> None:
    """A user who sees no processes but its own."""
    hide = f'mount -o remount,hidepid=2 /proc && exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups "$@"'
    world = make_world("shell bash", inside=("sh", "-c", hide, "sh"), env={"HOME": "/", "XDG_RUNTIME_DIR": ""})
    agent = world.agent
    assert agent.hello["uid"] == NOBODY
    assert agent.output(LEAVES) == "ok\n"
    assert agent.run(RESISTS, timeout_s=0.3, session="b")["execution"] == "timed_out"
    end(world, "bye")
    world.assert_clean()


def test_there_is_one_place_that_sends_signals() -> None:
    text = re.sub(r"^ *#.*", "", (REMOTE / "agent.sh").read_text(), flags=re.MULTILINE)
    places = [line.strip() for line in text.splitlines() if re.search(r"(^|[;{&|(] *|then |do |! )kill ", line)]
    sends = [line for line in places if "kill -0" not in line]
    assert sends == ['if _is_process "$_p"; then kill "-$_name" "$_p" 2>/dev/null; fi']
    assert not re.search(r"\b(pkill|killall|fuser)\b", text)
