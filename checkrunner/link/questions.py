"""The questions that one command asks while it runs, and the answers to them. One question is open at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from checkrunner.model.characters import untypeable
from checkrunner.model.plan import OnPrompt, PromptText
from checkrunner.model.sources import Secret

__all__ = ["AskPassword", "Questions"]

AskPassword = Callable[[str], Awaitable[Secret | None]]
"""Asks whoever drives the run for a password; the argument says which one. None refuses."""


class Questions:
    """Asks `ask`, and gives what it says to `reply`. A new question takes the place of one that is still open: its
    command does not wait for that answer any more, and must not get it."""

    def __init__(self, ask: OnPrompt, reply: Callable[[Secret | None], None]) -> None:
        self._ask = ask
        self._reply = reply
        self._open: asyncio.Task[None] | None = None
        self._ended: list[asyncio.Task[None]] = []

    def asked(self, prompt: PromptText) -> None:
        """The command asks this now."""
        before = self._withdraw()
        self._open = asyncio.ensure_future(self._answer(prompt, before))

    async def aclose(self) -> None:
        """Withdraw what is open, and return when `ask` has let go of it. Raises what `ask` raised, which is a bug."""
        self._withdraw()
        for error in await asyncio.gather(*self._ended, return_exceptions=True):
            if isinstance(error, Exception):
                raise error

    def _withdraw(self) -> asyncio.Task[None] | None:
        task, self._open = self._open, None
        if task is not None:
            task.cancel()
            self._ended.append(task)
        return task

    async def _answer(self, prompt: PromptText, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        answer = None
        try:
            answer = await self._ask(prompt)
        finally:
            # A withdrawn question gets no answer, and one that could not be asked is refused.
            task = asyncio.current_task()
            if task is self._open:
                typed = answer if answer is not None and not untypeable(answer.reveal()) else None
                self._reply(typed)
