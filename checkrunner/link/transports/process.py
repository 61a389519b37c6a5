"""A program of this machine as the other end of a byte stream: its pipes, its end, and what it leaves."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from checkrunner.link.transports.inbox import Inbox
from checkrunner.model.errors import SessionLostError

__all__ = ["ProcessChannel", "signal_name", "start_process"]

# How long closing waits for the program to end by itself; its clean-up goes on without us after that.
_ENDING_S = 1.0
# How long the end of a program may come after that of its output: its last words have a pipe of their own.
_LAST_WORDS_S = 0.2


async def start_process(
    argv: Sequence[str], env: Mapping[str, str] | None, *, name: str = "", passes_on: bool = False
) -> ProcessChannel:
    """Start a program in a session and process group of its own; see `ProcessChannel`. Without `env` it has ours.

    Raises OSError and ValueError where it cannot be started. Waits for nothing.
    """
    process = subprocess.Popen(  # noqa: ASYNC220 (a fork; reading and waiting are done by the event loop)
        list(argv),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=env,
        start_new_session=True,
    )
    channel = ProcessChannel(process, name=name, passes_on=passes_on)
    try:
        await channel.attach()
    except BaseException:
        channel.abandon()
        raise
    return channel


class ProcessChannel:
    """The standard streams of one local program; implements `model.seams.Channel`.

    With a `name` the program only leads to another one, and a signal that ends it is the loss of the link. One that
    `passes_on` its streams (a client of a daemon) is not needed for what the other one does at its end.
    """

    def __init__(self, process: subprocess.Popen[bytes], *, name: str = "", passes_on: bool = False) -> None:
        self._process = process
        self._name = name
        self._passes_on = passes_on
        self._inbox = Inbox(lambda: self._stdout.pause(), lambda: self._stdout.resume())
        self._stdin = _Input()
        self._stdout = _Output(self._inbox.put, self._output_ended)
        self._complained = asyncio.Event()
        self._stderr = _Output(self._complain, self._complained.set)
        self._ending: asyncio.Task[None] | None = None
        self._over = False
        self._closing: asyncio.Future[None] | None = None

    @property
    def ended(self) -> bool:
        """Whether it was closed and the program has ended."""
        return self._closing is not None and self._process.poll() is not None

    @property
    def returncode(self) -> int | None:
        """The program's exit code, less than 0 for a signal; None while it runs."""
        return self._process.poll()

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
        self._over = True
        self._signal(signal.SIGKILL)
        for end in (self._stdin, self._stdout, self._stderr):
            end.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        threading.Thread(target=self._process.wait, daemon=True).start()

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
        if kill:
            self._signal(signal.SIGTERM)
        if self._closing is None:
            self._inbox.close()
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)
        return self._process.poll() is not None

    async def _close(self) -> None:
        self._over = True
        self._stdin.close()
        self._stdout.resume()
        if not await self._process_ended(_ENDING_S):
            # It is still cleaning up, which killing it would prevent. A thread sees to it that no zombie is left.
            threading.Thread(target=self._process.wait, daemon=True).start()
            if self._passes_on:
                self._signal(signal.SIGTERM)
        self._stdout.close()
        self._stderr.close()
        if self._ending is not None:
            self._ending.cancel()
        # The pipes' own ends are closed by the event loop in its next turn.
        await asyncio.sleep(0)

    async def discard(self) -> None:
        """End the program and what it started, whatever they are doing; return within about a second."""
        self._signal(signal.SIGKILL)
        await self.aclose()

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to the program and, since it has a session of its own, to what it started."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # the latter: it runs as another user
                os.killpg(self._process.pid, number)

    def put_back(self, data: bytes) -> None:
        """Let `data`, which was received, be received again."""
        self._inbox.put_back(data)

    def _output_ended(self) -> None:
        if self._over:
            self._inbox.end()
            return
        self._ending = asyncio.ensure_future(self._end())

    async def _end(self) -> None:
        """Tell of the output's end when the program's last words are there and, where that matters, how it ended."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_S):
                await self._complained.wait()
                if self._name:
                    await self._process_ended(_LAST_WORDS_S)
        code = self._process.poll()
        if self._name and code is not None and code < 0:
            self._inbox.lose(f"{self._name} was ended by signal {signal_name(-code)}")
        else:
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


def signal_name(number: int) -> str:
    """``KILL`` for 9; a number that has no name as it is."""
    try:
        return signal.Signals(number).name.removeprefix("SIG")
    except ValueError:
        return str(number)


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
