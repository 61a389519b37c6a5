"""Conformance checks for the seams of `model.seams`, and in-memory twins of the parts that touch the world.

A check takes what makes an implementation, and raises AssertionError where the contract is not kept. The twins pass
the same checks as the real thing, so what is tested with them holds for it. For tests only; nothing imports this.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from checkrunner.model.errors import AgentError, ConnectError, SessionLostError, UnreachableError
from checkrunner.model.inventory import Host
from checkrunner.model.plan import Command, PlannedCheck, Step
from checkrunner.model.playbook import Check
from checkrunner.model.report import Report
from checkrunner.model.results import (
    Execution,
    Output,
    RawLine,
    RawSlice,
    Result,
    SliceMode,
    SliceQuery,
    Stream,
)
from checkrunner.model.seams import Channel, Redactor, Renderer, Session, TokenCounter, Transport

__all__ = [
    "CLOGGED",
    "COMPLAIN",
    "ECHO",
    "END",
    "FLOOD",
    "MemoryChannel",
    "MemoryTransport",
    "Scripted",
    "ScriptedSession",
    "check_channel",
    "check_redactor",
    "check_renderer",
    "check_session",
    "check_token_counter",
    "check_transport",
    "make_step",
]

ECHO = "exec cat"
END = "exec true"
CLOGGED = "exec sleep 60"
FLOOD = "exec yes"
COMPLAIN = "echo trouble >&2; exec cat"
"""Commands that a transport under test is asked to start; `MemoryTransport` has programs for them."""

_SOON_S = 10.0
_CHUNK = 256 << 10


def make_step(shell: str, *, session: str = "main", early: Sequence[SliceQuery] = (), timeout_s: float = 20.0) -> Step:
    """A step that runs `shell`, of a check that expects nothing."""
    planned = PlannedCheck(key="check", play="play", check=Check(id="check", name="check"))
    return Step(planned=planned, command=Command(shell=shell, session=session, timeout_s=timeout_s), early=tuple(early))


# ---- checks


async def check_channel(open_channel: Callable[[str], Awaitable[Channel]]) -> None:
    """The contract of `Channel`. `open_channel` starts one of the commands above and returns its channel."""
    await _echoes(await open_channel(ECHO))
    await _ends(await open_channel(END))
    await _keeps_bytes_when_cancelled(await open_channel(ECHO))
    await _waits_for_a_reader(await open_channel(CLOGGED))
    await _closes_under_a_flood(await open_channel(FLOOD))
    await _keeps_what_was_complained(await open_channel(COMPLAIN))
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


async def check_transport(
    make: Callable[[], Transport], host: Host, *, dead: Host | None = None, commands: tuple[str, str] = (ECHO, END)
) -> None:
    """The contract of `Transport`, and of its channels. `host` can be reached, `dead` cannot (None: there is none)."""
    transport = make()
    assert transport.name
    assert all(isinstance(sentence, str) for sentence in transport.warnings(host))
    await check_channel(lambda command: transport.open(host, command, timeout_s=_SOON_S))
    first, second = [await transport.open(host, commands[0], timeout_s=_SOON_S) for _ in range(2)]
    await first.send(b"first")
    await second.send(b"second")
    async with asyncio.timeout(_SOON_S):
        assert await second.receive() == b"second"
        assert await first.receive() == b"first"
    opening = asyncio.ensure_future(transport.open(host, commands[1], timeout_s=_SOON_S))
    await asyncio.sleep(0)
    opening.cancel()
    await asyncio.wait({opening})
    if dead is not None:
        await _raises(transport.open(dead, commands[0], timeout_s=_SOON_S), ConnectError)
    await asyncio.gather(transport.aclose(), transport.aclose())
    await transport.aclose()


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
        assert slices[1] is None, "a query that cannot be answered is None"
        assert failed[0].rc == 1, "a command that fails is a result"
        assert session.agent, "an answer has come, so the agent is known"
        fetched = await session.fetch(result, SliceQuery(mode=SliceMode.MATCH, pattern="h.l"))
        assert [(line.number, line.data) for line in fetched.lines] == [(1, b"hello")]
        await _raises(session.fetch(result, bad), AgentError)
        await session.cancel()
    async with asyncio.timeout(3):
        await asyncio.gather(session.aclose(), session.aclose())
        await session.aclose()
    await _raises(session.run(make_step("echo hello")), SessionLostError)


def check_renderer(renderer: Renderer, report: Report) -> None:
    """The contract of `Renderer`: a pure function of the report, that leaves the stream open."""
    assert renderer.name
    assert renderer.suffix
    first, second = io.StringIO(), io.StringIO()
    renderer.render(report, first)
    renderer.render(report, second)
    assert first.getvalue(), "something is written"
    assert first.getvalue() == second.getvalue(), "the same report gives the same text"
    assert not first.closed


def check_redactor(redactor: Redactor, texts: Sequence[str]) -> None:
    """The contract of `Redactor`, on `texts`: idempotent, lines kept, no line without bound."""
    for text in texts:
        once = redactor.redact(text)
        assert redactor.redact(once) == once, f"not idempotent on {text!r}"
        assert once.count("\n") == text.count("\n"), f"the number of lines changed in {text!r}"
        for before, after in zip(text.split("\n"), once.split("\n"), strict=True):
            assert len(after) <= 2 * len(before) + 100, f"a line grew from {len(before)} to {len(after)} characters"


def check_token_counter(counter: TokenCounter, texts: Sequence[str]) -> None:
    """The contract of `TokenCounter`, on `texts`."""
    assert counter.name
    for text in texts:
        assert counter.count(text) >= (1 if text else 0)
        for other in texts:
            joint = counter.count(text + other)
            assert joint + 1 >= max(counter.count(text), counter.count(other)), "more text counts for less"


# ---- twins


class MemoryChannel:
    """A channel to a coroutine in this process; `peer_receive` and `peer_send` are the program's own ends."""

    def __init__(self) -> None:
        self._in: asyncio.Queue[bytes] = asyncio.Queue(8)
        self._out: asyncio.Queue[bytes] = asyncio.Queue(8)
        self._rest = b""
        self._tail = b""
        self._ended = False
        self._closed = False
        self.program: asyncio.Task[None] | None = None

    async def send(self, data: bytes) -> None:
        """See the seam."""
        for at in range(0, len(data), _CHUNK):
            if self._closed:
                raise SessionLostError("the channel is closed")
            await self._in.put(data[at : at + _CHUNK])

    async def receive(self) -> bytes:
        """See the seam."""
        if self._ended or self._closed:
            return b""
        chunk = await self._out.get()
        self._ended = not chunk
        return chunk

    def stderr_tail(self) -> bytes:
        """See the seam."""
        return self._tail[-4096:]

    async def aclose(self) -> None:
        """See the seam."""
        self._closed = True
        if self.program is not None:
            self.program.cancel()
            await asyncio.wait({self.program})

    async def peer_receive(self) -> bytes:
        """The program's input; b"" at its end."""
        return await self._in.get()

    async def peer_send(self, data: bytes) -> None:
        """The program's output; b"" ends it."""
        for at in range(0, len(data), _CHUNK):
            await self._out.put(data[at : at + _CHUNK])
        if not data:
            await self._out.put(b"")

    def peer_complain(self, data: bytes) -> None:
        """The program's standard error."""
        self._tail += data


Program = Callable[[MemoryChannel], Awaitable[None]]


async def _echo(channel: MemoryChannel) -> None:
    while data := await channel.peer_receive():
        await channel.peer_send(data)


async def _end(channel: MemoryChannel) -> None:
    await channel.peer_send(b"")


async def _clogged(_channel: MemoryChannel) -> None:
    await asyncio.Event().wait()


async def _flood(channel: MemoryChannel) -> None:
    while True:
        await channel.peer_send(b"y\n" * 4096)


async def _complain(channel: MemoryChannel) -> None:
    channel.peer_complain(b"trouble\n")
    await _echo(channel)


class MemoryTransport:
    """Hosts in this process: `programs` maps command lines to coroutines; a host in `dead` cannot be reached."""

    name = "memory"

    def __init__(self, programs: Mapping[str, Program] | None = None, *, dead: Sequence[str] = ()) -> None:
        known: Mapping[str, Program]
        known = {ECHO: _echo, END: _end, CLOGGED: _clogged, FLOOD: _flood, COMPLAIN: _complain}
        self._programs = {**known, **(programs or {})}
        self._dead = dead
        self._channels: list[MemoryChannel] = []

    async def open(self, host: Host, command: str, *, timeout_s: float) -> MemoryChannel:
        """See the seam."""
        del timeout_s
        if host.name in self._dead:
            raise UnreachableError(f"{host.name}: connection refused")
        channel = MemoryChannel()
        program = self._programs.get(command) or self._programs.get("*", _end)
        channel.program = asyncio.ensure_future(program(channel))
        self._channels.append(channel)
        return channel

    def warnings(self, host: Host) -> Sequence[str]:
        """See the seam."""
        return [f"{host.name}: the port is not used"] if host.port else []

    async def aclose(self) -> None:
        """See the seam."""
        channels, self._channels = self._channels, []
        for channel in channels:
            await channel.aclose()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted:
    """What a command of a `ScriptedSession` does. `error` is raised instead; `after` is waited for first."""

    rc: int | None = 0
    stdout: bytes = b""
    stderr: bytes = b""
    execution: Execution = Execution.DONE
    error: Exception | None = None
    after: asyncio.Event | None = None


class ScriptedSession:
    """A session whose commands are looked up: by their shell text in `script`, else `default`."""

    def __init__(self, script: Mapping[str, Scripted], *, default: Scripted | None = None) -> None:
        self.agent = "scripted"
        self.notes: Sequence[str] = ()
        self.ran: list[str] = []
        self._script = script
        self._default = default
        self._done: dict[int, Scripted] = {}
        self._closed = False

    async def run(self, step: Step) -> tuple[Result, Sequence[RawSlice | None]]:
        """See the seam."""
        if self._closed:
            raise SessionLostError("the session is closed")
        shell = step.command.shell
        self.ran.append(shell)
        scripted = self._script.get(shell) or self._default
        if scripted is None:
            raise AgentError(f"nothing is scripted for {shell!r}")
        if scripted.after is not None:
            await scripted.after.wait()
        if scripted.error is not None:
            raise scripted.error
        seq = len(self._done) + 1
        self._done[seq] = scripted
        done = scripted.execution is Execution.DONE
        result = Result(
            seq=seq,
            session=step.command.session,
            execution=scripted.execution,
            rc=scripted.rc if done else None,
            stdout=_output(scripted.stdout),
            stderr=_output(scripted.stderr),
        )
        slices: list[RawSlice | None] = []
        for query in step.early:
            try:
                slices.append(await self.fetch(result, query))
            except AgentError:
                slices.append(None)
        return result, slices

    async def fetch(self, result: Result, query: SliceQuery) -> RawSlice:
        """See the seam."""
        if self._closed:
            raise SessionLostError("the session is closed")
        scripted = self._done[result.seq]
        try:
            return _cut(scripted.stdout if query.stream is Stream.STDOUT else scripted.stderr, query)
        except re.error as error:
            raise AgentError(f"the pattern cannot be used: {error}") from error

    async def cancel(self) -> None:
        """See the seam."""

    async def aclose(self) -> None:
        """See the seam."""
        self._closed = True


def _output(data: bytes) -> Output:
    lines = data.splitlines()
    return Output(
        lines=len(lines),
        bytes=len(data),
        captured_bytes=len(data),
        longest_line_bytes=max((len(line) for line in lines), default=0),
        ends_with_newline=data.endswith(b"\n") or not data,
        digest=hashlib.sha256(data).hexdigest() if data else "",
    )


def _cut(data: bytes, query: SliceQuery) -> RawSlice:
    """The lines that a query selects, without its caps in bytes: what a script holds is small."""
    lines = data.split(b"\n")[: data.count(b"\n") + (not data.endswith(b"\n") and bool(data))]
    count = len(lines)
    if query.mode is SliceMode.BYTES:
        piece = data[query.first : query.last]
        return RawSlice(query=query, lines=(RawLine(number=0, data=piece),), total_lines=count)
    if query.mode is SliceMode.MATCH:
        pattern = re.compile(query.pattern)
        hits = [at for at, line in enumerate(lines) if pattern.search(line.decode("utf-8", "replace"))]
        near = {at + step for at in hits for step in range(-query.before, query.after + 1)}
        wanted = sorted(at for at in near if 0 <= at < count)
    elif query.mode is SliceMode.LINES:
        wanted = list(range(max(query.first, 1) - 1, min(query.last, count)))
    else:
        wanted = list(range(count))
    last = query.mode is SliceMode.TAIL
    kept = wanted[-query.max_lines :] if last else wanted[: query.max_lines]
    picked = tuple(RawLine(number=at + 1, data=lines[at]) for at in kept)
    more = len(wanted) - len(kept) if query.mode in (SliceMode.MATCH, SliceMode.LINES) else 0
    return RawSlice(query=query, lines=picked, total_lines=count, more_lines=more)
