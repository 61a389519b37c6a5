"""Hosts over SSH: one connection each, a byte stream per session channel.

The only door to asyncssh, together with its `ssh_*` neighbours.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import asyncssh

from checkrunner.link.transports.inbox import Inbox
from checkrunner.link.transports.ssh_bastion import Standing
from checkrunner.link.transports.ssh_checks import setting_warnings
from checkrunner.link.transports.ssh_dialer import Dialer
from checkrunner.link.transports.ssh_errors import Progress, loss_text, mapped_errors
from checkrunner.model.errors import ConnectError, SessionLostError
from checkrunner.model.inventory import Host
from checkrunner.model.options import SshOptions
from checkrunner.model.report import Wait

__all__ = ["SshChannel", "SshTransport"]

# A connection without channels is kept this long: a start that is repeated finds it standing.
_LINGER_S = 1.0
# How long the end of a login shell is waited for that was told to end.
_KILLING_S = 0.7


@dataclass(slots=True)
class _Used:
    """A standing connection and the number of channels on it."""

    standing: Standing
    channels: int = 0
    linger: asyncio.TimerHandle | None = None


class SshTransport:
    """Connects with asyncssh. One object serves a run; a host that was never reached is not tried again."""

    def __init__(self, options: SshOptions) -> None:
        self._options = options
        self._dialer = Dialer(options)
        self._hosts: dict[str, list[_Used]] = {}
        self._failed: dict[str, ConnectError] = {}
        self._dialling: dict[str, asyncio.Lock] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def open(self, host: Host, command: str, *, timeout_s: float) -> SshChannel:
        """See the seam. `timeout_s` is for one try to connect; a ConnectTimeout of the host's own settings wins."""
        channel = await self._on_standing(host, command, timeout_s)
        if channel is not None:
            return channel
        lock = self._dialling.setdefault(host.name, asyncio.Lock())
        others = lock.locked()
        async with lock:
            # Several accounts of a host lose its connection together, and one new one does for them.
            channel = await self._on_standing(host, command, timeout_s) if others else None
            return channel or await self._on_new(host, command, timeout_s)

    async def _on_standing(self, host: Host, command: str, timeout_s: float) -> SshChannel | None:
        """A channel on one of the connections that stand, if any takes it."""
        if host.name in self._failed:
            raise self._failed[host.name]
        for used in self._hosts.get(host.name, ()):
            if used.standing.usable:
                try:
                    return await self._channel(used, command, timeout_s)
                except (asyncssh.Error, OSError, TimeoutError):
                    # The server allows no more sessions on a connection, or the connection has just ended.
                    continue
        return None

    async def _on_new(self, host: Host, command: str, timeout_s: float) -> SshChannel:
        reached = host.name in self._hosts
        try:
            used = _Used(await self._dialer.connect(host, timeout_s))
            self._hosts.setdefault(host.name, []).append(used)
            progress = Progress(target=host.name, dialled=True, banner=True)
            with mapped_errors(progress):
                return await self._channel(used, command, timeout_s)
        except ConnectError as error:
            if not reached:
                self._failed[host.name] = error
            raise

    def warnings(self, host: Host) -> Sequence[str]:
        """See the seam: options that are not honoured, and passwords for hosts whose keys are not checked."""
        return setting_warnings(host, self._options, self._dialer.settings)

    def waits(self) -> Sequence[Wait]:
        """See `model.seams.Queues`: jump hosts, and servers that dropped connections."""
        return self._dialer.waits()

    async def aclose(self) -> None:
        """Close every connection, those to jump hosts last."""
        hosts, self._hosts = self._hosts, {}
        for many in hosts.values():
            for used in many:
                self._end(used)
        while self._ending:
            await asyncio.wait(self._ending)
        await self._dialer.aclose()

    async def _channel(self, used: _Used, command: str, timeout_s: float) -> SshChannel:
        used.channels += 1
        if used.linger is not None:
            used.linger.cancel()
            used.linger = None
        channel = SshChannel(lambda: self._release(used))
        try:
            async with asyncio.timeout(timeout_s):
                await used.standing.connection.create_session(lambda: channel, command, encoding=None)
        except BaseException:
            self._release(used)
            raise
        return channel

    def _release(self, used: _Used) -> None:
        used.channels -= 1
        if used.channels <= 0 and used.linger is None:
            used.linger = asyncio.get_running_loop().call_later(_LINGER_S, self._end, used)

    def _end(self, used: _Used) -> None:
        if used.linger is not None:
            used.linger.cancel()
        task = asyncio.ensure_future(used.standing.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


class SshChannel(asyncssh.SSHClientSession[bytes]):
    """The standard streams of one command on a host; implements `model.seams.Channel`."""

    def __init__(self, released: Callable[[], None]) -> None:
        self._released = released
        self._channel: asyncssh.SSHClientChannel[bytes] | None = None
        self._inbox = Inbox(self._pause_reading, self._resume_reading)
        self._broken: BaseException | None = None
        self._gone = False
        self._closed = False
        self._exited = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()

    # ---- the seam

    async def send(self, data: bytes) -> None:
        """Send all of `data`; see the seam."""
        if self._channel is None or self._gone or self._closed:
            raise SessionLostError(loss_text(self._broken))
        try:
            self._channel.write(data)
        except (OSError, asyncssh.Error) as error:
            raise SessionLostError(loss_text(error)) from error
        await self._writable.wait()
        if self._gone:
            raise SessionLostError(loss_text(self._broken))

    async def receive(self) -> bytes:
        """The next bytes; see the seam."""
        return await self._inbox.get()

    def stderr_tail(self) -> bytes:
        """The last bytes of the command's standard error."""
        return self._inbox.tail()

    async def end_input(self) -> None:
        """End the command's input; see the seam."""
        if self._channel is not None and not self._gone and not self._closed:
            self._channel.write_eof()

    async def aclose(self, *, kill: bool = False) -> bool:
        """End the command's input and the channel. Waits for nothing but the end of what is killed."""
        if self._closed:
            return self._exited.is_set()
        self._closed = True
        self._inbox.close()
        self._writable.set()
        if self._channel is not None and not self._gone:
            self._channel.write_eof()
            if kill:
                await self._kill(self._channel)
            self._channel.close()
        self._released()
        return self._exited.is_set()

    async def _kill(self, channel: asyncssh.SSHClientChannel[bytes]) -> None:
        """End the login shell and what it runs: a server without a terminal leaves them when the channel ends. OpenSSH
        passes no signal on to what root or a forced command has started, and does not say so."""
        with contextlib.suppress(OSError, asyncssh.Error):
            channel.send_signal("TERM")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_KILLING_S):
                await self._exited.wait()

    # ---- called by asyncssh

    def connection_made(self, chan: Any) -> None:
        """The channel is open."""
        self._channel = chan

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Output of the command."""
        if datatype is not None:
            self._inbox.complain(data)
        else:
            self._inbox.put(data)

    def eof_received(self) -> bool:
        """The command ended its output; the channel stays open until we close it."""
        self._inbox.end()
        return True

    def exit_status_received(self, status: int) -> None:  # noqa: ARG002 (asyncssh's name and arguments)
        """The command has ended."""
        self._exited.set()

    def exit_signal_received(self, *_: object) -> None:
        """A signal has ended the command."""
        self._exited.set()

    def pause_writing(self) -> None:
        """The host does not read."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """The host reads again."""
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """The channel is closed, by the host or with its connection."""
        self._gone = True
        if exc is not None and not self._closed:
            self._broken = exc
            self._inbox.lose(loss_text(exc), exc)
        else:
            self._inbox.end()
        self._writable.set()

    # ---- flow of what is received: a paused channel's window closes

    def _pause_reading(self) -> None:
        if self._channel is not None:
            self._channel.pause_reading()

    def _resume_reading(self) -> None:
        if self._channel is not None:
            self._channel.resume_reading()
