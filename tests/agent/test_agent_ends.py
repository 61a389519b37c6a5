"""Ends: of commands that last too long, of processes they leave, of the agent itself."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from agent_process import PATIENT, SOON, SOON_GIVEN_UP, AgentProcess, Answer, Times, alive, eventually, few_interpreters
from state_cases import CannotProvokeError, frozen_disk

from checkrunner.link.payload import load_part

Start = Callable[..., AgentProcess]


def test_timeout(few_agent: AgentProcess) -> None:
    few_agent.run("v=1; cd /usr; f() { echo f; }")
    result: Answer = {}
    for timeout_s in (0.4, 4, 40):
        result = few_agent.run("echo begun; sleep 100; echo not reached", timeout_s=timeout_s)
        assert result["execution"] == "timed_out"
        assert result["elapsed_s"] >= timeout_s
        if result["seen"]["name"] == "sleep":  # on a busy machine a command may not even have begun in so short a time
            break
    assert "rc" not in result
    assert "signal" not in result
    assert re.match("sleep [0-9]+ s idle ", result["state"])
    assert few_agent.data(result["id"]) == b"begun\n"
    assert few_agent.output("echo $v $PWD $(f)") == "1 /usr f\n"


# Each step of an ending is the last one that is to be needed: the next would come after the test has given up.
TERM_SUFFICES = (("endings.STEPS_S", "(0.2, 600.0, 600.0, 600.0)"),)
KILL_SUFFICES = (("endings.STEPS_S", "(0.2, 0.2, 0.2, 600.0)"),)


@pytest.mark.parametrize(
    ("command", "steps"),
    [
        ("while :; do :; done", TERM_SUFFICES),
        ("while true; do sleep 0.05; done", TERM_SUFFICES),
        ("trap '' INT; sleep 100; echo not reached", KILL_SUFFICES),
        ("sh -c 'trap \"\" INT; sleep 100'; echo not reached", KILL_SUFFICES),
        ("trap '' INT TERM; sleep 100", KILL_SUFFICES),
        ("trap '' INT TERM; while :; do :; done", KILL_SUFFICES),
        ("trap 'echo int' INT; trap 'echo term' TERM; while :; do :; done", KILL_SUFFICES),
        ("(trap '' INT TERM; while :; do sleep 0.1; done)", KILL_SUFFICES),
        ("set +m; sleep 100 | cat", KILL_SUFFICES),
        ("setsid -w sleep 100", KILL_SUFFICES),
        ("exec sleep 100", TERM_SUFFICES),
        ("kill -STOP $$; sleep 100", KILL_SUFFICES),
        ("sleep 100 | sleep 100 | sleep 100", TERM_SUFFICES),
        ("trap 'sleep 100' EXIT; true", KILL_SUFFICES),
    ],
)
def test_everything_can_be_timed_out(start_agent: Start, command: str, steps: Times) -> None:
    agent = start_agent(times=steps)
    agent.run("export E=1")
    result = agent.run(command, timeout_s=0.3)
    assert result["execution"] == "timed_out"
    assert "not reached" not in agent.data(result["id"]).decode()
    assert agent.output("trap - INT TERM EXIT; echo $E") == "1\n"


def test_children_of_a_command_that_is_ended_end(start_agent: Start, tmp_path: Path) -> None:
    agent = start_agent(times=PATIENT)
    pids = tmp_path / "pids"
    script = f"sleep 300 & echo $! >>{pids}; (trap '' TERM; echo $BASHPID >>{pids}; while :; do sleep 1; done) & setsid sleep 300 & echo $! >>{pids}; sleep 300"
    ident = agent.start(script)
    assert eventually(lambda: pids.exists() and pids.read_text().count("\n") == 3)
    result = agent.cancelled(ident)
    assert result["execution"] == "killed"
    assert "leftover" not in result
    found = [int(word) for word in pids.read_text().split()]
    assert eventually(lambda: not any(alive(pid) for pid in found))


def test_earlier_background_processes_are_spared(start_agent: Start) -> None:
    agent = start_agent(times=PATIENT)
    (pid,) = agent.run("sleep 300 &")["leftover"]
    result = agent.run("trap '' INT; sleep 100", timeout_s=0.2)
    assert result["execution"] == "timed_out"
    assert alive(pid)


def test_one_slow_session_does_not_delay_another(agent: AgentProcess) -> None:
    slow = agent.start("sleep 600", session="slow")
    for _ in range(5):
        assert agent.run("echo", session="fast")["rc"] == 0
    assert agent.cancelled(slow)["execution"] == "killed"


def test_running_is_said_once(start_agent: Start) -> None:
    agent = start_agent(times=(*SOON, ("states.REPEAT_S", "600.0")))
    ident = agent.start("sleep 600")
    frames = [agent.read()]
    while frames[-1]["seen"]["kind"] != "idle":
        frames.append(agent.read())
    time.sleep(1)  # in which it is looked at some times more
    cancel = agent.ask("cancel")
    while (answer := agent.read())["t"] == "running":
        frames.append(answer)
    assert (answer["t"], answer["id"]) == ("result", ident)
    assert agent.wait_for(cancel)["t"] == "ok"
    assert {frame["id"] for frame in frames} == {ident}
    assert frames[0]["elapsed_s"] >= 0.2
    assert "sleep" in frames[-1]["state"]
    # More than once only if it was seen doing something else.
    assert len({(frame["seen"]["kind"], frame["seen"]["name"]) for frame in frames}) == len(frames)


@pytest.mark.parametrize(
    "command",
    ["read x </dev/tty", "cat </dev/tty", "printf 'Password: ' >/dev/tty; stty -echo </dev/tty; read x </dev/tty"],
)
def test_waiting_for_input_is_seen(soon_agent: AgentProcess, command: str) -> None:
    agent = soon_agent
    agent.run("v=1")
    result = agent.run(command)
    assert result["execution"] == "waiting_input"
    assert result["seen"]["kind"] == "waiting_input"
    assert result.get("prompt", "") == ("Password:" if "Password" in command else "")
    assert agent.output("echo $v") == "1\n"


def test_a_directory_that_is_being_made_is_left_alone_and_an_old_one_removed(
    start_agent: Callable[..., AgentProcess], tmp_path: Path
) -> None:
    """Between making its lock and taking it an agent looks dead: another one that starts then must not believe that."""
    made, old = (tmp_path / f"checkrunner-{os.getuid()}-{pid}-0123456789ab" for pid in (999_998, 999_999))
    for folder in (made, old):
        folder.mkdir(mode=0o700)
        (folder / "lock").touch()
    os.utime(old / "lock", (time.time() - 100,) * 2)
    agent = start_agent(env={"XDG_RUNTIME_DIR": str(tmp_path)})
    assert agent.output("echo here") == "here\n"
    assert made.exists()
    assert not old.exists()


def test_noise_on_the_terminal_blocks_nobody(agent: AgentProcess) -> None:
    result = agent.run("head -c 3000000 /dev/zero | tr '\\0' x >/dev/tty; echo done")
    assert agent.data(result["id"]) == b"done\n"


@pytest.fixture
def freezer() -> Iterator[Path]:
    """A control group whose processes can be frozen: such a one does not die of KILL, like one in an endless wait in the
    kernel. (Only version 1 has this; version 2 lets KILL through.)"""
    group = Path("/sys/fs/cgroup/freezer") / f"checkrunner-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("needs a freezer control group, version 1")
    yield group
    (group / "freezer.state").write_text("THAWED")
    assert eventually(lambda: not (group / "cgroup.procs").read_text())
    group.rmdir()


def test_a_process_that_cannot_be_killed(start_agent: Start, tmp_path: Path, freezer: Path) -> None:
    agent = start_agent(times=SOON_GIVEN_UP)
    agent.run("export E=1; v=2; cd /usr")
    pid_file = tmp_path / "pid"
    ident = agent.start(f"sh -c 'echo $$ >{pid_file}; exec sleep 300'; echo not reached")
    assert eventually(lambda: pid_file.exists() and pid_file.read_text().strip())
    pid = int(pid_file.read_text())
    (freezer / "cgroup.procs").write_text(str(pid))
    (freezer / "freezer.state").write_text("FROZEN")
    result = agent.cancelled(ident)
    assert result["execution"] == "stuck"
    assert "session_abandoned" in result["notes"]
    assert f"(pid {pid})" in result["state"]
    assert agent.output("echo $E $v $PWD") == "1 2 /usr\n"
    agent.bye()


def test_a_process_in_an_endless_wait_of_the_kernel_is_stuck(start_agent: Start, tmp_path: Path) -> None:
    """State D, which no signal ends: it is named with function and path, and the rest goes on without it."""
    agent = start_agent(times=SOON_GIVEN_UP)
    agent.run("v=2; cd /usr; export E=1")
    other = agent.start(f"until [[ -e {tmp_path}/go ]]; do sleep 0.05; done; echo other", session="other")
    with ExitStack() as stack:
        try:
            disk = stack.enter_context(frozen_disk())
        except CannotProvokeError as why:
            pytest.skip(str(why))
        result = agent.run(f"cat </dev/null | tee {disk}/file; echo not reached", timeout_s=2.4)
        (tmp_path / "go").touch()
        assert result["execution"] == "stuck"
        assert "session_abandoned" in result["notes"]
        assert (result["seen"]["kind"], result["seen"]["name"]) == ("io_wait", "tee")
        assert result["seen"]["on"] == f"{disk}/file"
        assert result["seen"]["wchan"] in result["state"]
        assert agent.output("echo $E $v $PWD") == "1 2 /usr\n"
        assert agent.data(agent.wait_for(other)["id"]) == b"other\n"
        agent.bye()
    assert not agent.directory.exists()


def test_cancel(agent: AgentProcess, tmp_path: Path) -> None:
    up = [tmp_path / "main", tmp_path / "other"]
    running = agent.start(f": >{up[0]}; sleep 100")
    queued = agent.start("echo queued")
    other = agent.start(f": >{up[1]}; sleep 100", session="other")
    assert eventually(lambda: all(path.exists() for path in up))
    assert agent.wait_for(agent.ask("cancel"))["t"] == "ok"
    assert {answer["id"] for answer in agent.kept} >= {running, queued, other}, "answered before ok"
    first, second, third = (agent.wait_for(ident) for ident in (running, queued, other))
    assert (first["execution"], first["notes"]) == ("killed", ["cancelled"])
    assert (second["execution"], second["notes"]) == ("not_run", ["cancelled"])
    assert third["execution"] == "killed"
    assert agent.output("echo on") == "on\n"


def test_cancel_of_what_only_a_kill_ends(start_agent: Start, tmp_path: Path) -> None:
    agent = start_agent(times=PATIENT)
    running = agent.start(f"trap '' INT TERM; (setsid sleep 300 &); : >{tmp_path}/up; sleep 300")
    assert eventually((tmp_path / "up").exists)
    assert agent.cancelled(running)["execution"] == "killed"


def test_leftover(few_agent: AgentProcess, tmp_path: Path) -> None:
    assert "leftover" not in few_agent.run("sleep 0.01; true | cat; echo $(true)")
    result = few_agent.run(
        "sleep 600 >/dev/null 2>&1 & nohup sleep 600 >/dev/null 2>&1 & "
        f"setsid -f sh -c ': >{tmp_path}/up; exec sleep 600' >/dev/null 2>&1; "
        f"until [[ -e {tmp_path}/up ]]; do sleep 0.05; done"
    )
    assert len(result["leftover"]) == 3
    assert "leftover" not in few_agent.run("true")
    few_agent.bye()
    assert not any(alive(pid) for pid in result["leftover"])


def test_the_half_of_a_sudo_that_is_about_to_end_is_not_left_running(agent: AgentProcess, tmp_path: Path) -> None:
    """With a terminal of its own sudo is two processes, and the one in front may end first."""
    os.mkfifo(tmp_path / "never")
    sudo = tmp_path / "sudo"
    up = tmp_path / "up"
    sudo.write_text(f'#!/bin/bash\n[ -z "$1" ] && : >{up} && read -t 300 x <>{tmp_path}/never\n"$@"\n')
    sudo.chmod(0o755)
    is_up = f"until [[ -e {up} ]]; do sleep 0.05; done; rm {up}"
    result = agent.run(f"setsid -f {sudo} >/dev/null 2>&1; {is_up}")
    assert "leftover" not in result
    result = agent.run(f"setsid -f {sudo} sh -c ': >{up}; exec sleep 600' >/dev/null 2>&1; {is_up}")
    assert len(result["leftover"]) == 2
    result = agent.run(f"{sudo} >/dev/null 2>&1 & {is_up}")
    assert len(result["leftover"]) == 1


def everything_of(agent: AgentProcess) -> list[int]:
    """Processes that an agent started, by the marker in their environment."""
    marker = b"CHECKRUNNER_SHELL=" + agent.hello["dir"].rpartition("checkrunner-")[2].encode() + b"."
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if marker in (entry / "environ").read_bytes() and alive(int(entry.name)):
                    found.append(int(entry.name))
    return found


STAY = (
    "trap '' TERM HUP; sleep 600 & (setsid sh -c \"trap '' TERM HUP INT; sleep 600\" &) ; nohup sleep 600 & sleep 600"
)


@pytest.mark.parametrize("how", ["bye", "eof", "SIGTERM", "SIGHUP", "SIGINT", "closed output"])
def test_nothing_is_left(start_agent: Start, how: str) -> None:
    agent = start_agent()
    agent.start(STAY)
    agent.start("sleep 600", session="two")
    assert eventually(lambda: len(everything_of(agent)) >= 6)
    if how == "bye":
        agent.bye()
    elif how == "eof":
        agent.stdin.close()
    elif how == "closed output":
        agent.stdout.close()
        with contextlib.suppress(OSError):
            agent.start("echo", session="three")
    else:
        agent.process.send_signal(getattr(signal, how))
    agent.process.wait(60)
    assert everything_of(agent) == []
    assert not agent.directory.exists()


@pytest.mark.parametrize("python", few_interpreters())
def test_the_next_start_clears_up_after_a_kill(start_agent: Start, python: str) -> None:
    agent = start_agent(python=python)
    agent.start(STAY)
    assert eventually(lambda: len(everything_of(agent)) >= 5)
    agent.process.kill()
    agent.process.wait()
    assert agent.directory.exists()
    second = start_agent(python=python)
    assert second.output("echo on") == "on\n"
    assert eventually(lambda: everything_of(agent) == [] and not agent.directory.exists())
    assert second.directory.exists()


def test_shells_do_not_outlive_an_agent_that_is_killed(start_agent: Start, tmp_path: Path) -> None:
    """Although nobody reads what they say at their end, and the agent still has an entry in /proc."""
    agent = start_agent(env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)})  # no other agent clears up after this one
    shells = [int(agent.output("echo $$", session=f"idle{number}")) for number in range(3)]
    pid, go = tmp_path / "pid", tmp_path / "go"
    agent.start(f"trap '' HUP; echo $$ >{pid}; until [[ -e {go} ]]; do sleep 0.05; done", session="busy")
    assert eventually(lambda: pid.exists() and pid.read_text().endswith("\n"))
    agent.process.kill()
    assert eventually(lambda: Path(f"/proc/{agent.process.pid}/stat").read_text().split(") ")[1][0] == "Z")
    go.touch()  # its command ends, and there is nobody to tell
    assert eventually(lambda: not any(alive(shell) for shell in [*shells, int(pid.read_text())]))


def test_an_agent_out_of_descriptors_still_clears_up(start_agent: Start) -> None:
    agent = start_agent(prefix=["prlimit", "--nofile=24"])
    for number in range(8):
        with contextlib.suppress(OSError):
            agent.start("sleep 300 & sleep 300", session=f"s{number}")
    agent.process.wait(60)
    assert everything_of(agent) == []
    assert not agent.directory.exists()


def test_a_living_agents_directory_is_left_alone(start_agent: Start) -> None:
    first, second = start_agent(), start_agent()
    assert first.directory.exists()
    assert first.output("echo one") == "one\n"
    assert second.output("echo two") == "two\n"


def test_answers_before_bye(agent: AgentProcess, tmp_path: Path) -> None:
    up = tmp_path / "up"
    running = agent.start(f": >{up}; sleep 100")
    queued = agent.start("echo")
    assert eventually(up.exists)
    agent.bye()
    assert agent.wait_for(running)["execution"] == "killed"
    assert agent.wait_for(queued)["execution"] == "not_run"


def test_a_client_that_does_not_read_stops_no_timeout(start_agent: Start, tmp_path: Path) -> None:
    agent = start_agent(times=(("agent.PART_S", "0.5"),))  # who does not read what is asked for sends no parts
    of = agent.run("head -c 1000000 /dev/zero")["id"]
    for _ in range(20):
        agent.ask("slice", {"of": of, "mode": "bytes", "first": 0, "last": 1_000_000, "max_bytes": 1_000_000})
    pid_file = tmp_path / "pid"
    agent.start(f"echo $BASHPID >{pid_file}; exec sleep 300", timeout_s=2)
    assert eventually(lambda: pid_file.exists() and pid_file.read_text())
    assert eventually(lambda: not alive(int(pid_file.read_text())))


def test_cpu_seconds(agent: AgentProcess) -> None:
    agent.run(":")
    result = agent.run("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'")
    assert 0.03 < result["cpu_s"] <= result["elapsed_s"] + 0.1
    assert agent.run("sleep 0.3")["cpu_s"] < 0.2


def test_without_the_code_that_ends_commands_they_end_all_the_same(start_agent: Start, tmp_path: Path) -> None:
    """A client that does not send it: the shell is killed, and what the command has started is asked to end."""
    agent = start_agent(times=(("agent.PART_S", "0.5"),))
    agent.withheld = {"endings"}
    agent.run("v=1; cd /usr")
    pid_file = tmp_path / "pid"
    ident = agent.start(f"sleep 300 & echo $! >{pid_file}; wait")
    assert eventually(lambda: pid_file.exists() and pid_file.read_text().strip())
    result = agent.cancelled(ident)
    assert result["execution"] == "killed"
    assert "shell_replaced" in result["notes"]
    assert eventually(lambda: not alive(int(pid_file.read_text())))
    assert agent.output("echo $v $PWD") == "1 /usr\n"
    agent.send_part("endings", load_part("endings"))
    assert "shell_replaced" not in agent.run("sleep 300", timeout_s=0.5).get("notes", ()), "late is not never"
