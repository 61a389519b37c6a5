"""One host's run: its checks sent ahead as far as they depend on nothing, judged as the results come."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from checkrunner.model.errors import HostError
from checkrunner.model.plan import HostOutcome, PlannedCheck
from checkrunner.model.results import HostState
from checkrunner.model.seams import Driver, Observer, Script, Session
from checkrunner.run.course import Course
from checkrunner.run.outcomes import left_running, not_run
from checkrunner.run.situation import Situation
from checkrunner.run.stop import Stop
from checkrunner.run.turns import Lease, Sessions, Turns

__all__ = ["HostRun"]

# How long a stopped run waits for hosts to confirm that their commands were ended. Closing the stream ends them too.
_CANCEL_TIMEOUT_S = 5.0

_STOP_MESSAGES = {
    "interrupted": "the run was interrupted",
    "deadline": "the run's deadline passed",
}


class HostRun:
    """Drives one script over one session. Every planned check gets exactly one outcome, reported to the observer.

    `sessions` supplies the sessions of other hosts, for steps that are to run there (`Step.on`).
    """

    def __init__(
        self,
        script: Script,
        *,
        observer: Observer,
        stop: Stop,
        driver: Driver | None = None,
        start_s: float = 30.0,
        away_s: float = 0.0,
        sessions: Sessions | None = None,
    ) -> None:
        self._script = script
        self._stop = stop
        self._start_s = start_s
        self._away_s = away_s
        self._at = Situation(script, observer=observer, stop=stop, driver=driver, sessions=sessions, away_s=away_s)

    def never_started(self) -> HostOutcome:
        """The run ended before this host's turn, or while it connected."""
        self._finish_rest(self._stop_message())
        return self._host_outcome(HostState.NOT_TRIED, None)

    def unreached(self, error: HostError) -> HostOutcome:
        """The connection or the start of the remote side failed: no check was looked at."""
        self._finish_rest(error.message, error)
        return self._host_outcome(error.state, error)

    async def through(self, session: Session, connect_s: float) -> HostOutcome:
        """Run all checks; returns when each has its outcome."""
        turns = Turns(start_s=self._start_s, away_s=self._away_s)
        await self.run(Lease(session=session, turns=turns), self._script.checks)
        return self.finish(session, connect_s)

    async def run(self, own: Lease, checks: Sequence[PlannedCheck]) -> None:
        """Run some of the script's checks, those of one play or of several, in play order. Returns when all that comes
        of them is done, the run stops, or the host is lost. Not to be called twice at once."""
        work = asyncio.ensure_future(self._work(own, checks))
        stopped = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await self._end_early(own.session, work)
            if not work.cancelled():
                work.result()
        finally:
            stopped.cancel()
            work.cancel()

    def finish(self, session: Session, connect_s: float) -> HostOutcome:
        """What came of the host. Checks that the run did not get to become `unknown`."""
        lost = self._at.lost
        self._finish_rest(lost.message if lost else self._stop_message(), lost)
        state = lost.state if lost else HostState.REACHED
        return self._host_outcome(state, lost, session=session, connect_s=connect_s)

    async def _work(self, own: Lease, checks: Sequence[PlannedCheck]) -> None:
        async with asyncio.TaskGroup() as group:
            await Course(self._at, own, group).send(checks)

    async def _end_early(self, session: Session, work: asyncio.Future[None]) -> None:
        try:
            async with asyncio.timeout(_CANCEL_TIMEOUT_S):
                await session.cancel()
                await asyncio.wait({work})
        except (TimeoutError, HostError):
            work.cancel()
            await asyncio.wait({work})

    def _finish_rest(self, why: str, error: HostError | None = None) -> None:
        for planned in self._at.book.unfinished():
            # A check that was judged but whose slices never came keeps its verdict.
            known = self._at.book.judged.get(planned.key)
            self._at.record(known or not_run(self._at.host, planned, why, error))

    def _stop_message(self) -> str:
        return _STOP_MESSAGES.get(self._stop.reason, self._stop.reason)

    def _host_outcome(
        self,
        state: HostState,
        error: HostError | None,
        *,
        session: Session | None = None,
        connect_s: float = 0.0,
    ) -> HostOutcome:
        outcomes = self._at.book.outcomes()
        return HostOutcome(
            host=self._script.host,
            state=state,
            checks=outcomes,
            error=error,
            connect_s=round(connect_s, 3),
            agent=session.agent if session else "",
            notes=(*session.notes, *left_running(outcomes)) if session else (),
        )
