"""One step on its way: run, judged, run again where it has to be, its slices read."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from checkrunner.model.errors import (
    AgentError,
    BecomeError,
    BecomeFailure,
    HostError,
    SessionError,
    SessionLostError,
)
from checkrunner.model.observation import Observation
from checkrunner.model.plan import CheckOutcome, Judgement, OnPrompt, Step
from checkrunner.model.results import RawSlice, Result, Slice, SliceQuery
from checkrunner.model.seams import Session
from checkrunner.run.outcomes import judged, lost, not_awaited, refused, unread
from checkrunner.run.situation import Situation
from checkrunner.run.turns import Lease

__all__ = ["Errand"]

_FETCH_TIMEOUT_S = 30.0
_KEEP_S = 15.0
"""How long, once a check has its outcome, its outputs may be on their way to be kept. Nothing but the end of the host's
run waits for them."""
_SLOWEST_READING = 2_000_000
"""Bytes a second that the slowest host reads of an output in which it looks for something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    result: Result
    early: Sequence[RawSlice | None]


class Errand:
    """Takes a step to its outcome, whatever happens. `then` is called once with the outcome as soon as there is a
    verdict; its slices are not there yet."""

    def __init__(self, at: Situation, step: Step, *, own: Lease, then: Callable[[CheckOutcome], None]) -> None:
        self._at = at
        self._step = step
        self._own = own
        self._then = then
        self._seen: Observation | None = None
        self._began = 0.0

    async def run(self) -> None:
        """Return when the check has its outcome, or is left to be recorded as not run."""
        lease = self._own
        if self._step.on:
            found = await self._lent()
            if found is None:
                return
            lease = found
        answer = await self._ask(lease)
        if answer is None:
            return
        attempt = 1
        judgement = self._judge(answer, attempt)
        while (delay := self._at.script.again(self._step, answer.result, judgement, attempt)) is not None:
            await self._at.pause(delay)
            if self._at.over:
                judgement = not_awaited(judgement, attempt, self._at.end)
                break
            attempt += 1
            answer = await self._ask(lease)
            if answer is None:
                return
            judgement = self._judge(answer, attempt)
        await self._conclude(lease.session, answer, judgement, attempt)

    async def _lent(self) -> Lease | None:
        """The session of the other host that the step is to run on."""
        try:
            if self._at.sessions is None:
                raise SessionLostError(f"there is no session of {self._step.on} to run this in")
            return await self._at.stop.race(self._at.sessions(self._step.on))
        except HostError as error:
            self._end(refused(self._at.host, self._step, error))
        return None

    async def _ask(self, lease: Lease) -> _Answer | None:
        """Run the command once; None when the check has its outcome by that, or is left as not run."""
        step = self._step
        self._began = asyncio.get_running_loop().time()
        try:
            if lease.opened is not None:
                await lease.opened()
            async with asyncio.timeout_at(lease.turns.due(step.command)):
                result, early = await lease.session.run(step, on_state=self._see, on_prompt=self._on_prompt())
        except TimeoutError:
            await self._gone(SessionLostError("the remote side stopped answering"))
            await lease.session.aclose()
            return None
        except (AgentError, BecomeError) as error:
            if isinstance(error, BecomeError) and error.kind is BecomeFailure.LOST:
                self._end(self._lost(error))
            else:
                self._end(refused(self._at.host, step, error))
            return None
        except HostError as error:
            await self._gone(error)
            return None
        return _Answer(result=self._with_cause(result), early=early)

    async def _gone(self, error: HostError) -> None:
        """The session went. Of its own host, that is the end."""
        if self._step.on:
            self._end(
                self._lost(error) if isinstance(error, SessionError) else refused(self._at.host, self._step, error)
            )
            return
        self._at.host_lost(error)
        # A remote side that never started has run nothing: the check is left to be recorded as not run.
        if isinstance(error, SessionError):
            self._end(self._lost(self._at.lost))

    def _lost(self, error: HostError | None) -> CheckOutcome:
        elapsed = asyncio.get_running_loop().time() - self._began
        return lost(self._at.host, self._step, error, elapsed, self._seen)

    def _end(self, outcome: CheckOutcome) -> None:
        self._at.record(outcome)
        self._then(outcome)

    def _judge(self, answer: _Answer, attempt: int) -> Judgement:
        reads = answer.early[len(answer.early) - self._step.reads :]
        return self._at.script.judge(self._step, answer.result, self._at.book.judged, reads, attempt)

    async def _conclude(self, session: Session, answer: _Answer, judgement: Judgement, attempts: int) -> None:
        outcome = judged(self._at.host, self._step, answer.result, judgement, attempts)
        # Checks that need this one go on at once; they read its metadata and values, never its slices.
        self._at.book.publish(outcome)
        self._then(outcome)
        slices, whole = await self._slices(session, answer, judgement)
        if not whole:
            outcome = unread(outcome)
        self._at.record(replace(outcome, slices=(*outcome.slices, *slices)))
        await self._keep(session, answer.result, judgement)

    async def _slices(self, session: Session, answer: _Answer, judgement: Judgement) -> tuple[tuple[Slice, ...], bool]:
        """What is to be shown of the outputs, and whether all of it could be had."""
        at, step = self._at, self._step
        shown = answer.early[: len(answer.early) - step.reads]
        slices = [at.script.show(step, raw) for raw in shown if raw is not None]
        queries = at.script.ask(step, answer.result, judgement.verdict)
        fetched: Sequence[RawSlice | None] = [None] * len(queries)
        if queries and not at.over:
            fetched = await asyncio.gather(*(self._fetch(session, answer.result, query) for query in queries))
        slices += [at.script.show(step, raw) for raw in fetched if raw is not None]
        return tuple(piece for piece in slices if piece.lines), None not in fetched

    async def _keep(self, session: Session, result: Result, judgement: Judgement) -> None:
        """Fetch what is to be kept after the run, one part after the other. What cannot be had in time, or before the
        run is stopped, is not kept, and is no trouble of the host's."""
        parts: list[RawSlice] = []
        queries = self._at.script.keep(self._step, result, judgement.verdict)
        try:
            async with asyncio.timeout(_KEEP_S):
                for query in queries:
                    part = None if self._at.over else await self._at.stop.race(session.fetch(result, query))
                    if part is None:
                        break
                    parts.append(part)
        except (TimeoutError, HostError):
            pass  # where the session is lost, the checks that need it get to know
        finally:
            if queries:
                self._at.script.kept(self._step, result, parts)

    async def _fetch(self, session: Session, result: Result, query: SliceQuery) -> RawSlice | None:
        """A slice that cannot be had leaves the verdict as it is; the link's loss is noted on the host."""
        try:
            reading_s = result.output(query.stream).captured_bytes / _SLOWEST_READING
            async with asyncio.timeout(_FETCH_TIMEOUT_S + reading_s + self._at.away_s):
                return await session.fetch(result, query)
        except (AgentError, BecomeError):
            return None
        except TimeoutError:
            error: HostError = SessionLostError("the remote side stopped answering while a slice was read")
        except HostError as caught:
            error = caught
        if not self._step.on:
            self._at.host_lost(error)
        return None

    def _on_prompt(self) -> OnPrompt | None:
        if self._at.driver is None:
            return None
        return functools.partial(self._at.driver.answer, self._at.host, self._step.planned)

    def _see(self, observation: Observation) -> None:
        self._seen = observation
        self._at.observer.check_state(self._at.host, self._step.planned, observation)

    def _with_cause(self, result: Result) -> Result:
        """The host knows only that a command was cancelled; here it is known what for."""
        reason = self._at.stop.reason
        if "cancelled" not in result.notes or not reason:
            return result
        return replace(result, notes=tuple(reason if note == "cancelled" else note for note in result.notes))
