"""What docs/protocol.md promises of every agent, whatever it is written in. Commands are plain sh."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from agent_process import Answer, eventually
from contestants import Pool
from contract_agents import AGENTS, Contestant

Start = Callable[..., Contestant]
ALL_BYTES = bytes(range(1, 39)) + bytes(range(40, 256))


def refused(agent: Contestant, verb: str, keys: dict[str, object], sections: dict[str, bytes] | None = None) -> Answer:
    answer = agent.wait_for(agent.ask(verb, keys, sections or {}))
    assert answer["t"] == "error", answer
    return answer


RUN: dict[str, object] = {"session": "a", "timeout_ms": 1000, "cap": 1000}

# --- start and frames


def test_hello(start: Start) -> None:
    agent = start()
    hello = agent.hello
    assert (hello["t"], hello["nonce"], hello["v"], hello["uid"]) == ("hello", "n0", 1, os.getuid())
    assert re.fullmatch("[0-9a-f]{32}", hello["agent"])
    assert abs(hello["clock"] - time.time()) < 60
    kind = agent.kind.split()[0]
    assert (hello.get("agent_kind", "python") == "shell") is (kind == "shell")
    assert bool(hello["python"]) is (kind != "shell")
    assert bool(hello.get("lacks")) is (kind != "python")
    assert stat.S_IMODE(agent.directory.stat().st_mode) == 0o700


def test_a_login_with_odd_ways(start: Start) -> None:
    """It forbids itself its own files, and ignores what ends others: nothing of that is ours, nor left behind."""
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    umask = os.umask(0o777)
    try:
        agent = start()
    finally:
        os.umask(umask)
        for number, handler in before.items():
            signal.signal(number, handler)
    assert stat.S_IMODE(agent.directory.stat().st_mode) == 0o700
    assert agent.output("umask").strip() in ("0777", "777")
    agent.start("sleep 301", session="other")
    processes = psutil.Process(agent.process.pid).children(recursive=True)
    agent.bye()
    assert psutil.wait_procs(processes, timeout=10)[1] == []


@pytest.mark.parametrize(
    ("first", "word"),
    [
        (b"run 1 session=a command:1\nx", "lost_input"),
        (b"\n\nrun 1\n", "lost_input"),
        (b"hello 0 v=2 nonce=n\n", "version"),
        (b"hello 0 v=1 nonce=n color=red\n", "bad_request"),
        (b"hello 0 v=1 nonce=n\nrun x\n", "bad_request"),
        (b"hello 0 v=1 nonce=n\nrun 1 session=a command:-1\n", "bad_request"),
        (b"hello 0 v=1 nonce=n\nrun 1 session=a command:99999999999\n", "bad_request"),
    ],
)
def test_fatal_errors(start: Start, first: bytes, word: str) -> None:
    agent = start(hello=None)
    agent.send(first)
    answer = agent.read()
    if answer["t"] == "hello":
        agent.hello = answer
        answer = agent.read()
    assert (answer["t"], answer["id"], answer["kind"]) == ("error", 0, word)
    agent.process.wait(10)


def test_refusals_leave_the_stream_whole(agent: Contestant) -> None:
    assert "unknown verb" in refused(agent, "dance", {})["message"]
    assert refused(agent, "run", {**RUN, "colour": "red"}, {"command": b"echo"})["message"].split() == [
        "unknown:",
        "colour",
    ]
    assert refused(agent, "run", RUN, {"command": b"echo", "shoe": b"\n\n"})["message"].split() == ["unknown:", "shoe"]
    for sections in ({}, {"command": b"a\0b"}, {"command": b"a", "env.9x": b""}, {"command": b"a", "probe.x": b""}):
        assert refused(agent, "run", RUN, sections)["kind"] == "bad_request"
    assert refused(agent, "run", {**RUN, "cap": "many"}, {"command": b"echo"})["kind"] == "bad_request"
    assert refused(agent, "slice", {"of": 999})["kind"] == "no_such_run"
    of = agent.run("echo x")["id"]
    assert refused(agent, "slice", {"of": of, "mode": "middle"})["kind"] == "bad_request"
    assert refused(agent, "slice", {"of": of, "mode": "match"})["kind"] == "bad_request"
    assert "regular expression" in refused(agent, "slice", {"of": of, "mode": "match"}, {"pattern": b"("})["message"]
    agent.last = of - 1
    assert "used before" in refused(agent, "run", RUN, {"command": b"echo"})["message"]
    agent.last = of + 20
    assert agent.output("echo fine") == "fine\n"


def test_too_many_sessions(start: Start) -> None:
    agent = start(hello="v=1 nonce=n max_sessions=2")
    assert [agent.run(":", session=name).get("rc") for name in "ab"] == [0, 0]
    answer = agent.run(":", session="c")
    assert (answer["t"], answer["kind"]) == ("error", "too_many_sessions")
    assert agent.run(":", session="a")["rc"] == 0


@pytest.mark.parametrize("size", [1, 1000])
def test_requests_in_any_pieces(start: Start, size: int) -> None:
    agent = start(hello=None)
    data = b'hello 0 v=1 nonce=zz\nrun 1 session=s command:10 env.A:3\necho "$A"\na\nbslice 2 of=1 mode=head\n'
    for at in range(0, len(data), size):
        agent.send(data[at : at + size])
    answers = [agent.read() for _ in range(3)]
    agent.hello = answers[0]
    assert [a["t"] for a in answers] == ["hello", "result", "slice"]
    assert (answers[2]["lines"], answers[2]["data"]) == ([[1, 1, 0], [2, 1, 0]], b"ab")


# --- commands and sessions


def test_a_command_is_exact_to_the_byte(agent: Contestant) -> None:
    result = agent.run(b"printf %s '" + ALL_BYTES + b"'")
    assert agent.data(result["id"]) == ALL_BYTES
    assert agent.data(agent.run(b'printf "%s" "$V"', env={"V": ALL_BYTES})["id"]) == ALL_BYTES


@pytest.mark.parametrize("size", [100, 5_000, 150_000])
def test_long_commands(agent: Contestant, size: int) -> None:
    text = ("it's " * size)[:size].replace("'", "'\\''")
    wanted = text.replace("'\\''", "'")
    assert agent.output(f"printf %s '{text}'\n#") == wanted


def test_state_persists(agent: Contestant) -> None:
    assert agent.run("cd /usr; x='a b'; export Y=2; umask 027; f() { echo fun; }; set -u")["cwd"] == "/usr"
    assert agent.output('echo "$x $Y $PWD $(umask)"; f; sh -c \'echo "$Y${x-}"\'') == "a b 2 /usr 0027\nfun\n2\n"
    assert agent.run("echo $nothing_like_it")["rc"] not in (0, None)


def test_return_codes(agent: Contestant) -> None:
    for command, code in (("true", 0), ("(exit 3)", 3), ("no-such-program", 127), ("if", 2), ("echo 'open", 2)):
        result = agent.run(command)
        assert (result["execution"], result["rc"]) == ("done", code), command
        if code != 2:
            assert "notes" not in result
    assert "not found" in agent.data(agent.run("no-such-program")["id"], "stderr").decode()


@pytest.mark.parametrize("command", ["exit 7", "set -e; (exit 7); echo no", "set -eu; cd /tmp; (exit 7)"])
def test_a_command_that_ends_its_shell(agent: Contestant, command: str) -> None:
    result = agent.run("cd /usr; x='it'\\''s'; export Y=1\n" + command)
    assert (result["execution"], result["rc"], result["notes"]) == ("done", 7, ["shell_exited"])
    where = result["cwd"]
    assert where == ("/tmp" if "/tmp" in command else "/usr")
    assert agent.output('echo "$x $PWD"; sh -c \'echo "$Y"\'') == f"it's {where}\n1\n"
    assert ("e" in agent.output("echo $-")) is ("-e" in command)


def test_a_killed_shell_is_replaced(agent: Contestant) -> None:
    agent.run("cd /usr; x=5; export Y=6")
    result = agent.run("x=7; kill -9 $$")
    assert (result["execution"], result.get("rc"), result["signal"]) == ("done", None, 9)
    assert result["notes"] == ["shell_replaced"]
    assert agent.output("echo $x $PWD; sh -c 'echo $Y'") == "5 /usr\n6\n"


def test_exec_takes_the_place_of_the_shell(agent: Contestant) -> None:
    agent.run("cd /usr; x=5")
    result = agent.run("exec sh -c 'echo other; exit 4'")
    assert (result["rc"], sorted(result["notes"])) == (4, ["shell_exec", "shell_replaced"])
    assert agent.data(result["id"]) == b"other\n"
    assert agent.output("echo $x $PWD") == "5 /usr\n"


def test_env_and_cwd_hold_for_one_command(agent: Contestant) -> None:
    agent.run("cd /usr; A=old; export B=b")
    assert agent.output(
        "echo $A $B $C $PWD; sh -c 'echo $A $B $C'", env={"A": "1", "B": "2", "C": "3"}, cwd="/tmp"
    ) == ("1 2 3 /tmp\n1 2 3\n")
    assert agent.output('echo "$A $B ${C-unset} $PWD"; sh -c \'echo "${A-unset}"\'') == "old b unset /usr\nunset\n"
    agent.run("cd /etc; D=4", cwd="/tmp", env={"E": "x"})
    assert agent.output("echo $PWD $D") == "/etc 4\n"
    assert agent.output("pwd", cwd="..") == "/\n"
    assert agent.output("pwd", cwd="~", env={"A": "1"}) == agent.output('cd "$HOME"; pwd; cd /etc')


def test_what_keeps_a_command_from_being_run(agent: Contestant) -> None:
    result = agent.run("echo no", cwd="/no/such/place")
    assert (result["execution"], result["notes"]) == ("not_run", ["cwd_failed"])
    result = agent.run("echo no", requires="sh\nno-such-program\n/etc/passwd\n/no/such/file\ncd")
    assert (result["execution"], result["missing"]) == ("not_run", ["no-such-program", "/no/such/file"])
    agent.run("readonly FIXED=1")
    result = agent.run("echo no", env={"FIXED": "2"})
    assert (result["execution"], result["notes"]) == ("not_run", ["env_failed"])
    result = agent.run("echo no", become="no-such-user")
    assert (result["execution"], result["notes"]) == ("not_run", ["become_unavailable"])
    assert agent.output("echo yes; cat", requires="sh") == "yes\n"


def test_sessions_are_apart_and_run_at_the_same_time(agent: Contestant, tmp_path: Path) -> None:
    slow = agent.start(f"x=1; until [ -e {tmp_path}/go ]; do sleep 0.05; done; echo $x", session="one")
    assert agent.output(f"x=2; echo $x; touch {tmp_path}/go", session="two") == "2\n"
    assert agent.wait_for(slow)["rc"] == 0
    assert agent.data(slow) == b"1\n"


def test_many_commands_at_once_come_in_order(agent: Contestant) -> None:
    ids = [agent.start(f"n=$(( ${{n:-0}} + 1 )); echo $n {i}") for i in range(12)]
    for i, ident in enumerate(ids):
        assert agent.wait_for(ident)["rc"] == 0
        assert agent.data(ident) == b"%d %d\n" % (i + 1, i)


def test_odd_directories(agent: Contestant, tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b'/a"\\\n\x01\xff\xc3\xa9'
    os.mkdir(odd)
    result = agent.run(b"cd '" + odd + b"'")
    assert result["cwd"] == odd.decode("utf-8", "replace")
    assert agent.data(agent.run("pwd")["id"]) == odd + b"\n"
    assert agent.run("cd /")["cwd"] == "/"


def test_commands_are_in_no_argument_list_and_no_file(agent: Contestant, tmp_path: Path) -> None:
    secret = "s3cret-that-must-not-show"
    command = f": {secret}; : >{tmp_path}/runs; until [ -e {tmp_path}/seen ]; do sleep 0.02; done"
    ident = agent.start(command, env={"TOKEN": secret})
    assert eventually((tmp_path / "runs").exists)
    seen = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            seen.append(path.read_bytes())
    assert not [line for line in seen if secret.encode() in line]
    for path in agent.directory.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes()
    (tmp_path / "seen").touch()
    agent.wait_for(ident)


# --- outputs


OUTPUTS: list[tuple[bytes, dict[str, Any]]] = [
    (b"", {}),
    (b"\n", {"lines": 1, "longest": 0}),
    (b"one\nlonger\nx", {"lines": 3, "longest": 6, "nl": False}),
    (b"a\0b\n", {"lines": 1, "longest": 3, "binary": True}),
    (b"\0", {"lines": 1, "longest": 1, "nl": False, "binary": True}),
    ("é€😀\n".encode(), {"lines": 1, "longest": 9}),
    (b"\xff\xc3(\xe2\x82\n\xed\xa0\x80\xf4\x90\x80\x80\xc0\xaf", {"lines": 2, "nl": False, "invalid": 13}),
]


def test_what_is_known_of_an_output(agent: Contestant, tmp_path: Path) -> None:
    started = []
    for number, (data, _) in enumerate(OUTPUTS):
        (tmp_path / f"{number}").write_bytes(data)
        started.append(agent.start(f"cat {tmp_path}/{number} >&2"))
    for ident, (data, wanted) in zip(started, OUTPUTS, strict=True):
        result = agent.wait_for(ident)
        assert "stdout" not in result
        if not data:
            assert "stderr" not in result
            continue
        out = result["stderr"]
        assert out["bytes"] == out.get("captured", len(data)) == len(data)
        assert {key: out.get(key, 0) for key in wanted if key != "nl"} == {k: v for k, v in wanted.items() if k != "nl"}
        assert out.get("nl", True) is wanted.get("nl", True), data
        assert out["digest"] == hashlib.sha256(data).hexdigest()
        assert agent.data(ident, "stderr") == data


def test_outputs_that_are_opened_anew(agent: Contestant) -> None:
    result = agent.run("echo a; echo b >/dev/stdout; echo c >/dev/stderr; echo d >&2; exec >/dev/null; echo e")
    assert (agent.data(result["id"]), agent.data(result["id"], "stderr")) == (b"a\nb\n", b"c\nd\n")
    assert agent.output("echo f") == "f\n"


def test_probes(agent: Contestant) -> None:
    result = agent.run(
        "printf 'alpha\\nbeta\\r\\ngamma beta\\n'; printf 'no newline' >&2",
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
            "a.matches.stdout": rb"\b(?:gamma|delta)\s+\w+",
            "b.matches.stdout": rb"[^\w\s]",
            "c.matches.stderr": rb"^no\ n.*?e\Z",
            "d.contains.stdout": b"",
            "e.equals.stdout": b"",
            "f.matches.stdout": b"[a-b]{2}|et",
        },
    )
    probes = result["probes"]
    assert "regular expression" in probes.pop("4")["error"]
    counts = {name: (probe["count"], probe["first"]) for name, probe in probes.items()}
    assert counts == {
        "1": (2, 2), "2": (0, 0), "3": (1, 2), "5": (1, 1), "6": (1, 1), "7": (0, 0), "8": (1, 2), "9": (1, 1),
        "a": (1, 3), "b": (0, 0), "c": (1, 1), "d": (3, 1), "e": (0, 0), "f": (2, 2),
    }  # fmt: skip


CONTAINS: list[tuple[bytes, bytes, tuple[int, int]]] = [
    (b"aaa\naaa\n", b"a\na", (1, 1)),
    (b"a\na\na\na", b"a\na", (2, 1)),
    (b"x\n\n\ny\n", b"\n\n", (1, 1)),
    (b"x\ny", b"y\n", (0, 0)),
    (b"x\r\ny\r\n", b"x\ny\n", (1, 1)),
    (b"ab\nab\nab\n", b"ab\nab", (1, 1)),
    (b"-e\n", b"-e", (1, 1)),
    (b"\\n\n", b"\\n", (1, 1)),
]


def test_contains(agent: Contestant, tmp_path: Path) -> None:
    started = []
    for number, (data, needle, _) in enumerate(CONTAINS):
        (tmp_path / f"{number}").write_bytes(data)
        started.append(agent.start(f"cat {tmp_path}/{number}", probes={"p.contains.stdout": needle}))
    for ident, (data, needle, wanted) in zip(started, CONTAINS, strict=True):
        probe = agent.wait_for(ident)["probes"]["p"]
        assert (probe["count"], probe["first"]) == wanted, (data, needle)


EQUALS = [
    (b"a\n", b"a", 1), (b"a", b"a\n", 1), (b"a\n\n", b"a", 0), (b"a\n\n", b"a\n\n", 1), (b"a\r\nb\r\n", b"a\nb", 1),
    (b"a\nb", b"a\nc", 0), (b"", b"", 1), (b"\n", b"", 1), (b"a", b"", 0),
]  # fmt: skip


def test_equals(agent: Contestant, tmp_path: Path) -> None:
    started = []
    for number, (data, text, _) in enumerate(EQUALS):
        (tmp_path / f"{number}").write_bytes(data)
        started.append(agent.start(f"cat {tmp_path}/{number}", probes={"p.equals.stdout": text}))
    for ident, (data, text, count) in zip(started, EQUALS, strict=True):
        assert agent.wait_for(ident)["probes"]["p"]["count"] == count, (data, text)


def test_slices(agent: Contestant) -> None:
    of = agent.run("seq 1 1000")["id"]

    def cut(mode: str, **keys: Any) -> tuple[list[int], bytes, int]:
        answer = agent.slice(of, mode, **keys)
        assert answer["total"] == 1000
        return [number for number, _, _ in answer["lines"]], answer.get("data", b""), answer["more"]

    assert cut("head", max_lines=3) == ([1, 2, 3], b"123", 0)
    assert cut("tail", max_lines=2) == ([999, 1000], b"9991000", 0)
    assert cut("lines", first=500, last=600, max_lines=2) == ([500, 501], b"500501", 99)
    assert cut("bytes", first=2, last=6) == ([0], b"2\n3\n", 0)
    match = cut("match", pattern=rb"^[57]00$", before=1, after=2, max_lines=5)
    assert match == ([499, 500, 501, 502, 699], b"499500501502699", 3)
    assert cut("head", max_lines=10, max_bytes=4) == ([1, 2, 3, 4], b"1234", 6)
    assert cut("tail", max_lines=10, max_bytes=8) == ([999, 1000], b"9991000", 8)
    assert cut("lines", first=2000, last=3000) == ([], b"", 0)
    assert cut("match", pattern=b"nothing") == ([], b"", 0)
    assert cut("bytes", first=5000, last=6000) == ([0], b"", 0)


def test_slices_of_odd_lines(agent: Contestant, tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"x" * 50_000 + b"\n\n\0\xff\0\nlast")
    of = agent.run(f"cat {tmp_path}/data")["id"]
    head = agent.slice(of, "head", max_lines=9, line_bytes=5)
    assert head["lines"] == [[1, 5, 49_995], [2, 0, 0], [3, 3, 0], [4, 4, 0]]
    assert head["data"] == b"xxxxx\0\xff\0last"
    tail = agent.slice(of, "tail", max_lines=2)
    assert (tail["lines"], tail["data"]) == ([[3, 3, 0], [4, 4, 0]], b"\0\xff\0last")
    match = agent.slice(of, "match", pattern=b"x+|t", line_bytes=2)
    assert (match["lines"], match["data"]) == ([[1, 2, 49_998], [4, 2, 2]], b"xxla")


def test_slice_of_a_running_command_waits(agent: Contestant, tmp_path: Path) -> None:
    of = agent.start(f"until [ -e {tmp_path}/go ]; do sleep 0.02; done; echo late")
    wanted = agent.ask("slice", {"of": of, "mode": "head"})
    assert agent.output("echo other", session="other") == "other\n"
    (tmp_path / "go").touch()
    assert agent.wait_for(wanted)["data"] == b"late"
    assert agent.wait_for(of)["rc"] == 0


def test_endless_output_stops_at_the_cap(agent: Contestant) -> None:
    result = agent.run("yes", cap=1_000_000)
    assert (result["execution"], result["notes"]) == ("killed", ["capped"])
    assert "rc" not in result
    out = result["stdout"]
    assert (out["captured"], out["state"]) == (1_000_000, "truncated")
    assert out["bytes"] > 1_000_000
    assert out["digest"] == hashlib.sha256(b"y\n" * 500_000).hexdigest()
    assert agent.output("echo alive") == "alive\n"


def test_cap_is_for_each_stream(agent: Contestant) -> None:
    result = agent.run("head -c 600 /dev/zero; head -c 600 /dev/zero >&2", cap=1000)
    assert (result["execution"], result["rc"]) == ("done", 0)
    assert agent.run("head -c 1000 /dev/zero", cap=1000)["rc"] == 0


def test_cap_of_the_host(start: Start) -> None:
    agent = start(hello="v=1 nonce=n host_bytes=100000")
    assert agent.run("head -c 60000 /dev/zero")["execution"] == "done"
    result = agent.run("yes", session="b")
    assert (result["execution"], result["notes"]) == ("killed", ["host_capped"])
    assert result["stdout"]["captured"] == 40000
    assert agent.run("exit 4")["rc"] == 4


def test_the_oldest_outputs_give_way(start: Start) -> None:
    agent = start(hello="v=1 nonce=n host_bytes=100000")
    ids = [agent.run("head -c 30000 /dev/zero")["id"] for _ in range(5)]
    assert agent.slice(ids[0])["kind"] == "storage"
    assert len(agent.data(ids[-1])) == 30000


# --- ends


def nobody_is_left(agent: Contestant) -> bool:
    token = agent.output("echo $CHECKRUNNER_SHELL", session="resists").split(".")[0]
    look = f"grep -l '{token}' $(grep -l 'sleep.401' /proc/[0-9]*/cmdline | sed 's/cmdline/environ/') 2>/dev/null"
    return agent.output(f"{look} </dev/null; echo alive", session="resists") == "alive\n"


def test_timeouts_and_durations(pool: Pool) -> None:
    """Of all agents at the same time, each of which has to wait."""
    agents = {kind: pool.take(kind) for kind in AGENTS}
    for agent in agents.values():
        agent.run(
            "true", keys={"duration_ms": 1000}
        )  # for which it needs what ends commands, which only comes while we read
    resists = "trap '' TERM INT; sh -c 'trap \"\" TERM INT; sleep 4012' & sleep 4011; sleep 4010"
    keys = {**RUN, "session": "duration", "timeout_ms": 10_000, "duration_ms": 2000, "cap": 100_000}
    started = {
        kind: (
            agent.start("cd /usr; x=1; sleep 30; echo no", session="plain", timeout_s=2),
            agent.ask("run", keys, {"command": b"while :; do echo x; sleep 0.1; done"}),
            agent.start(resists, session="resists", timeout_s=0.4),
        )
        for kind, agent in agents.items()
    }
    for kind, (plain, duration, resisted) in started.items():
        agent = agents[kind]
        result = agent.wait_for(plain)
        assert (result["execution"], result.get("rc")) == ("timed_out", None), kind
        assert result["elapsed_s"] > 1.9, kind
        assert "stdout" not in result
        assert agent.output("echo $x alive", session="plain") == "1 alive\n", kind

        result = agent.wait_for(duration)
        assert (result["execution"], result.get("rc"), result["notes"]) == ("done", None, ["duration_ended"]), kind
        assert result["stdout"]["lines"] >= 1

        result = agent.wait_for(resisted)
        assert result["execution"] == "timed_out", (kind, result)
        # (A process that has got its KILL may need a moment.)
        assert eventually(functools.partial(nobody_is_left, agent)), kind
    for kind in agents:
        pool.give_back(kind, failed=False)


def test_a_background_child_delays_nothing(agent: Contestant) -> None:
    result = agent.run("sleep 60 & echo started")
    assert (result["rc"], agent.data(result["id"])) == (0, b"started\n")
    assert len(result["leftover"]) == 1
    pid = result["leftover"][0]
    assert agent.output(f"kill -0 {pid} && echo lives") == "lives\n"
    assert "leftover" not in agent.run("echo next")


def test_cancel(agent: Contestant) -> None:
    first, second = agent.start("sleep 30"), agent.start("echo queued")
    other = agent.start("sleep 30", session="other")
    agent.ask("cancel")
    done = agent.last
    answers = {ident: agent.wait_for(ident) for ident in (first, second, other)}
    assert agent.wait_for(done)["t"] == "ok"
    assert {answer["execution"] for answer in (answers[first], answers[other])} <= {"killed", "not_run"}
    assert answers[second]["execution"] == "not_run"
    assert all("cancelled" in answer["notes"] for answer in answers.values())
    assert agent.output("echo alive") == "alive\n"


def test_bye_ends_what_runs(start: Start) -> None:
    agent = start()
    running = agent.start("sleep 300")
    queued = agent.start("echo no")
    left = agent.start("sleep 301 & sleep 0.05", session="left")
    agent.wait_for(left)
    bye = agent.ask("bye")
    assert "cancelled" in agent.wait_for(running)["notes"]
    assert agent.wait_for(queued)["execution"] == "not_run"
    assert agent.wait_for(bye)["t"] == "bye"
    assert agent.process.wait(10) == 0
    assert not agent.directory.exists()


@pytest.mark.parametrize("how", ["end", "deaf"])
def test_the_end_of_the_stream_ends_everything(start: Start, how: str, tmp_path: Path) -> None:
    agent = start()
    agent.run("sleep 300 & :")
    agent.start(f"echo $$ >{tmp_path}/pid; sleep 301")
    assert eventually(lambda: (tmp_path / "pid").exists())
    (agent.stdout if how == "deaf" else agent.stdin).close()
    if how == "deaf":
        agent.stdin.close()
    assert eventually(lambda: not agent.directory.exists(), 10)
    agent.process.wait(10)


def test_what_an_agent_lacks_is_refused_with_that_word(agent: Contestant) -> None:
    if "prompts" not in agent.lacks:
        pytest.skip("it lacks nothing")
    keys = {**RUN, "stdin": "tty"}
    assert refused(agent, "run", keys, {"command": b"cat"})["kind"] == "not_available"
    answer = refused(agent, "run", {**RUN, "sample_ms": 100, "sample_count": 2}, {"command": b"date"})
    assert "sample" in answer["message"]
    ask = agent.ask("run", {**RUN, "input": "ask", "stdin": "null"}, {"command": b"echo fine"})
    assert agent.wait_for(ask)["rc"] == 0
