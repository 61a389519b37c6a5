"""The engine: many hosts at once, each going through its script, none taking another down.

Knows hosts, scripts and sessions by their seams only; nothing of SSH, templates or verdicts.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from checkrunner.model.errors import HostError
from checkrunner.model.inventory import Host
from checkrunner.model.options import RunOptions
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.playbook import Play
from checkrunner.model.seams import Driver, Observer, Script, Session
from checkrunner.run.deferred import Deferred
from checkrunner.run.host import HostRun
from checkrunner.run.pool import FindHost, OpenSession, Pool
from checkrunner.run.schedule import Batch, Part, Schedule
from checkrunner.run.stop import Stop
from checkrunner.run.turns import Lease, Turns

__all__ = ["Engine", "OpenSession"]

_TICK_S = 1.0
_CONNECTED_ANEW = (
    "connected_anew: too many hosts were waiting for their next play; what this host's sessions had set in an earlier "
    "one was gone"
)


class Engine:
    """Runs scripts on hosts, at most `forks` hosts at a time.

    A host's trouble becomes its own outcomes. Every planned check of every host yields exactly one outcome, whatever
    happens: a stop (interrupt, deadline) turns what is left into `not_run`. `driver` answers what commands ask. `find`
    knows the hosts that checks are delegated to, and `rooms` is how many sessions such a host has per remote side.
    `most_kept` hosts may stay connected between two stages.
    """

    def __init__(
        self,
        open_session: OpenSession,
        *,
        options: RunOptions,
        observer: Observer,
        driver: Driver | None = None,
        find: FindHost | None = None,
        rooms: int = 16,
        most_kept: int = 1000,
    ) -> None:
        self._open_session = open_session
        self._options = options
        self._observer = observer
        self._driver = driver
        self._find = find
        self._rooms = rooms
        self._most_kept = most_kept

    async def run(self, scripts: Sequence[Script], stop: Stop, plays: Sequence[Play] = ()) -> list[HostOutcome]:
        """Run all scripts; the outcomes come back in the order of `scripts`.

        `plays` are those of the playbook, for what they say of the order of hosts: a host goes through all of its
        checks at once but where a play says `serial`, `forks` or `max_fail` (see `run.stages`).

        Setting `stop` ends the run early: running commands are ended on their hosts before this returns. Anything but
        a HostError that escapes from a host's run is a bug: the others are stopped in the same way, then it is raised.
        """
        schedule = Schedule(scripts, plays)
        self._observer.run_started(len(scripts), schedule.total)
        pool = Pool(self._open_session, find=self._find, rooms=self._rooms, most_kept=self._most_kept)
        hosts = _Hosts(self._options, self._observer, self._driver, scripts, schedule, pool, stop)
        deadline = self._watch_deadline(stop)
        ticker = asyncio.ensure_future(self._tick())
        try:
            for batch in schedule.batches:
                await hosts.through(batch)
        finally:
            deadline()
            ticker.cancel()
            await pool.aclose()
            self._observer.run_finished()
        return [outcome for outcome in hosts.outcomes if outcome is not None]

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


@dataclass(slots=True)
class _Begun:
    """A host between its first stage and its last."""

    host: Host
    run: HostRun
    own: Lease | None = None
    connected: Session | None = None
    connect_s: float = 0.0
    notes: tuple[str, ...] = ()


class _Hosts:
    """All hosts of one run on their way through its stages."""

    def __init__(
        self,
        options: RunOptions,
        observer: Observer,
        driver: Driver | None,
        scripts: Sequence[Script],
        schedule: Schedule,
        pool: Pool,
        stop: Stop,
    ) -> None:
        self.outcomes: list[HostOutcome | None] = [None] * len(scripts)
        self._options = options
        self._observer = observer
        self._driver = driver
        self._scripts = scripts
        self._once = schedule.once
        self._told: Callable[[CheckOutcome], None] = schedule.counting(observer.check_finished)
        self._pool = pool
        self._stop = stop
        self._begun: dict[int, _Begun] = {}

    async def through(self, batch: Batch) -> None:
        """Bring the hosts of a batch through its stage, as many at a time as may be."""
        forks = min(self._options.forks, batch.forks or self._options.forks, len(batch.parts))
        todo = iter(batch.parts)
        async with asyncio.TaskGroup() as group:
            for _ in range(forks):
                group.create_task(self._work(batch, todo))

    async def _work(self, batch: Batch, todo: Iterator[Part]) -> None:
        for part in todo:
            if self.outcomes[part.index] is None:
                await self._one_host(batch, part)

    async def _one_host(self, batch: Batch, part: Part) -> None:
        host = self._begun.get(part.index)
        if host is None:
            host = self._begun[part.index] = self._begin(part.index)
        if batch.failures.why:
            host.run.leave(part.checks, batch.failures.why)
        elif not self._stop.reason:
            own = await self._own(host, connects=part.connects)
            if own is not None:
                await host.run.run(own, part.checks)
        if part.last or host.run.lost is not None or self._stop.reason:
            outcome = host.run.finish(host.own.session if host.own else None, host.connect_s)
            del self._begun[part.index]
            await self._pool.release(host.host.name)
            self.outcomes[part.index] = replace(outcome, notes=(*outcome.notes, *host.notes)) if host.notes else outcome
            self._observer.host_finished(outcome)
        else:
            await self._pool.keep(host.host.name)

    async def _own(self, host: _Begun, *, connects: bool) -> Lease | None:
        """Where the host's own checks are run: what it has from its last stage, as long as that is open. Where none
        needs it, it is connected to only should one turn out to."""
        try:
            if connects or host.connected:
                session = await self._stop.race(self._connect(host))
            else:
                session = Deferred(functools.partial(self._connect, host))
        except HostError as error:
            host.run.unreached(error)
            return None
        if session is None:
            return None
        if host.own is None or host.own.session is not session:
            opened = session.open if isinstance(session, Deferred) else None
            host.own = replace(self._lease(session), opened=opened)
        return host.own

    async def _connect(self, host: _Begun) -> Session:
        started, before = asyncio.get_running_loop().time(), host.connected
        if not before:
            self._observer.host_connecting(host.host.name)
        session = await self._pool.own(host.host)
        if not before:
            host.connect_s = asyncio.get_running_loop().time() - started
            self._observer.host_connected(host.host.name)
        elif before is not session:
            host.notes = (_CONNECTED_ANEW,)
        host.connected = session
        return session

    def _begin(self, index: int) -> _Begun:
        script, guest = self._scripts[index], dict[str, Lease]()

        async def sessions(name: str) -> Lease:
            session = await self._pool.lodge(script.host.name, name)
            return guest.setdefault(name, self._lease(session))

        run = HostRun(
            script,
            observer=self._observer,
            stop=self._stop,
            driver=self._driver,
            away_s=self._options.away_s,
            sessions=sessions,
            once=self._once.get(index),
            told=self._told,
        )
        return _Begun(script.host, run)

    def _lease(self, session: Session) -> Lease:
        return Lease(session=session, turns=Turns(start_s=self._options.start_s, away_s=self._options.away_s))
