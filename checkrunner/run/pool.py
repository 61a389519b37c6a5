"""The sessions of a run: one for each host, opened once and kept as long as a stage needs it, and those that hosts have
on other hosts, for checks that are delegated there."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from checkrunner.model.errors import AgentError, BecomeError, HostError, UnsupportedError
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Observation
from checkrunner.model.plan import OnPrompt, Step
from checkrunner.model.playbook import DEFAULT_SESSION
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

    name: str
    connecting: asyncio.Lock = field(default_factory=asyncio.Lock)
    stands: bool = False
    failed: HostError | None = None
    own: Session | None = None
    lodgings: list[_Lodging] = field(default_factory=list)
    guests: dict[str, _Guest] = field(default_factory=dict)


class Pool:
    """Opens each host's session once, and tries to connect to a host once, whoever wants it.

    `rooms` is how many named sessions a remote side may have: where delegated checks want more on a host, a further one
    is started there, over the same connection. `most_kept` hosts may stay open between two stages.
    """

    def __init__(
        self, open_session: OpenSession, *, find: FindHost | None = None, rooms: int = 16, most_kept: int = 1000
    ) -> None:
        self._open_session = open_session
        self._find = find
        self._rooms = max(rooms, 1)
        self._most_kept = most_kept
        self._resting: dict[str, None] = {}
        self._places: dict[str, _Place] = {}
        self._visited: dict[str, list[_Place]] = {}
        self._closing: set[asyncio.Future[None]] = set()

    async def own(self, host: Host) -> Session:
        """The host's own session. Raises HostError members, the same each time where it cannot be reached."""
        self._resting.pop(host.name, None)
        place = self._place(host.name)
        if place.own is None:
            place.own = await self._open(place, host)
        return place.own

    async def lodge(self, tenant: str, name: str) -> Session:
        """The session of the host `tenant` on the host `name`: the same one each time. It shares nothing but the
        connection with what others have there, that host itself too. Raises HostError members."""
        place = self._place(name)
        guest = place.guests.get(tenant)
        if guest is None:
            guest = place.guests[tenant] = _Guest(tenant, functools.partial(self._room, place))
            self._visited.setdefault(tenant, []).append(place)
        await guest.room(DEFAULT_SESSION)
        return guest

    async def keep(self, host: str) -> None:
        """The host waits for a further stage. Where too many do, the one that has waited for longest is closed: it is
        connected to anew when its turn comes."""
        place = self._places.get(host)
        if place is not None and place.own is not None:
            self._resting[host] = None
        if len(self._resting) > self._most_kept:
            longest = next(iter(self._resting))
            del self._resting[longest]
            await self._close_own(longest)

    async def release(self, host: str) -> None:
        """The host has no further checks: ends its own session, and the remote sides that nobody else can use."""
        self._resting.pop(host, None)
        for place in self._visited.pop(host, ()):
            place.guests.pop(host, None)
            for lodging in [lodging for lodging in place.lodgings if host in lodging.tenants]:
                lodging.tenants.discard(host)
                if not lodging.tenants and lodging.taken >= self._rooms:
                    place.lodgings.remove(lodging)
                    self._close_later(lodging)
        await self._close_own(host)

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

    def _place(self, name: str) -> _Place:
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = _Place(name)
        return place

    async def _room(self, place: _Place, tenant: str, session: str) -> _Room:
        """One more named session on a host. Raises what has ended those before."""
        for lodging in place.lodgings:
            if lodging.lost is not None:
                raise lodging.lost.with_traceback(None)
        free = [lodging for lodging in place.lodgings if lodging.taken < self._rooms]
        if free:
            lodging = free[0]
        else:
            lodging = _Lodging(asyncio.ensure_future(self._open_lodging(place)))
            lodging.opening.add_done_callback(_seen)
            place.lodgings.append(lodging)
        lodging.taken += 1
        lodging.tenants.add(tenant)
        number = lodging.taken
        inner = await asyncio.shield(lodging.opening)
        return _Room(lodging, inner, f"{session}~{number}")

    async def _close_own(self, host: str) -> None:
        place = self._places.get(host)
        if place is not None and place.own is not None:
            own, place.own = place.own, None
            await own.aclose()

    async def _open_lodging(self, place: _Place) -> Session:
        if self._find is None:
            raise UnsupportedError(f"{place.name}: this run reaches no other hosts")
        return await self._open(place, self._find(place.name))

    def _close_later(self, lodging: _Lodging) -> None:
        task = asyncio.ensure_future(_close(lodging))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


@dataclass(frozen=True, slots=True)
class _Room:
    """A named session on another host: its name there, and the remote side that it is on."""

    lodging: _Lodging
    session: Session
    name: str


class _Guest:
    """One host's sessions on another host. Implements `model.seams.Session`."""

    def __init__(self, tenant: str, make: Callable[[str, str], Awaitable[_Room]]) -> None:
        self._tenant = tenant
        self._make = make
        self._rooms: dict[str, asyncio.Future[_Room]] = {}

    @property
    def agent(self) -> str:
        """What is at the other end."""
        return next((room.session.agent for room in self._open_rooms()), "")

    @property
    def notes(self) -> Sequence[str]:
        """What was odd about the start."""
        return [note for room in self._open_rooms() for note in room.session.notes]

    async def room(self, session: str) -> _Room:
        """Where its named session is. Commands of one session go on in the order in which they asked."""
        found = self._rooms.get(session)
        if found is None:
            found = self._rooms[session] = asyncio.ensure_future(self._make(self._tenant, session))
            found.add_done_callback(_seen)
        return found.result() if found.done() else await asyncio.shield(found)

    async def run(
        self, step: Step, *, on_state: Callable[[Observation], None] | None = None, on_prompt: OnPrompt | None = None
    ) -> tuple[Result, Sequence[RawSlice | None]]:
        """Run a step in the session that it has there; see the seam."""
        session = step.command.session
        room = await self.room(session)
        asked = replace(step, command=replace(step.command, session=room.name))
        with _noticing(room.lodging):
            result, early = await room.session.run(asked, on_state=on_state, on_prompt=on_prompt)
        return replace(result, session=session), early

    async def fetch(self, result: Result, query: SliceQuery) -> RawSlice:
        """Read a part of a finished command's output; see the seam."""
        room = await self.room(result.session)
        with _noticing(room.lodging):
            return await room.session.fetch(result, query)

    async def cancel(self) -> None:
        """End every command there, also those of other hosts: a run is stopped as a whole."""
        await asyncio.gather(*(session.cancel() for session in self._sessions()))

    async def aclose(self) -> None:
        """End the remote sides, also for the others that use them: for those that do not answer any more."""
        await asyncio.gather(*(session.aclose() for session in self._sessions()))

    def _open_rooms(self) -> list[_Room]:
        done = [room for room in self._rooms.values() if room.done() and not room.cancelled()]
        return [room.result() for room in done if room.exception() is None]

    def _sessions(self) -> list[Session]:
        return list({id(room.session): room.session for room in self._open_rooms()}.values())


@contextlib.contextmanager
def _noticing(lodging: _Lodging) -> Iterator[None]:
    """Keep in mind what ended a remote side, for all who use it."""
    try:
        yield
    except (AgentError, BecomeError):
        raise
    except HostError as error:
        lodging.lost = lodging.lost or error
        raise


def _seen(opening: asyncio.Future[Session] | asyncio.Future[_Room]) -> None:
    """Mark what came of it as seen, where nobody waits for it any more."""
    if not opening.cancelled():
        opening.exception()


async def _close(lodging: _Lodging) -> None:
    lodging.opening.cancel()
    await asyncio.wait({lodging.opening})
    if not lodging.opening.cancelled() and lodging.opening.exception() is None:
        await lodging.opening.result().aclose()
