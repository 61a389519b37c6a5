"""The connections to one jump host, shared by the hosts behind it.

One connection is enough until the jump host refuses a channel on it while others are open there: then it is known how
many a connection takes, and further connections are made as they are needed, a few at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass

import asyncssh
from asyncssh.constants import OPEN_ADMINISTRATIVELY_PROHIBITED, OPEN_RESOURCE_SHORTAGE

from checkrunner.link.transports.ssh_connection import drop
from checkrunner.link.transports.ssh_proxy import ProxyCommand
from checkrunner.link.transports.ssh_queue import Queue
from checkrunner.model.errors import AuthenticationError, ConnectError, HostKeyError, ThrottledError

__all__ = ["Bastion", "NoWayError", "Passage", "Standing"]

_CLOSING_S = 1.0
# So many connections are made at the same time.
_MAKING = 4
# A jump host that takes no further connection is waited for as long as hosts get through, and so long after the last.
_PATIENCE_S = 120.0
# A jump host that has let somebody through, and cannot be connected to any more, is tried for so long, after pauses.
_BACK_S = 10.0
_PAUSE_S = (0.1, 1.0)
# Then that holds; for hosts that were through, and try to come back, only so long.
_HOLD_S = 0.5
# How often a host begins anew because the connection to the jump host broke under it.
_BREAKS = 2
# What servers say, for lack of a better code, where a channel is one too many.
_TOO_MANY_WORDS = ("open failed", "too many", "limit", "exceed", "maximum", "resource")


@dataclass(slots=True)
class Standing:
    """A connection that was made, and the proxy command that it goes through."""

    connection: asyncssh.SSHClientConnection
    proxy: ProxyCommand | None = None

    @property
    def usable(self) -> bool:
        """Whether it still stands."""
        return not self.connection.is_closed()

    async def close(self) -> None:
        """End it; says goodbye, so that the server need not write of a broken connection."""
        self.connection.close()
        try:
            async with asyncio.timeout(_CLOSING_S):
                await self.connection.wait_closed()
        except TimeoutError:
            await drop(self.connection)
        await asyncio.sleep(0)
        if self.proxy is not None:
            await self.proxy.aclose()


@dataclass(slots=True, eq=False)
class _Lane:
    """A connection to the jump host: `most` channels may be on it, as far as is known, `held` are given away, `takes`
    counts all that ever were."""

    standing: Standing
    most: float
    held: int = 0
    takes: int = 0


class Passage:
    """A place for one channel on a connection to a jump host."""

    def __init__(self, lane: _Lane) -> None:
        self.lane = lane
        lane.held += 1
        lane.takes += 1
        self._first = lane.held == 1
        self._takes = lane.takes

    @property
    def connection(self) -> asyncssh.SSHClientConnection:
        """The connection to the jump host."""
        return self.lane.standing.connection

    @property
    def alone(self) -> bool:
        """Whether no other channel was on the connection since this place was given."""
        return self._first and self.lane.takes == self._takes

    def give_back(self) -> None:
        """The channel is closed, or was not opened."""
        self.lane.held -= 1


class NoWayError(Exception):
    """A jump host lets nothing through: `error` says why. The host behind it is not tried again."""

    def __init__(self, error: ConnectError) -> None:
        super().__init__(str(error))
        self.error = error


class Bastion:
    """The way through one jump host. `connect` makes a connection to it; that it cannot be made holds for the run,
    unless it was made before."""

    def __init__(self, name: str, connect: Callable[[], Awaitable[Standing]], queue: Queue) -> None:
        self._name = name
        self._connect = connect
        self._queue = queue
        self._lanes: list[_Lane] = []
        self._most = math.inf
        self._waiting = 0
        self._making: set[asyncio.Task[None]] = set()
        self._watching: set[asyncio.Task[None]] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._failure: ConnectError | None = None
        self._failed_at = 0.0
        self._passed: set[str] = set()
        self._full: ConnectError | None = None
        self._bug: BaseException | None = None
        self._moved = 0.0
        self._news = asyncio.Event()

    async def through(self, host: str, once: Callable[[Passage], Awaitable[Standing]]) -> Standing:
        """The connection that `once` makes through a channel of this jump host.

        Where the channel was one too many, `once` is called again, with a place on another connection. Raises what
        `once` raises, and NoWayError for the jump host itself. `host` is who waits, "" where nobody counts.
        """
        breaks = 0
        while True:
            passage = await self._take(host)
            try:
                standing = await once(passage)
            except BaseException as error:
                broken = not passage.lane.standing.usable and isinstance(error, ConnectError)
                breaks += broken
                again = self._one_too_many(passage, error) or (broken and breaks <= _BREAKS)
                self._give_back(passage)
                if not again or isinstance(error, (AuthenticationError, HostKeyError)):
                    raise
                continue
            self._passed.add(host)
            self._start(self._watching, self._watch(passage, standing))
            return standing

    async def aclose(self) -> None:
        """Close the connections; those through them are closed by then."""
        for task in [*self._making, *self._watching]:
            task.cancel()
            await asyncio.wait({task})
        if self._closing:
            await asyncio.wait(self._closing)
        lanes, self._lanes = self._lanes, []
        await asyncio.gather(*(lane.standing.close() for lane in lanes))

    async def _take(self, host: str) -> Passage:
        """A place on a connection, which is made if need be."""
        loop = asyncio.get_running_loop()
        since = loop.time()
        self._waiting += 1
        try:
            with self._queue.waiting(host) if host else contextlib.nullcontext():
                while True:
                    self._clear()
                    room = next((lane for lane in self._lanes if lane.held < lane.most), None)
                    if room is not None:
                        self._moved = loop.time()
                        return Passage(room)
                    self._make_more(host)
                    await self._something_new(max(since, self._moved) + _PATIENCE_S)
        finally:
            self._waiting -= 1

    def _clear(self) -> None:
        """Leave the connections that broke; their proxy commands are ended."""
        for lane in self._lanes:
            if not lane.standing.usable:
                self._start(self._closing, lane.standing.close())
        self._lanes = [lane for lane in self._lanes if lane.standing.usable]

    def _make_more(self, host: str) -> None:
        """Start as many connections as those who wait need. Raises the reason why there can be none for `host`."""
        if self._bug is not None:
            raise self._bug
        if not self._lanes:
            self._full = None
        if self._full is not None:
            return
        if self._failure is not None and not self._lanes and not self._making:
            held = asyncio.get_running_loop().time() < self._failed_at + _HOLD_S
            if held or host not in self._passed:
                raise NoWayError(self._failure) from self._failure
        making = len(self._making)
        if making == 0 or (making < _MAKING and making * self._most < self._waiting):
            self._start(self._making, self._make())

    async def _something_new(self, give_up_at: float) -> None:
        news = self._news
        if self._full is None:
            await news.wait()
            return
        try:
            async with asyncio.timeout_at(give_up_at):
                await news.wait()
        except TimeoutError:
            raise NoWayError(
                ThrottledError(
                    f"jump host {self._name}: no channel was free on its {len(self._lanes)} connections for "
                    f"{_PATIENCE_S:g} s, and it takes no further connection ({self._full.message})",
                    hint="Lower --forks, or let it take more connections or channels",
                )
            ) from self._full

    async def _make(self) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + (_BACK_S if self._passed and self._failure is None else 0.0)
        while True:
            try:
                standing = await self._connect()
            except NoWayError as error:
                self._fail(error.error)
            except ConnectError as error:
                if any(lane.standing.usable for lane in self._lanes):
                    self._full = error  # those that stand have to do
                elif loop.time() < until and not isinstance(error, (AuthenticationError, HostKeyError)):
                    await asyncio.sleep(random.uniform(*_PAUSE_S))  # noqa: S311 (spreads retries, keeps no secret)
                    continue
                else:
                    self._fail(error)
            else:
                self._full = self._failure = None
                self._queue.connections += 1
                self._lanes.append(_Lane(standing, self._most))
            return

    def _fail(self, error: ConnectError) -> None:
        self._failure, self._failed_at = error, asyncio.get_running_loop().time()

    def _one_too_many(self, passage: Passage, error: BaseException) -> bool:
        """Whether a channel was refused because of the others on its connection; then fewer are tried there."""
        cause = error.__cause__
        if passage.alone or not isinstance(cause, asyncssh.ChannelOpenError):
            return False
        words = cause.reason.lower()
        if cause.code not in (OPEN_ADMINISTRATIVELY_PROHIBITED, OPEN_RESOURCE_SHORTAGE) and not any(
            part in words for part in _TOO_MANY_WORDS
        ):
            return False
        # Those that are not refused may not be open yet: when the last refusal has come, the number is right.
        passage.lane.most = min(passage.lane.most, max(1, passage.lane.held - 1))
        self._most = min(self._most, passage.lane.most)
        self._queue.channels = int(self._most)
        return True

    async def _watch(self, passage: Passage, standing: Standing) -> None:
        """Give the place back when what goes through it has ended."""
        try:
            await standing.connection.wait_closed()
        finally:
            self._give_back(passage)

    def _give_back(self, passage: Passage) -> None:
        passage.give_back()
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _start(self, tasks: set[asyncio.Task[None]], work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        tasks.add(task)

        def ended(done: asyncio.Task[None]) -> None:
            tasks.discard(done)
            if not done.cancelled() and (bug := done.exception()) is not None:
                self._bug = bug
            self._tell()

        task.add_done_callback(ended)
