"""What a host has sent and nobody has read yet; used by every channel, whatever brings the bytes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from checkrunner.model.errors import SessionLostError

__all__ = ["CHUNK", "HIGH_WATER", "MOST_COMPLAINTS", "TAIL", "Inbox"]

CHUNK = 256 << 10
"""The most bytes that one `get` returns."""
HIGH_WATER = 1 << 20
"""Unread bytes beyond which the source is told to wait."""
TAIL = 4096
"""The bytes that are kept of the end of standard error."""
MOST_COMPLAINTS = 16 << 20
"""Bytes on standard error after which a program is not listened to any more. The agent writes a few lines at most."""


class Inbox:
    """Bytes in the order of their coming, and how they end. `pause` and `resume` tell the source to wait and to go on:
    a host that floods us has to wait."""

    def __init__(self, pause: Callable[[], None], resume: Callable[[], None]) -> None:
        self._pause = pause
        self._resume = resume
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self._paused = False
        self._ended = False
        self._closed = False
        self._lost: tuple[str, BaseException | None] | None = None
        self._arrived = asyncio.Event()
        self._tail = bytearray()
        self._complaints = 0

    def put(self, data: bytes) -> None:
        """Output has come. After `close` nobody wants it."""
        if self._closed:
            return
        self._chunks.append(data)
        self._held += len(data)
        if self._held >= HIGH_WATER and not self._paused:
            self._paused = True
            self._pause()
        self._arrived.set()

    def put_back(self, data: bytes) -> None:
        """Give back what was got, so that the next `get` finds it first."""
        if data:
            self._chunks.appendleft(data)
            self._held += len(data)
            self._arrived.set()

    def complain(self, data: bytes) -> None:
        """Text on standard error has come; its end is kept. A flood of it counts as a loss of the link."""
        self._tail += data[-TAIL:]
        del self._tail[:-TAIL]
        self._complaints += len(data)
        if self.flooded:
            self._pause()
            self.lose(f"it wrote more than {MOST_COMPLAINTS >> 20} MiB to its standard error")

    @property
    def flooded(self) -> bool:
        """Whether there was too much on standard error."""
        return self._complaints > MOST_COMPLAINTS

    def tail(self) -> bytes:
        """The last bytes of standard error."""
        return bytes(self._tail)

    def end(self) -> None:
        """No more will come, as the other side wished."""
        self._ended = True
        self._arrived.set()

    def lose(self, why: str, cause: BaseException | None = None) -> None:
        """No more will come, since the link broke."""
        self._lost = why, cause
        self._arrived.set()

    def close(self) -> None:
        """We want no more; who waits in `get` is let go."""
        self._closed = True
        self._arrived.set()

    async def get(self) -> bytes:
        """The next bytes; b"" at the end. Raises SessionLostError once what came before the loss is read. A cancelled
        call loses no bytes."""
        while not self._chunks:
            if self._lost is not None:
                why, cause = self._lost
                raise SessionLostError(why) from cause
            if self._ended or self._closed:
                return b""
            self._arrived.clear()
            await self._arrived.wait()
        chunk = self._chunks.popleft()
        if len(chunk) > CHUNK:
            self._chunks.appendleft(chunk[CHUNK:])
            chunk = chunk[:CHUNK]
        self._held -= len(chunk)
        if self._paused and self._held < HIGH_WATER:
            self._paused = False
            self._resume()
        return chunk
