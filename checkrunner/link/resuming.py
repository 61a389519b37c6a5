"""How a session gets over a link that was lost: when to connect again, and what the new agent is told and asked.

The agent of before waits for a while (`linger` of hello) with what its sessions had set and what it had captured. The
new one takes that over (`resume` of hello, and the part of the agent that knows how, right behind it).
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field, replace

from checkrunner.link.answers import AgentFailure
from checkrunner.link.calls import Calls
from checkrunner.link.payload import load_part
from checkrunner.link.requests import part_request
from checkrunner.link.starting import Link, Resume, Starter
from checkrunner.model.errors import (
    ConnectTimeoutError,
    HostError,
    SessionError,
    SessionLostError,
    ThrottledError,
    UnreachableError,
)
from checkrunner.model.results import LINK_LOST, Execution, Result

__all__ = ["RESUME_PART", "STATE_LOST", "Comeback", "take_over", "token_of"]

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


def take_over(token: str, ident: int) -> Resume:
    """What a new agent is asked for: to take over from the one of that token. `ident` is the request's."""
    return Resume(token=token, behind=part_request(ident, RESUME_PART, load_part(RESUME_PART)))


@dataclass(slots=True)
class Comeback:
    """One session's way back to its host. It may be gone once: who is lost twice is lost.

    `budget_s` is how long it may take to connect, 0 for never. `why` says how the link was lost. `stateless` are the
    sessions that have lost what was set in them, and whose next command is not told yet.
    """

    budget_s: float
    why: str = ""
    since: float = 0.0
    until: float = 0.0
    done: bool = False
    under_way: bool = False
    stateless: set[str] = field(default_factory=set)

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

    def succeed(self, calls: Calls, *, whole: bool) -> list[str]:
        """The new agent is there. `whole`: with everything that the old one had; otherwise the commands that may have
        begun are ended here. Returns what has to be said of it."""
        self.under_way, self.done = False, True
        elapsed = asyncio.get_running_loop().time() - self.since
        notes = [f"reconnected after {elapsed:.1f} s: {self.why}"]
        if not whole:
            self.stateless = calls.sessions
            calls.give_up_begun(LINK_LOST, self.since)
            gone = "directories, variables and functions that checks had set, and outputs that were not read yet"
            notes.append(f"{STATE_LOST}: {gone}, were gone after that")
        return notes

    def failed(self, error: HostError) -> HostError:
        """What to tell of an error: on the way back, whatever it is, the host is lost."""
        if not self.under_way or isinstance(error, SessionError):
            return error
        return SessionLostError(f"{self.why}; no way back: {error.message}", hint=error.hint)

    def told(self, result: Result) -> Result:
        """A command's result with what is known here alone: how the link was lost with which it ended, or that it is
        the first one in a session that has nothing of before."""
        if result.execution is Execution.LOST and LINK_LOST in result.notes:
            return replace(result, state=self.why)
        if result.session in self.stateless and result.execution is not Execution.LOST:
            self.stateless.discard(result.session)
            return replace(result, notes=(*result.notes, STATE_LOST))
        return result
