"""What does not want to end, and what cannot: it is ended all the same, or named, and nothing else waits for it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent_process import PATIENT, SOON_GIVEN_UP, AgentProcess, Answer, alive, eventually, few_interpreters
from dead_fuse import DeadFuse, dead_fuse
from state_cases import CannotProvokeError, frozen_disk

Start = Callable[..., AgentProcess]


@pytest.fixture
def own_directory(tmp_path: Path) -> dict[str, str]:
    """An environment in which no other agent of this user finds ours and clears up after it."""
    return {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}


@pytest.fixture
def fuse() -> Iterator[DeadFuse]:
    try:
        with dead_fuse() as served:
            yield served
    except CannotProvokeError as why:
        pytest.skip(str(why))


@pytest.fixture
def frozen() -> Iterator[str]:
    try:
        with frozen_disk() as point:
            yield point
    except CannotProvokeError as why:
        pytest.skip(str(why))


def pids_in(path: Path, count: int) -> list[int]:
    assert eventually(lambda: path.exists() and len(path.read_text().split()) >= count)
    return [int(word) for word in path.read_text().split()]


def is_answered_before(agent: AgentProcess, session: str, ident: int) -> bool:
    """Whether another session goes on while the command lasts."""
    other = agent.start("echo on", session=session)
    first = agent.wait_for(other)
    return first["execution"] == "done" and ident not in [answer.get("id") for answer in agent.kept]


@pytest.fixture
def quick(start_agent: Start) -> AgentProcess:
    """For what cannot end."""
    return start_agent(times=SOON_GIVEN_UP)


@pytest.fixture
def patient(start_agent: Start) -> AgentProcess:
    """For what can be killed."""
    return start_agent(times=PATIENT)


# --- what goes another way --------------------------------------------------------------------------------------------

WIPED = [
    "env -i setsid -f sh -c 'echo $$ >>PIDS; exec sleep 300' </dev/null >/dev/null 2>&1",
    "env -i setsid -f sh -c 'echo $$ >>PIDS; trap : TERM INT HUP; while :; do sleep 0.2; done'",
    "(env -i setsid sh -c '(setsid sh -c \"echo \\$\\$ >>PIDS; exec sleep 300\" &) &' &)",
    'python3 -c \'import os\nfor _ in range(3):\n  os.fork() and os._exit(0)\n  os.setsid()\nopen("PIDS", "w").write(str(os.getpid()))\nos.execve("/bin/sleep", ["sleep", "300"], {})\'',
]


@pytest.mark.parametrize(
    ("command", "how"), [*[(one, "bye") for one in WIPED], (WIPED[1], "eof"), (WIPED[3], "SIGTERM")]
)
def test_who_leaves_session_parents_and_environment_behind_ends_with_the_run(
    start_agent: Start, command: str, how: str, tmp_path: Path
) -> None:
    agent = start_agent()
    pids = tmp_path / "pids"
    result = agent.run(command.replace("PIDS", str(pids)) + f"; until [[ -s {pids} ]]; do sleep 0.05; done; sleep 0.1")
    (pid,) = pids_in(pids, 1)
    assert alive(pid)
    assert pid in result["leftover"]
    if how == "bye":
        agent.bye()
    elif how == "eof":
        agent.stdin.close()
    else:
        agent.process.send_signal(getattr(signal, how))
    agent.process.wait(60)
    assert not alive(pid)


@pytest.mark.parametrize("python", few_interpreters())
def test_so_it_is_on_every_interpreter(start_agent: Start, python: str, tmp_path: Path) -> None:
    agent = start_agent(python=python)
    pids = tmp_path / "pids"
    agent.run(WIPED[0].replace("PIDS", str(pids)) + f"; until [[ -s {pids} ]]; do sleep 0.05; done")
    (pid,) = pids_in(pids, 1)
    agent.bye()
    assert not alive(pid)


@pytest.mark.parametrize("command", WIPED)
def test_and_with_a_command_that_has_to_be_ended(agent: AgentProcess, command: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    ident = agent.start(command.replace("PIDS", str(pids)) + "; sleep 300")
    (pid,) = pids_in(pids, 1)
    assert agent.cancelled(ident)["execution"] == "killed"
    assert not alive(pid)


def test_of_two_sessions_none_ends_what_may_be_the_others(agent: AgentProcess, tmp_path: Path) -> None:
    """Both run while one of them starts something that hides; the timeout of the other must not hit it."""
    pids = tmp_path / "pids"
    command = WIPED[0].replace("PIDS", str(pids))
    go = tmp_path / "go"
    other = agent.start(f"{command}; until [[ -e {go} ]]; do sleep 0.05; done", session="other")
    (pid,) = pids_in(pids, 1)
    assert agent.run("sleep 300", timeout_s=0.3)["execution"] == "timed_out"
    assert alive(pid)
    go.touch()
    assert agent.wait_for(other)["execution"] == "done"
    agent.bye()
    assert not alive(pid)


def test_who_hides_is_not_of_a_command_that_ran_beside(agent: AgentProcess, tmp_path: Path) -> None:
    """The other one has ended when this one looks for what it has left."""
    pids = tmp_path / "pids"
    beside = agent.start(f"until [[ -e {tmp_path}/go ]]; do sleep 0.05; done", session="beside")
    agent.run(WIPED[0].replace("PIDS", str(pids)) + f"; until [[ -s {pids} ]]; do sleep 0.05; done", session="other")
    (pid,) = pids_in(pids, 1)
    (tmp_path / "go").touch()
    assert "leftover" not in agent.wait_for(beside)
    assert alive(pid)
    agent.bye()
    assert not alive(pid)


def test_orphans_leave_no_zombies(agent: AgentProcess) -> None:
    agent.run("for i in {1..20}; do (env -i setsid sh -c 'sleep 0.05 & exit' &); done")
    children = Path(f"/proc/{agent.process.pid}/task/{agent.process.pid}/children")

    def only_the_shell() -> bool:
        return len(children.read_text().split()) == 1

    assert eventually(only_the_shell)


def test_children_of_what_was_left_are_not_of_the_next_command(agent: AgentProcess) -> None:
    left = agent.run("(while :; do sleep 0.05; done) & sleep 0.1")["leftover"]
    for _ in range(3):
        assert "leftover" not in agent.run("sleep 0.3")
    assert agent.run("sleep 300", timeout_s=0.5)["execution"] == "timed_out"
    assert any(alive(pid) for pid in left)


# --- traced processes -------------------------------------------------------------------------------------------------

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17


def trace_and_stop(pid: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(SEIZE, pid, 0, 0) or libc.ptrace(INTERRUPT, pid, 0, 0):
        pytest.skip("processes cannot be traced here: " + os.strerror(ctypes.get_errno()))
    os.waitpid(pid, 0x40000000)  # __WALL


def collect_traced(pid: int) -> None:
    """Its end is told to us first, and to its parent only then."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0x40000000)


@pytest.mark.parametrize("which", ["child", "shell"])
def test_a_process_that_a_tracer_stops(quick: AgentProcess, which: str, tmp_path: Path) -> None:
    agent = quick
    agent.run("v=1; export E=1; cd /usr")
    pids = tmp_path / "pids"
    ident = agent.start(f"echo $$ >{pids}; sh -c 'echo $$ >>{pids}; exec sleep 300'; echo not reached")
    pid = pids_in(pids, 2)[which == "child"]
    trace_and_stop(pid)
    seen = ""
    while seen != "stopped":
        seen = agent.read()["seen"]["kind"]
    result = agent.cancelled(ident)
    assert result["execution"] == "killed"
    assert result["seen"]["kind"] == "stopped"
    assert result["seen"]["on"] == f"its tracer, pid {os.getpid()}"
    assert not alive(pid)
    assert agent.output("echo $E $PWD") == "1 /usr\n"
    collect_traced(pid)
    agent.bye()


# --- a dead file server -----------------------------------------------------------------------------------------------


def check_stuck(result: Answer, name: str, path: str) -> None:
    assert result["execution"] == "stuck", result
    assert "session_abandoned" in result["notes"]
    assert "rc" not in result
    assert result["seen"]["kind"] == "io_wait"
    assert result["seen"]["name"] == name
    assert result["seen"]["on"] == path
    assert result["seen"]["wchan"]
    assert path in result["state"]
    assert result["seen"]["wchan"] in result["state"]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("cat PLACE/file; echo not reached", "cat"),
        ("true | cat PLACE/file | cat; echo not reached", "cat"),
        ("(trap '' INT TERM; exec cat PLACE/file)", "cat"),
        ("read x <PLACE/file; echo not reached", "bash"),
        ("exec cat PLACE/file", "cat"),
        ("setsid -w cat PLACE/file", "cat"),
    ],
)
def test_a_command_that_a_dead_file_server_holds(quick: AgentProcess, fuse: DeadFuse, command: str, name: str) -> None:
    """Its request has been taken, so not even KILL ends it."""
    agent = quick
    agent.run("export E=1; v=2; cd /usr")
    fuse.silence = "taken"
    ident = agent.start(command.replace("PLACE", str(fuse.point)))
    assert is_answered_before(agent, "other", ident)
    seen: Answer = {}
    while (seen.get("kind"), seen.get("name")) != ("io_wait", name):
        seen = agent.read()["seen"]
    result = agent.cancelled(ident)
    check_stuck(result, name, f"{fuse.point}/file")
    assert agent.output("echo $E $v $PWD") == "1 2 /usr\n"
    agent.bye()


def test_one_that_can_still_be_killed(patient: AgentProcess, fuse: DeadFuse) -> None:
    agent = patient
    agent.run("v=2")
    fuse.silence = "left"
    result = agent.watch(f"cat {fuse.point}/file", lambda seen: seen.get("on") == f"{fuse.point}/file")
    assert result["execution"] == "killed"
    assert result["seen"]["on"] == f"{fuse.point}/file"
    assert result["notes"] == ["cancelled"]
    assert agent.output("echo $v") == "2\n"


VFORK = """python3 -c "import ctypes; libc = ctypes.CDLL(None)
libc.posix_spawn(ctypes.byref(ctypes.c_int()), b'PLACE/file', None, None, (ctypes.c_char_p * 2)(b'file'), None)
" """


def test_a_parent_in_vfork(quick: AgentProcess, fuse: DeadFuse) -> None:
    """It is in state D as long as its child has not begun to run another program, which here never happens."""
    agent = quick
    command = VFORK.replace("PLACE", str(fuse.point))
    fuse.silence = "taken"
    ident = agent.start(command)
    assert eventually(lambda: fuse.taken)
    result = agent.cancelled(ident)
    assert result["execution"] == "stuck"
    assert f"{fuse.point}/file" in result["state"]
    assert agent.output("echo on") == "on\n"


def test_a_parent_in_vfork_is_not_the_one_to_name(patient: AgentProcess, fuse: DeadFuse) -> None:
    fuse.silence = "left"
    result = patient.watch(VFORK.replace("PLACE", str(fuse.point)), lambda seen: seen.get("syscall") == "execve")
    assert result["execution"] == "killed"
    assert (result["seen"]["syscall"], result["seen"]["on"]) == ("execve", f"{fuse.point}/file")


@pytest.mark.parametrize("silence", ["taken", "left"])
@pytest.mark.parametrize("key", ["cwd", "requires"])
def test_what_must_be_known_before_a_command_has_its_timeout(
    start_agent: Start, fuse: DeadFuse, key: str, silence: str
) -> None:
    agent = start_agent(times=SOON_GIVEN_UP if silence == "taken" else PATIENT)
    agent.run("v=1; cd /usr")
    fuse.silence = silence
    place = f"{fuse.point}/file"
    if key == "cwd":
        ident = agent.start("echo not reached", timeout_s=1.5, cwd=place)
    else:
        ident = agent.start("echo not reached", timeout_s=1.5, requires=place)
    assert is_answered_before(agent, "other", ident)
    result = agent.wait_for(ident)
    assert result["execution"] == ("stuck" if silence == "taken" else "timed_out")
    assert str(fuse.point) in result["state"]
    assert "stdout" not in result
    assert agent.output("echo $v $PWD") == "1 /usr\n"


@pytest.mark.parametrize("silence", ["taken", "left"])
def test_a_session_whose_directory_dies(start_agent: Start, fuse: DeadFuse, silence: str) -> None:
    agent = start_agent(times=SOON_GIVEN_UP if silence == "taken" else PATIENT)
    agent.run(f"v=1; cd {fuse.point}")
    fuse.silence = silence
    result = agent.run("echo $v")  # the agent itself asks nothing of a dead server
    assert (result["rc"], result["cwd"]) == (0, str(fuse.point))
    ended = agent.watch("[[ -e . ]]", lambda seen: seen["kind"] == "io_wait")
    assert ended["execution"] == ("stuck" if silence == "taken" else "killed")
    follow = agent.start("echo $v $PWD")
    assert is_answered_before(agent, "other", follow)
    result = agent.wait_for(follow)
    assert result["notes"] == ["directory_lost"]
    assert agent.data(follow) == f"1 {os.getcwd()}\n".encode()
    assert "notes" not in agent.run("true")


def test_a_reading_that_gets_stuck(quick: AgentProcess, fuse: DeadFuse, tmp_path: Path) -> None:
    agent = quick
    agent.run("true", keys={"sample_ms": 1, "sample_count": 1})
    command = f"echo >>{tmp_path}/readings; cat {fuse.point}/file"
    ident = agent.start(command, keys={"sample_ms": 20, "sample_count": 1000})
    assert eventually(lambda: (tmp_path / "readings").exists() and (tmp_path / "readings").stat().st_size > 2)
    fuse.silence = "taken"
    assert eventually(lambda: fuse.taken)
    result = agent.cancelled(ident)
    assert result["execution"] == "stuck"
    readings = result["samples"]
    assert len(readings) > 1
    assert [reading["rc"] for reading in readings] == [0] * (len(readings) - 1) + [None]


def test_a_duration_whose_end_cannot_be_forced(quick: AgentProcess, fuse: DeadFuse) -> None:
    fuse.silence = "taken"
    result = quick.run(f"cat {fuse.point}/file", keys={"duration_ms": 1500})
    check_stuck(result, "cat", f"{fuse.point}/file")
    assert "duration_ended" in result["notes"]


@pytest.mark.parametrize("how", ["bye", "eof", "SIGTERM", "cancel"])
def test_nobody_waits_for_what_is_stuck(quick: AgentProcess, fuse: DeadFuse, how: str) -> None:
    agent = quick
    agent.run(f"cat {fuse.point}/file")
    fuse.silence = "taken"
    agent.start(f"cat {fuse.point}/file & cat {fuse.point}/file")
    agent.start(f"read x <{fuse.point}/file", session="two")
    assert eventually(lambda: fuse.taken >= 3)
    if how == "cancel":
        assert agent.wait_for(agent.ask("cancel"))["t"] == "ok"
        assert sorted(answer["execution"] for answer in agent.kept) == ["stuck", "stuck"]
        how = "bye"
    if how == "bye":
        agent.bye()
    elif how == "eof":
        agent.stdin.close()
    else:
        agent.process.send_signal(signal.SIGTERM)
    agent.process.wait(60)
    assert not agent.directory.exists()


def test_a_write_to_a_frozen_disk(agent: AgentProcess, frozen: str) -> None:
    agent.run("v=1")
    ident = agent.start(f"touch {frozen}/new; echo not reached", timeout_s=4)
    assert is_answered_before(agent, "other", ident)
    check_stuck(agent.wait_for(ident), "touch", f"{frozen}/new")
    assert agent.output("echo $v") == "1\n"
    agent.bye()


def test_the_next_start_does_not_wait_for_what_is_stuck(
    start_agent: Start, fuse: DeadFuse, own_directory: dict[str, str]
) -> None:
    first = start_agent(env=own_directory)
    fuse.silence = "taken"
    first.start(f"cat {fuse.point}/file")
    assert eventually(lambda: fuse.taken)
    first.process.kill()
    first.process.wait()
    assert start_agent(env=own_directory).output("echo on") == "on\n"
