"""Commands, outputs and clocks of any size and shape, and what a command costs."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_process import REMOTE, AgentProcess

from checkrunner.link.payload import LATER, START, load_payload

Start = Callable[..., AgentProcess]


def rss_kib(agent: AgentProcess) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{agent.process.pid}/status").read_text())
    assert found is not None
    return int(found[1])


# --- commands ---------------------------------------------------------------------------------------------------------

TEN_MB = 10_000_000
LARGE = {
    "one word": (b": '" + b"x" * TEN_MB + b"'; echo end", "end\n"),
    "a variable": (b"v='" + b"y" * TEN_MB + b"'; echo ${#v}; unset v", f"{TEN_MB}\n"),
    "a document": (b"wc -c <<'E'\n" + (b"z" * 99 + b"\n") * (TEN_MB // 100) + b"E\n", f"{TEN_MB}\n"),
    "many commands": (b"echo start\n" + b":\n" * (TEN_MB // 2) + b"echo end", "start\nend\n"),
    # bash reads these one by one.
    "newlines at the end": (b": '" + b"x" * TEN_MB + b"'; echo first" + b"\n" * 100_000, "first\n"),
}


@pytest.mark.parametrize(("command", "output"), LARGE.values(), ids=LARGE)
def test_a_command_of_ten_megabytes(agent: AgentProcess, command: bytes, output: str) -> None:
    assert agent.output(command, timeout_s=50).split() == output.split()
    assert agent.output("echo alive") == "alive\n"
    assert rss_kib(agent) <= 20 << 10  # what was needed for it is given back


def test_a_variable_of_ten_megabytes_stays(agent: AgentProcess) -> None:
    """Larger than what a lost shell could be given back, it still costs neither the session nor the agent anything."""
    agent.run(b"v='" + b"y" * TEN_MB + b"'")
    for _ in range(3):
        assert agent.output("echo ${#v}") == f"{TEN_MB}\n"
    agent.run("unset v")
    assert rss_kib(agent) <= 20 << 10


@pytest.mark.parametrize("times", [1, 8, 400])
def test_every_byte_that_a_shell_can_take_arrives(few_agent: AgentProcess, times: int) -> None:
    """Short ones are words of the script, longer ones come over a pipe; both inside quotes, a document and a comment."""
    every = bytes(byte for byte in range(1, 256) if byte != 0x27) * times
    result = few_agent.run(b"printf %s '" + every + b"'")
    assert few_agent.data(result["id"]) == every
    document = few_agent.run(b"cat <<'END'\n" + every.replace(b"\n", b"") + b"\nEND\n")
    assert few_agent.data(document["id"]) == every.replace(b"\n", b"") + b"\n"
    assert few_agent.output(b"# " + every.replace(b"\n", b"") + b"\necho seen") == "seen\n"
    assert few_agent.output('printf %s "$V" | od -An -c | head -c 0; echo ${#V}', env={"V": b"\xff\x01'\n\\"}) == "5\n"


# --- outputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 2047, 4095, 4096, 4097, 65535, 65536, 65537, 131_072, 1 << 20, (1 << 20) + 1])
def test_outputs_of_each_size_are_whole(agent: AgentProcess, size: int) -> None:
    data = (b"0123456789abcde\n" * (size // 16 + 1))[:size]
    result = agent.run(f"yes 0123456789abcde | head -c {size}; yes 0123456789abcde | head -c {size} >&2")
    for name in ("stdout", "stderr"):
        if size:
            assert result[name]["digest"] == hashlib.sha256(data).hexdigest()
            assert result[name]["lines"] == (size + 15) // 16
        else:
            assert name not in result
        assert agent.data(result["id"], name) == data


@pytest.mark.timeout(150)
def test_two_gigabytes(agent: AgentProcess) -> None:
    room = os.statvfs(agent.directory)
    if room.f_bavail * room.f_frsize < 3 << 30:
        pytest.skip(f"less than 3 GiB are free where captures go ({agent.directory.parent})")
    agent.run(":")
    command = "head -c 2147483648 /dev/zero; echo; echo end"
    result = agent.wait_for(agent.start(command, cap=3 << 30, timeout_s=100), 110)
    out = result["stdout"]
    assert (result["rc"], out["bytes"], out["longest"], out["lines"]) == (0, (2 << 30) + 5, 2 << 30, 2)
    assert agent.slice(result["id"], "tail", max_lines=1)["data"] == b"end"
    head = agent.slice(result["id"], "bytes", first=(2 << 30) - 2, last=1 << 40)
    assert head["data"] == b"\0\0\nend\n"
    assert rss_kib(agent) <= 20 << 10


def test_a_line_of_a_hundred_megabytes(agent: AgentProcess) -> None:
    line = 100_000_000
    result = agent.run(
        f"head -c {line} /dev/zero | tr '\\0' x; echo; echo end",
        cap=300 << 20,
        timeout_s=40,
        probes={
            "1.contains.stdout": b"xxx",
            "2.contains.stdout": b"nd",
            "3.contains.stdout": "\ufffd".encode(),
            "4.matches.stdout": b"^x+$",
            "5.matches.stdout": b"^end$",
            "6.equals.stdout": b"end",
        },
    )
    assert (result["stdout"]["longest"], result["stdout"]["lines"]) == (line, 2)
    assert {name: probe["count"] for name, probe in result["probes"].items()} == dict(
        zip("123456", [1, 1, 0, 1, 1, 0], strict=True)
    )
    of = result["id"]
    head = agent.slice(of, "head", line_bytes=100)
    assert (head["lines"], head["data"]) == ([[1, 100, line - 100], [2, 3, 0]], b"x" * 100 + b"end")
    match = agent.slice(of, "match", pattern=b"end", before=1, line_bytes=10)
    assert match["lines"] == [[1, 10, line - 10], [2, 3, 0]]
    assert agent.slice(of, "lines", first=2, last=2)["data"] == b"end"
    assert rss_kib(agent) <= 20 << 10


# --- clocks -----------------------------------------------------------------------------------------------------------

# The host's clock is set, by days and in both directions, each time that anybody looks at it. But to what clears up after
# others, all the living agents of this machine that hold no lock would look as if they had died long ago.
JUMPS = f"""
import sys, time
real, jumps = time.time, []
def wall():
    if sys._getframe(1).f_code.co_name == "remove_if_stale":
        return real()
    jumps.append(1)
    return real() + (-1) ** len(jumps) * 86400 * 1000
time.time = wall
exec({START!r})
"""


def test_a_clock_that_jumps_changes_no_time(start_agent: Start) -> None:
    agent = start_agent(start=JUMPS)
    assert abs(agent.hello["clock"] - time.time()) > 86400 * 900  # it does jump
    started = time.monotonic()
    slept = agent.run("sleep 0.3")
    ended = agent.run("sleep 30", timeout_s=0.5)
    looked = agent.run("sleep 1.6")
    took = time.monotonic() - started
    assert (slept["execution"], ended["execution"], looked["execution"]) == ("done", "timed_out", "done")
    assert 0.3 <= slept["elapsed_s"] < 0.5 + took
    assert 0.5 <= ended["elapsed_s"] < 0.5 + took
    assert agent.output("echo alive") == "alive\n"


def test_the_wall_clock_is_asked_for_three_things_only() -> None:
    """When a command began, the hello, and how old a dead agent's directory is; timers go by the monotonic one, and
    what is compared with the start of processes by the one that counts since boot."""
    found: set[tuple[str, str]] = set()
    for name in ("agent", *LATER):
        tree = ast.parse((REMOTE / f"{name}.py").read_text(encoding="utf-8"))
        for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
            used = [node for node in ast.walk(function) if isinstance(node, ast.Attribute)]
            found.update((function.name, node.attr) for node in used if ast.unparse(node.value) == "time")
    assert ("loop", "monotonic") in found
    assert {(name, attr) for name, attr in found if attr not in ("monotonic", "sleep")} == {
        ("clock", "time"),
        ("keep", "clock_gettime"),  # not the wall clock
        ("greet", "time"),
        ("remove_if_stale", "time"),
    }


# --- costs ------------------------------------------------------------------------------------------------------------


def cpu_s(*pids: int) -> float:
    """What the kernel says that these have used."""
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids) / 1e9


def test_a_plain_command_costs_little_processor_time(agent: AgentProcess) -> None:
    """Not its time, which belongs to the machine: bench/agent_overhead.py measures that."""
    shell = int(agent.output("echo $$"))
    for _ in range(50):
        agent.run("true")
    costs = []
    for _ in range(4):
        before = cpu_s(agent.process.pid, shell)
        for _ in range(50):
            agent.run("true")
        costs.append((cpu_s(agent.process.pid, shell) - before) / 50)
    assert min(costs) <= 0.003, f"{min(costs) * 1e3:.2f} ms for a command, in the agent and its shell"


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the figure is that of Python 3.11")
def test_the_start_costs_at_most_120_ms(tmp_path: Path) -> None:
    """All that a host computes from the exec request to hello, and for leaving, too: shell, interpreter, agent, bash."""
    (tmp_path / "python3").symlink_to(sys.executable)
    costs = []
    for _ in range(5):
        process = subprocess.Popen(
            ["/bin/sh", "-c", load_payload().exec_line],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": "/"},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdin, process.stdout:
            process.stdin.write(b"hello 0 v=1 nonce=n\n")
            process.stdin.flush()
            lines: list[bytes] = []
            while not lines or not lines[-1].startswith(b'{"t":"hello"'):
                lines.append(process.stdout.readline())
                assert lines[-1], lines
            process.stdin.write(b"bye 1\n")
            process.stdin.flush()
            # What it has used and what those have that it has waited for.
            used = os.wait4(process.pid, 0)[2]
            process.returncode = 0
        costs.append(used.ru_utime + used.ru_stime)
    assert min(costs) <= 0.120, f"{min(costs) * 1e3:.0f} ms"


def test_what_the_agent_is_given_for_itself_reaches_no_command(agent: AgentProcess) -> None:
    assert "MALLOC" not in agent.output("env")
