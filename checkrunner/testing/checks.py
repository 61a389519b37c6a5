"""Checks of the contracts of channels, transports and sessions, for any implementation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from checkrunner.model.errors import AgentError, ConnectError, SessionLostError
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Observation
from checkrunner.model.plan import Command, PlannedCheck, PromptText, Step
from checkrunner.model.playbook import Check
from checkrunner.model.results import Execution, SliceMode, SliceQuery
from checkrunner.model.seams import Channel, Driver, Queues, Session, Transport
from checkrunner.model.sources import Secret
from checkrunner.testing.twins import CLOGGED, COMPLAIN, COMPLAIN_FOREVER, ECHO, END, FLOOD

__all__ = [
    "ASKS",
    "check_channel",
    "check_driver",
    "check_queues",
    "check_session",
    "check_transport",
    "make_step",
]

_SOON_S = 10.0
_CHUNK = 256 << 10


def make_step(shell: str, *, session: str = "main", early: Sequence[SliceQuery] = (), timeout_s: float = 20.0) -> Step:
    """A step that runs `shell`, of a check that expects nothing."""
    planned = PlannedCheck(key="check", play="play", check=Check(id="check", name="check"))
    return Step(planned=planned, command=Command(shell=shell, session=session, timeout_s=timeout_s), early=tuple(early))


async def check_channel(open_channel: Callable[[str], Awaitable[Channel]]) -> None:
    """The contract of `Channel`, as long as the link holds. `open_channel` starts a command (`ECHO`, `END`, ...)."""
    await _echoes(await open_channel(ECHO))
    await _ends(await open_channel(END))
    await _keeps_bytes_when_cancelled(await open_channel(ECHO))
    await _waits_for_a_reader(await open_channel(CLOGGED))
    await _closes_under_a_flood(await open_channel(FLOOD))
    await _keeps_what_was_complained(await open_channel(COMPLAIN))
    await _breaks_under_complaints(await open_channel(COMPLAIN_FOREVER))
    await _closes(await open_channel(ECHO))


async def _echoes(channel: Channel) -> None:
    sent = bytes(range(256)) * 4096
    async with asyncio.timeout(_SOON_S):
        sender = asyncio.ensure_future(channel.send(sent))
        got = bytearray()
        while len(got) < len(sent):
            chunk = await channel.receive()
            assert 0 < len(chunk) <= _CHUNK, f"receive() returned {len(chunk)} bytes"
            got += chunk
        await sender
    assert bytes(got) == sent, "what came back is not what was sent"
    await channel.aclose()


async def _ends(channel: Channel) -> None:
    async with asyncio.timeout(_SOON_S):
        assert await channel.receive() == b"", "the peer ended its output"
        assert await channel.receive() == b"", "the end is seen again and again"
    await channel.aclose()


async def _keeps_bytes_when_cancelled(channel: Channel) -> None:
    waiting = asyncio.ensure_future(channel.receive())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    await channel.send(b"half a line")
    got = b""
    async with asyncio.timeout(_SOON_S):
        while len(got) < 11:
            try:
                async with asyncio.timeout(0.001):
                    got += await channel.receive()
            except TimeoutError:
                continue
    assert got == b"half a line", "a cancelled receive() lost bytes"
    await channel.aclose()


async def _waits_for_a_reader(channel: Channel) -> None:
    sender = asyncio.ensure_future(channel.send(b"x" * (64 << 20)))
    done, _ = await asyncio.wait({sender}, timeout=0.3)
    assert not done, "send() of 64 MiB returned although nobody reads"
    sender.cancel()
    await asyncio.wait({sender})
    await _closes(channel)


async def _closes_under_a_flood(channel: Channel) -> None:
    async with asyncio.timeout(_SOON_S):
        assert await channel.receive()
    await _closes(channel)


async def _keeps_what_was_complained(channel: Channel) -> None:
    async with asyncio.timeout(_SOON_S):
        await channel.send(b"x")
        await channel.receive()
        while b"trouble" not in channel.stderr_tail():  # noqa: ASYNC110 (standard error has no event)
            await asyncio.sleep(0.01)
    assert len(channel.stderr_tail()) <= 4096
    await channel.aclose()


async def _breaks_under_complaints(channel: Channel) -> None:
    await _raises(channel.receive(), SessionLostError)
    assert len(channel.stderr_tail()) <= 4096
    await _closes(channel)


async def _closes(channel: Channel) -> None:
    async with asyncio.timeout(3):
        await asyncio.gather(channel.aclose(), channel.aclose())
        await channel.aclose()
    await _raises(channel.send(b"x"), SessionLostError)


async def _raises(awaitable: Awaitable[object], *kinds: type[Exception]) -> None:
    try:
        async with asyncio.timeout(_SOON_S):
            await awaitable
    except kinds:
        return
    raise AssertionError(f"none of {', '.join(kind.__name__ for kind in kinds)} was raised")


async def _breaks(channel: Channel, break_links: Callable[[], None]) -> None:
    await channel.send(b"x")
    async with asyncio.timeout(_SOON_S):
        assert await channel.receive() == b"x"
    waiting = asyncio.ensure_future(channel.receive())
    await asyncio.sleep(0)
    break_links()
    await _raises(waiting, SessionLostError)
    await _raises(channel.receive(), SessionLostError)
    await _closes(channel)


def check_queues(queues: Queues) -> None:
    """The contract of `Queues`, at any moment of a run."""
    for wait in queues.waits():
        assert wait.place
        assert 0 <= wait.waiting_s <= wait.longest_s <= wait.waited_s
        assert bool(wait.waiting) or wait.waiting_s == 0
        assert min(wait.hosts, wait.waiting, wait.dropped, wait.connections, wait.channels) >= 0


async def check_transport(
    make: Callable[[], Transport],
    host: Host,
    *,
    dead: Host | None = None,
    break_links: Callable[[], None] | None = None,
) -> None:
    """The contract of `Transport`, and of its channels.

    `host` can be reached, `dead` cannot (None: there is none). `break_links` breaks every link to `host` without a
    word (None: a link of this kind cannot break).
    """
    transport = make()
    assert all(isinstance(sentence, str) for sentence in transport.warnings(host))
    await check_channel(lambda command: transport.open(host, command, timeout_s=_SOON_S))
    first, second = [await transport.open(host, ECHO, timeout_s=_SOON_S) for _ in range(2)]
    await first.send(b"first")
    await second.send(b"second")
    async with asyncio.timeout(_SOON_S):
        assert await second.receive() == b"second"
        assert await first.receive() == b"first"
    opening = asyncio.ensure_future(transport.open(host, END, timeout_s=_SOON_S))
    await asyncio.sleep(0)
    opening.cancel()
    await asyncio.wait({opening})
    if dead is not None:
        await _raises(transport.open(dead, ECHO, timeout_s=_SOON_S), ConnectError)
    if break_links is not None:
        await _breaks(await transport.open(host, ECHO, timeout_s=_SOON_S), break_links)
    await asyncio.gather(transport.aclose(), transport.aclose())
    await transport.aclose()


async def check_driver(make: Callable[[], Driver], prompt: PromptText) -> None:
    """The contract of `Driver`. `prompt` must be one that it answers or refuses without being waited for."""
    driver = make()
    planned = make_step("echo hello").planned
    async with asyncio.timeout(_SOON_S):
        first, second = await asyncio.gather(*(driver.answer(host, planned, prompt) for host in ("a", "b")))
        assert all(answer is None or isinstance(answer, Secret) for answer in (first, second))
        withdrawn = asyncio.ensure_future(driver.answer("a", planned, prompt))
        await asyncio.sleep(0)
        withdrawn.cancel()
        await asyncio.wait({withdrawn})
        await driver.answer("a", planned, prompt)  # what was withdrawn is in nobody's way


async def check_session(open_one: Callable[[], Awaitable[Session]]) -> None:
    """The contract of `Session`. The host must know the commands that are run here, as a bash does."""
    session = await open_one()
    async with asyncio.timeout(_SOON_S):
        head = SliceQuery(mode=SliceMode.HEAD)
        bad = SliceQuery(mode=SliceMode.MATCH, pattern="(")
        hello, failed = await asyncio.gather(
            session.run(make_step("echo hello", early=(head, bad))),
            session.run(make_step("false")),
        )
        result, slices = hello
        assert (result.execution, result.rc, result.stdout.lines) == (Execution.DONE, 0, 1), result
        assert result.stdout.bytes == 6
        assert len(slices) == 2, "one slice for each query"
        assert slices[0] is not None
        assert [line.data for line in slices[0].lines] == [b"hello"]
        assert slices[0].query == head
        assert slices[1] is not None
        assert (bool(slices[1].error), slices[1].lines) == (True, ()), "a query that the host refused says why"
        assert failed[0].rc == 1, "a command that fails is a result"
        assert session.agent, "an answer has come, so the agent is known"
        fetched = await session.fetch(result, SliceQuery(mode=SliceMode.MATCH, pattern="h.l"))
        assert [(line.number, line.data) for line in fetched.lines] == [(1, b"hello")]
        packed = await session.fetch(result, SliceQuery(mode=SliceMode.PACKED, first=2, last=100, max_bytes=3))
        assert [(line.number, line.data) for line in packed.lines] == [(1, b"llo")], "a part of its bytes"
        await _raises(session.fetch(result, bad), AgentError)
    await _reports_states(session)
    await _asks(session)
    await _cancels(session)
    await _closes_with_calls_in_flight(session)


async def _reports_states(session: Session) -> None:
    states: list[Observation] = []
    async with asyncio.timeout(_SOON_S):
        quick = session.run(make_step("echo hello", session="other"), on_state=states.append)
        assert (await quick)[0].rc == 0
        assert states == [], "a command that ends at once is not looked at"
        await session.run(make_step("sleep 1.5"), on_state=states.append)
        assert states, "a command that runs for longer than a second is looked at"
        assert all(isinstance(state, Observation) for state in states)
        gone = asyncio.ensure_future(session.run(make_step("sleep 1.5", session="other"), on_state=states.append))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait({gone})
        states.clear()
        await session.run(make_step("sleep 1.5"))
        assert states == [], "nobody is told of a call that was cancelled"


ASKS = 'read -rp "Name? " name </dev/tty; echo "$name"'
"""A command that asks one question and prints the answer."""


async def _asks(session: Session) -> None:
    asked: list[PromptText] = []

    async def answering(prompt: PromptText) -> Secret | None:
        asked.append(prompt)
        return Secret("blue")

    async def refusing(_prompt: PromptText) -> Secret | None:
        return None

    head = SliceQuery(mode=SliceMode.HEAD)
    async with asyncio.timeout(_SOON_S):
        result, (piece,) = await session.run(make_step(ASKS, early=(head,)), on_prompt=answering)
        assert asked == [PromptText(text="Name?")], "it is asked once"
        assert (result.execution, result.answered) == (Execution.DONE, 1)
        assert piece is not None
        assert [line.data for line in piece.lines] == [b"blue"], "the answer is typed, and nothing else"
        refused, _ = await session.run(make_step(ASKS), on_prompt=refusing)
        assert (refused.execution, refused.answered) == (Execution.WAITING_INPUT, 0), "a refusal ends the command"
        nobody, _ = await session.run(make_step(ASKS))
        assert nobody.execution is Execution.WAITING_INPUT, "without anybody to ask it ends as well"


async def _cancels(session: Session) -> None:
    async with asyncio.timeout(_SOON_S):
        long, queued, other = [
            asyncio.ensure_future(session.run(make_step(shell, session=name)))
            for shell, name in (("sleep 60", "main"), ("echo hello", "main"), ("echo hello", "other"))
        ]
        assert (await other)[0].rc == 0, "another session does not wait"
        await session.cancel()
        assert long.done(), "cancel() returns after what it ended was answered"
        assert queued.done(), "cancel() returns after what it refused was answered"
    assert long.result()[0].execution in {Execution.KILLED, Execution.NOT_RUN}
    assert queued.result()[0].execution is Execution.NOT_RUN, "commands of one session wait for their turn"


async def _closes_with_calls_in_flight(session: Session) -> None:
    calls = [asyncio.ensure_future(session.run(make_step("sleep 60", session=name))) for name in ("main", "other")]
    await asyncio.sleep(0)
    async with asyncio.timeout(3):
        await asyncio.gather(session.aclose(), session.aclose())
        await session.aclose()
        await asyncio.wait(calls)
    assert all(isinstance(call.exception(), SessionLostError) for call in calls), "a call outlived its session"
    await _raises(session.run(make_step("echo hello")), SessionLostError)
