"""What a program writes to its standard error: its end is kept for error messages, a flood counts as a broken link."""

from __future__ import annotations

__all__ = ["FLOODED", "MOST_COMPLAINTS", "Complaints"]

MOST_COMPLAINTS = 16 << 20
"""Bytes on standard error after which a program is not listened to any more. The agent writes a few lines at most."""
FLOODED = f"it wrote more than {MOST_COMPLAINTS >> 20} MiB to its standard error"
_TAIL = 4096


class Complaints:
    """Counts, and keeps the last 4 KiB."""

    def __init__(self) -> None:
        self._tail = bytearray()
        self._size = 0

    def add(self, data: bytes) -> None:
        """More of it."""
        self._size += len(data)
        self._tail += data[-_TAIL:]
        del self._tail[:-_TAIL]

    @property
    def flooded(self) -> bool:
        """Whether there is too much of it."""
        return self._size > MOST_COMPLAINTS

    @property
    def tail(self) -> bytes:
        """The end of it."""
        return bytes(self._tail)
