"""One host's run: its checks sent ahead as far as they depend on nothing, judged as the results come."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence

from checkrunner.model.errors import HostError
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.results import HostState, VerdictState
from checkrunner.model.seams import Driver, Observer, Script, Session
from checkrunner.run.course import Course
from checkrunner.run.once import Once
from checkrunner.run.outcomes import left_running, not_run, unread
from checkrunner.run.situation import Situation
from checkrunner.run.stop import Stop
from checkrunner.run.turns import Lease, Sessions

__all__ = ["HostRun"]

# How long a stopped run waits for hosts to confirm that their commands were ended. Closing the stream ends them too.
_CANCEL_TIMEOUT_S = 5.0


class HostRun:
    """Drives one script over one session, all at once or stage by stage: `run` for each stage, `leave` for what is not
    to be begun, `finish` at the end. Every planned check gets exactly one outcome, reported to the observer.

    `sessions` supplies the sessions of other hosts, for steps that are to run there (`Step.on`). `once` are the checks,
    by key, that one host runs for many: where it is not this one, they have no outcome here, and what needs them sees
    that of the other host. `told` is called in the place of the observer's `check_finished`.
    """

    def __init__(
        self,
        script: Script,
        *,
        observer: Observer,
        stop: Stop,
        driver: Driver | None = None,
        away_s: float = 0.0,
        sessions: Sessions | None = None,
        once: Mapping[str, Once] | None = None,
        told: Callable[[CheckOutcome], None] | None = None,
    ) -> None:
        self._script = script
        self._stop = stop
        self._sessions = sessions
        self._guests: dict[str, Session] = {}
        self._reached = False
        self._at = Situation(
            script,
            observer=observer,
            stop=stop,
            driver=driver,
            sessions=self._lent if sessions else None,
            away_s=away_s,
            once=once,
            told=told,
        )

    @property
    def lost(self) -> HostError | None:
        """Why nothing more can be had of the host: it was not reached, or is lost."""
        return self._at.lost

    def unreached(self, error: HostError) -> None:
        """The connection or the start of the remote side failed: no check can be looked at."""
        self._at.host_lost(error)

    def leave(self, checks: Sequence[PlannedCheck], why: str) -> None:
        """These checks are not to be begun."""
        keys = {planned.key for planned in checks}
        self._finish_rest([planned for planned in self._at.book.unfinished() if planned.key in keys], why)

    async def run(self, own: Lease, checks: Sequence[PlannedCheck]) -> None:
        """Run some of the script's checks, those of one play or of several, in play order. Returns when all that comes
        of them is done, the run stops, or the host is lost. Not to be called twice at once."""
        self._reached = True
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

    def finish(self, session: Session | None = None, connect_s: float = 0.0) -> HostOutcome:
        """What came of the host. Checks that have no outcome yet become `unknown`: the host is lost, or the run was
        stopped."""
        lost = self._at.lost
        self._finish_rest(self._at.book.unfinished(), self._at.end)
        outcomes = self._at.book.outcomes()
        return HostOutcome(
            host=self._script.host,
            state=lost.state if lost else HostState.REACHED if self._reached else HostState.NOT_TRIED,
            checks=outcomes,
            error=lost,
            connect_s=round(connect_s, 3),
            agent=session.agent if session else "",
            notes=(*session.notes, *left_running(outcomes)) if session else (),
        )

    async def _lent(self, name: str) -> Lease:
        assert self._sessions is not None
        lease = await self._sessions(name)
        self._guests[name] = lease.session
        return lease

    async def _work(self, own: Lease, checks: Sequence[PlannedCheck]) -> None:
        async with asyncio.TaskGroup() as group:
            await Course(self._at, own, group).send(checks)

    async def _end_early(self, session: Session, work: asyncio.Future[None]) -> None:
        try:
            async with asyncio.timeout(_CANCEL_TIMEOUT_S):
                await asyncio.gather(session.cancel(), *(_quietly(guest.cancel()) for guest in self._guests.values()))
                await asyncio.wait({work})
        except (TimeoutError, HostError):
            work.cancel()
            await asyncio.wait({work})

    def _finish_rest(self, checks: Sequence[PlannedCheck], why: str) -> None:
        book, host = self._at.book, self._at.host
        for planned in checks:
            known = book.judged.get(planned.key)
            once = self._at.once.get(planned.key)
            outcome = known or not_run(host, planned, why, self._at.lost)
            if once is not None and (known.host != host if known else not once.leave(host)):
                book.leave_to_others(planned, once.outcome or outcome)
            else:
                # A check that was judged but whose slices never came keeps its verdict.
                self._at.record(unread(outcome) if known and _lacks_slices(known) else outcome)


def _lacks_slices(outcome: CheckOutcome) -> bool:
    return not outcome.slices and outcome.verdict.state not in {VerdictState.OK, VerdictState.SKIPPED}


async def _quietly(ending: Awaitable[None]) -> None:
    with contextlib.suppress(HostError):
        await ending
