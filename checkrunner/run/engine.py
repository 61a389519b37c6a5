"""The engine: many hosts at once, each going through its script, none taking another down.

Knows hosts, scripts and sessions by their seams only; nothing of SSH, templates or verdicts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

from checkrunner.model.errors import HostError
from checkrunner.model.inventory import Host
from checkrunner.model.options import RunOptions
from checkrunner.model.plan import HostOutcome
from checkrunner.model.seams import Driver, Observer, Script, Session
from checkrunner.run.host import HostRun
from checkrunner.run.stop import Stop

__all__ = ["Engine", "OpenSession"]

_TICK_S = 1.0

OpenSession = Callable[[Host], Awaitable[Session]]
"""Connects to a host and starts its remote side; raises HostError members only."""


class Engine:
    """Runs scripts on hosts, at most `forks` hosts at a time.

    A host's trouble becomes its own outcomes. Every planned check of every host yields exactly one outcome, whatever
    happens: a stop (interrupt, deadline) turns what is left into `not_run`. `driver` answers what commands ask.
    """

    def __init__(
        self, open_session: OpenSession, *, options: RunOptions, observer: Observer, driver: Driver | None = None
    ) -> None:
        self._open_session = open_session
        self._options = options
        self._observer = observer
        self._driver = driver

    async def run(self, scripts: Sequence[Script], stop: Stop) -> list[HostOutcome]:
        """Run all scripts; the outcomes come back in the order of `scripts`.

        Setting `stop` ends the run early: running commands are ended on their hosts before this returns. Anything but
        a HostError that escapes from a host's run is a bug: the others are stopped in the same way, then it is raised.
        """
        self._observer.run_started(len(scripts), sum(len(script.checks) for script in scripts))
        outcomes: list[HostOutcome | None] = [None] * len(scripts)
        todo = iter(enumerate(scripts))
        workers = min(self._options.forks, len(scripts))
        deadline = self._watch_deadline(stop)
        ticker = asyncio.ensure_future(self._tick())
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._work(todo, outcomes, stop))
        finally:
            deadline()
            ticker.cancel()
            self._observer.run_finished()
        return [outcome for outcome in outcomes if outcome is not None]

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK_S)
            self._observer.tick()

    def _watch_deadline(self, stop: Stop) -> Callable[[], None]:
        seconds = self._options.deadline_s
        if seconds is None:
            return lambda: None
        handle = asyncio.get_running_loop().call_later(seconds, stop.set, "deadline")
        return handle.cancel

    async def _work(self, todo: Iterator[tuple[int, Script]], outcomes: list[HostOutcome | None], stop: Stop) -> None:
        for index, script in todo:
            outcome = await self._one_host(script, stop)
            outcomes[index] = outcome
            self._observer.host_finished(outcome)

    async def _one_host(self, script: Script, stop: Stop) -> HostOutcome:
        run = HostRun(script, observer=self._observer, stop=stop, driver=self._driver, start_s=self._options.start_s)
        if stop.reason:
            return run.never_started()
        self._observer.host_connecting(script.host.name)
        started = asyncio.get_running_loop().time()
        try:
            session = await stop.race(self._open_session(script.host))
        except HostError as error:
            return run.unreached(error)
        if session is None:
            return run.never_started()
        connect_s = asyncio.get_running_loop().time() - started
        self._observer.host_connected(script.host.name)
        try:
            return await run.through(session, connect_s)
        finally:
            await session.aclose()
