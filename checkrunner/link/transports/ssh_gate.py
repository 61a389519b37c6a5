"""How many logins one server is asked for at the same time, learnt from what it drops.

Knows counts and turns; nothing of SSH.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from checkrunner.link.transports.ssh_queue import Queue
from checkrunner.model.errors import ConnectTimeoutError, ThrottledError

__all__ = ["Gate"]

T = TypeVar("T")

# Pauses before another try where the server drops connections; each is drawn from a range. Together they are the time
# that a server has to become less busy, if it is others that keep it so.
_PAUSES_S = ((0.2, 0.8), (0.6, 1.8), (1.5, 3.5), (3.0, 6.0))


class Gate:
    """The way in to one server, for all names that it has in the inventory.

    There is no limit until the server drops a connection. Then half as many as were under way may be, and for each
    round of logins that went well one more. So a server that takes two at a time lets hundreds in, one after another.
    """

    def __init__(self) -> None:
        self._busy = 0
        self._limit = math.inf
        self._turn = asyncio.Condition()

    async def through(self, once: Callable[[], Awaitable[T]], queue: Queue | None = None, host: str = "") -> T:
        """What `once` returns or raises. After a ThrottledError it is tried again, after pauses of random length.

        A drop in a crowd of ours says nothing of this host, which just waits for another turn. Only those count that
        came while nothing else of ours was under way. `queue` hears of drops, and, for a `host`, of the waiting.
        """
        pauses = list(_PAUSES_S)
        queue = queue or Queue("")
        alone, again = False, False
        while True:
            with queue.waiting(host) if host else contextlib.nullcontext():
                if again and alone:
                    await asyncio.sleep(random.uniform(*pauses.pop(0)))  # noqa: S311 (spreads retries, keeps no secret)
                alone = await self._enter()
            try:
                value = await once()
            except ThrottledError:
                queue.dropped += 1
                self._limit = max(1, min(self._limit, self._busy) // 2)
                if alone and not pauses:
                    raise
            except ConnectTimeoutError:
                # It takes connections and does nothing with them: taking turns would only make that last.
                self._limit = math.inf
                raise
            else:
                self._limit += 1 / self._limit
                return value
            finally:
                await self._leave()
            again = True

    async def _enter(self) -> bool:
        """Wait for a turn. Returns whether nothing else is under way."""
        async with self._turn:
            await self._turn.wait_for(lambda: self._busy + 1 <= self._limit)
            self._busy += 1
            return self._busy == 1

    async def _leave(self) -> None:
        self._busy -= 1
        async with self._turn:
            self._turn.notify_all()
