"""Sessions against a host in memory that answers in a generated way: every call ends, and all with one error."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkrunner.link.session import open_session
from checkrunner.model.errors import AgentError, HostError
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Observation
from checkrunner.model.options import SessionOptions
from checkrunner.model.plan import PromptText
from checkrunner.model.results import RawSlice, Result, SliceMode, SliceQuery
from checkrunner.model.sources import Secret
from checkrunner.testing import MemoryChannel, MemoryTransport, make_step

HOST = Host(name="evil", address="192.0.2.1")
HEAD = SliceQuery(mode=SliceMode.HEAD)

idents = st.integers(0, 7)
seen = st.sampled_from([{"kind": "idle"}, {"kind": "io_wait", "pid": 3, "on": "/mnt"}, {"kind": "x"}, None, 3])
answers = st.one_of(
    st.builds(lambda i: {"t": "result", "id": i, "execution": "done", "rc": 0}, idents),
    st.builds(lambda i, s: {"t": "result", "id": i, "execution": "timed_out", "seen": s}, idents, seen),
    st.builds(lambda i, s: {"t": "running", "id": i, "seen": s}, idents, seen),
    st.builds(lambda i, t: {"t": "prompt", "id": i, "text": t, "secret": True}, idents, st.sampled_from(["x? ", None])),
    st.builds(lambda i, n: {"t": "slice", "id": i, "lines": [[k, 0, 0] for k in range(n)]}, idents, st.integers(0, 25)),
    st.builds(lambda i: {"t": "error", "id": i, "kind": "bad_request", "message": "no"}, idents),
    st.builds(lambda i, t: {"t": t, "id": i}, idents, st.sampled_from(["ok", "bye", "hello", "what"])),
)
acts = st.one_of(
    answers.map(lambda answer: json.dumps(answer).encode() + b"\n"),
    st.binary(max_size=20),
    st.just(b"hello"),
    st.just(b"\n"),
)
honest = st.permutations(range(1, 5)).map(
    lambda order: [
        json.dumps({"t": "slice", "id": i} if i == 2 else {"t": "result", "id": i, "execution": "done", "rc": 0}).encode()
        + b"\n"
        for i in order
    ]
)  # fmt: skip


def program(sent: list[bytes], *, greets: bool) -> Any:
    async def run(channel: MemoryChannel) -> None:
        words = (await channel.peer_receive()).split()
        nonce = next(word.split(b"=")[1] for word in words if word.startswith(b"nonce="))
        hello = b'{"t":"hello","nonce":"%s","v":1}\n' % nonce
        for data in [hello, *sent] if greets else sent:
            await channel.peer_send(hello if data == b"hello" else data or b" ")
        await channel.peer_send(b"")

    return run


async def conversation(sent: list[bytes], *, greets: bool) -> list[object]:
    transport = MemoryTransport({"*": program(sent, greets=greets)})
    session = await open_session(transport, HOST, options=SessionOptions(hello_timeout_s=5), timeout_s=5)
    states: list[Observation] = []
    asked: list[PromptText] = []

    async def person(prompt: PromptText) -> Secret | None:
        asked.append(prompt)
        return Secret("yes") if len(asked) % 2 else await asyncio.Future()

    calls = [
        asyncio.ensure_future(session.run(make_step("a", early=(HEAD,)), on_state=states.append, on_prompt=person)),
        asyncio.ensure_future(session.run(make_step("b"), on_state=states.append)),
        asyncio.ensure_future(session.run(make_step("c"))),
    ]
    async with asyncio.timeout(20):
        outcomes: list[object] = list(await asyncio.gather(*calls, return_exceptions=True))
    told, questions = len(states), len(asked)
    await session.aclose()
    await transport.aclose()
    assert (len(states), len(asked)) == (told, questions)
    assert all(isinstance(state, Observation) for state in states)
    return outcomes


@given(st.lists(acts, max_size=8), st.booleans())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_call_ends_and_all_with_one_error(sent: list[bytes], greets: bool) -> None:
    outcomes = asyncio.run(conversation(sent, greets=greets))

    for outcome in outcomes:
        if isinstance(outcome, tuple):
            result, slices = outcome
            assert isinstance(result, Result)
            assert all(piece is None or isinstance(piece, RawSlice) for piece in slices)
        else:
            assert isinstance(outcome, HostError), outcome
    fatal = {id(error) for error in outcomes if isinstance(error, HostError) and not isinstance(error, AgentError)}
    assert len(fatal) <= 1


@given(honest)
@settings(max_examples=30, deadline=None)
def test_answers_may_come_in_any_order(sent: list[bytes]) -> None:
    outcomes = asyncio.run(conversation(sent, greets=True))

    assert all(isinstance(outcome, tuple) and outcome[0].rc == 0 for outcome in outcomes), outcomes
