"""The sessions of a run: one for each host, opened once and kept as long as a stage needs it, and those that hosts have
on other hosts, for checks that are delegated there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from checkrunner.model.errors import AgentError, BecomeError, HostError, UnsupportedError
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Observation
from checkrunner.model.plan import OnPrompt, Step
from checkrunner.model.results import RawSlice, Result, SliceQuery
from checkrunner.model.seams import Session

__all__ = ["FindHost", "OpenSession", "Pool"]

OpenSession = Callable[[Host], Awaitable[Session]]
"""Connects to a host and starts its remote side; raises HostError members only. A further one for a host uses the
connection that stands."""

FindHost = Callable[[str], Host]
"""The host of a name that a check is delegated to. Raises HostError members where it cannot be used."""


@dataclass(slots=True, eq=False)
class _Lodging:
    """A remote side on a host that serves others. `taken` counts the named sessions that it has been given: those that
    were left do not end before it does. `lost` is why it can be used no more."""

    opening: asyncio.Future[Session]
    taken: int = 0
    tenants: set[str] = field(default_factory=set)
    lost: HostError | None = None


@dataclass(slots=True, eq=False)
class _Place:
    """A host, as far as somebody wants a session there. `failed` is what came of the only try to connect."""

    connecting: asyncio.Lock = field(default_factory=asyncio.Lock)
    stands: bool = False
    failed: HostError | None = None
    own: Session | None = None
    lodgings: list[_Lodging] = field(default_factory=list)
    rooms: dict[tuple[str, str], Session] = field(default_factory=dict)


class Pool:
    """Opens each host's session once, and tries to connect to a host once, whoever wants it.

    `rooms` is how many named sessions a remote side may have: where delegated checks want more on a host, a further one
    is started there, over the same connection.
    """

    def __init__(self, open_session: OpenSession, *, find: FindHost | None = None, rooms: int = 16) -> None:
        self._open_session = open_session
        self._find = find
        self._rooms = max(rooms, 1)
        self._places: dict[str, _Place] = {}
        self._lodged: dict[str, dict[str, _Place]] = {}
        self._closing: set[asyncio.Future[None]] = set()

    async def own(self, host: Host) -> Session:
        """The host's own session. Raises HostError members, the same each time where it cannot be reached."""
        place = self._places.setdefault(host.name, _Place())
        if place.own is None:
            place.own = await self._open(place, host)
        return place.own

    async def lodge(self, tenant: str, name: str, session: str) -> Session:
        """The host `tenant`'s named session on the host `name`: the same one each time. It shares nothing but the
        connection with what others have there, that host itself too. Raises HostError members."""
        place = self._places.setdefault(name, _Place())
        found = place.rooms.get((tenant, session))
        if found is not None:
            return found
        lodging = self._lodging(place, name, tenant)
        self._lodged.setdefault(tenant, {})[name] = place
        lodging.taken += 1
        number = lodging.taken
        lodging.tenants.add(tenant)
        inner = await asyncio.shield(lodging.opening)
        found = place.rooms[tenant, session] = _Guest(lodging, inner, f"{session}~{number}")
        return found

    async def release(self, host: str) -> None:
        """The host has no further checks: ends its own session, and those remote sides that nobody can use any more."""
        for place in self._lodged.pop(host, {}).values():
            for key in [key for key in place.rooms if key[0] == host]:
                del place.rooms[key]
            for lodging in [lodging for lodging in place.lodgings if host in lodging.tenants]:
                lodging.tenants.discard(host)
                if not lodging.tenants and lodging.taken >= self._rooms:
                    place.lodgings.remove(lodging)
                    self._close_later(lodging)
        mine = self._places.get(host)
        if mine is not None and mine.own is not None:
            own, mine.own = mine.own, None
            await own.aclose()

    async def aclose(self) -> None:
        """End every session. Idempotent, never raises."""
        places, self._places = self._places, {}
        for place in places.values():
            for lodging in place.lodgings:
                self._close_later(lodging)
        await asyncio.gather(*(place.own.aclose() for place in places.values() if place.own is not None))
        while self._closing:
            await asyncio.wait(self._closing)

    # ---- opening and closing

    async def _open(self, place: _Place, host: Host) -> Session:
        """Open a session; whoever comes while the first one connects waits for what comes of that."""
        if place.stands:
            return await self._open_session(host)
        async with place.connecting:
            if place.failed is not None:
                raise place.failed.with_traceback(None)
            try:
                session = await self._open_session(host)
            except HostError as error:
                if not place.stands:
                    place.failed = error
                raise
            place.stands = True
            return session

    def _lodging(self, place: _Place, name: str, tenant: str) -> _Lodging:
        """One with room, the tenant's own if there is one. Raises what has ended those before."""
        for lodging in place.lodgings:
            if lodging.lost is not None:
                raise lodging.lost.with_traceback(None)
        free = [lodging for lodging in place.lodgings if lodging.taken < self._rooms]
        for lodging in free:
            if tenant in lodging.tenants:
                return lodging
        if free:
            return free[0]
        lodging = _Lodging(asyncio.ensure_future(self._open_lodging(place, name)))
        lodging.opening.add_done_callback(_seen)
        place.lodgings.append(lodging)
        return lodging

    async def _open_lodging(self, place: _Place, name: str) -> Session:
        if self._find is None:
            raise UnsupportedError(f"{name}: this run reaches no other hosts")
        return await self._open(place, self._find(name))

    def _close_later(self, lodging: _Lodging) -> None:
        task = asyncio.ensure_future(_close(lodging))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


class _Guest:
    """One host's named session on another host. Implements `model.seams.Session`."""

    def __init__(self, lodging: _Lodging, inner: Session, name: str) -> None:
        self._lodging = lodging
        self._inner = inner
        self._name = name

    @property
    def agent(self) -> str:
        """What is at the other end."""
        return self._inner.agent

    @property
    def notes(self) -> Sequence[str]:
        """What was odd about the start."""
        return self._inner.notes

    async def run(
        self, step: Step, *, on_state: Callable[[Observation], None] | None = None, on_prompt: OnPrompt | None = None
    ) -> tuple[Result, Sequence[RawSlice | None]]:
        """Run a step in the session that it has there; see the seam."""
        asked = replace(step, command=replace(step.command, session=self._name))
        with self._noticing():
            result, early = await self._inner.run(asked, on_state=on_state, on_prompt=on_prompt)
        return replace(result, session=step.command.session), early

    async def fetch(self, result: Result, query: SliceQuery) -> RawSlice:
        """Read a part of a finished command's output; see the seam."""
        with self._noticing():
            return await self._inner.fetch(result, query)

    async def cancel(self) -> None:
        """End every command there, also those of other hosts: a run is stopped as a whole."""
        await self._inner.cancel()

    async def aclose(self) -> None:
        """End the remote side, also for the others that use it: for one that does not answer any more."""
        await self._inner.aclose()

    @contextlib.contextmanager
    def _noticing(self) -> Iterator[None]:
        try:
            yield
        except (AgentError, BecomeError):
            raise
        except HostError as error:
            self._lodging.lost = self._lodging.lost or error
            raise


def _seen(opening: asyncio.Future[Session]) -> None:
    """Mark what came of it as seen, where nobody waits for it any more."""
    if not opening.cancelled():
        opening.exception()


async def _close(lodging: _Lodging) -> None:
    lodging.opening.cancel()
    await asyncio.wait({lodging.opening})
    if not lodging.opening.cancelled() and lodging.opening.exception() is None:
        await lodging.opening.result().aclose()
