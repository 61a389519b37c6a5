"""Captures, slices and probes: what is counted, kept and answered, whatever the output looks like."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_process import REMOTE, AgentProcess, eventually
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Start = Callable[..., AgentProcess]


def reference(data: bytes) -> dict[str, object]:
    """What a result says of a stream, computed the plain way."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    valid = len(data.decode("utf-8", "ignore").encode())
    out: dict[str, object] = {"lines": len(lines), "bytes": len(data), "longest": max(map(len, lines), default=0)}
    if data and not data.endswith(b"\n"):
        out["nl"] = False
    if b"\0" in data:
        out["binary"] = True
    if valid != len(data):
        out["invalid"] = len(data) - valid
    out["digest"] = hashlib.sha256(data).hexdigest()
    return out


SAMPLES = {
    "nul": b"a\0b",
    "no newline": b"abc",
    "newlines only": b"a\n\n\n",
    "latin-1": b"caf\xe9\xff",
    "random": os.urandom(4096),
    "cut character": b"x\xe2\x82",
    "surrogate": b"\xed\xa0\x80 \xc0\x80 \xf4\x90\x80\x80",
    "carriage returns": b"10%\r20%\r\n",
}


@pytest.mark.parametrize("data", SAMPLES.values(), ids=SAMPLES)
def test_output_is_byte_exact(any_agent: AgentProcess, data: bytes, tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(data)
    result = any_agent.run(f"cat {tmp_path}/data; cat {tmp_path}/data >&2")
    assert result["stdout"] == result["stderr"] == reference(data)
    assert any_agent.data(result["id"]) == any_agent.data(result["id"], "stderr") == data


@pytest.fixture(scope="module")
def shared() -> object:
    agent = AgentProcess()
    yield agent
    agent.close()


pieces = st.lists(
    st.one_of(st.binary(max_size=40), st.sampled_from([b"\n", b"a\n", b"\r\n", b"\xe2\x82\xac", b"\0", b"x" * 3000])),
    max_size=12,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=pieces, cap=st.sampled_from([1 << 20, 100, 5000]))
def test_counts_and_slices_agree_with_a_reference(shared: AgentProcess, parts: list[bytes], cap: int) -> None:
    octal = ["".join(f"\\{byte:03o}" for byte in part) for part in parts]
    result = shared.run("".join(f"printf '{part}'\n" for part in octal if part), cap=cap)
    data = b"".join(parts)
    if len(data) <= cap:
        assert result.get("stdout") == (reference(data) if data else None)
    else:
        assert result["stdout"]["state"] == "truncated"
        data = data[:cap]
        assert result["stdout"]["captured"] == cap
        assert result["stdout"]["digest"] == hashlib.sha256(data).hexdigest()
    of = result["id"]
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    everything = shared.slice(of, "lines", first=1, last=10**6, max_lines=10**6, max_bytes=1 << 20, line_bytes=1 << 20)
    assert [n for n, _, _ in everything["lines"]] == list(range(1, len(lines) + 1))
    assert everything["data"] == b"".join(lines)
    tail = shared.slice(of, "tail", max_lines=3, max_bytes=1 << 20, line_bytes=5)
    assert tail["data"] == b"".join(line[:5] for line in lines[-3:])
    assert [cut for _, _, cut in tail["lines"]] == [max(0, len(line) - 5) for line in lines[-3:]]


def in_process() -> dict[str, object]:
    scope: dict[str, object] = {"__name__": "agent", "WRAPPER": b"", "DIGEST": ""}
    exec(compile((REMOTE / "agent.py").read_bytes(), "agent", "exec"), scope)
    return scope


SCOPE = in_process()


def fed(data: bytes, sizes: list[int], directory: Path, *, chunk: int = 65536) -> object:
    """A capture that `data` was fed to in pieces of these sizes."""
    store = SCOPE["Store"](os.fsencode(directory), 1 << 30)  # type: ignore[operator]
    path = directory / f"c{len(os.listdir(directory))}"
    capture = SCOPE["Capture"](store, os.fsencode(path), 1 << 30)  # type: ignore[operator]
    at = turn = 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        capture.feed(data[at : at + size])
        at += size
        turn += 1
    capture.close()
    return capture


def answer(steps: object) -> object:
    for step in steps:  # type: ignore[attr-defined]
        if isinstance(step, tuple) and len(step) == 1:
            return step[0]
    raise AssertionError("no answer")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.lists(
        st.one_of(
            st.binary(max_size=30), st.text(max_size=9).map(str.encode), st.sampled_from([b"\n", b"\n\n", b"y" * 300])
        )
    ).map(b"".join),
    sizes=st.lists(st.integers(1, 50), min_size=1, max_size=5),
)
def test_any_chunking_counts_the_same(data: bytes, sizes: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    capture = fed(data, sizes, tmp_path_factory.mktemp("c"))
    if data:
        assert capture.describe() == reference(data)  # type: ignore[attr-defined]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.lists(
        st.sampled_from([b"a", b"b", b"ab", b"\n", b"\r\n", b"\r", b"\xc3\xa9", b"\xc3", b"aab", b"\xff"])
    ).map(b"".join),
    needle=st.sampled_from(["a", "ab", "aa", "b\na", "\n", "é", "\n\n", "ab\nab", "a\r", "\ufffd", "aba"]),
    chunk=st.sampled_from([1, 2, 3, 7, 65536]),
)
def test_contains_agrees_with_a_reference(
    data: bytes, needle: str, chunk: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    capture = fed(data, [50], tmp_path_factory.mktemp("c"))
    before = SCOPE["CHUNK"]
    SCOPE["CHUNK"] = chunk
    try:
        got = answer(SCOPE["scan_contains"](capture, needle.encode()))  # type: ignore[operator]
    finally:
        SCOPE["CHUNK"] = before
    raw = data.split(b"\n")
    lines = [(line[:-1] if line.endswith(b"\r") else line).decode("utf-8", "replace") for line in raw]
    if "\n" in needle:
        whole = "\n".join(lines)
        first = whole[: whole.index(needle)].count("\n") + 1 if needle in whole else 0
        assert got == {"count": whole.count(needle), "first": first}
    else:
        hits = [n for n, line in enumerate(lines, 1) if needle in line]
        assert got == {"count": len(hits), "first": hits[0] if hits else 0}


def test_probes(few_agent: AgentProcess) -> None:
    command = "printf 'alpha\\nbeta\\r\\ngamma beta\\n'; printf 'no newline' >&2"
    result = few_agent.run(
        command,
        probes={
            "1.contains.stdout": b"beta",
            "2.contains.stdout": b"nothing",
            "3.matches.stdout": rb"^beta$",
            "4.matches.stdout": rb"(",
            "5.equals.stdout": b"alpha\nbeta\ngamma beta",
            "6.equals.stderr": b"no newline\n",
            "7.equals.stderr": b"no",
            "8.contains.stdout": b"a\ngamma",
            "9.contains.stderr": b"new",
        },
    )
    probes = result["probes"]
    assert probes["1"] == {"count": 2, "first": 2}
    assert probes["2"] == {"count": 0, "first": 0}
    assert probes["3"] == {"count": 1, "first": 2}
    assert "regular expression" in probes["4"]["error"]
    assert probes["5"] == {"count": 1, "first": 1}
    assert probes["6"] == {"count": 1, "first": 1}
    assert probes["7"] == {"count": 0, "first": 0}
    assert probes["8"] == {"count": 1, "first": 2}
    assert probes["9"] == {"count": 1, "first": 1}


def test_slices(few_agent: AgentProcess) -> None:
    of = few_agent.run("seq 1 1000")["id"]
    head = few_agent.slice(of, "head", max_lines=3)
    assert (head["total"], head["more"], head["lines"], head["data"]) == (
        1000,
        0,
        [[1, 1, 0], [2, 1, 0], [3, 1, 0]],
        b"123",
    )
    tail = few_agent.slice(of, "tail", max_lines=2)
    assert (tail["more"], tail["lines"], tail["data"]) == (0, [[999, 3, 0], [1000, 4, 0]], b"9991000")
    some = few_agent.slice(of, "lines", first=500, last=600, max_lines=2)
    assert (some["more"], some["lines"], some["data"]) == (99, [[500, 3, 0], [501, 3, 0]], b"500501")
    part = few_agent.slice(of, "bytes", first=2, last=6)
    assert (part["lines"], part["data"]) == ([[0, 4, 0]], b"2\n3\n")
    match = few_agent.slice(of, "match", pattern=rb"^[57]00$", before=1, after=2, max_lines=5)
    assert [n for n, _, _ in match["lines"]] == [499, 500, 501, 502, 699]
    assert match["more"] == 3
    small = few_agent.slice(of, "head", max_lines=10, max_bytes=4)
    assert (small["data"], small["more"]) == (b"1234", 6)
    end = few_agent.slice(of, "tail", max_lines=10, max_bytes=8)
    assert (end["data"], end["more"]) == (b"9991000", 8)
    beyond = few_agent.slice(of, "lines", first=2000, last=3000)
    assert (beyond["lines"], beyond["more"], beyond["total"]) == ([], 0, 1000)


def test_slice_of_a_running_command_waits(agent: AgentProcess) -> None:
    of = agent.start("sleep 0.3; echo late")
    other = agent.start("echo other", session="other")
    wanted = agent.ask("slice", {"of": of, "mode": "head"})
    agent.wait_for(other)
    seen = [agent.read(), agent.read()]
    assert [answer["id"] for answer in seen] == [of, wanted]
    assert seen[-1]["data"] == b"late"


def test_a_long_line(agent: AgentProcess) -> None:
    result = agent.run("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo end")
    assert result["stdout"]["longest"] == 5_000_000
    head = agent.slice(result["id"], "head", max_lines=2, line_bytes=100)
    assert head["lines"] == [[1, 100, 4_999_900], [2, 3, 0]]
    assert head["data"] == b"x" * 100 + b"end"
    match = agent.slice(result["id"], "match", pattern=b"x+", line_bytes=10)
    assert match["lines"] == [[1, 10, 4_999_990]]
    assert agent.slice(result["id"], "tail", max_lines=1)["data"] == b"end"


def memory_kib(pid: int) -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1])


def test_a_gigabyte_is_counted_in_flat_memory(agent: AgentProcess) -> None:
    agent.run(":")
    before = memory_kib(agent.process.pid)
    result = agent.run(
        "yes 0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz | head -c 1G",
        cap=2 << 30,
        timeout_s=50,
    )
    assert result["stdout"]["bytes"] == 1 << 30
    assert memory_kib(agent.process.pid) - before < 20_000
    reads = read_bytes(agent.process.pid)
    assert agent.slice(result["id"], "lines", first=10, last=10)["lines"] == [[10, 72, 0]]
    assert agent.slice(result["id"], "lines", first=10_000_000, last=10_000_000)["lines"] == [[10_000_000, 72, 0]]
    assert agent.slice(result["id"], "tail", max_lines=2)["total"] == result["stdout"]["lines"]
    assert read_bytes(agent.process.pid) - reads < 2 << 20


def read_bytes(pid: int) -> int:
    found = re.search(r"rchar: (\d+)", Path(f"/proc/{pid}/io").read_text())
    assert found is not None
    return int(found[1])


def test_endless_output_stops_at_the_cap(few_agent: AgentProcess) -> None:
    result = few_agent.run("yes", cap=1_000_000)
    assert (result["execution"], result["notes"]) == ("killed", ["capped"])
    assert "rc" not in result
    out = result["stdout"]
    assert (out["captured"], out["state"]) == (1_000_000, "truncated")
    assert out["bytes"] > 1_000_000
    assert out["digest"] == hashlib.sha256(b"y\n" * 500_000).hexdigest()
    assert few_agent.output("echo alive") == "alive\n"


def test_the_cap_of_a_command_that_has_ended_hits_nobody(agent: AgentProcess) -> None:
    """Output beyond the cap may be noticed when the command is over. A signal then would end the next one."""
    for _ in range(100):
        capped = agent.start("printf '%0150d' 7", cap=100)
        after = agent.start("printf '%0150d' 8")
        assert agent.wait_for(capped)["stdout"]["captured"] == 100
        result = agent.wait_for(after)
        assert (result["execution"], result.get("signal"), result["stdout"]["bytes"]) == ("done", None, 150)


def test_cap_is_for_each_stream(agent: AgentProcess) -> None:
    result = agent.run("head -c 600 /dev/zero; head -c 600 /dev/zero >&2", cap=1000)
    assert (result["execution"], result["rc"]) == ("done", 0)
    result = agent.run("head -c 1001 /dev/zero >&2; sleep 20", cap=1000)
    assert (result["execution"], result["notes"], result["stderr"]["captured"]) == ("killed", ["capped"], 1000)


def test_cap_of_the_host(start_agent: Start) -> None:
    agent = start_agent(hello="v=1 nonce=n host_bytes=100000")
    assert agent.run("head -c 60000 /dev/zero")["execution"] == "done"
    result = agent.run("head -c 60000 /dev/zero; sleep 20", session="b")
    assert (result["execution"], result["notes"]) == ("killed", ["host_capped"])
    assert result["stdout"]["captured"] == 40000
    assert agent.run("exit 4")["rc"] == 4


def test_a_full_disk_costs_the_output_only(start_agent: Start, tmp_path: Path) -> None:
    agent = start_agent()
    # No write beyond 64 KiB to any file: what a full disk looks like to the agent.
    subprocess.run(["prlimit", f"--pid={agent.process.pid}", "--fsize=65536"], check=True)
    result = agent.run("head -c 300000 /dev/zero; (exit 1)")
    assert (result["execution"], result["rc"]) == ("done", 1)
    assert result["stdout"]["state"] == "failed"
    assert result["stdout"]["bytes"] == 300000
    assert result["stdout"]["captured"] <= 65536
    assert agent.run("false")["rc"] == 1


def test_a_background_child_that_holds_the_output(agent: AgentProcess) -> None:
    result = agent.run("sleep 600 & echo done")
    assert (result["rc"], agent.data(result["id"])) == (0, b"done\n")
    assert len(result["leftover"]) == 1
    assert eventually(lambda: Path(f"/proc/{result['leftover'][0]}/comm").read_text() == "sleep\n")


def test_late_output_goes_nowhere_and_kills_nobody(agent: AgentProcess, tmp_path: Path) -> None:
    done = tmp_path / "done"
    agent.run(f"(sleep 0.3; head -c 300000 /dev/zero && echo survived >{done}) &")
    result = agent.run(f"until [ -s {done} ]; do sleep 0.05; done; echo mine", timeout_s=10)
    assert agent.data(result["id"]) == b"mine\n"
    assert done.read_text() == "survived\n"


def test_descriptors_do_not_pile_up(agent: AgentProcess) -> None:
    def count() -> int:
        return len(os.listdir(f"/proc/{agent.process.pid}/fd"))

    agent.run(":")
    before = count()
    for _ in range(100):
        agent.start("sleep 600 & :")
    agent.run(":")
    assert count() - before < 80
    files = os.listdir(agent.directory)
    assert len(files) < 20


def test_what_a_pattern_may_cost(agent: AgentProcess) -> None:
    of = agent.run("printf '%s\\n' aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")["id"]
    wanted = agent.ask("slice", {"of": of, "mode": "match"}, {"pattern": b"(a+)+$"})
    refused = agent.wait_for(wanted, 30)
    assert (refused["t"], refused["kind"]) == ("error", "bad_request")
    assert agent.output("echo alive") == "alive\n"


def test_captures_in_memory(start_agent: Start) -> None:
    """Where no directory can be written to: every candidate is a read-only file system, seen by this agent alone."""
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        pytest.skip("needs a mount namespace of its own")
    # The interpreter itself: a checkout under /tmp, and a virtual environment in it, is out of sight in there.
    python = os.path.realpath(sys.executable)
    here = Path.home() / f".checkrunner-test-{os.getpid()}"
    here.mkdir()
    try:
        (here / "inside").write_text(
            "for d in /dev/shm /var/tmp /tmp; do mount -t tmpfs -o ro none $d || exit 9; done\n"
            f'unset XDG_RUNTIME_DIR; export HOME=/proc; exec {python} "$@"\n'
        )
        (here / "python").write_text(f'#!/bin/sh\nexec unshare -m bash {here}/inside "$@"\n')
        (here / "python").chmod(0o755)
        agent = start_agent(python=str(here / "python"))
        assert agent.hello["dir"] == ""
        assert "memory" in agent.hello["notes"][0]
        result = agent.run("echo out; echo err >&2; (exit 3)")
        assert (result["rc"], agent.data(result["id"]), agent.data(result["id"], "stderr")) == (3, b"out\n", b"err\n")
        result = agent.run("head -c 1000000 /dev/zero; exit 1")
        assert result["execution"] == "killed"
        assert result["stdout"]["captured"] == 256 << 10
        assert agent.run("sleep 100 & v=1; exit 5")["rc"] == 5
        assert agent.output("echo $v; kill -9 $$") == "1\n"
        assert agent.output("printf %s '" + "x" * 10000 + "'") == "x" * 10000
        assert agent.run("set -n")["execution"] == "lost"
        assert agent.output("echo $v") == "1\n"
        agent.bye()
    finally:
        for path in here.iterdir():
            path.unlink()
        here.rmdir()


def test_ends_and_beginnings_that_are_seen_at_once(agent: AgentProcess, tmp_path: Path) -> None:
    # The agent sleeps over the end of the first command: its outputs, its report and the next command meet in one wait.
    first = agent.start(f"until [[ -e {tmp_path}/go ]]; do sleep 0.01; done; echo a; echo b >&2")
    second = agent.start("seq 50000; seq 50000 >&2", timeout_s=5)
    os.kill(agent.process.pid, signal.SIGSTOP)
    (tmp_path / "go").touch()
    time.sleep(0.3)
    os.kill(agent.process.pid, signal.SIGCONT)
    assert agent.wait_for(first)["stderr"]["bytes"] == 2
    result = agent.wait_for(second)
    assert (result["execution"], result["stdout"]["lines"], result["stderr"]["lines"]) == ("done", 50000, 50000)


def test_a_capture_that_was_cut_behind_our_back_is_no_output(agent: AgentProcess) -> None:
    result = agent.run(
        f"seq 20000; sleep 0.2; for f in {agent.directory}/c*; do : >$f; done",
        probes={"p.contains.stdout": b"19999", "q.equals.stdout": b"x" * 60000},
    )
    assert "was cut" in result["probes"]["p"]["error"]
    assert "was cut" in result["probes"]["q"]["error"]
    assert agent.slice(result["id"], "tail")["kind"] == "storage"
