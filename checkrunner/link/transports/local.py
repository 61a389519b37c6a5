"""This machine as a host: the same exec line as over SSH, run by /bin/sh in its own session and process group.

If the controller is killed the agent sees the end of its input, as with a connection that broke.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from checkrunner.link.transports.process import ProcessChannel, start_process
from checkrunner.model.errors import UnreachableError
from checkrunner.model.inventory import Host
from checkrunner.model.options import LocalOptions

__all__ = ["LocalTransport"]


class LocalTransport:
    """Runs commands on this machine. It needs no connection, so every `open` is a process of its own."""

    def __init__(self, options: LocalOptions) -> None:
        self._options = options
        self._channels: set[ProcessChannel] = set()

    async def open(self, host: Host, command: str, *, timeout_s: float) -> ProcessChannel:
        """Start `command` with /bin/sh. `timeout_s` is not needed: starting a process does not wait for anything."""
        del timeout_s
        env = None if self._options.env is None else dict(self._options.env)
        try:
            channel = await start_process(["/bin/sh", "-c", command], env)
        except (OSError, ValueError) as error:
            raise UnreachableError(f"{host.name}: /bin/sh cannot be started: {error}") from error
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
