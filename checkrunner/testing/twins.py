"""In-memory twins: a transport whose hosts are coroutines, and a session whose answers are written down."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from checkrunner.model.errors import AgentError, SessionLostError, UnreachableError
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Observation
from checkrunner.model.plan import OnPrompt, PromptText, Step
from checkrunner.model.playbook import OnInput
from checkrunner.model.results import Execution, Output, RawLine, RawSlice, Result, SliceMode, SliceQuery, Stream

__all__ = [
    "CLOGGED",
    "COMPLAIN",
    "COMPLAIN_FOREVER",
    "ECHO",
    "END",
    "FLOOD",
    "MemoryChannel",
    "MemoryTransport",
    "Program",
    "Scripted",
    "ScriptedSession",
]

ECHO = "exec cat"
END = "exec true"
CLOGGED = "exec sleep 60"
FLOOD = "exec yes"
COMPLAIN = "echo trouble >&2; exec cat"
COMPLAIN_FOREVER = "yes >&2; exit"
"""Commands that a transport under test is asked to start; `MemoryTransport` has programs for them."""

_CHUNK = 256 << 10
_MOST_COMPLAINTS = 16 << 20


class MemoryChannel:
    """A channel to a coroutine in this process; `peer_receive` and `peer_send` are the program's own ends."""

    def __init__(self) -> None:
        self._in: asyncio.Queue[bytes] = asyncio.Queue(8)
        self._out: asyncio.Queue[bytes] = asyncio.Queue(8)
        self._rest = b""
        self._tail = b""
        self._complaints = 0
        self._ended = False
        self._closed = False
        self._broken = False
        self.program: asyncio.Task[None] | None = None

    async def send(self, data: bytes) -> None:
        """See the seam."""
        for at in range(0, len(data), _CHUNK):
            if self._closed or self._broken:
                raise SessionLostError("the channel is closed" if self._closed else "the link broke")
            await self._in.put(data[at : at + _CHUNK])

    async def receive(self) -> bytes:
        """See the seam."""
        if self._ended or self._closed:
            return b""
        chunk = b"" if self._broken else await self._out.get()
        if self._broken:
            raise SessionLostError(
                "the link broke" if self._complaints <= _MOST_COMPLAINTS else "a flood of complaints"
            )
        self._ended = not chunk
        return chunk

    def stderr_tail(self) -> bytes:
        """See the seam."""
        return self._tail

    async def end_input(self) -> None:
        """See the seam."""
        if not self._closed:
            await self._in.put(b"")

    async def aclose(self, *, kill: bool = False) -> bool:  # noqa: ARG002 (it is always ended)
        """See the seam."""
        self._closed = True
        if self.program is not None:
            self.program.cancel()
            await asyncio.wait({self.program})
        return True

    async def peer_receive(self) -> bytes:
        """The program's input; b"" at its end."""
        return await self._in.get()

    async def peer_send(self, data: bytes) -> None:
        """The program's output; b"" ends it."""
        for at in range(0, len(data), _CHUNK):
            await self._out.put(data[at : at + _CHUNK])
        if not data:
            await self._out.put(b"")

    def break_link(self) -> None:
        """End the link without a word: what has not been received is lost."""
        self._broken = True
        while not self._out.empty():
            self._out.get_nowait()
        self._out.put_nowait(b"")  # wakes a receiver

    def peer_complain(self, data: bytes) -> None:
        """The program's standard error."""
        self._tail = (self._tail + data)[-4096:]
        self._complaints += len(data)
        if self._complaints > _MOST_COMPLAINTS:
            self.break_link()


Program = Callable[[MemoryChannel], Awaitable[None]]
"""What runs at the other end of a memory channel."""


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


async def _complain_forever(channel: MemoryChannel) -> None:
    while True:
        channel.peer_complain(b"y\n" * (1 << 19))
        await asyncio.sleep(0)


class MemoryTransport:
    """Hosts in this process: `programs` maps command lines to coroutines; a host in `dead` cannot be reached."""

    def __init__(self, programs: Mapping[str, Program] | None = None, *, dead: Sequence[str] = ()) -> None:
        known: Mapping[str, Program]
        known = {ECHO: _echo, END: _end, CLOGGED: _clogged, FLOOD: _flood, COMPLAIN: _complain}
        known = {**known, COMPLAIN_FOREVER: _complain_forever}
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

    def break_links(self) -> None:
        """Break the link of every channel that is open."""
        for channel in self._channels:
            channel.break_link()

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
    """What a command of a `ScriptedSession` does. `error` is raised instead; `after` is waited for first: it runs until
    then, or until it is cancelled. `states` is what the host sees of it meanwhile. What it `asks` comes before anything
    else, and it prints the answers."""

    rc: int | None = 0
    stdout: bytes = b""
    stderr: bytes = b""
    execution: Execution = Execution.DONE
    error: Exception | None = None
    after: asyncio.Event | None = None
    states: Sequence[Observation] = ()
    asks: Sequence[PromptText] = ()
    answered: int = 0


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
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._ending = asyncio.Event()
        self._running = 0

    async def run(
        self, step: Step, *, on_state: Callable[[Observation], None] | None = None, on_prompt: OnPrompt | None = None
    ) -> tuple[Result, Sequence[RawSlice | None]]:
        """See the seam."""
        if self._closed:
            raise SessionLostError("the session is closed")
        shell = step.command.shell
        self.ran.append(shell)
        scripted = self._script.get(shell) or self._default
        if scripted is None:
            raise AgentError(f"nothing is scripted for {shell!r}")
        self._running += 1
        try:
            if on_prompt is not None and scripted.asks and step.command.on_input is not OnInput.FAIL:
                scripted = await _told(scripted, on_prompt)
            elif scripted.asks:
                scripted = replace(scripted, execution=Execution.WAITING_INPUT)
            return await self._run(step, scripted, self._ending, on_state or _unseen)
        finally:
            self._running -= 1

    async def _run(
        self, step: Step, scripted: Scripted, ending: asyncio.Event, on_state: Callable[[Observation], None]
    ) -> tuple[Result, Sequence[RawSlice | None]]:
        execution = Execution.NOT_RUN
        async with self._turns[step.command.session]:
            if not ending.is_set():
                execution = scripted.execution
                for state in scripted.states:
                    on_state(state)
                if scripted.after is not None and not await _first(scripted.after, ending):
                    execution = Execution.KILLED
        if self._closed:
            raise SessionLostError("the session is closed")
        if scripted.error is not None:
            raise scripted.error
        seq = len(self._done) + 1
        self._done[seq] = scripted
        result = Result(
            seq=seq,
            session=step.command.session,
            execution=execution,
            rc=scripted.rc if execution is Execution.DONE else None,
            stdout=_output(scripted.stdout),
            stderr=_output(scripted.stderr),
            answered=scripted.answered,
            seen=scripted.states[-1] if scripted.states and execution is not Execution.DONE else None,
        )
        slices: list[RawSlice | None] = []
        for query in step.early:
            try:
                slices.append(await self.fetch(result, query))
            except AgentError as error:
                slices.append(RawSlice(query=query, lines=(), total_lines=0, error=error.message))
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
        ending, self._ending = self._ending, asyncio.Event()
        ending.set()
        while self._running:  # noqa: ASYNC110 (each turn of the loop brings the ended commands closer to their results)
            await asyncio.sleep(0)

    async def aclose(self) -> None:
        """See the seam."""
        self._closed = True
        self._ending.set()


async def _told(scripted: Scripted, on_prompt: OnPrompt) -> Scripted:
    """The command with the answers to what it asks in its output; refused, where one is."""
    printed = scripted.stdout
    for number, prompt in enumerate(scripted.asks):
        answer = await on_prompt(prompt)
        if answer is None:
            return replace(scripted, execution=Execution.WAITING_INPUT, answered=number)
        printed += answer.reveal().encode() + b"\n"
    return replace(scripted, stdout=printed, answered=len(scripted.asks))


def _unseen(_: Observation) -> None:
    """For callers who do not want to know."""


async def _first(wanted: asyncio.Event, other: asyncio.Event) -> bool:
    """Whether `wanted` was set before `other`."""
    waits = [asyncio.ensure_future(event.wait()) for event in (wanted, other)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        return wanted.is_set()
    finally:
        for wait in waits:
            wait.cancel()


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
    if query.mode is SliceMode.PACKED:
        number, piece = data.count(b"\n", 0, query.first) + 1, data[query.first : query.last][: query.max_bytes]
        return RawSlice(query=query, lines=(RawLine(number=number, data=piece),), total_lines=count)
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
    alone = query.mode is SliceMode.SALIENT
    picked = tuple(RawLine(number=at + 1, data=lines[at], last=at + 1 if alone else 0) for at in kept)
    ends = query.mode in (SliceMode.HEAD, SliceMode.TAIL)
    more = 0 if ends else len(wanted) - len(kept)
    return RawSlice(query=query, lines=picked, total_lines=count, more_lines=more, more_shapes=more if alone else 0)
