"""What the parts of one host's run share: its script, what is known so far, and whether it goes on."""

from __future__ import annotations

import asyncio

from checkrunner.model.errors import HostError
from checkrunner.model.plan import CheckOutcome
from checkrunner.model.seams import Driver, Observer, Script
from checkrunner.run.book import Book
from checkrunner.run.stop import Stop
from checkrunner.run.turns import Sessions

__all__ = ["Situation"]


class Situation:
    """Belongs to one event loop. `away_s` is how long a link may be away."""

    def __init__(
        self,
        script: Script,
        *,
        observer: Observer,
        stop: Stop,
        driver: Driver | None,
        sessions: Sessions | None,
        away_s: float,
    ) -> None:
        self.script = script
        self.host = script.host.name
        self.observer = observer
        self.stop = stop
        self.driver = driver
        self.sessions = sessions
        self.away_s = away_s
        self.book = Book(script.checks, script.whole)
        self.lost: HostError | None = None
        self._is_lost = asyncio.Event()

    @property
    def over(self) -> bool:
        """Whether nothing more is to be sent."""
        return bool(self.stop.reason) or self.lost is not None

    def host_lost(self, error: HostError) -> None:
        """The host's session is gone: the first reason stands."""
        if self.lost is None:
            self.lost = error
            self._is_lost.set()
            self.book.give_up()

    def record(self, outcome: CheckOutcome) -> None:
        """A check's outcome stands."""
        self.book.record(outcome)
        self.observer.check_finished(outcome)

    async def wait_for(self, key: str) -> None:
        """Return when the check has a verdict, or none is to be waited for."""
        await self.book.wait(key, self.stop)

    async def pause(self, seconds: float) -> None:
        """Wait, unless the run or the host comes to its end before."""
        if seconds > 0 and not self.over:
            try:
                async with asyncio.timeout(seconds):
                    await self.stop.race(self._is_lost.wait())
            except TimeoutError:
                return
