"""Questions and answers, durations and readings on the wire: what is sent, who is asked, what a host may not do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from async_helpers import run_async
from hypothesis import given
from hypothesis import strategies as st
from peer import peer_payload

from checkrunner.link.answers import read_answer
from checkrunner.link.fields import MalformedError
from checkrunner.link.requests import answer_request, run_request
from checkrunner.link.session import FramedSession, open_session
from checkrunner.link.transports.local import LocalTransport
from checkrunner.model.characters import untypeable
from checkrunner.model.errors import ProtocolError
from checkrunner.model.inventory import Host
from checkrunner.model.options import LocalOptions, SessionOptions
from checkrunner.model.plan import OnPrompt, Prompt, PromptText, Step
from checkrunner.model.playbook import OnInput, Sample
from checkrunner.model.results import MOST_READINGS, Reading, SliceMode, SliceQuery
from checkrunner.model.sources import Secret
from checkrunner.testing import make_step

HEAD = SliceQuery(mode=SliceMode.HEAD)


def step(shell: str, **fields: Any) -> Step:
    made = make_step(shell, early=(HEAD,))
    return replace(made, command=replace(made.command, **fields))


def with_session(use: Callable[[FramedSession], Awaitable[None]]) -> None:
    async def main() -> None:
        transport = LocalTransport(LocalOptions())
        host = Host(name="here", address="localhost")
        options = SessionOptions(hello_timeout_s=10)
        session = await open_session(transport, host, options=options, timeout_s=5, payload=peer_payload())
        try:
            await use(session)
        finally:
            await session.aclose()
            await transport.aclose()

    run_async(main())


async def printed(session: FramedSession, made: Step, on_prompt: OnPrompt | None = None) -> str:
    _, (piece,) = await session.run(made, on_prompt=on_prompt)
    assert piece is not None
    return "".join(line.data.decode() for line in piece.lines)


async def somebody(prompt: PromptText) -> Secret | None:
    return Secret(f"answer to {prompt.text}")


@pytest.mark.parametrize(
    ("fields", "asked", "words"),
    [
        ({}, False, ""),
        ({}, True, "input=ask stdin=null"),
        ({"on_input": OnInput.FAIL}, True, ""),
        ({"on_input": OnInput.ASK}, True, "input=ask stdin=tty"),
        ({"on_input": OnInput.ASK}, False, "stdin=tty"),
        ({"stdin_tty": True}, False, "stdin=tty"),
        ({"stdin_tty": True}, True, "input=ask stdin=tty"),
        ({"duration_s": 1.5}, False, "duration_ms=1500"),
        ({"sample": Sample(every_s=0.25, count=7)}, False, "sample_ms=250 sample_count=7"),
        ({"keep_children": True}, False, "keep=1"),
        (
            {"prompts": (Prompt(match="y/n", answer="y"), Prompt(match="^P", answer=Secret("x y")))},
            False,
            "input=answer stdin=tty prompt.0.match:y/n prompt.0.answer:y prompt.1.match:^P prompt.1.answer:x y",
        ),
        (
            {"prompts": (Prompt(match="y/n", answer="y"),)},
            True,
            "input=ask stdin=tty prompt.0.match:y/n prompt.0.answer:y",
        ),
        (
            {"prompts": (Prompt(match="y/n", answer="y"),), "on_input": OnInput.FAIL},
            True,
            "input=answer stdin=tty prompt.0.match:y/n prompt.0.answer:y",
        ),
    ],
)
def test_what_is_sent_for_a_command(fields: dict[str, Any], asked: bool, words: str) -> None:
    async def use(session: FramedSession) -> None:
        assert await printed(session, step("words", **fields), somebody if asked else None) == words

    with_session(use)


def test_a_request_never_shows_an_answer() -> None:
    secret = Secret("open-sesame")
    prompt = Prompt(match="x", answer=secret)

    assert b"open-sesame" in run_request(1, step("x", prompts=(prompt,)))
    assert b"open-sesame" in answer_request(2, 1, secret)
    assert "sesame" not in repr(prompt) + repr(step("x", prompts=(prompt,)))


def test_a_question_is_asked_and_its_answer_typed() -> None:
    asked: list[PromptText] = []

    async def person(prompt: PromptText) -> Secret | None:
        asked.append(prompt)
        return None if prompt.secret else Secret("blue")

    async def use(session: FramedSession) -> None:
        colour = step("ask Colour? ")
        assert await printed(session, colour, person) == "blue"
        assert await printed(session, step("ask Password: "), person) == "refused"

    with_session(use)
    assert asked == [PromptText(text="Colour?"), PromptText(text="Password:", secret=True)]


@pytest.mark.parametrize("answer", ["two\nlines", "\x03", "x" * 5000])
def test_what_is_no_line_is_refused(answer: str) -> None:
    async def person(_prompt: PromptText) -> Secret | None:
        return Secret(answer)

    async def use(session: FramedSession) -> None:
        assert await printed(session, step("ask x"), person) == "refused"

    with_session(use)


def test_a_new_question_withdraws_the_one_before() -> None:
    events: list[str] = []

    async def person(prompt: PromptText) -> Secret | None:
        events.append(prompt.text)
        if prompt.text == "first?":
            try:
                await asyncio.Event().wait()
            finally:
                events.append("withdrawn")
        return Secret("two")

    async def use(session: FramedSession) -> None:
        assert await printed(session, step("ask-twice"), person) == "two"

    with_session(use)
    assert events in (["first?", "withdrawn", "second?"], ["second?"])


def test_a_question_is_withdrawn_when_its_command_ends() -> None:
    let_go = asyncio.Event()

    async def person(_prompt: PromptText) -> Secret | None:
        try:
            return await asyncio.Future()
        finally:
            let_go.set()

    async def use(session: FramedSession) -> None:
        await session.run(step("ask-and-end"), on_prompt=person)
        assert let_go.is_set(), "it is over before run() returns"
        assert await printed(session, step("echo x")) == "x"

    with_session(use)


def test_a_bug_in_who_is_asked_is_told_and_the_question_refused() -> None:
    async def broken(_prompt: PromptText) -> Secret | None:
        raise RuntimeError("a bug")

    async def use(session: FramedSession) -> None:
        with pytest.raises(RuntimeError, match="a bug"):
            await session.run(step("ask x"), on_prompt=broken)

    with_session(use)


@pytest.mark.parametrize("fields", [{}, {"on_input": OnInput.FAIL}, {"prompts": (Prompt(match="x", answer="y"),)}])
def test_a_host_may_not_ask_where_nobody_said_it_may(fields: dict[str, Any]) -> None:
    async def use(session: FramedSession) -> None:
        with pytest.raises(ProtocolError, match="answered Asking to request 1, which asked no such thing"):
            await session.run(step("ask x", **fields), on_prompt=somebody if "on_input" in fields else None)

    with_session(use)


def test_a_host_may_not_ask_without_end() -> None:
    async def use(session: FramedSession) -> None:
        with pytest.raises(ProtocolError, match="asked more than 100 questions"):
            await session.run(step("ask-flood"), on_prompt=somebody)

    with_session(use)


def result(**fields: object) -> Any:
    return read_answer({"t": "result", "id": 1, "execution": "done", **fields}, b"").result  # type: ignore[union-attr]  # it is one


def test_readings_become_typed() -> None:
    samples = [{"at_s": 0, "rc": 0, "elapsed_s": 0.5, "first": 1, "lines": 2}, {"at_s": 1.0, "rc": None}]

    read = result(answered=2, samples=samples, notes=["duration_ended"])

    assert read.answered == 2
    assert read.samples == (Reading(at_s=0, rc=0, elapsed_s=0.5, first_line=1, lines=2), Reading(at_s=1.0))
    assert read.ended_by_duration
    assert not result(rc=0, notes=["duration_ended"]).ended_by_duration


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"answered": -1}, "answered is -1"),
        ({"samples": {}}, "samples is {}, not a list"),
        ({"samples": [3]}, "samples is 3, not an object"),
        ({"samples": [{"rc": 256}]}, "rc is 256"),
        ({"samples": [{"at_s": "soon"}]}, "at_s is 'soon'"),
        ({"samples": [{}] * (MOST_READINGS + 1)}, "a list of 1001 items"),
    ],
)
def test_what_no_host_can_mean_is_refused(fields: dict[str, object], words: str) -> None:
    with pytest.raises(MalformedError, match=words.replace("{", r"\{").replace("}", r"\}")):
        result(**fields)


@given(st.text())
def test_what_can_be_typed_is_one_line_without_keys(text: str) -> None:
    if not untypeable(text):
        assert len(text.encode("utf-8", "surrogateescape")) <= 4000
        assert all(char >= " " or char == "\t" for char in text)
        assert "\x7f" not in text
