"""What one session has to send: in the order of asking, in as few pieces as possible.

Knows links and bytes; nothing of what they say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from checkrunner.link.starting import Link
from checkrunner.model.errors import SessionLostError

__all__ = ["Outbox"]

# A program that stopped reading usually ended; its end is the better error, if it comes within this time.
_ENDING_S = 1.0


class Outbox:
    """`waiting` is sent with the next flush. `held` repeats what was sent before hello came, since a start may have to
    be repeated. `failed` is told of a link that takes no more, some time after."""

    def __init__(self, failed: Callable[[Link, SessionLostError], None]) -> None:
        self.waiting: list[bytes] = []
        self.held: list[bytes] = []
        self._failed = failed
        self._sender: asyncio.Task[None] | None = None

    def flush(self, link: Link | None) -> None:
        """Send what waits, over this link."""
        # A task of its own: what is asked in the same turn of the loop leaves in one piece.
        if self._sender is None or self._sender.done():
            self._sender = asyncio.ensure_future(self._write(link))

    async def stop(self, *, within_s: float = 0.0) -> None:
        """End the sending, with some time to get done."""
        sender = self._sender
        if sender is not None and within_s and not sender.done():
            await asyncio.wait({sender}, timeout=within_s)
        if sender is not None and not sender.done():
            sender.cancel()
            await asyncio.wait({sender})

    async def _write(self, link: Link | None) -> None:
        await asyncio.sleep(0)
        while self.waiting and link is not None:
            data = b"".join(self.waiting)
            self.waiting.clear()
            try:
                await link.channel.send(data)
            except SessionLostError as error:
                asyncio.get_running_loop().call_later(_ENDING_S, self._failed, link, error)
                return
