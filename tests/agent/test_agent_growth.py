"""Many commands in one session: nothing grows with their number, and old outputs can still be asked for."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from agent_process import SOON, AgentProcess, Answer, alive, eventually, few_interpreters, load_modules
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Start = Callable[..., AgentProcess]
MANY = 140  # commands after which the agent asks for what archives them, and archives


def status_kib(pid: int, key: str) -> int:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith(key + ":"))
    return int(line.split()[1])


def shell_of(agent: AgentProcess) -> int:
    return int(agent.output("echo $$"))


def crowd(agent: AgentProcess, commands: list[str], count: int, window: int = 50) -> list[Answer]:
    """Run commands in turn, some ahead of their answers."""
    waiting: list[int] = []
    results = []
    for number in range(count):
        waiting.append(agent.start(commands[number % len(commands)]))
        if len(waiting) == window or number == count - 1:
            results += [agent.wait_for(ident) for ident in waiting]
            waiting = []
    assert all(result["execution"] == "done" for result in results)
    return results


def measure(agent: AgentProcess, shell: int) -> dict[str, int]:
    pid = agent.process.pid
    files = list(agent.directory.rglob("*"))
    return {
        "agent": status_kib(pid, "VmRSS"),
        "shell": status_kib(shell, "VmRSS"),
        "fds": len(os.listdir(f"/proc/{pid}/fd")),
        "shell fds": len(os.listdir(f"/proc/{shell}/fd")),
        "threads": status_kib(pid, "Threads"),
        "files": len([path for path in files if not path.name.startswith("p")]),
        "pipes": len([path for path in files if path.name.startswith("p")]),
    }


@pytest.mark.timeout(240)  # some seconds, unless ten others want the processor
def test_five_thousand_commands_leave_no_trace(agent: AgentProcess) -> None:
    commands = ["true", "echo $((n += 1))", "true", "echo err >&2; false", "x=$n; printf 'a\\nb'"]
    shell = shell_of(agent)
    crowd(agent, commands, 1000)
    before = measure(agent, shell)
    first = crowd(agent, commands, 4000)[1]["id"]
    after = measure(agent, shell)

    # A run that was kept as it is took 4 KiB; the bound is 50 bytes a command.
    assert after["agent"] - before["agent"] <= 200, (before, after)
    assert after["shell"] - before["shell"] <= 200, (before, after)
    for name in ("shell fds", "threads"):
        assert after[name] == before[name], name
    assert abs(after["fds"] - before["fds"]) <= 4
    assert after["files"] <= before["files"] + 1
    assert after["pipes"] <= 6
    assert status_kib(agent.process.pid, "VmHWM") <= 20 << 10
    assert agent.data(first) == b"201\n"
    assert agent.data(3) == agent.data(4, "stderr") == b""


@pytest.mark.parametrize("python", few_interpreters())
def test_the_agent_is_small(start_agent: Start, python: str) -> None:
    agent = start_agent(python=python, times=SOON)
    crowd(agent, ["echo x", "false"], 2 * MANY)
    assert agent.run("seq 300000", probes={"p.matches.stdout": b"^9+$"})["probes"]["p"]["count"] == 5
    agent.watch("sleep 600", lambda seen: seen["name"] == "sleep")  # what looks at processes is there now
    assert status_kib(agent.process.pid, "VmHWM") <= 20 << 10
    assert agent.data(1) == b"x\n"


def test_background_jobs_are_forgotten_and_still_ended(agent: AgentProcess, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    agent.run(f"(until [ -e {tmp_path}/go ]; do sleep 0.02; done; setsid -f sh -c 'echo $$ >{pid_file}; sleep 600') &")
    crowd(agent, ["sleep 0 & :"], 3)
    (tmp_path / "go").touch()
    assert eventually(lambda: pid_file.exists() and pid_file.read_text())
    crowd(agent, ["true"], 2 * MANY)
    pid = int(pid_file.read_text())
    assert alive(pid)
    agent.bye()
    assert eventually(lambda: not alive(pid))


def test_old_outputs_answer_as_young_ones(few_agent: AgentProcess) -> None:
    commands = [
        "true",
        "printf abc",
        "printf 'a\\0b\\r\\n\\n\\xff'; echo err >&2",
        "seq 2000",
        "seq 30000 >&2",
        "seq 300000; seq 40",
        "head -c 70000 /dev/zero",
        "head -c 65536 /dev/zero; head -c 65537 /dev/zero >&2",
    ]
    own_files = ["c5.err", "c6.out", "c7.out", "c8.err"]
    queries: list[dict[str, Any]] = [
        {"mode": "head", "max_lines": 3},
        {"mode": "tail", "max_lines": 3},
        {"mode": "lines", "first": 1990, "last": 2003},
        {"mode": "lines", "first": 250000, "last": 250002},
        {"mode": "bytes", "first": 60000, "last": 61000},
        {"mode": "match", "pattern": b"[39]99$", "before": 1, "max_lines": 9},
    ]
    runs = [few_agent.run(command)["id"] for command in commands]
    runs.append(few_agent.run("seq 9000", cap=1000)["id"])  # ended for its output

    def answers() -> list[Answer]:
        asked = [few_agent.slice(of, stream=name, **q) for of in runs for q in queries for name in ("stdout", "stderr")]
        return [{key: value for key, value in one.items() if key != "id"} for one in asked]

    young = answers()
    crowd(few_agent, ["echo x"], 2 * MANY)
    assert [name for name in os.listdir(few_agent.directory) if name.startswith("old.")]
    assert sorted(n for n in os.listdir(few_agent.directory) if n.startswith("c")) == own_files
    assert answers() == young
    assert answers() == young


def test_ids_that_were_used_long_ago_are_refused(agent: AgentProcess) -> None:
    for ident in (70_000, 5_000_000_000, 2 * MANY + 5):
        agent.last = ident - 1
        agent.run("true")
    agent.last = 0
    crowd(agent, ["true"], 2 * MANY)
    for ident in (1, 17, 2 * MANY, 2 * MANY + 5, 70_000, 5_000_000_000):
        agent.last = ident - 1
        answer = agent.run("true")
        assert (answer["t"], answer["kind"]) == ("error", "bad_request")
        assert "used before" in answer["message"]
    agent.last = 10**6
    assert agent.slice(of=10**7)["kind"] == "no_such_run"
    assert agent.slice(of=70_000)["lines"] == agent.slice(of=5_000_000_000)["lines"] == []


def test_outputs_that_find_no_room_on_the_disk_are_lost_and_nothing_else(agent: AgentProcess) -> None:
    subprocess.run(["prlimit", f"--pid={agent.process.pid}", "--fsize=65536"], check=True)
    crowd(agent, ["printf %500d 7"], 4 * MANY)
    answer = agent.slice(of=1)
    assert answer["t"] == "slice"  # the first ones had room
    lost = agent.slice(of=3 * MANY)
    assert lost["kind"] == "storage"
    assert "not kept any more" in lost["message"]
    assert len(agent.data(4 * MANY)) == 500
    assert status_kib(agent.process.pid, "VmHWM") <= 20 << 10


def test_a_check_that_removes_the_directory_costs_the_old_outputs(agent: AgentProcess) -> None:
    crowd(agent, ["echo x"], 2 * MANY)
    agent.run(f"rm -rf {agent.directory}")
    assert agent.slice(of=1)["kind"] == "storage"
    results = crowd(agent, ["echo y"], 2 * MANY)
    assert agent.slice(of=1)["kind"] == "storage"
    assert agent.data(results[0]["id"]) == b"y\n"


# --- the archive by itself --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parts() -> tuple[ModuleType, ModuleType]:
    """The agent and the archive as modules."""
    return load_modules("archive")


outputs = st.one_of(st.just(b""), st.binary(max_size=50), st.integers(1, 90_000).map(lambda n: b"line\n" * (n // 5)))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    runs=st.dictionaries(st.integers(1, 3000) | st.integers(1, 1 << 62), st.tuples(outputs, outputs), max_size=12),
    on_disk=st.booleans(),
    segment=st.sampled_from([1, 300, 1 << 20]),
    batch=st.integers(1, 5),
)
def test_what_is_archived_is_found(
    parts: tuple[ModuleType, ModuleType],
    tmp_path_factory: pytest.TempPathFactory,
    runs: dict[int, tuple[bytes, bytes]],
    on_disk: bool,
    segment: int,
    batch: int,
) -> None:
    agent, archive = parts
    vars(archive)["SEGMENT"] = segment
    directory = os.fsencode(tmp_path_factory.mktemp("a")) if on_disk else None
    store = agent.Store(directory, 1 << 30)
    shelf = archive.Shelf(store, directory, False)

    made = []
    for ident, texts in runs.items():
        run = agent.Run(ident, "s")
        for name, data in zip(("stdout", "stderr"), texts, strict=True):
            capture = run.captures[name] = agent.Capture(store, shelf.path(ident, name), 1 << 30)
            for at in range(0, len(data), 65536):
                capture.feed(data[at : at + 65536])
            capture.close()
        made.append(run)
    total = sum(len(data) for texts in runs.values() for data in texts)
    for at in range(0, len(made), batch):
        shelf.add(made[at : at + batch])

    for run in made:
        found = shelf.find(run.id)
        for name, data in zip(("stdout", "stderr"), runs[run.id], strict=True):
            old, young = found.captures[name], run.captures[name]
            assert b"".join(old.read(at, 65536) for at in range(0, len(data), 65536)) == data
            lines = data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
            assert (old.lines, old.kept_lines(), old.kept) == (young.lines, lines, len(data))
            old.rest()
    assert all(shelf.find(ident) is None for ident in (0, 3001, 1 << 62 | 5) if ident not in runs)

    freed = 0
    while size := shelf.give_way():
        freed += size
    assert freed == total
    if directory is not None:
        assert set(os.listdir(directory)) <= {b"index"}
    for run in made:
        if any(runs[run.id]):
            with pytest.raises(agent.Refused):
                shelf.find(run.id)
