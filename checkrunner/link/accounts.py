"""One host's sessions as the seam has them: that of the account that logs in, and one for each other that checks
become, over further channels of the same connection, each made when a check first needs it and kept.

Commands of one named session keep their order whoever they run as, though each account has a shell of its own for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn, TypeVar

from checkrunner.link.questions import AskPassword
from checkrunner.link.session import FramedSession
from checkrunner.model.errors import (
    AgentError,
    BecomeError,
    BecomeFailure,
    HostError,
    SessionError,
    SessionLostError,
)
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Observation
from checkrunner.model.plan import Account, OnPrompt, PromptText, Step
from checkrunner.model.playbook import OnInput
from checkrunner.model.results import Execution, RawSlice, Result, SliceQuery
from checkrunner.model.sources import Secret

__all__ = ["Accounts", "OpenAs"]

T = TypeVar("T")
OpenAs = Callable[[Host, Account, FramedSession, AskPassword | None], Awaitable[FramedSession]]
"""Starts the remote side as another account, beside the session of the one that logs in. Raises HostError members."""

# Results of other accounts have numbers of their own: the account's, from this bit on, and the one that its agent gave.
_SHIFT = 48
# How long after another account's session its host's own may still be found to have ended with it.
_TOGETHER_S = 1.0
# How long after its own time a command of another account may stay without an answer, and a slice at all. Less than the
# engine gives a host: who hangs there costs the account's checks alone.
_ANSWER_GRACE_S = 12.0
_FETCH_S = 25.0
# How long an account's session may still begin when the run is cancelled.
_BEGIN_S = 1.0
_HUNG = "it stopped answering"


@dataclass(slots=True)
class _Group:
    """Neighbours in one named session that run as the same account. They may start when `before` is done."""

    account: Account | None
    before: _Group | None
    running: int = 0
    closed: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def leave(self) -> None:
        self.running -= 1
        self._settle()

    def close(self) -> None:
        self.closed = True
        self._settle()

    def _settle(self) -> None:
        if self.closed and not self.running:
            self.over.set()


@dataclass(slots=True)
class _Lane:
    """One named session: its last group, and the turn of its last call."""

    group: _Group
    turn: asyncio.Event | None = None


@dataclass(slots=True)
class _Other:
    """Another account's session, or what came of making it. `due` says of each named session when the commands that
    were sent have had their time."""

    number: int
    account: Account
    opening: asyncio.Future[FramedSession]
    gone: BecomeError | None = None
    hung: bool = False
    dropped: bool = False
    due: dict[str, float] = field(default_factory=dict)

    @property
    def session(self) -> FramedSession | None:
        """The session, once there is one."""
        done = self.opening.done() and not self.opening.cancelled() and self.opening.exception() is None
        return self.opening.result() if done else None


class Accounts:
    """Implements `model.seams.Session`. A check that cannot have its account gets a BecomeError; no other does.

    `away_s` is how long a link may be down before an answer counts as missing.
    """

    def __init__(self, host: Host, login: FramedSession, open_as: OpenAs, *, away_s: float = 0.0) -> None:
        self._host = host
        self._away_s = away_s
        self._login = login
        self._open_as = open_as
        self._others: dict[Account, _Other] = {}
        self._lanes: dict[str, _Lane] = {}
        self._cancelled = asyncio.Event()
        self._closed = False

    @property
    def agent(self) -> str:
        """What is at the other end for the account that logs in."""
        return self._login.agent

    @property
    def notes(self) -> Sequence[str]:
        """What was odd about the starts; of other accounts, what was not odd about the first one as well."""
        notes = list(self._login.notes)
        for other in self._others.values():
            if other.session is not None:
                more = [note for note in other.session.notes if note not in self._login.notes]
                notes += [f"as {other.account.user}: {note}" for note in more if not note.startswith("start_by_stdin")]
        return notes

    async def run(
        self, step: Step, *, on_state: Callable[[Observation], None] | None = None, on_prompt: OnPrompt | None = None
    ) -> tuple[Result, Sequence[RawSlice | None]]:
        """Run a step as whom it has to run as; see the seam. Raises BecomeError where that is not to be had."""
        account = step.command.become
        if account is not None and self._logs_in(account):
            account = None
        lane, group = self._enter(step.command.session, account)
        before, lane.turn = lane.turn, asyncio.Event()
        turn = lane.turn
        try:
            if before is not None:
                await before.wait()
            if group.before is not None and not group.before.over.is_set():
                await self._unless_cancelled(group.before.over.wait())
            other = await self._other(account, _ask(step, on_prompt)) if account else None
            if self._closed:
                raise SessionLostError("the session is closed")
            if self._cancelled.is_set():
                return _cancelled(step), [None] * len(step.early)
            # What `run` sends is sent before the next one gets to know that it is its turn.
            turn.set()
            if other is None:
                return await self._login.run(step, on_state=on_state, on_prompt=on_prompt)
            session = other.opening.result()
            try:
                async with asyncio.timeout(None) as limit:
                    # From hello on: how its start may go is bounded there.
                    session.when_ready(lambda: self._limit(limit, other, step))
                    result, early = await session.run(step, on_state=on_state, on_prompt=on_prompt)
            except HostError as error:
                if other.dropped:
                    return _cancelled(step), [None] * len(step.early)
                await self._raise(other, error)
            except TimeoutError:
                await self._give_up(other, session)
            return replace(result, seq=result.seq | other.number << _SHIFT), early
        finally:
            turn.set()
            group.leave()

    async def fetch(self, result: Result, query: SliceQuery) -> RawSlice:
        """Read a part of a finished command's output; see the seam."""
        number = result.seq >> _SHIFT
        other = next((other for other in self._others.values() if other.number == number), None)
        if other is None or other.session is None:
            return await self._login.fetch(result, query)
        session = other.session
        try:
            async with asyncio.timeout(_FETCH_S + self._away_s):
                return await session.fetch(replace(result, seq=result.seq & (1 << _SHIFT) - 1), query)
        except HostError as error:
            await self._raise(other, error)
        except TimeoutError:
            await self._give_up(other, session)

    async def cancel(self) -> None:
        """End every command of every account, and what waits for an account; see the seam."""
        self._cancelled.set()
        others = [self._cancel(other, other.session) for other in self._others.values() if other.session is not None]
        await asyncio.gather(self._login.cancel(), *others)

    async def _cancel(self, other: _Other, session: FramedSession) -> None:
        """End its commands. What has not begun has none: sudo may hang, or somebody be asked for a password."""
        with contextlib.suppress(HostError, TimeoutError):
            async with asyncio.timeout(_BEGIN_S):
                await session.ready()
        if session.began:
            await _quietly(session.cancel())
        else:
            other.dropped = True
            await session.aclose()

    async def aclose(self) -> None:
        """End the remote side of every account. Idempotent, never raises."""
        self._closed = True
        self._cancelled.set()
        others = list(self._others.values())
        for other in others:
            other.opening.cancel()
        await asyncio.gather(
            self._login.aclose(), *(other.session.aclose() for other in others if other.session is not None)
        )
        pending = [other.opening for other in others if not other.opening.done()]
        if pending:
            await asyncio.wait(pending)

    # ---- order

    def _enter(self, name: str, account: Account | None) -> tuple[_Lane, _Group]:
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = _Lane(_Group(account, None))
        elif lane.group.account != account:
            last, lane.group = lane.group, _Group(account, lane.group)
            last.close()
        lane.group.running += 1
        return lane, lane.group

    async def _unless_cancelled(self, awaitable: Awaitable[T]) -> None:
        """Wait for it, or until the run is cancelled."""
        task = asyncio.ensure_future(awaitable)
        cancelled = asyncio.ensure_future(self._cancelled.wait())
        try:
            await asyncio.wait({task, cancelled}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            task.cancel()
            cancelled.cancel()

    # ---- accounts

    def _logs_in(self, account: Account) -> bool:
        """Whether that is the account that logs in, as far as it is known."""
        root = account.user == "root" and self._login.uid == 0
        return root or account.user == self._login.user

    async def _other(self, account: Account, ask: AskPassword | None) -> _Other | None:
        """The account's session; None where it is the one that logs in, or the run was cancelled meanwhile."""
        if self._host.transport == "ssh" and self._host.user not in (None, account.user) and account.user != "root":
            self._begin(account, ask)  # surely another one: it need not be waited for who we are
        await self._login.ready()
        if self._logs_in(account):
            return None
        other = self._begin(account, ask)
        if other is None:
            return None
        if other.gone is not None:
            raise other.gone
        if not other.opening.done():
            await self._unless_cancelled(asyncio.shield(other.opening))
        if self._cancelled.is_set():
            return None
        try:
            other.opening.result()
        except HostError as error:
            await self._raise(other, error)
        return other

    def _begin(self, account: Account, ask: AskPassword | None) -> _Other | None:
        """Start it if that was not done; None once the run is cancelled."""
        other = self._others.get(account)
        if other is None and not self._cancelled.is_set():
            opening = asyncio.ensure_future(self._open_as(self._host, account, self._login, ask))
            opening.add_done_callback(lambda done: None if done.cancelled() else done.exception())
            other = self._others[account] = _Other(len(self._others) + 1, account, opening)
        return other

    async def _raise(self, other: _Other, error: HostError) -> NoReturn:
        """Raise the error as one of this account alone, unless the whole host has been lost."""
        if isinstance(error, BecomeError | AgentError):
            raise error
        user = other.account.user
        if other.hung:
            raise BecomeError(BecomeFailure.LOST, f"what ran as {user}: {_HUNG}") from error
        if not isinstance(error, SessionError):
            message = error.message.removeprefix(f"{self._host.name}: ")
            raise BecomeError(BecomeFailure.FAILED, f"as {user}: {message}", hint=error.hint) from error
        lost = await self._login.over(_TOGETHER_S)
        if lost is not None:
            raise lost from error
        other.gone = BecomeError(BecomeFailure.FAILED, f"what ran as {user} was lost before: {error.message}")
        raise BecomeError(BecomeFailure.LOST, f"what ran as {user}: {error.message}") from error

    def _limit(self, limit: asyncio.Timeout, other: _Other, step: Step) -> None:
        """Set when the answer is missing: commands of a named session run one after another."""
        now, name = asyncio.get_running_loop().time(), step.command.session
        due = other.due[name] = max(other.due.get(name, now), now) + step.command.timeout_s
        with contextlib.suppress(RuntimeError):  # it has ended, or never began
            limit.reschedule(due + _ANSWER_GRACE_S + self._away_s)

    async def _give_up(self, other: _Other, session: FramedSession) -> NoReturn:
        """The account's remote side hangs: end it, and whatever else waits for it."""
        user = other.account.user
        if not other.hung:
            other.hung = True
            other.gone = BecomeError(BecomeFailure.FAILED, f"what ran as {user} was lost before: {_HUNG}")
        await session.aclose()
        raise BecomeError(BecomeFailure.LOST, f"what ran as {user}: {_HUNG}")


def _ask(step: Step, on_prompt: OnPrompt | None) -> AskPassword | None:
    """The check's own way to ask, for what is asked before it can be run."""
    if on_prompt is None or step.command.on_input is OnInput.FAIL:
        return None

    async def ask(which: str) -> Secret | None:
        return await on_prompt(PromptText(text=which, secret=True))

    return ask


def _cancelled(step: Step) -> Result:
    """A command that was not sent, as an agent says it of one that it did not start."""
    return Result(seq=0, session=step.command.session, execution=Execution.NOT_RUN, notes=("cancelled",))


async def _quietly(ending: Awaitable[None]) -> None:
    with contextlib.suppress(HostError):
        await ending
