"""This machine as a host: the same exec line as over SSH, run by /bin/sh in its own session and process group.

If the controller is killed the agent sees the end of its input, as with a connection that broke.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from typing import cast

from checkrunner.link.transports.inbox import Inbox
from checkrunner.model.errors import SessionLostError, UnreachableError
from checkrunner.model.inventory import Host
from checkrunner.model.options import LocalOptions

__all__ = ["LocalChannel", "LocalTransport"]

# How long closing waits for the program to end by itself; its clean-up goes on without us after that.
_ENDING_S = 1.0
_LAST_WORDS_S = 0.2


class LocalTransport:
    """Runs commands on this machine. It needs no connection, so every `open` is a process of its own."""

    def __init__(self, options: LocalOptions) -> None:
        self._options = options
        self._channels: set[LocalChannel] = set()

    async def open(self, host: Host, command: str, *, timeout_s: float) -> LocalChannel:
        """Start `command` with /bin/sh. `timeout_s` is not needed: starting a process does not wait for anything."""
        del timeout_s
        env = None if self._options.env is None else dict(self._options.env)
        try:
            process = subprocess.Popen(  # noqa: ASYNC220 (a fork; reading and waiting are done by the event loop)
                ["/bin/sh", "-c", command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=env,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise UnreachableError(f"{host.name}: /bin/sh cannot be started: {error}") from error
        channel = LocalChannel(process)
        try:
            await channel.attach()
        except BaseException:
            channel.abandon()
            raise
        self._channels = {other for other in self._channels if not other.ended}
        self._channels.add(channel)
        return channel

    def warnings(self, host: Host) -> Sequence[str]:
        """SSH settings of a local host mean nothing; the ones that look as if they were meant are named."""
        out = []
        if host.port is not None:
            out.append(f"{host.name} is reached locally: its port {host.port} is not used")
        if host.user is not None:
            out.append(f"{host.name} is reached locally, as the user who runs this: user {host.user!r} is not used")
        return out

    async def aclose(self) -> None:
        """Close every channel; programs that still clean up go on by themselves."""
        channels, self._channels = self._channels, set()
        await asyncio.gather(*(channel.aclose() for channel in channels))


class LocalChannel:
    """The standard streams of one local program."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._inbox = Inbox(lambda: self._stdout.pause(), lambda: self._stdout.resume())
        self._stdin = _Input()
        self._stdout = _Output(self._inbox.put, self._output_ended)
        self._stderr = _Output(self._complain, self._end_closed)
        self._open_ends = 2
        self._closing: asyncio.Future[None] | None = None

    @property
    def ended(self) -> bool:
        """Whether it was closed and the program has ended."""
        return self._closing is not None and self._process.poll() is not None

    @property
    def pid(self) -> int:
        """The program's process id; also that of its process group and session."""
        return self._process.pid

    async def attach(self) -> None:
        """Hand the pipes to the event loop."""
        loop = asyncio.get_running_loop()
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        await loop.connect_write_pipe(lambda: self._stdin, process.stdin)
        await loop.connect_read_pipe(lambda: self._stdout, process.stdout)
        await loop.connect_read_pipe(lambda: self._stderr, process.stderr)

    def abandon(self) -> None:
        """Undo a half-done start."""
        self._process.kill()
        for end in (self._stdin, self._stdout, self._stderr):
            end.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._process.wait()

    async def send(self, data: bytes) -> None:
        """Send all of `data`; see the seam."""
        if self._closing is not None or self._stdin.broken:
            raise SessionLostError("the program no longer reads its input")
        await self._stdin.send(data)

    async def receive(self) -> bytes:
        """The next bytes; see the seam."""
        return await self._inbox.get()

    def stderr_tail(self) -> bytes:
        """The last bytes of the program's standard error."""
        return self._inbox.tail()

    async def end_input(self) -> None:
        """End the program's input; see the seam."""
        self._stdin.close()

    async def aclose(self, *, kill: bool = False) -> bool:
        """End the program's input and wait about a second at most for its end."""
        if kill and self._process.poll() is None:
            # A session of its own, so its group is what it started as well.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)
        if self._closing is None:
            self._inbox.close()
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)
        return self._process.poll() is not None

    async def _close(self) -> None:
        self._stdin.close()
        self._stdout.resume()
        if not await self._process_ended(_ENDING_S):
            # It is still cleaning up, which killing it would prevent. A thread sees to it that no zombie is left.
            threading.Thread(target=self._process.wait, daemon=True).start()
        self._stdout.close()
        self._stderr.close()
        # The pipes' own ends are closed by the event loop in its next turn.
        await asyncio.sleep(0)

    def _output_ended(self) -> None:
        """Its last words say why; they have a pipe of their own, and may come a moment later."""
        self._end_closed()
        asyncio.get_running_loop().call_later(_LAST_WORDS_S, self._inbox.end)

    def _end_closed(self) -> None:
        self._open_ends -= 1
        if not self._open_ends:
            self._inbox.end()

    def _complain(self, data: bytes) -> None:
        self._inbox.complain(data)
        if self._inbox.flooded:
            self._stderr.close()  # which also ends most programs that go on

    async def _process_ended(self, timeout_s: float) -> bool:
        if self._process.poll() is not None:
            return True
        loop = asyncio.get_running_loop()
        exited = asyncio.Event()
        watch = os.pidfd_open(self._process.pid)
        loop.add_reader(watch, exited.set)
        try:
            async with asyncio.timeout(timeout_s):
                await exited.wait()
        except TimeoutError:
            pass
        finally:
            loop.remove_reader(watch)
            os.close(watch)
        return self._process.poll() is not None


class _Input(asyncio.BaseProtocol):
    """Our end of the program's standard input."""

    def __init__(self) -> None:
        self.broken = False
        self._pipe: asyncio.WriteTransport | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._pipe = cast(asyncio.WriteTransport, transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 (asyncio's name and arguments)
        self.broken = True
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    async def send(self, data: bytes) -> None:
        assert self._pipe is not None
        self._pipe.write(data)
        await self._writable.wait()
        if self.broken:
            raise SessionLostError("the program no longer reads its input")

    def close(self) -> None:
        # What is still buffered belongs to a conversation that is over; a program that does not read would keep it.
        if self._pipe is not None and not self._pipe.is_closing():
            self._pipe.abort()


class _Output(asyncio.Protocol):
    """Our end of one of the program's outputs."""

    def __init__(self, data: Callable[[bytes], None], end: Callable[[], None]) -> None:
        self._on_data = data
        self._on_end = end
        self._pipe: asyncio.ReadTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._pipe = cast(asyncio.ReadTransport, transport)

    def data_received(self, data: bytes) -> None:
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 (asyncio's name and arguments)
        self._on_end()

    def pause(self) -> None:
        if self._pipe is not None:
            self._pipe.pause_reading()

    def resume(self) -> None:
        if self._pipe is not None and not self._pipe.is_closing():
            self._pipe.resume_reading()

    def close(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
