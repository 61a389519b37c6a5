"""Much output: what it costs the host, and the client, when nobody asks for it; and whose output gives way to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_process import AgentProcess, Answer, eventually

Start = Callable[..., AgentProcess]
LINE = "sda 12.00 345.60 0.00 0.00 1.23 28.80 4.00 64.00 0.00 0.00 0.75 16.00 0.00 0.02 1.6"


class Counted(AgentProcess):
    """An agent of which every byte that comes from it is counted."""

    received = 0

    def fill(self, seconds: float) -> None:
        before = len(self.buffer)
        super().fill(seconds)
        self.received += len(self.buffer) - before


@pytest.fixture
def counted() -> object:
    agent = Counted()
    # From here on nothing is loaded any more: the two parts that every long command needs, and the fast digest.
    agent.run("head -c 2000000 /dev/zero; sleep 0.5")
    yield agent
    agent.close()


def cpu_seconds(agent: AgentProcess) -> float:
    words = Path(f"/proc/{agent.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def memory(agent: AgentProcess, name: str = "VmRSS") -> int:
    """Bytes of memory, now or (VmHWM) at most."""
    status = Path(f"/proc/{agent.process.pid}/status").read_text()
    return 1024 * int(status.partition(f"{name}:")[2].split()[0])


def producer(lines: int, pause_s: float) -> str:
    return f"while :; do for i in {{1..{lines}}}; do echo '{LINE}'; done; sleep {pause_s}; done"


# --- cost -------------------------------------------------------------------------------------------------------------


def test_hundreds_of_lines_a_second(counted: Counted) -> None:
    """As `iostat -x 1` on a host with many disks writes them."""
    before, received, memory_before = cpu_seconds(counted), counted.received, memory(counted)
    result = counted.run(producer(50, 0.1), timeout_s=60, keys={"duration_ms": 4000})
    assert (result["execution"], result["notes"]) == ("done", ["duration_ended"])
    lines = result["stdout"]["lines"]
    assert lines > 100
    assert result["stdout"]["bytes"] >= (len(LINE) + 1) * (lines - 1)
    assert counted.received - received < 5000, "a few reports of its state, and the result"
    assert cpu_seconds(counted) - before < 0.7
    assert memory(counted) - memory_before < 2 << 20
    assert counted.slice(result["id"], "lines", first=90, last=90)["data"] == LINE.encode()


def test_yes_for_a_time(counted: Counted) -> None:
    """What is too much is not even read: `yes` waits, and costs nothing until its time is over."""
    cap = 1 << 20  # which any machine writes in that time
    before, received, memory_before = cpu_seconds(counted), counted.received, memory(counted)
    result = counted.run("yes", cap=cap, keys={"duration_ms": 3000})
    assert (result["execution"], result["notes"]) == ("done", ["duration_ended"])
    assert result["elapsed_s"] >= 3
    output = result["stdout"]
    assert (output["state"], output["captured"]) == ("truncated", cap)
    assert output["bytes"] < cap + (16 << 20)
    assert counted.received - received < 5000
    assert cpu_seconds(counted) - before < 1.5
    assert memory(counted) - memory_before < 2 << 20
    assert memory(counted, "VmHWM") < 24 << 20


def test_who_waits_for_room_can_be_ended_and_may_say_last_words(start_agent: Start) -> None:
    agent = start_agent(times=(("endings.STEPS_S", "(600.0, 600.0, 600.0, 600.0)"),))
    command = "sh -c 'trap \"head -c 300000 /dev/zero; echo last words >&2; exit\" INT; yes; :'"
    result = agent.run(command, cap=100_000, keys={"duration_ms": 2000})
    assert result["execution"] == "done"
    assert agent.data(result["id"], "stderr").endswith(b"last words\n")


def test_a_full_output_does_not_stop_the_other_one(agent: AgentProcess) -> None:
    command = "yes & while :; do echo tick >&2; sleep 0.05; done"
    result = agent.run(command, cap=50_000, keys={"duration_ms": 1500})
    assert result["stdout"]["state"] == "truncated"
    assert result["stderr"]["lines"] >= 2
    assert "state" not in result["stderr"]


def test_without_a_duration_a_flood_is_ended(agent: AgentProcess) -> None:
    result = agent.run("yes", cap=100_000)
    assert (result["execution"], result["notes"]) == ("killed", ["capped"])


# --- room -------------------------------------------------------------------------------------------------------------

MEGABYTE = 1 << 20


def write(agent: AgentProcess, size: int, **options: object) -> Answer:
    return agent.run(f"head -c {size} /dev/zero | tr '\\0' x", **options)


def files(agent: AgentProcess) -> int:
    return sum(entry.stat().st_size for entry in agent.directory.iterdir() if entry.name.startswith("c"))


def test_the_oldest_outputs_give_way(start_agent: Start) -> None:
    agent = start_agent(hello=f"v=1 nonce=n host_bytes={10 * MEGABYTE}")
    results = [write(agent, 2 * MEGABYTE) for _ in range(20)]
    assert [result["execution"] for result in results] == ["done"] * 20
    assert {result["stdout"]["bytes"] for result in results} == {2 * MEGABYTE}
    assert all("captured" not in result["stdout"] for result in results)
    assert files(agent) <= 10 * MEGABYTE
    for result in results[-3:]:
        assert agent.slice(result["id"], "bytes", first=0, last=5)["data"] == b"xxxxx"
    gone = agent.slice(results[0]["id"])
    assert (gone["t"], gone["kind"]) == ("error", "storage")
    assert "others needed the room" in gone["message"]
    assert agent.slice(results[0]["id"], stream="stderr")["kind"] == "storage"
    assert agent.slice(999_999)["kind"] in ("no_such_run", "storage")


def test_the_last_ones_never_do(start_agent: Start) -> None:
    agent = start_agent(hello=f"v=1 nonce=n host_bytes={4 * MEGABYTE}")
    kept = [write(agent, MEGABYTE) for _ in range(3)]
    result = write(agent, 3 * MEGABYTE)
    assert (result["execution"], result["notes"]) == ("killed", ["host_capped"])
    assert result["stdout"]["captured"] == MEGABYTE
    for earlier in kept:
        assert len(agent.data(earlier["id"])) == MEGABYTE


def test_slices_that_were_asked_for_in_time_are_answered(start_agent: Start) -> None:
    """Everything is sent at once, as a client does: commands, and behind each its slices."""
    agent = start_agent(hello=f"v=1 nonce=n host_bytes={8 * MEGABYTE}")
    agent.run("true")
    asked = []
    for number in range(20):
        of = agent.start(f"seq {number} 300000")
        queries = [{"mode": "tail", "max_lines": 1}, {"mode": "head", "max_lines": 1}]
        asked.append((number, of, [agent.ask("slice", {"of": of, **query}) for query in queries]))
    for number, of, slices in asked:
        assert agent.wait_for(of)["execution"] == "done"
        assert [agent.wait_for(ident)["data"] for ident in slices] == [b"300000", b"%d" % number]


def test_an_output_that_is_being_read_stays(start_agent: Start) -> None:
    agent = start_agent(hello=f"v=1 nonce=n host_bytes={12 * MEGABYTE}")
    first = agent.run("seq 900000")["id"]
    agent.run("true")
    found = agent.ask("slice", {"of": first, "mode": "match", "max_lines": 1}, {"pattern": b"^900000$"})
    for _ in range(4):
        agent.start(f"head -c {3 * MEGABYTE} /dev/zero")
    assert agent.wait_for(found)["data"] == b"900000"


def test_old_outputs_in_the_archive_give_way_first(start_agent: Start) -> None:
    agent = start_agent(hello=f"v=1 nonce=n host_bytes={6 * MEGABYTE}")
    small = [agent.start("head -c 20000 /dev/zero") for _ in range(200)]
    for ident in small:
        assert agent.wait_for(ident)["execution"] == "done"
    for _ in range(3):
        assert write(agent, MEGABYTE)["execution"] == "done"
    assert agent.slice(small[0])["kind"] == "storage"
    assert agent.slice(small[-1], "bytes", first=0, last=3)["data"] == b"\0\0\0"


def test_outputs_in_memory_give_way_as_well(tmp_path: Path) -> None:
    """Where no directory can be made there are 4 MiB for all of them together."""
    script = 'for d in /dev/shm /var/tmp /tmp; do mount -t tmpfs -o ro none $d || exit 9; done; unset XDG_RUNTIME_DIR; export HOME=/proc; exec "$@"'
    if os.getuid() or subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs root and a mount namespace of its own")
    python = os.path.realpath(sys.executable)
    agent = AgentProcess(prefix=["unshare", "-m", "sh", "-c", script, "sh"], python=python)
    try:
        assert agent.hello["dir"] == ""
        results = [write(agent, 250_000) for _ in range(40)]
        assert [result["execution"] for result in results] == ["done"] * 40
        assert agent.slice(results[0]["id"])["kind"] == "storage"
        assert len(agent.data(results[-1]["id"])) == 250_000
        assert memory(agent, "VmHWM") < 28 << 20
    finally:
        agent.close()


def test_room_comes_back_without_waiting(start_agent: Start) -> None:
    """One that floods, again and again: each is ended for its own size, none for that of the ones before."""
    agent = start_agent(hello=f"v=1 nonce=n host_bytes={8 * MEGABYTE}")
    for _ in range(12):
        result = agent.run("yes", cap=MEGABYTE)
        assert (result["execution"], result["notes"]) == ("killed", ["capped"])
    assert agent.output("echo on") == "on\n"
    assert eventually(lambda: files(agent) <= 8 * MEGABYTE)
