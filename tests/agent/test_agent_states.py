"""What the agent says of a command that lasts: by the kernel's word, on the real kernel."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import state_table
from agent_process import AgentProcess, Answer, eventually, interpreters, kill_quietly
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


@pytest.mark.parametrize("python", interpreters())
def test_every_interpreter_sees_the_same(start_agent: Start, python: str) -> None:
    agent = start_agent(python=python)
    result = agent.run("read -p 'Really? ' x </dev/tty")
    assert result["execution"] == "waiting_input"
    assert result["prompt"] == "Really?"
    assert result["elapsed_s"] < 3
    assert agent.run("sleep 60 | cat", timeout_s=1.4)["seen"]["name"] == "sleep"


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


def crowd(agent: AgentProcess, commands: list[str], timeout_s: float) -> list[tuple[Answer, list[Answer]]]:
    """Results of commands that run at the same time, each with its `running` frames."""
    idents = [
        agent.start(command, session=f"s{number}", timeout_s=timeout_s) for number, command in enumerate(commands)
    ]
    results: dict[int, Answer] = {}
    frames: dict[int, list[Answer]] = {ident: [] for ident in idents}
    while len(results) < len(idents):
        answer = agent.read(60)
        if answer["t"] == "running":
            frames[answer["id"]].append(answer)
        else:
            assert answer["t"] == "result", answer
            results[answer["id"]] = answer
    return [(results[ident], frames[ident]) for ident in idents]


def test_no_socket_is_taken_for_a_question(start_agent: Start) -> None:
    agent = start_agent(hello="v=1 nonce=n max_sessions=100")
    with silent_server() as port:
        for _ in range(4):
            commands = [SOCKET_READS[number % 5].replace("{port}", port) for number in range(50)]
            told = 0
            for result, frames in crowd(agent, commands, 3.5):
                assert result["execution"] == "timed_out", result
                assert result["seen"]["kind"] == "idle", result
                assert result["seen"]["on"] == f"tcp to 127.0.0.1:{port}", result
                told += bool(frames)
                assert "waiting_input" not in [frame["seen"]["kind"] for frame in frames]
            # On a busy machine some of so many are seen at their end alone.
            assert told


def test_every_question_is_seen(start_agent: Start) -> None:
    agent = start_agent(hello="v=1 nonce=n max_sessions=100")
    for _ in range(4):
        for result, frames in crowd(agent, [TERMINAL_READS[number % 5] for number in range(50)], 30):
            assert result["execution"] == "waiting_input", result
            assert frames[-1]["seen"]["kind"] == "waiting_input"
            assert frames[-1]["elapsed_s"] < 3, frames


def test_a_reader_in_the_background_is_no_question(agent: AgentProcess) -> None:
    """It is stopped by the kernel; the command waits for something else."""
    result = agent.run("cat </dev/tty & sleep 100", timeout_s=2.4)
    assert result["execution"] == "timed_out"
    assert result["seen"]["name"] == "sleep"


def test_the_holder_of_a_lock_is_found_among_many(agent: AgentProcess, tmp_path: Path) -> None:
    """The kernel's list of locks comes in pages; and of several that wait, each waits behind the one before it."""
    holder = f"""
import fcntl, time
files = [open("{tmp_path}/%d" % number, "w") for number in range(400)]
for file in files:
    fcntl.flock(file, fcntl.LOCK_EX)
print("", flush=True)
time.sleep(100)
"""
    with subprocess.Popen([PYTHON, "-c", holder], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        commands = [f"flock {tmp_path}/{number} true" for number in (0, 200, 399, 399, 399, 399)]
        try:
            for result, _ in crowd(agent, commands, 2.4):
                assert f"locked by pid {process.pid} (python3" in result["state"], result
        finally:
            process.kill()


def test_a_question_behind_many_children_is_seen(agent: AgentProcess) -> None:
    """So is the kernel's list of the children of a process."""
    agent.run("for n in {1..1200}; do sleep 100 & done", timeout_s=30)
    result = agent.run("(read x </dev/tty)", timeout_s=20)
    assert (result["execution"], result["seen"]["name"]) == ("waiting_input", "bash")


def test_what_an_earlier_command_left_is_not_named(agent: AgentProcess) -> None:
    (left,) = agent.run("sleep 333 &")["leftover"]
    result = agent.run("cat /dev/zero | sleep 100", timeout_s=1.5)
    assert result["seen"]["pid"] != left
    kill_quietly(left)


def test_an_echo_left_off_asks_nothing(start_agent: Start) -> None:
    if os.getuid():
        pytest.skip("needs root")
    agent = start_agent(prefix=NOBODY, python=PYTHON)
    assert agent.run("printf 'Password: ' >/dev/tty; exec cat /dev/tty", timeout_s=20)["execution"] == "waiting_input"
    agent.run("stty -echo </dev/tty; trap '' INT; printf 'Password: ' >/dev/tty; head -1 /dev/tty", timeout_s=20)
    assert "-echo " not in agent.output("stty -a </dev/tty").replace("\n", " ")


# --- where looking is restricted --------------------------------------------------------------------------------------


def restricted(start_agent: Start, script: str) -> AgentProcess:
    """An agent that `script` starts, as "$@", in name spaces of its own."""
    if os.getuid() or subprocess.run(["unshare", "-mpf", "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs root and unshare")
    return start_agent(prefix=["unshare", "-mpf", "--mount-proc", "sh", "-c", script + ' "$@"', "sh"], python=PYTHON)


def test_hidden_processes(start_agent: Start, tmp_path: Path) -> None:
    hidden = Path("/var/tmp") / f"checkrunner-hidden-{os.getpid()}"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", hidden)
    hidden.chmod(0o4755)
    try:
        agent = restricted(start_agent, "mount -o remount,hidepid=2 /proc; exec " + " ".join(NOBODY))
        result = agent.run(f"{hidden} 100", timeout_s=2.4)
        assert result["seen"]["kind"] == "unknown", result
        assert "hidepid" in result["state"]
        assert agent.run("read x </dev/tty")["execution"] == "waiting_input"
    finally:
        hidden.unlink()


def test_a_container(start_agent: Start) -> None:
    agent = restricted(start_agent, "exec")
    assert agent.run("read x </dev/tty")["execution"] == "waiting_input"
    assert agent.run("sleep 100 | cat", timeout_s=1.5)["seen"]["on"] == "a timer"


def test_a_container_that_a_command_enters(agent: AgentProcess) -> None:
    if os.getuid() or subprocess.run(["unshare", "-mpf", "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs root and unshare")
    result = agent.run("unshare -mpf --mount-proc sh -c 'sleep 100; :' | cat", timeout_s=2.4)
    assert (result["seen"]["name"], result["seen"]["on"]) == ("sleep", "a timer")
    result = agent.run("unshare -mpf --mount-proc sh -c 'read x </dev/tty; :'", timeout_s=10)
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
    agent = start_agent(prefix=sudo_for_nobody, python=PYTHON)
    result = agent.run("sudo -n sleep 60" + more, timeout_s=2.4)
    assert result["execution"] == "timed_out", result
    assert result["seen"]["kind"] == "unknown", result
    assert "uid 0" in result["state"]


def test_the_password_of_sudo_is_a_question(start_agent: Start, sudo_for_nobody: list[str], tmp_path: Path) -> None:
    (tmp_path / "rules" / "nobody").write_text("nobody ALL=(ALL) ALL\n")
    agent = start_agent(prefix=sudo_for_nobody, python=PYTHON)
    result = agent.run("sudo sleep 60", timeout_s=20)
    assert (result["execution"], result["seen"]["name"], result["seen"]["echo"]) == ("waiting_input", "sudo", False)
    assert result["prompt"].startswith("[sudo] password for nobody")
    assert result["elapsed_s"] < 3


def test_another_architecture(start_agent: Start) -> None:
    if shutil.which("setarch") is None or subprocess.run(["setarch", "i686", "true"], check=False).returncode:
        pytest.skip("needs setarch")
    agent = start_agent(prefix=["setarch", "i686"])
    result = agent.run("cat </dev/tty", timeout_s=2.4)
    assert result["execution"] == "timed_out"
    assert result["seen"]["kind"] == "unknown"
    assert "system calls of i686 are not known" in result["state"]
    assert agent.run("sleep 100 | cat", timeout_s=1.5)["seen"]["kind"] == "idle"  # the kernel's function is enough here


# --- frames -----------------------------------------------------------------------------------------------------------


def test_a_change_is_said_when_two_looks_agree(agent: AgentProcess) -> None:
    agent.start("sleep 1.9; while :; do :; done", timeout_s=6)
    kinds = []
    while (answer := agent.read())["t"] == "running":
        kinds.append((answer["seen"]["kind"], answer["seen"]["name"]))
    assert kinds == [("idle", "sleep"), ("running", "bash")]


def test_since_counts_from_the_first_look_at_it(agent: AgentProcess) -> None:
    result = agent.run("sleep 100", timeout_s=4.2)
    assert 2.9 <= result["seen"]["since_s"] < 3.5
    assert result["state"].startswith("sleep 4 s idle ")


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
def test_the_prompt_is_what_the_terminal_shows(agent: AgentProcess, written: str, prompt: str) -> None:
    result = agent.run(f"printf '{written}' >/dev/tty; read x </dev/tty")
    assert result["prompt"] == prompt


def test_a_prompt_in_an_output(agent: AgentProcess) -> None:
    assert agent.run("printf 'one\nSure? ' >&2; read x </dev/tty")["prompt"] == "Sure?"
    assert agent.run("printf 'one\nWhich? '; read x </dev/tty")["prompt"] == "Which?"
    assert agent.run("echo done; read x </dev/tty").get("prompt", "") == ""


def test_a_lost_shell_is_said(agent: AgentProcess) -> None:
    result = agent.run("kill -9 $$")
    assert result["seen"]["kind"] == "lost"


def test_many_processes_of_a_command(agent: AgentProcess) -> None:
    """A pipeline of any length, and a crowd of children."""
    result = agent.run(" | ".join(["sleep 100", *["cat"] * 40]), timeout_s=2.4)
    assert result["seen"]["name"] == "sleep"
    result = agent.run("for i in {1..300}; do sleep 100 & done; wait", timeout_s=3)
    assert result["seen"]["kind"] == "idle"
    assert result["execution"] == "timed_out"


# --- cost -------------------------------------------------------------------------------------------------------------


def cpu_ns(pid: int) -> int:
    """What the kernel has booked for the process."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def test_an_idle_agent_uses_no_processor(agent: AgentProcess) -> None:
    pids = [agent.hello["pid"], int(agent.output("sleep 1.3; echo $$"))]
    assert eventually(lambda: "S" in Path(f"/proc/{pids[0]}/stat").read_text().rpartition(")")[2].split()[0])
    before = [cpu_ns(pid) for pid in pids]
    threading.Event().wait(3)
    assert [cpu_ns(pid) for pid in pids] == before


def test_a_command_of_less_than_a_second_is_not_looked_at(agent: AgentProcess) -> None:
    """Nor is the agent awake while it runs."""
    agent.run("true")
    pid = agent.hello["pid"]
    ident = agent.start("sleep 0.9")
    spent = []
    for _ in range(4):  # the first may still see the command's start, and on a busy machine the last its end
        before = cpu_ns(pid)
        threading.Event().wait(0.2)
        spent.append(cpu_ns(pid) - before)
    assert spent.count(0) >= 2
    assert agent.wait_for(ident)["rc"] == 0


def test_a_look_costs_little(agent: AgentProcess) -> None:
    """A command that waits for long: under a hundredth of a processor, after the first look has compiled the code."""
    ident = agent.start("sleep 100", timeout_s=20)
    assert agent.read()["t"] == "running"
    before = cpu_ns(agent.hello["pid"])
    threading.Event().wait(5)
    assert cpu_ns(agent.hello["pid"]) - before < 5e9 * 0.02
    agent.ask("cancel")
    agent.wait_for(ident)


@pytest.mark.parametrize("python", [path for path in interpreters() if "/3.11" in path])
def test_the_agent_is_ready_soon(start_agent: Start, python: str) -> None:
    """From exec to hello, with the bash that it has started by then."""
    used = []
    for _ in range(5):
        agent = start_agent(python=python)
        used.append(cpu_ns(agent.hello["pid"]) / 1e6)
        agent.bye()
    assert min(used) < 120
