"""A session that is not opened before something is run in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from checkrunner.model.errors import SessionLostError
from checkrunner.model.observation import Observation
from checkrunner.model.plan import OnPrompt, Step
from checkrunner.model.results import RawSlice, Result, SliceQuery
from checkrunner.model.seams import Session

__all__ = ["Deferred"]


class Deferred:
    """Implements `model.seams.Session`, over the one that `connect` opens once. What keeps it from being opened is
    raised by `run`: HostError members, also those of a connection."""

    def __init__(self, connect: Callable[[], Awaitable[Session]]) -> None:
        self._connect = connect
        self._opening: asyncio.Future[Session] | None = None

    @property
    def agent(self) -> str:
        """What is at the other end; "" where nothing was run."""
        return self._open.agent if self._open else ""

    @property
    def notes(self) -> Sequence[str]:
        """What was odd about the start."""
        return self._open.notes if self._open else ()

    async def open(self) -> Session:
        """Open the session, or wait until it is open."""
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._connect())
            self._opening.add_done_callback(_seen)
        return await asyncio.shield(self._opening)

    async def run(
        self, step: Step, *, on_state: Callable[[Observation], None] | None = None, on_prompt: OnPrompt | None = None
    ) -> tuple[Result, Sequence[RawSlice | None]]:
        """Run a step; see the seam."""
        session = await self.open()
        return await session.run(step, on_state=on_state, on_prompt=on_prompt)

    async def fetch(self, result: Result, query: SliceQuery) -> RawSlice:
        """Read a part of a finished command's output; see the seam."""
        if self._open is None:
            raise SessionLostError("nothing was run here")
        return await self._open.fetch(result, query)

    async def cancel(self) -> None:
        """End every command; see the seam."""
        if self._open is not None:
            await self._open.cancel()
        else:
            await self._give_up()

    async def aclose(self) -> None:
        """End the remote side, if there is one; see the seam."""
        if self._open is not None:
            await self._open.aclose()
        else:
            await self._give_up()

    @property
    def _open(self) -> Session | None:
        opening = self._opening
        if opening is None or not opening.done() or opening.cancelled() or opening.exception() is not None:
            return None
        return opening.result()

    async def _give_up(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening})


def _seen(opening: asyncio.Future[Session]) -> None:
    """Mark what came of it as seen, where nobody waits for it any more."""
    if not opening.cancelled():
        opening.exception()
