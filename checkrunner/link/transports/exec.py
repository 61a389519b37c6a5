"""Hosts that a program of this machine leads to: any that runs ``/bin/sh`` there and passes its streams on.

Such a program says nothing when it has arrived. So a shell is started there whose first word is a mark of ours. What
comes before it, or in its place, is the program's own; and only then the command is sent, through the shell's input. So
it shows in no list of processes and in no server's log, and no limit on arguments is in its way.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import Sequence

from checkrunner.link.transports.exec_argv import Recipe, idle_settings
from checkrunner.link.transports.exec_errors import by_hand, ended_early, not_started
from checkrunner.link.transports.process import ProcessChannel, start_process
from checkrunner.model.characters import one_line
from checkrunner.model.errors import (
    ConnectError,
    ConnectTimeoutError,
    InventoryError,
    SessionLostError,
    UnreachableError,
)
from checkrunner.model.inventory import Host
from checkrunner.model.options import LocalOptions

__all__ = ["ExecTransport"]

# What a program may print before the shell's mark.
_MOST_NOISE = 256 << 10


class ExecTransport:
    """Runs commands where a program leads to. It keeps no connection: every `open` is a process of its own."""

    def __init__(self, recipe: Recipe, options: LocalOptions) -> None:
        self._recipe = recipe
        self._env = None if options.env is None else dict(options.env)
        self._channels: set[ProcessChannel] = set()

    async def open(self, host: Host, command: str, *, timeout_s: float) -> ProcessChannel:
        """See the seam. Returns when the shell there has got the command. Raises ValueError for more than one line."""
        if "\n" in command:
            raise ValueError("a command is one line")
        try:
            argv = self._recipe.argv(host)
        except InventoryError as error:
            raise UnreachableError(error.message, hint=error.hint) from error
        name = os.path.basename(argv[0])
        mark = f"checkrunner-inside-{secrets.token_hex(8)}"
        script = f'echo {mark};IFS= read -r c&&eval "$c"'
        try:
            channel = await start_process(
                [*argv, "/bin/sh", "-c", script], self._env, name=name, passes_on=self._recipe.passes_on
            )
        except (OSError, ValueError) as error:
            raise not_started(host.name, name, error) from error
        try:
            await self._enter(channel, host.name, name, mark, command, timeout_s)
        except BaseException:
            await asyncio.shield(asyncio.ensure_future(channel.discard()))
            raise
        self._channels = {other for other in self._channels if not other.ended}
        self._channels.add(channel)
        return channel

    def warnings(self, host: Host) -> Sequence[str]:
        """See the seam."""
        with contextlib.suppress(ConnectError):  # what is not there yet may be when it is opened
            self._recipe.argv(host)
        return idle_settings(host)

    async def aclose(self) -> None:
        """Close every channel; what still cleans up on the host goes on by itself."""
        channels, self._channels = self._channels, set()
        await asyncio.gather(*(channel.aclose() for channel in channels))

    async def _enter(
        self, channel: ProcessChannel, host: str, name: str, mark: str, command: str, timeout_s: float
    ) -> None:
        """Wait for the mark and hand over the command."""
        said = _Said()
        try:
            async with asyncio.timeout(timeout_s):
                await self._arrive(channel, host, name, mark, said)
                await channel.send(command.encode() + b"\n")
        except SessionLostError as error:
            raise self._died(channel, host, name, said, str(error)) from error
        except TimeoutError as error:
            words = one_line((channel.stderr_tail() or bytes(said.data)).decode("utf-8", "replace"), 300)
            raise ConnectTimeoutError(
                f"{host}: no shell within {timeout_s:g} s (connect_timeout): {name} still runs"
                f"{f'; it says: {words}' if words else ''}",
                hint=f"See whether {name} waits for something, and hands its arguments on one by one, not joined",
            ) from error
        channel.put_back(bytes(said.data))

    async def _arrive(self, channel: ProcessChannel, host: str, name: str, mark: str, said: _Said) -> None:
        """Read until the mark's line, and take that out of what was said."""
        line = mark.encode()
        while True:
            at = said.data.find(line)
            end = said.data.find(b"\n", at) if at >= 0 else -1
            if end >= 0:
                break
            if len(said.data) > _MOST_NOISE:
                raise UnreachableError(
                    f"{host}: {name} prints without end before a shell is there: {said.start()}",
                    hint=by_hand(name),
                )
            data = await channel.receive()
            if not data:
                raise self._died(channel, host, name, said, "")
            said.data += data
        if said.data[at + len(line) : end] == b"\r":
            raise UnreachableError(
                f"{host}: {name} puts a terminal in between, which changes what comes through",
                hint="Leave out its option for a terminal (-t)",
            )
        del said.data[at : end + 1]

    def _died(self, channel: ProcessChannel, host: str, name: str, said: _Said, why: str) -> ConnectError:
        words = channel.stderr_tail() or bytes(said.data)[-4096:]
        if channel.returncode is None and why:
            return UnreachableError(f"{host}: {name}: {why}", hint=by_hand(name))
        return ended_early(host, name, self._recipe, channel.returncode, words)


class _Said:
    """What has come before the mark."""

    def __init__(self) -> None:
        self.data = bytearray()

    def start(self) -> str:
        return one_line(self.data[:200].decode("utf-8", "replace"), 100)
