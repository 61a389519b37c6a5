"""Ending a run before its end: one flag with a reason, that waits can be raced against."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

__all__ = ["Stop"]

T = TypeVar("T")


class Stop:
    """Set once, by an interrupt or a deadline. `reason` is "" until then. Belongs to one event loop."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.reason = ""

    def set(self, reason: str) -> None:
        """End the run, for `reason` (``interrupted``, ``deadline``). The first reason stands."""
        if not self.reason:
            self.reason = reason
            self._event.set()

    async def wait(self) -> None:
        """Return when the run is to end."""
        await self._event.wait()

    async def race(self, awaitable: Awaitable[T]) -> T | None:
        """The awaitable's value, or None when the stop came first; the awaitable is then cancelled and waited for."""
        if self.reason:
            asyncio.ensure_future(awaitable).cancel()
            return None
        task = asyncio.ensure_future(awaitable)
        stopped = asyncio.ensure_future(self._event.wait())
        try:
            await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            return None
        finally:
            stopped.cancel()
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
                if not task.cancelled():
                    task.exception()  # its outcome is of no interest any more; mark it as seen
