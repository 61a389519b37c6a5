"""Children that are to stay: `keep=1`."""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent_process import AgentProcess, Answer, alive, eventually, few_interpreters, kill_quietly

from checkrunner.link.payload import START

Start = Callable[..., AgentProcess]
KEEP = {"keep": 1}


class Place:
    """A directory for files with pids. At the end everything named in them is ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # Other agents of this user would clear up after one that is killed, by the rules of their version.
        self.env = {**os.environ, "XDG_RUNTIME_DIR": str(path)}

    def pid(self, name: str) -> int:
        file = self.path / name
        assert eventually(lambda: file.exists() and file.read_text().endswith("\n"))
        return int(file.read_text())

    def grows(self, name: str) -> bool:
        file = self.path / name
        size = file.stat().st_size if file.exists() else 0
        return eventually(lambda: file.exists() and file.stat().st_size > size + 3)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    yield Place(tmp_path)
    for file in tmp_path.glob("*.pid"):
        kill_quietly(int(file.read_text()))
    assert eventually(lambda: not readers(tmp_path)), "readers end with the one whose output they read"


def readers(path: Path) -> list[str]:
    """Processes that read outputs that lay under the path when nobody else does. Other tests have theirs."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            is_cat = entry.name.isdigit() and (entry / "comm").read_text() == "cat\n"
            if is_cat and os.readlink(entry / "fd" / "0").startswith(f"{path}/"):
                found.append(entry.name)
    return found


# Each writes to both outputs all the time, marks that it still does, and puts its pid into NAME.pid.
LOOP = "while :; do echo out; echo err >&2; echo x >>PLACE/NAME.log; sleep 0.05; done"
# What is left is looked for in one moment: it has to be there by then.
UP = "until [[ -s PLACE/NAME.pid ]]; do sleep 0.02; done; sleep 0.2"
DAEMONS = {
    "subshell": "(echo $BASHPID >PLACE/NAME.pid; LOOP) & UP",
    "function": "f() { echo $BASHPID >PLACE/NAME.pid; LOOP; }; f & disown; UP",
    "nohup": "nohup sh -c 'echo $$ >PLACE/NAME.pid; LOOP' & UP",
    "setsid": "setsid -f sh -c 'echo $$ >PLACE/NAME.pid; LOOP'; UP",
    "wiped": "env -i setsid -f sh -c 'echo $$ >PLACE/NAME.pid; LOOP'; UP",
    "late": "(sleep 0.5; env -i setsid -f sh -c 'echo $$ >PLACE/NAME.pid; LOOP') &",
    "closed": "setsid -f sh -c 'echo $$ >PLACE/NAME.pid; LOOP' <&- >&- 2>&-; UP",
    "script": "sh -c 'sh -c \"echo \\$\\$ >PLACE/NAME.pid; LOOP\" &'; UP",
}


def daemon(place: Place, name: str) -> str:
    return DAEMONS[name].replace("LOOP", LOOP).replace("UP", UP).replace("PLACE", str(place.path)).replace("NAME", name)


def end(agent: AgentProcess, how: str) -> None:
    if how == "bye":
        agent.bye()
    elif how == "eof":
        agent.stdin.close()
    elif how == "closed output":
        agent.stdout.close()
        agent.start("echo")
    else:
        agent.process.send_signal(getattr(signal, how))
    agent.process.wait(60)


@pytest.mark.parametrize("how", ["bye", "eof", "SIGTERM", "closed output", "SIGKILL"])
def test_what_is_kept_lives_on_and_writes_on(start_agent: Start, place: Place, how: str) -> None:
    agent = start_agent(env=place.env)
    for name in DAEMONS:
        result = agent.run(daemon(place, name), keys=KEEP)
        assert (result["execution"], result["rc"]) == ("done", 0)
        pid = place.pid(f"{name}.pid")
        assert pid in result["leftover"] or name == "late"
    agent.run("true")
    end(agent, how)
    assert readers(place.path)
    for name in DAEMONS:
        assert place.grows(f"{name}.log"), name
    # The next agent of this user clears up after a killed one; not this.
    second = start_agent(env=place.env)
    assert second.output("echo on") == "on\n"
    if how == "SIGKILL":
        assert eventually(lambda: not agent.directory.exists())
    second.bye()
    for name in DAEMONS:
        assert place.grows(f"{name}.log"), name


# In a session of its own, without outputs; it waits in the kernel for a child that never starts a program (CLONE_VFORK).
VFORK = """setsid -f PYTHON -IS -c 'import ctypes, os, time
open("PLACE/vfork.pid", "w").write("%d\\n" % os.getpid())
ctypes.CDLL(None).syscall(56, 0x4011, 0, 0, 0, 0) or time.sleep(300)' <&- >&- 2>&-
until [[ -s PLACE/vfork.pid && $(cut -d" " -f3 /proc/$(<PLACE/vfork.pid)/stat) == D ]]; do sleep 0.02; done"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of a system call")
@pytest.mark.parametrize("keep", [0, 1])
def test_one_that_starts_a_program_at_the_moment(start_agent: Start, place: Place, keep: int) -> None:
    """A shell under load, which waits for each program that it starts to be there, does so most of the time."""
    agent = start_agent(env=place.env)
    result = agent.run(
        VFORK.replace("PLACE", str(place.path)).replace("PYTHON", os.path.realpath(sys.executable)), keys={"keep": keep}
    )
    assert result["execution"] == "done"
    pid = place.pid("vfork.pid")
    assert pid in result["leftover"]
    assert len(result["leftover"]) == 2
    agent.bye()
    assert [alive(one) for one in result["leftover"]] == [bool(keep)] * 2
    for one in result["leftover"]:
        kill_quietly(one)


@pytest.mark.parametrize("python", few_interpreters())
def test_so_it_is_on_every_interpreter(start_agent: Start, place: Place, python: str) -> None:
    agent = start_agent(python=python, env=place.env)
    agent.run(daemon(place, "nohup"), keys=KEEP)
    agent.run(daemon(place, "subshell"), keys=KEEP)
    agent.bye()
    assert place.grows("nohup.log")
    assert place.grows("subshell.log")


def test_other_commands_keep_nothing(start_agent: Start, place: Place) -> None:
    agent = start_agent(env=place.env)
    agent.run(daemon(place, "nohup"), keys=KEEP)
    others: list[int] = []
    for name in ("subshell", "setsid", "wiped"):
        agent.run(daemon(place, name))
        others.append(place.pid(f"{name}.pid"))
    assert all(alive(pid) for pid in others)
    agent.bye()
    assert not any(alive(pid) for pid in others)
    assert alive(place.pid("nohup.pid"))


def test_what_ran_beside_them_before_is_not_kept(start_agent: Start, place: Place) -> None:
    """Nobody knows whose it was, of the two that ran at the same time; but none of them was to keep anything."""
    agent = start_agent(env=place.env)
    beside = agent.start(f"until [[ -e {place.path}/go ]]; do sleep 0.05; done", session="beside")
    assert "leftover" not in agent.run(daemon(place, "wiped"))
    (place.path / "go").touch()
    assert "leftover" not in agent.wait_for(beside)
    agent.run(daemon(place, "subshell"), keys=KEEP)
    wiped, kept = place.pid("wiped.pid"), place.pid("subshell.pid")
    assert alive(wiped)
    agent.bye()
    assert not alive(wiped)
    assert alive(kept)


def test_what_is_kept_is_not_of_one_that_ran_beside(start_agent: Start, place: Place) -> None:
    agent = start_agent(env=place.env)
    beside = agent.start("sleep 300", session="beside")
    agent.run(daemon(place, "wiped"), keys=KEEP)
    result = agent.cancelled(beside)
    assert (result["execution"], result.get("leftover")) == ("killed", None)
    agent.bye()
    assert place.grows("wiped.log")


def test_what_is_kept_is_remembered_over_many_commands(start_agent: Start, place: Place) -> None:
    """What it starts later and in disguise is told from others by when the command began."""
    agent = start_agent(env=place.env)
    agent.run(
        "(until [[ -e PLACE/go ]]; do sleep 0.05; done; WIPED) & :".replace("WIPED", daemon(place, "wiped")).replace(
            "PLACE", str(place.path)
        ),
        keys=KEEP,
    )
    for ident in [agent.start("true") for _ in range(300)]:
        agent.wait_for(ident)
    assert "archive" in agent.needs
    (place.path / "go").touch()
    pid = place.pid("wiped.pid")
    agent.bye()
    assert alive(pid)


def test_what_is_kept_is_nothing_to_later_commands(start_agent: Start, place: Place) -> None:
    agent = start_agent(env=place.env)
    agent.run(daemon(place, "subshell"), keys=KEEP)
    agent.run(daemon(place, "setsid"), keys=KEEP)
    result = agent.run("sleep 30", timeout_s=0.5)
    assert result["execution"] == "timed_out"
    result = agent.run("sleep 0.3; exit 3")
    assert (result["rc"], result.get("leftover")) == (3, None)
    result = agent.run("kill -9 $$")
    assert "shell_replaced" in result["notes"]
    assert agent.wait_for(agent.ask("cancel"))["t"] == "ok"
    assert place.grows("subshell.log")
    assert place.grows("setsid.log")


def test_the_command_itself_has_its_timeout(start_agent: Start, place: Place) -> None:
    """What it leaves may stay, when it has ended by itself: until then it is a command like others."""
    agent = start_agent(env=place.env)
    agent.run("true", keys=KEEP)  # the code for it is asked for: nobody reads while we wait for the file
    ident = agent.start(daemon(place, "subshell") + "; sleep 300", timeout_s=2, keys=KEEP)
    pid = place.pid("subshell.pid")
    assert agent.wait_for(ident)["execution"] == "timed_out"
    assert not alive(pid)


def test_outputs_of_what_is_kept_count_until_the_command_ends(start_agent: Start, place: Place) -> None:
    agent = start_agent(env=place.env)
    result = agent.run("echo before; " + daemon(place, "nohup") + "; echo after", keys=KEEP)
    data = agent.data(result["id"])
    assert data.startswith(b"before\n")
    # What is kept may write once more before the command's end is known.
    assert b"after\n" in data
    assert agent.output("echo $CHECKRUNNER_SHELL").strip().count(".") == 1


def test_the_marker_is_as_before_afterwards(start_agent: Start, place: Place) -> None:
    agent = start_agent(env=place.env)
    before = agent.output("echo $CHECKRUNNER_SHELL")
    assert agent.output("echo $CHECKRUNNER_SHELL; unset CHECKRUNNER_SHELL", keys=KEEP) == "k" + before
    assert agent.output("echo $CHECKRUNNER_SHELL") == before


def test_nothing_to_keep(start_agent: Start, place: Place) -> None:
    agent = start_agent(env=place.env)
    result = agent.run("true", keys=KEEP)
    assert "leftover" not in result
    agent.bye()


def test_without_a_directory(start_agent: Start, place: Place) -> None:
    """Where outputs are anonymous pipes."""
    if os.getuid() or subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs root and a mount namespace of its own")
    hide = (
        f"mount --bind {place.path} /mnt && for d in /dev/shm /var/tmp /tmp; do mount -t tmpfs -o ro none $d || exit 9; done; "
        'unset XDG_RUNTIME_DIR; export HOME=/proc; exec "$@"'
    )
    agent = start_agent(prefix=["unshare", "-m", "sh", "-c", hide, "sh"], python=os.path.realpath(sys.executable))
    assert agent.hello["dir"] == ""
    agent.run(daemon(place, "nohup").replace(str(place.path), "/mnt"), keys=KEEP)
    agent.bye()
    assert place.grows("nohup.log")


NO_ROOM = f"""
import posix, sys
real = posix.fork
def fork():
    if sys._getframe(1).f_code.co_name == "leave_reader":
        raise BlockingIOError(11, "Resource temporarily unavailable")
    return real()
posix.fork = fork
exec({START!r})
"""


def test_on_a_host_without_room_for_a_reader(start_agent: Start, place: Place) -> None:
    agent = start_agent(env=place.env, start=NO_ROOM)
    result = agent.run(daemon(place, "subshell"), keys=KEEP)
    assert (result["execution"], result["rc"]) == ("done", 0)
    assert place.grows("subshell.log")
    assert agent.output("echo on") == "on\n"
    agent.bye()
    assert not agent.directory.exists()


def test_with_readings(start_agent: Start, place: Place) -> None:
    agent = start_agent(env=place.env)
    command = f"sleep 300 & echo $! >{place.path}/$((n++)).pid"
    result: Answer = agent.run(command, keys={**KEEP, "sample_ms": 10, "sample_count": 3})
    assert len(result["leftover"]) == 3
    agent.bye()
    assert [alive(place.pid(f"{number}.pid")) for number in range(3)] == [True] * 3
