"""What the agent says of a command that lasts: by the kernel's word, on the real kernel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import state_table
from agent_process import SOON, AgentProcess, Answer, Times, few_interpreters, interpreters, kill_quietly
from state_cases import CASES, NOBODY, PYTHON, CannotProvokeError, StateCase, silent_server, watch_case

Start = Callable[..., AgentProcess]


@pytest.mark.parametrize("case", CASES, ids=[case.what for case in CASES])
def test_what_a_command_waits_for(start_agent: Start, case: StateCase) -> None:
    for tool in ("less", "top", "script", "su", "flock", "setpriv", "timeout", "setsid"):
        if tool in case.command and shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")
    try:
        watch_case(case, start_agent)
    except CannotProvokeError as why:
        pytest.skip(str(why))


def is_idle(name: str) -> Callable[[Answer], bool]:
    """Whether what was seen of a command is that `name` waits."""
    return lambda seen: seen["kind"] == "idle" and seen["name"] == name


def is_unknown(seen: Answer) -> bool:
    return bool(seen["kind"] == "unknown")


@pytest.mark.parametrize("python", few_interpreters())
def test_every_interpreter_sees_the_same(start_agent: Start, python: str) -> None:
    agent = start_agent(python=python, times=SOON)
    result = agent.run("read -p 'Really? ' x </dev/tty")
    assert result["execution"] == "waiting_input"
    assert result["prompt"] == "Really?"
    assert agent.watch("sleep 600 | cat", is_idle("sleep"))["seen"]["name"] == "sleep"


def test_the_table_in_the_manual_lists_these_cases() -> None:
    table = state_table.read_table()
    assert [row[0] for row in table] == [case.what for case in CASES] + ["the end of the command", "a killed shell"]
    assert [row[2] for row in table][: len(CASES)] == [case.kind for case in CASES]


# --- confusable things ------------------------------------------------------------------------------------------------

SOCKET_READS = [
    "exec 7<>/dev/tcp/127.0.0.1/{port}; read -u 7 x",
    "exec 7<>/dev/tcp/127.0.0.1/{port}; cat <&7",
    "cat </dev/tcp/127.0.0.1/{port} | head -1",
    "exec 7<>/dev/tcp/127.0.0.1/{port}; printf 'Password: ' >/dev/tty; head -c 1 <&7",
    "exec 7<>/dev/tcp/127.0.0.1/{port}; stty -echo </dev/tty; read -u 7 x",
]
TERMINAL_READS = [
    "read x </dev/tty",
    "cat </dev/tty",
    "true | head -1 /dev/tty",
    "printf 'Password: ' >/dev/tty; read -s x </dev/tty",
    "x=$(cat /dev/tty)",
]


CROWD = 30
CROWDED: Times = (("agent.QUIET_S", "0.3"),)  # so many at once are not looked at more often than usual


def start_crowd(agent: AgentProcess, commands: list[str]) -> dict[int, list[Answer]]:
    """Start them at the same time, in sessions of their own: their numbers, with room for what is said of each."""
    return {agent.start(command, session=f"s{number}"): [] for number, command in enumerate(commands)}


def test_no_socket_is_taken_for_a_question(start_agent: Start) -> None:
    agent = start_agent(hello="v=1 nonce=n max_sessions=100", times=CROWDED)
    with silent_server() as port:
        place = f"tcp to 127.0.0.1:{port}"
        for _ in range(2):
            told = start_crowd(agent, [SOCKET_READS[number % 5].replace("{port}", port) for number in range(CROWD)])
            waiting = set(told)
            while waiting:
                answer = agent.read()
                assert answer["t"] == "running", answer
                told[answer["id"]].append(answer)
                if (answer["seen"]["kind"], answer["seen"].get("on")) == ("idle", place):
                    waiting.discard(answer["id"])
            agent.wait_for(agent.ask("cancel"))
            for ident, frames in told.items():
                result = agent.wait_for(ident)
                assert result["execution"] == "killed", result
                assert (result["seen"]["kind"], result["seen"]["on"]) == ("idle", place), result
                assert "waiting_input" not in [frame["seen"]["kind"] for frame in frames]


def test_every_question_is_seen(start_agent: Start) -> None:
    agent = start_agent(hello="v=1 nonce=n max_sessions=100", times=CROWDED)
    for _ in range(2):
        told = start_crowd(agent, [TERMINAL_READS[number % 5] for number in range(CROWD)])
        results: list[Answer] = []
        while len(results) < CROWD:
            answer = agent.read()
            if answer["t"] == "running":
                told[answer["id"]].append(answer)
            else:
                results.append(answer)
        assert {result["execution"] for result in results} == {"waiting_input"}
        assert {frames[-1]["seen"]["kind"] for frames in told.values()} == {"waiting_input"}


def test_a_reader_in_the_background_is_no_question(soon_agent: AgentProcess) -> None:
    """It is stopped by the kernel; the command waits for something else."""
    result = soon_agent.watch("cat </dev/tty & sleep 600", is_idle("sleep"))
    assert result["execution"] == "killed"
    assert result["seen"]["name"] == "sleep"


def test_the_holder_of_a_lock_is_found_among_many(soon_agent: AgentProcess, tmp_path: Path) -> None:
    """The kernel's list of locks comes in pages; and of several that wait, each waits behind the one before it."""
    holder = f"""
import fcntl, time
files = [open("{tmp_path}/%d" % number, "w") for number in range(400)]
for file in files:
    fcntl.flock(file, fcntl.LOCK_EX)
print("", flush=True)
time.sleep(600)
"""
    with subprocess.Popen([PYTHON, "-c", holder], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        commands = [f"flock {tmp_path}/{number} true" for number in (0, 200, 399, 399, 399, 399)]
        try:
            waiting = set(start_crowd(soon_agent, commands))
            while waiting:
                answer = soon_agent.read()
                assert answer["t"] == "running", answer
                if f"locked by pid {process.pid} (python3" in answer["state"]:
                    waiting.discard(answer["id"])
        finally:
            process.kill()


def test_a_question_behind_many_children_is_seen(soon_agent: AgentProcess) -> None:
    """So is the kernel's list of the children of a process."""
    soon_agent.run("for n in {1..1200}; do sleep 600 & done")
    result = soon_agent.run("(read x </dev/tty)")
    assert (result["execution"], result["seen"]["name"]) == ("waiting_input", "bash")


def test_what_an_earlier_command_left_is_not_named(soon_agent: AgentProcess) -> None:
    (left,) = soon_agent.run("sleep 333 &")["leftover"]
    result = soon_agent.watch("cat /dev/zero | sleep 600", is_idle("sleep"))
    assert result["seen"]["pid"] != left
    kill_quietly(left)


def test_an_echo_left_off_asks_nothing(start_agent: Start) -> None:
    if os.getuid():
        pytest.skip("needs root")
    agent = start_agent(prefix=NOBODY, python=PYTHON, times=SOON)
    assert agent.run("printf 'Password: ' >/dev/tty; exec cat /dev/tty")["execution"] == "waiting_input"
    agent.run("stty -echo </dev/tty; trap '' INT; printf 'Password: ' >/dev/tty; head -1 /dev/tty")
    assert "-echo " not in agent.output("stty -a </dev/tty").replace("\n", " ")


# --- where looking is restricted --------------------------------------------------------------------------------------


def restricted(start_agent: Start, script: str) -> AgentProcess:
    """An agent that `script` starts, as "$@", in name spaces of its own."""
    if os.getuid() or subprocess.run(["unshare", "-mpf", "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs root and unshare")
    prefix = ["unshare", "-mpf", "--mount-proc", "sh", "-c", script + ' "$@"', "sh"]
    return start_agent(prefix=prefix, python=PYTHON, times=SOON)


def test_hidden_processes(start_agent: Start, tmp_path: Path) -> None:
    hidden = Path("/var/tmp") / f"checkrunner-hidden-{os.getpid()}"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", hidden)
    hidden.chmod(0o4755)
    try:
        agent = restricted(start_agent, "mount -o remount,hidepid=2 /proc; exec " + " ".join(NOBODY))
        result = agent.watch(f"{hidden} 600", is_unknown)
        assert result["seen"]["kind"] == "unknown", result
        assert "hidepid" in result["state"]
        assert agent.run("read x </dev/tty")["execution"] == "waiting_input"
    finally:
        hidden.unlink()


def test_a_container(start_agent: Start) -> None:
    agent = restricted(start_agent, "exec")
    assert agent.run("read x </dev/tty")["execution"] == "waiting_input"
    assert agent.watch("sleep 600 | cat", is_idle("sleep"))["seen"]["on"] == "a timer"


def test_a_container_that_a_command_enters(soon_agent: AgentProcess) -> None:
    if os.getuid() or subprocess.run(["unshare", "-mpf", "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs root and unshare")
    result = soon_agent.watch("unshare -mpf --mount-proc sh -c 'sleep 600; :' | cat", is_idle("sleep"))
    assert (result["seen"]["name"], result["seen"]["on"]) == ("sleep", "a timer")
    result = soon_agent.run("unshare -mpf --mount-proc sh -c 'read x </dev/tty; :'")
    assert result["execution"] == "waiting_input"


@pytest.fixture
def sudo_for_nobody(tmp_path: Path) -> list[str]:
    """A prefix for what nobody runs: there, and only there, nobody may do all by `sudo` without a password."""
    if os.getuid() or shutil.which("sudo") is None or not Path("/etc/sudoers.d").is_dir():
        pytest.skip("needs root and sudo")
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "nobody").write_text("nobody ALL=(ALL) NOPASSWD: ALL\n")
    (rules / "nobody").chmod(0o440)
    bind = f'mount --bind {rules} /etc/sudoers.d && exec "$@"'
    return ["unshare", "-m", "sh", "-c", bind, "sh", *NOBODY]


@pytest.mark.parametrize("more", ["", " </dev/tty", " </dev/tty >/dev/tty 2>&1", " | cat"])
def test_what_sudo_runs_is_unknown_and_never_a_question(
    start_agent: Start, sudo_for_nobody: list[str], more: str
) -> None:
    agent = start_agent(prefix=sudo_for_nobody, python=PYTHON, times=SOON)
    result = agent.watch("sudo -n sleep 600" + more, is_unknown)
    assert result["execution"] == "killed", result
    assert result["seen"]["kind"] == "unknown", result
    assert "uid 0" in result["state"]


def test_the_password_of_sudo_is_a_question(start_agent: Start, sudo_for_nobody: list[str], tmp_path: Path) -> None:
    (tmp_path / "rules" / "nobody").write_text("nobody ALL=(ALL) ALL\n")
    agent = start_agent(prefix=sudo_for_nobody, python=PYTHON, times=SOON)
    result = agent.run("sudo sleep 600")
    assert (result["execution"], result["seen"]["name"], result["seen"]["echo"]) == ("waiting_input", "sudo", False)
    assert result["prompt"].startswith("[sudo] password for nobody")


def test_another_architecture(start_agent: Start) -> None:
    if shutil.which("setarch") is None or subprocess.run(["setarch", "i686", "true"], check=False).returncode:
        pytest.skip("needs setarch")
    agent = start_agent(prefix=["setarch", "i686"], times=SOON)
    result = agent.watch("cat </dev/tty", is_unknown)
    assert result["execution"] == "killed"
    assert result["seen"]["kind"] == "unknown"
    assert "system calls of i686 are not known" in result["state"]
    result = agent.watch("sleep 600 | cat", lambda seen: seen["kind"] == "idle")
    assert result["seen"]["name"] == "cat"  # the kernel's function is enough here, though not to follow the pipe


# --- frames -----------------------------------------------------------------------------------------------------------


def test_a_change_is_said_when_two_looks_agree(start_agent: Start, tmp_path: Path) -> None:
    agent = start_agent(times=(*SOON, ("states.REPEAT_S", "600.0")))
    os.mkfifo(tmp_path / "go")
    ident = agent.start(f"read x <{tmp_path}/go; while :; do :; done")

    def kinds_until(kind: str) -> list[str]:
        kinds = []
        while kind not in kinds:
            kinds.append(agent.read()["seen"]["kind"])
        return kinds

    # On a busy machine it is seen on its way to the pipe, too.
    assert kinds_until("idle") in (["idle"], ["running", "idle"])
    (tmp_path / "go").write_text("\n")
    assert kinds_until("running") == ["running"]
    assert agent.cancelled(ident)["seen"]["kind"] == "running"


def test_since_counts_from_the_first_look_at_it(soon_agent: AgentProcess) -> None:
    ident = soon_agent.start("sleep 600")
    while not is_idle("sleep")(soon_agent.read()["seen"]):
        pass
    threading.Event().wait(1.2)
    result = soon_agent.cancelled(ident)
    assert 1.2 <= result["seen"]["since_s"] <= result["elapsed_s"] - 0.2, "the first look is not taken before"
    assert re.match("sleep [1-9][0-9]* s idle ", result["state"])


def test_a_timeout_before_the_first_look_has_evidence(agent: AgentProcess) -> None:
    assert agent.run("sleep 100", timeout_s=0.3)["seen"]["name"] == "sleep"


@pytest.mark.parametrize(
    ("written", "prompt"),
    [
        (r"\033[1mName:\033[0m ", "Name:"),
        (r"\033]0;title\007old\nProceed? ", "Proceed?"),
        (r"progress 10%%\rprogress 20%%\rGo on?    ", "Go on?    0%"),
        (r"abc\b\b\bxyz: ", "xyz:"),
        (r"Enter it:\n", "Enter it:"),
        (r"\302\226Gr\303\274\303\237e? ", "Grüße?"),
    ],
)
def test_the_prompt_is_what_the_terminal_shows(soon_agent: AgentProcess, written: str, prompt: str) -> None:
    result = soon_agent.run(f"printf '{written}' >/dev/tty; read x </dev/tty")
    assert result["prompt"] == prompt


def test_a_prompt_in_an_output(soon_agent: AgentProcess) -> None:
    assert soon_agent.run("printf 'one\nSure? ' >&2; read x </dev/tty")["prompt"] == "Sure?"
    assert soon_agent.run("printf 'one\nWhich? '; read x </dev/tty")["prompt"] == "Which?"
    assert soon_agent.run("echo done; read x </dev/tty").get("prompt", "") == ""


def test_a_lost_shell_is_said(agent: AgentProcess) -> None:
    result = agent.run("kill -9 $$")
    assert result["seen"]["kind"] == "lost"


def test_many_processes_of_a_command(soon_agent: AgentProcess) -> None:
    """A pipeline of any length, and a crowd of children."""
    result = soon_agent.watch(" | ".join(["sleep 600", *["cat"] * 40]), is_idle("sleep"))
    assert result["seen"]["name"] == "sleep"
    result = soon_agent.watch("for i in {1..300}; do sleep 600 & done; wait", is_idle("sleep"))
    assert result["seen"]["kind"] == "idle"
    assert result["execution"] == "killed"


# --- cost -------------------------------------------------------------------------------------------------------------


def cpu_ns(pid: int) -> int:
    """What the kernel has booked for the process."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def spent_ns(pids: Sequence[int], seconds: float) -> int:
    """What the processes use in some time."""
    before = sum(cpu_ns(pid) for pid in pids)
    threading.Event().wait(seconds)
    return sum(cpu_ns(pid) for pid in pids) - before


def test_an_idle_agent_uses_no_processor(agent: AgentProcess) -> None:
    agent.watch("sleep 600", is_idle("sleep"))
    pids = [agent.hello["pid"], int(agent.output("echo $$"))]
    # At first it may still be busy with the end of the command.
    assert any(spent_ns(pids, 1.5) == 0 for _ in range(20))


def test_a_command_is_not_looked_at_before_its_time(start_agent: Start) -> None:
    """Nor is the agent awake until then."""
    agent = start_agent(times=(("agent.QUIET_S", "600.0"),))
    ident = agent.start("sleep 600")
    assert any(spent_ns([agent.hello["pid"]], 0.8) == 0 for _ in range(20))  # it asks for later parts of it first
    assert agent.cancelled(ident)["execution"] == "killed"


def test_a_look_costs_little(agent: AgentProcess) -> None:
    """A command that waits for long: under a hundredth of a processor, after the first look has compiled the code."""
    ident = agent.start("sleep 600")
    assert agent.read()["t"] == "running"
    assert any(spent_ns([agent.hello["pid"]], 1.2) < 1.2e9 * 0.02 for _ in range(10))
    agent.cancelled(ident)


@pytest.mark.parametrize("python", [path for path in interpreters() if "/3.11" in path])
def test_the_agent_is_ready_soon(start_agent: Start, python: str) -> None:
    """From exec to hello, with the bash that it has started by then."""
    used = []
    for _ in range(5):
        agent = start_agent(python=python)
        used.append(cpu_ns(agent.hello["pid"]) / 1e6)
        agent.bye()
    assert min(used) < 120
