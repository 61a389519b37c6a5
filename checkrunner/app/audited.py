"""A session whose commands are on record, whoever asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from checkrunner.model.observation import Observation
from checkrunner.model.plan import OnPrompt, Step
from checkrunner.model.results import RawSlice, Result, SliceQuery
from checkrunner.model.seams import Session

__all__ = ["AuditedSession", "Entry"]


class Entry(Protocol):
    """The record of one command: `ended` or `failed` is called, once."""

    def running(self) -> None:
        """It has been running for a while; may be called again."""
        ...

    def ended(self, result: Result) -> None:
        """There is a result."""
        ...

    def failed(self, error: BaseException) -> None:
        """There will be none."""
        ...


class AuditedSession:
    """Implements `model.seams.Session` over another one. `entry` is called for each command that is to be sent."""

    def __init__(self, session: Session, entry: Callable[[Step], Entry]) -> None:
        self._session = session
        self._entry = entry

    @property
    def agent(self) -> str:
        """As the session has it."""
        return self._session.agent

    @property
    def notes(self) -> Sequence[str]:
        """As the session has them."""
        return self._session.notes

    async def run(
        self, step: Step, *, on_state: Callable[[Observation], None] | None = None, on_prompt: OnPrompt | None = None
    ) -> tuple[Result, Sequence[RawSlice | None]]:
        """Run a step and record it."""
        entry = self._entry(step)

        def seen(observation: Observation) -> None:
            entry.running()
            if on_state is not None:
                on_state(observation)

        try:
            result, early = await self._session.run(step, on_state=seen, on_prompt=on_prompt)
        except BaseException as error:
            entry.failed(error)
            raise
        entry.ended(result)
        return result, early

    async def fetch(self, result: Result, query: SliceQuery) -> RawSlice:
        """Read a part of an output: nothing is run for it."""
        return await self._session.fetch(result, query)

    async def cancel(self) -> None:
        """End every command."""
        await self._session.cancel()

    async def aclose(self) -> None:
        """End the remote side."""
        await self._session.aclose()
