"""The protocol: frames, refusals, and the vectors that the client is tested against too."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_process import AgentProcess

Start = Callable[..., AgentProcess]
VECTORS = Path(__file__).resolve().parents[1] / "vectors"


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        (b"run 1 session=a command:1\nx", "lost_input"),
        (b"\n\nrun 1\n", "lost_input"),
        (b"hello 0 v=2 nonce=n\n", "version"),
        (b"hello 0 v=1 nonce=n color=red\n", "bad_request"),
        (b"hello 0 v=1 nonce=n\nrun x\n", "bad_request"),
        (b"hello 0 v=1 nonce=n\nrun 1 session=a command:-1\n", "bad_request"),
        (b"hello 0 v=1 nonce=n\nrun 1 session=a command:99999999999\n", "bad_request"),
        (b"hello 0 v=1 nonce=n\n" + b"x" * 70_000, "bad_request"),
    ],
)
def test_fatal_errors(start_agent: Start, first: bytes, kind: str) -> None:
    agent = start_agent(hello=None)
    agent.send(first)
    answer = agent.read()
    if answer["t"] == "hello":
        answer = agent.read()
    assert (answer["t"], answer["id"], answer["kind"]) == ("error", 0, kind)
    agent.process.wait(10)
    assert not [name for name in os.listdir("/dev/shm") if f"-{agent.process.pid}-" in name]


def test_empty_lines_before_hello_are_skipped(start_agent: Start) -> None:
    agent = start_agent(hello="v=1 nonce=n")
    assert agent.hello["t"] == "hello"
    agent = start_agent(hello=None)
    agent.send(b"\n\n\nhello 0 v=1 nonce=late\n")
    agent.hello = agent.read()
    assert agent.hello["nonce"] == "late"


def test_refusals_leave_the_stream_whole(few_agent: AgentProcess) -> None:
    def refused(verb: str, keys: dict[str, object] = {}, sections: dict[str, bytes] = {}) -> dict[str, Any]:  # noqa: B006
        answer = few_agent.wait_for(few_agent.ask(verb, keys, sections))
        assert answer["t"] == "error"
        return answer

    run = {"session": "a", "timeout_ms": 1000, "cap": 1000}
    assert "unknown verb" in refused("dance")["message"]
    assert refused("run", {**run, "colour": "red"}, {"command": b"echo"})["message"] == "unknown: colour"
    assert refused("run", run, {"command": b"echo", "shoe": b"\n\n"})["message"] == "unknown: shoe"
    assert refused("run", run)["kind"] == "bad_request"
    assert refused("run", {**run, "cap": "many"}, {"command": b"echo"})["kind"] == "bad_request"
    assert refused("run", run, {"command": b"a\0b"})["kind"] == "bad_request"
    assert refused("run", run, {"command": b"a", "env.9x": b""})["kind"] == "bad_request"
    assert refused("run", run, {"command": b"a", "probe.x": b""})["kind"] == "bad_request"
    assert refused("slice", {"of": 999})["kind"] == "no_such_run"
    of = few_agent.run("echo x")["id"]
    assert refused("slice", {"of": of, "mode": "middle"})["kind"] == "bad_request"
    assert refused("slice", {"of": of, "mode": "match"})["kind"] == "bad_request"
    assert "regular expression" in refused("slice", {"of": of, "mode": "match"}, {"pattern": b"("})["message"]
    assert refused("cancel", {"now": 1})["message"] == "unknown: now"
    few_agent.last -= 1
    assert "used before" in refused("run", run, {"command": b"echo"})["message"]
    assert few_agent.output("echo fine") == "fine\n"


def test_too_many_sessions(start_agent: Start) -> None:
    agent = start_agent(hello="v=1 nonce=n max_sessions=2")
    agent.run(":", session="a")
    agent.run(":", session="b")
    answer = agent.run(":", session="c")
    assert (answer["t"], answer["kind"]) == ("error", "too_many_sessions")
    assert agent.run(":", session="a")["rc"] == 0


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_requests_in_any_pieces(start_agent: Start, size: int) -> None:
    agent = start_agent(hello=None)
    data = b'hello 0 v=1 nonce=zz\nrun 1 session=s command:10 env.A:3\necho "$A"\na\nbslice 2 of=1 mode=head\n'
    for at in range(0, len(data), size):
        agent.send(data[at : at + size])
    answers = [agent.read() for _ in range(3)]
    agent.hello = answers[0]
    assert [a["t"] for a in answers] == ["hello", "result", "slice"]
    assert answers[2]["lines"] == [[1, 1, 0], [2, 1, 0]]


def test_odd_text_in_answers_is_valid_json(agent: AgentProcess, tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b'/a"\\\n\x01\xff\xc3\xa9'
    os.mkdir(odd)
    quoted = b"'" + odd + b"'"
    result = agent.run(b"cd " + quoted)
    assert result["cwd"] == odd.decode("utf-8", "replace")
    assert agent.output("pwd | od -c | head -1", cwd="/") != ""
    assert agent.output("pwd").encode() == odd.decode("utf-8", "replace").encode() + b"\n"


def test_directory_is_private(agent: AgentProcess) -> None:
    mode = agent.directory.stat()
    assert stat.S_IMODE(mode.st_mode) == 0o700
    assert re.fullmatch(rf"checkrunner-{os.getuid()}-{agent.process.pid}-[0-9a-f]{{12}}", agent.directory.name)


def test_next_directory_is_tried(start_agent: Start, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    agent = start_agent(env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "file")})
    assert agent.directory.parent == Path("/dev/shm")
    agent = start_agent(env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)})
    assert agent.directory.parent == tmp_path
    assert agent.output("echo x") == "x\n"


def test_commands_are_not_in_any_argument_list(agent: AgentProcess) -> None:
    secret = "s3cret-that-must-not-show"
    ident = agent.start(f": {secret}; sleep 0.5", env={"TOKEN": secret})
    seen = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline") if p.exists()]
    assert not [line for line in seen if secret.encode() in line]
    for path in agent.directory.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes()
    agent.wait_for(ident)


def load(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((VECTORS / name).read_text())
    return cases


@pytest.mark.parametrize("case", load("conversations.json"), ids=lambda case: case["name"])
def test_vectors(start_agent: Start, case: dict[str, Any]) -> None:
    """The agent gives these answers to these bytes; values in <angle brackets> differ from host to host."""
    agent = start_agent(hello=None)
    for turn in case["turns"]:
        sent = [bytes.fromhex(r["hex"]) if "hex" in r else r["text"].encode() for r in turn["requests"]]
        agent.send(b"".join(sent))
        for expected in turn["answers"]:
            check_answer(agent, dict(expected))


def check_answer(agent: AgentProcess, wanted: dict[str, Any]) -> None:
    got = agent.read()
    if got["t"] == "hello":
        agent.hello = got
    payload = got.pop("data", None)
    if "payload_text" in wanted:
        assert payload == wanted.pop("payload_text").encode()
    for key, value in list(wanted.items()):
        if isinstance(value, str) and value.startswith("<"):
            assert key in got
            del wanted[key], got[key]
    assert got == wanted


def test_shared_requests(start_agent: Start) -> None:
    """The frames that the client is tested to send get the answers it expects."""
    requests = load("requests.json")["requests"]  # type: ignore[call-overload]
    agent = start_agent(hello=None)
    for request in requests:
        agent.send(request["frame"].encode("latin-1"))
        if request["verb"] == "hello":
            agent.hello = answer = agent.read()
        else:
            answer = agent.wait_for(request["id"])
        assert request["answer"] in (answer["t"], answer.get("kind")), request["name"]
