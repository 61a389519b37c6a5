"""How a session gets over a link that was lost: when to connect again, and what the new agent is told and asked.

The agent of before waits for a while (`linger` of hello) with what its sessions had set and what it had captured. The
new one takes that over (`resume` of hello, and the part of the agent that knows how, right behind it).
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field, replace

from checkrunner.link.answers import AgentFailure
from checkrunner.link.starting import Link, Starter
from checkrunner.model.errors import (
    ConnectTimeoutError,
    HostError,
    SessionError,
    SessionLostError,
    ThrottledError,
    UnreachableError,
)
from checkrunner.model.results import LINK_LOST, Execution, Result

__all__ = ["RESUME_PART", "STATE_LOST", "Comeback", "token_of"]

RESUME_PART = "resume"
"""The part of the agent that waits, and takes over."""

STATE_LOST = "state_lost"
"""The note of a result: what commands before had set in its session was gone."""

# Pauses before a try to connect are drawn from below these; the first is short, and yet spreads many hosts that were
# cut off together.
_PAUSES_S = (0.5, 1.0, 2.0, 4.0)
_DIRECTORY = "checkrunner-"


def token_of(directory: str) -> str:
    """What names an agent to its successor, from the directory of its hello; "" where it has none to hand on."""
    name = directory.rpartition("/")[2]
    token = name.removeprefix(_DIRECTORY)
    plain = token.replace("-", "").isalnum() and token.isascii()
    return token if name.startswith(_DIRECTORY) and plain else ""


@dataclass(slots=True)
class Comeback:
    """One session's way back to its host. It may be gone once: who is lost twice is lost.

    `budget_s` is how long it may take to connect, 0 for never. `why` says how the link was lost, `notes` what has to be
    said of the way back.
    """

    budget_s: float
    why: str = ""
    since: float = 0.0
    until: float = 0.0
    done: bool = False
    under_way: bool = False
    notes: list[str] = field(default_factory=list)

    def possible(self, link: Link) -> bool:
        """Whether there is any use in it after this link's end."""
        return not (self.done or isinstance(link.ending, AgentFailure)) and self.budget_s > 0

    def begin(self, why: str) -> None:
        """The link was lost. A second loss, on the way back, goes on with what time there is."""
        if not self.under_way:
            self.under_way, self.why, self.since = True, why, asyncio.get_running_loop().time()
            self.until = self.since + self.budget_s

    async def connect(self, starter: Starter, link: Link) -> Link:
        """A new link, started as `link` was. Raises SessionLostError when there is none in time, and HostError members
        for what trying again cannot change: a changed host key, a refused login."""
        loop = asyncio.get_running_loop()
        pauses = list(_PAUSES_S)
        while True:
            pause = pauses.pop(0) if len(pauses) > 1 else pauses[0]
            await asyncio.sleep(random.uniform(pause / 10, pause))  # noqa: S311 (spreads retries, keeps no secret)
            try:
                async with asyncio.timeout_at(self.until):
                    return await starter.again(link.way)
            except TimeoutError:
                reason = "no connection"
            except (UnreachableError, ConnectTimeoutError, ThrottledError) as error:
                reason = error.message
            if loop.time() >= self.until:
                raise SessionLostError(f"{self.why}; no way back within {self.budget_s:g} s: {reason}")

    def succeed(self, *, whole: bool) -> None:
        """The new agent is there. `whole`: with everything that the old one had."""
        self.under_way, self.done = False, True
        elapsed = asyncio.get_running_loop().time() - self.since
        self.notes.append(f"reconnected after {elapsed:.1f} s: {self.why}")
        if not whole:
            gone = "directories, variables and functions that checks had set, and outputs that were not read yet"
            self.notes.append(f"{STATE_LOST}: {gone}, were gone after that")

    def failed(self, error: HostError) -> HostError:
        """What to tell of an error: on the way back, whatever it is, the host is lost."""
        if not self.under_way or isinstance(error, SessionError):
            return error
        return SessionLostError(f"{self.why}; no way back: {error.message}", hint=error.hint)

    def told(self, result: Result) -> Result:
        """A command's result, with the reason where it ended with the link."""
        if result.execution is not Execution.LOST or LINK_LOST not in result.notes:
            return result
        return replace(result, state=self.why)
