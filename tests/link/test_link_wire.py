"""The codec: any split of the bytes decodes the same, and nothing that a host sends breaks or bloats the client."""

from __future__ import annotations

import contextlib
import itertools
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from checkrunner.link.answers import (
    AgentFailure,
    Answer,
    Hello,
    NoInterpreter,
    ResultAnswer,
    Running,
    SliceAnswer,
    Starting,
)
from checkrunner.link.wire import MAX_LINE, MAX_PAYLOAD, NOISE_KEPT, AnswerDecoder, encode_request
from checkrunner.model.errors import ProtocolError
from checkrunner.model.observation import Activity, Observation
from checkrunner.model.results import CaptureState, Execution, ProbeResult, RawLine

HELLO = b'{"t":"hello","nonce":"n0","v":1,"python":"3.11.2","bash":"5.2","uid":0}\n'


def greeted() -> AnswerDecoder:
    decoder = AnswerDecoder("n0")
    decoder.feed(HELLO)
    return decoder


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def test_request_is_a_header_and_its_sections() -> None:
    request = encode_request("run", 3, {"session": "main", "cap": 10}, [("command", b"echo \xff\n"), ("env.A", b"")])
    assert request == b"run 3 session=main cap=10 command:7 env.A:0\necho \xff\n"


@pytest.mark.parametrize(
    ("keys", "sections"),
    [
        ({"a b": 1}, []),
        ({"a": "b c"}, []),
        ({"a": "b\nrun 4"}, []),
        ({"a": "é"}, []),
        ({}, [("a:b", b"")]),
        ({}, [("a=b", b"")]),
        ({}, [("", b"")]),
    ],
)
def test_what_a_header_cannot_hold_is_refused(keys: dict[str, Any], sections: list[tuple[str, bytes]]) -> None:
    with pytest.raises(ValueError, match="cannot hold"):
        encode_request("run", 1, keys, sections)


def test_a_header_has_a_limit() -> None:
    with pytest.raises(ValueError, match="at most 65536"):
        encode_request("run", 1, {}, [(f"env.N{number}", b"") for number in range(10_000)])


def test_a_result_with_everything() -> None:
    fields = {
        "t": "result", "id": 7, "session": "s", "execution": "done", "rc": 3, "elapsed_s": 1.5, "cpu_s": 0.25,
        "started_at": 1700000000.5, "cwd": "/tmp", "leftover": [12, 13], "notes": ["shell_exited"], "missing": ["x"],
        "stdout": {"lines": 2, "bytes": 10, "captured": 8, "longest": 5, "nl": False, "binary": True, "invalid": 1,
                   "digest": "ab", "state": "truncated"},
        "probes": {"p": {"count": 2, "first": 4}, "q": {"error": "no"}}, "state": "S", "new_key": {"of": "later"},
    }  # fmt: skip
    (answer,) = greeted().feed(line(**fields))
    assert isinstance(answer, ResultAnswer)
    result = answer.result
    assert (result.seq, result.session, result.execution, result.rc) == (7, "s", Execution.DONE, 3)
    assert result.started_at is not None
    assert result.started_at.isoformat() == "2023-11-14T22:13:20.500000+00:00"
    assert (result.leftover_pids, result.notes, result.missing) == ((12, 13), ("shell_exited",), ("x",))
    out = result.stdout
    assert (out.lines, out.bytes, out.captured_bytes, out.state) == (2, 10, 8, CaptureState.TRUNCATED)
    assert (out.ends_with_newline, out.binary, out.invalid_utf8_bytes) == (False, True, 1)
    assert result.probes == {"p": ProbeResult(name="p", count=2, first_line=4), "q": ProbeResult(name="q", error="no")}


def test_keys_that_are_left_out_have_their_defaults() -> None:
    (answer,) = greeted().feed(line(t="result", id=1, execution="timed_out", stdout={"bytes": 5}))
    assert isinstance(answer, ResultAnswer)
    assert answer.result.rc is None
    assert answer.result.stdout.captured_bytes == 5
    assert answer.result.stderr.ends_with_newline
    assert answer.result.started_at is None


def test_a_slice_has_its_lines() -> None:
    data = line(t="slice", id=2, total=9, more=1, lines=[[3, 2, 0], [4, 3, 7]], payload=5) + b"ab\nc\n"
    (answer,) = greeted().feed(data)
    expected = (RawLine(number=3, data=b"ab"), RawLine(number=4, data=b"\nc\n", cut_bytes=7))
    assert answer == SliceAnswer(id=2, lines=expected, total_lines=9, more_lines=1, size=5)


STREAM = (
    b"Welcome!\nlast login: today\n" + HELLO
    + line(t="result", id=1, execution="done", rc=0)
    + line(t="slice", id=2, total=1, lines=[[1, 12, 0]], payload=12) + b'{"t":"bye"}\n'
    + line(t="running", id=3, elapsed_s=1, state="S")
    + line(t="error", id=3, kind="bad_request", message="no")
    + line(t="ok", id=4)
)  # fmt: skip


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
@example(list(range(len(STREAM))))
def test_any_split_decodes_the_same(cuts: list[int]) -> None:
    whole = AnswerDecoder("n0")
    expected = whole.feed(STREAM)
    decoder = AnswerDecoder("n0")
    edges = [0, *sorted(cuts), len(STREAM)]
    got: list[Answer] = []
    for start, end in itertools.pairwise(edges):
        got += decoder.feed(STREAM[start:end])
    assert got == expected
    assert len(expected) == 6
    assert decoder.noise == whole.noise == b"Welcome!\nlast login: today\n"


def test_noise_on_the_line_of_hello_is_noise() -> None:
    decoder = AnswerDecoder("n0")
    (hello,) = decoder.feed(b"$ " + HELLO)
    assert isinstance(hello, Hello)
    assert decoder.noise == b"$ "


def test_of_much_noise_little_is_kept() -> None:
    decoder = AnswerDecoder("n0")
    for _ in range(40):
        assert decoder.feed(b"x" * 200_000) == []
    assert len(decoder._buffer) <= MAX_LINE + 200_000
    assert len(decoder.feed(HELLO)) == 1
    assert decoder.noise == b"x" * NOISE_KEPT


def test_the_line_of_the_first_stage_is_no_noise_wherever_the_bytes_are_cut() -> None:
    data = b"motd\ncheckrunner-starting\n" + HELLO
    for cut in range(len(data)):
        decoder = AnswerDecoder("n0")
        answers = [*decoder.feed(data[:cut]), *decoder.feed(data[cut:])]
        assert [type(answer) for answer in answers] == [Starting, Hello]
        assert decoder.noise == b"motd\n"


def test_another_nonce_is_noise() -> None:
    decoder = AnswerDecoder("n1")
    assert decoder.feed(HELLO) == []
    assert not decoder.greeted


def test_the_two_lines_that_stand_in_for_hello() -> None:
    (early,) = AnswerDecoder("n").feed(b'motd\n{"t":"error","id":0,"kind":"lost_input","message":"m"}\n')
    assert early == AgentFailure(id=0, kind="lost_input", message="m")
    (none,) = AnswerDecoder("n").feed(b"checkrunner-no-interpreter: python3 /usr/bin/python3\n")
    assert none == NoInterpreter(tried="python3 /usr/bin/python3")


@pytest.mark.parametrize(
    "data",
    [
        b"no json\n",
        b"[1]\n",
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        b'{"t":"result","id":1,"execution":"done","rc":' + b"9" * 5000 + b"}\n",
        line(t="unheard_of", id=1),
        line(t=7),
        line(id=1),
        line(t="result", id=1, execution="dunno"),
        line(t="result", id=True, execution="done"),
        line(t="result", id=-1, execution="done"),
        line(t="result", id=1, execution="done", rc=256),
        line(t="result", id=1, execution="done", rc="0"),
        line(t="result", id=1, execution="killed", rc=0),
        line(t="result", id=1, execution="done", elapsed_s=float("nan")),
        line(t="result", id=1, execution="done", elapsed_s=float("inf")),
        line(t="result", id=1, execution="done", started_at=1e18),
        line(t="result", id=1, execution="done", stdout=[]),
        line(t="result", id=1, execution="done", stdout={"lines": -1}),
        line(t="result", id=1, execution="done", leftover=["x"]),
        line(t="result", id=1, execution="done", notes=[1]),
        line(t="result", id=1, execution="done", probes={"p": 3}),
        line(t="result", id=1, execution="timed_out", seen=[]),
        line(t="result", id=1, execution="timed_out", seen={}),
        line(t="result", id=1, execution="timed_out", seen={"kind": "asleep"}),
        line(t="result", id=1, execution="timed_out", seen={"kind": ["idle"]}),
        line(t="result", id=1, execution="timed_out", prompt=7),
        line(t="running", id=1, seen={"kind": "idle", "pid": -1}),
        line(t="running", id=1, seen={"kind": "idle", "pid": True}),
        line(t="running", id=1, seen={"kind": "idle", "name": 5}),
        line(t="running", id=1, seen={"kind": "idle", "fd": "0"}),
        line(t="running", id=1, seen={"kind": "idle", "fd": 1 << 40}),
        line(t="running", id=1, seen={"kind": "idle", "echo": "off"}),
        line(t="running", id=1, seen={"kind": "idle", "since_s": -1}),
        line(t="running", id=1, state=["x"]),
        line(t="result", id=1, execution="done", notes=["x"] * 101),
        line(t="slice", id=1, lines=[[1, 2]], payload=2) + b"ab",
        line(t="slice", id=1, lines=[[1, 3, 0]], payload=2) + b"ab",
        line(t="slice", id=1, lines=[[1, -3, 0]], payload=0),
        line(t="slice", id=1, lines=[], payload=MAX_PAYLOAD + 1),
        line(t="slice", id=1, lines=[], payload="2"),
        b"x" * (MAX_LINE + 1),
    ],
    ids=lambda data: repr(data[:60]),
)
def test_what_is_no_answer_is_refused_with_its_offset(data: bytes) -> None:
    decoder = greeted()
    good = line(t="ok", id=1)
    decoder.feed(good)
    with pytest.raises(ProtocolError, match=f"at byte {len(HELLO) + len(good)}") as caught:
        decoder.feed(data)
    assert len(caught.value.message) < 700


def test_what_a_command_is_doing() -> None:
    seen = {"kind": "waiting_input", "pid": 7, "name": "su", "wchan": "wait_woken", "syscall": "read", "fd": 0,
            "on": "/dev/pts/3", "echo": False, "since_s": 2.5, "of": "later"}  # fmt: skip
    running, result = greeted().feed(
        line(t="running", id=1, elapsed_s=3, state="su 3 s", seen=seen)
        + line(t="result", id=1, execution="waiting_input", seen=seen, prompt="Password: ", state="su 3 s")
    )
    expected = Observation(
        kind=Activity.WAITING_INPUT, pid=7, name="su", wchan="wait_woken", syscall="read", fd=0, on="/dev/pts/3",
        echo=False, since_s=2.5, text="su 3 s",
    )  # fmt: skip
    assert isinstance(running, Running)
    assert running.seen == expected
    assert isinstance(result, ResultAnswer)
    assert (result.result.seen, result.result.prompt) == (expected, "Password:")


def test_keys_of_a_look_that_are_left_out_or_null_have_their_defaults() -> None:
    (bare, null, none) = greeted().feed(
        line(t="running", id=1, seen={"kind": "unknown"})
        + line(t="running", id=1, seen={"kind": "unknown", "fd": None, "echo": None, "wchan": None})
        + line(t="running", id=1, seen=None, state="x")
    )
    assert isinstance(bare, Running)
    assert isinstance(null, Running)
    assert isinstance(none, Running)
    assert bare.seen == null.seen == Observation(kind=Activity.UNKNOWN)
    assert none.seen is None


@given(st.text(st.characters(codec=None), max_size=300))
@example("\x1b]0;owned\x07\u202eevil\ud800\nnew line")
@example("x" * 100_000)
def test_what_people_are_shown_is_one_harmless_line(text: str) -> None:
    seen = {"kind": "idle", "name": text, "wchan": text, "syscall": text, "on": text}
    (answer,) = greeted().feed(line(t="result", id=1, execution="lost", seen=seen, state=text, prompt=text))
    assert isinstance(answer, ResultAnswer)
    look = answer.result.seen
    assert look is not None
    shown = [look.name, look.wchan, look.syscall, look.on, look.text, look.brief, look.evidence, answer.result.prompt]
    assert all(part.isprintable() for part in shown)
    assert max(map(len, shown)) < 10_000
    json.dumps(shown, ensure_ascii=False).encode()


def test_lone_surrogates_do_not_travel_on() -> None:
    (answer,) = greeted().feed(b'{"t":"error","id":1,"kind":"x","message":"a\\ud800b"}\n')
    assert isinstance(answer, AgentFailure)
    assert answer.message == "a?b"


@given(st.binary(max_size=300))
def test_random_bytes_only_ever_raise_protocol_errors(data: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        greeted().feed(data + b"\n")
