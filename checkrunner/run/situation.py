"""What the parts of one host's run share: its script, what is known so far, and whether it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from checkrunner.model.errors import HostError
from checkrunner.model.inventory import empty
from checkrunner.model.plan import CheckOutcome
from checkrunner.model.seams import Driver, Observer, Script
from checkrunner.run.book import Book
from checkrunner.run.once import Once
from checkrunner.run.stop import Stop
from checkrunner.run.turns import Sessions

__all__ = ["Situation"]

T = TypeVar("T")

_STOP_MESSAGES = {
    "interrupted": "the run was interrupted",
    "deadline": "the run's deadline passed",
}


class Situation:
    """Belongs to one event loop. `away_s` is how long a link may be away. `once` are the checks, by key, that one host
    runs for many. `told` is called in the place of the observer's `check_finished`."""

    def __init__(
        self,
        script: Script,
        *,
        observer: Observer,
        stop: Stop,
        driver: Driver | None,
        sessions: Sessions | None,
        away_s: float,
        once: Mapping[str, Once] | None = None,
        told: Callable[[CheckOutcome], None] | None = None,
    ) -> None:
        self.script = script
        self.host = script.host.name
        self.observer = observer
        self.stop = stop
        self.driver = driver
        self.sessions = sessions
        self.away_s = away_s
        self.once: Mapping[str, Once] = empty() if once is None else once
        self.book = Book(script.checks, script.whole, self._tell_others if once else None)
        self.lost: HostError | None = None
        self._is_lost = asyncio.Event()
        self._told = told or observer.check_finished

    @property
    def over(self) -> bool:
        """Whether nothing more is to be sent."""
        return bool(self.stop.reason) or self.lost is not None

    @property
    def end(self) -> str:
        """Why it is over, as a message; "" before."""
        return self.lost.message if self.lost else _STOP_MESSAGES.get(self.stop.reason, self.stop.reason)

    def host_lost(self, error: HostError) -> None:
        """The host's session is gone: the first reason stands."""
        if self.lost is None:
            self.lost = error
            self._is_lost.set()
            self.book.give_up()

    def record(self, outcome: CheckOutcome) -> None:
        """A check's outcome stands."""
        self.book.record(outcome)
        self._told(outcome)

    async def wait_for(self, key: str) -> None:
        """Return when the check has a verdict, or none is to be waited for."""
        await self.book.wait(key, self.stop)

    async def unless_over(self, awaitable: Awaitable[T]) -> T | None:
        """Its value; None when the run or the host comes to its end before."""
        task = asyncio.ensure_future(awaitable)
        lost = asyncio.ensure_future(self._is_lost.wait())
        try:
            await self.stop.race(asyncio.wait({task, lost}, return_when=asyncio.FIRST_COMPLETED))
            return task.result() if task.done() else None
        finally:
            for each in (task, lost):
                each.cancel()

    def _tell_others(self, outcome: CheckOutcome) -> None:
        once = self.once.get(outcome.planned.key)
        if once is not None:
            once.ran(outcome)

    async def pause(self, seconds: float) -> None:
        """Wait, unless the run or the host comes to its end before."""
        if seconds > 0 and not self.over:
            try:
                async with asyncio.timeout(seconds):
                    await self.stop.race(self._is_lost.wait())
            except TimeoutError:
                return
