"""Who waits for a server that lets in a few at a time, and for how long. Knows names and times; nothing of SSH."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from checkrunner.model.report import Wait

__all__ = ["Queue"]

# Less is no waiting: it is a turn of the loop.
_NOTICED_S = 0.01


class Queue:
    """The hosts that want to get through one place, called `place` in messages. `always` queues are of interest
    however short they are, others only where the server has dropped a connection."""

    def __init__(self, place: str, *, always: bool = False) -> None:
        self.place = place
        self.dropped = 0
        self.connections = 0
        self.channels = 0
        self._always = always
        self._since: dict[str, float] = {}
        self._waited: dict[str, float] = {}
        self._busy_since = 0.0
        self._busy_s = 0.0

    @contextmanager
    def waiting(self, host: str) -> Iterator[None]:
        """While this holds, the host waits."""
        now = monotonic()
        if not self._since:
            self._busy_since = now
        since = self._since.setdefault(host, now)
        try:
            yield
        finally:
            now = monotonic()
            self._since.pop(host, None)
            self._waited[host] = self._waited.get(host, 0.0) + now - since
            if not self._since:
                self._busy_s += now - self._busy_since

    def wait(self) -> Wait | None:
        """How it stands now; None where nothing is worth telling."""
        if not (self.dropped or (self._always and (self._waited or self._since))):
            return None
        now = monotonic()
        so_far = {host: now - since for host, since in self._since.items()}
        all_of_them = [self._waited.get(host, 0.0) + so_far.get(host, 0.0) for host in {**self._waited, **self._since}]
        noticed = [seconds for seconds in all_of_them if seconds >= _NOTICED_S]
        return Wait(
            place=self.place,
            hosts=len(noticed),
            waiting=len(self._since),
            waiting_s=max(so_far.values(), default=0.0),
            waited_s=self._busy_s + (now - self._busy_since if self._since else 0.0),
            longest_s=max(all_of_them, default=0.0),
            dropped=self.dropped,
            connections=self.connections,
            channels=self.channels,
        )
