"""One host's run: its checks sent ahead as far as they depend on nothing, judged as the results come."""

from __future__ import annotations

import asyncio
import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from checkrunner.model.errors import (
    AgentError,
    BecomeError,
    BecomeFailure,
    HostError,
    SessionError,
    SessionLostError,
    TemplateError,
)
from checkrunner.model.observation import Observation
from checkrunner.model.plan import Account, CheckOutcome, HostOutcome, OnPrompt, PlannedCheck, Skip, Step
from checkrunner.model.results import (
    Execution,
    HostState,
    RawSlice,
    Reason,
    Result,
    Slice,
    SliceQuery,
    Verdict,
    VerdictState,
)
from checkrunner.model.seams import Driver, Observer, Script, Session
from checkrunner.run.stop import Stop

__all__ = ["HostRun"]

# How long after its own timeout a command may stay unanswered: the host's ladder INT, TERM, KILL takes 3 s, the rest
# is for slow links. After that the remote side itself counts as hung.
_ANSWER_GRACE_S = 20.0
_FETCH_TIMEOUT_S = 30.0
# How long a stopped run waits for hosts to confirm that their commands were ended. Closing the stream ends them too.
_CANCEL_TIMEOUT_S = 5.0
_TYPING_S = 60.0

_STOP_MESSAGES = {
    "interrupted": "the run was interrupted",
    "deadline": "the run's deadline passed",
}


class HostRun:
    """Drives one script over one session. Every planned check gets exactly one outcome, reported to the observer."""

    def __init__(
        self,
        script: Script,
        *,
        observer: Observer,
        stop: Stop,
        driver: Driver | None = None,
        start_s: float = 30.0,
        away_s: float = 0.0,
    ) -> None:
        self._script = script
        self._start_s = start_s
        self._away_s = away_s
        self._accounts: set[tuple[str, Account]] = set()
        self._observer = observer
        self._driver = driver
        self._stop = stop
        self._outcomes: dict[str, CheckOutcome] = {}
        self._judged: dict[str, CheckOutcome] = {}
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._lost: HostError | None = None
        self._seen: dict[str, Observation] = {}

    def never_started(self) -> HostOutcome:
        """The run ended before this host's turn, or while it connected."""
        self._finish_rest(self._stop_message())
        return self._host_outcome(HostState.NOT_TRIED, None)

    def unreached(self, error: HostError) -> HostOutcome:
        """The connection or the start of the remote side failed: no check was looked at."""
        self._finish_rest(error.message, error)
        return self._host_outcome(error.state, error)

    async def through(self, session: Session, connect_s: float) -> HostOutcome:
        """Run all checks; returns when each has its outcome."""
        lanes: dict[str, list[PlannedCheck]] = defaultdict(list)
        for planned in self._script.checks:
            lanes[planned.check.session].append(planned)
        work = asyncio.ensure_future(self._all_lanes(session, list(lanes.values())))
        stopped = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await self._end_early(session, work)
            if not work.cancelled():
                work.result()
        finally:
            stopped.cancel()
            work.cancel()
        self._finish_rest(self._lost.message if self._lost else self._stop_message(), self._lost)
        state = self._lost.state if self._lost else HostState.REACHED
        return self._host_outcome(state, self._lost, session=session, connect_s=connect_s)

    async def _end_early(self, session: Session, work: asyncio.Future[None]) -> None:
        try:
            async with asyncio.timeout(_CANCEL_TIMEOUT_S):
                await session.cancel()
                await asyncio.wait({work})
        except (TimeoutError, HostError):
            work.cancel()
            await asyncio.wait({work})

    async def _all_lanes(self, session: Session, lanes: list[list[PlannedCheck]]) -> None:
        if len(lanes) == 1:
            await self._lane(session, lanes[0])
            return
        async with asyncio.TaskGroup() as group:
            for lane in lanes:
                group.create_task(self._lane(session, lane))

    async def _lane(self, session: Session, lane: list[PlannedCheck]) -> None:
        """Send a named session's checks in order, waiting only where a check needs an earlier result."""
        loop = asyncio.get_running_loop()
        answer_by = loop.time()
        async with asyncio.TaskGroup() as group:
            for planned in lane:
                await self._wait_for_needs(planned)
                if self._stop.reason or self._lost:
                    break
                step = self._resolve(planned)
                if step is None:
                    continue
                # Commands of a session run one after another: each may take its own time after the one before it.
                answer_by = max(answer_by, loop.time()) + step.command.timeout_s + self._account_s(step)
                self._observer.check_started(self._script.host.name, planned)
                group.create_task(self._one(session, step, answer_by + _ANSWER_GRACE_S + self._away_s))

    def _account_s(self, step: Step) -> float:
        """How much longer a session's first check of another account may take: its start, once more with a password,
        and somebody who types that; and the time until it is known that the account's remote side hangs, which must not
        look as if the host's did."""
        account = step.command.become
        if account is None or (step.command.session, account) in self._accounts:
            return 0.0
        self._accounts.add((step.command.session, account))
        return 2 * self._start_s + _TYPING_S + _ANSWER_GRACE_S + self._away_s

    async def _wait_for_needs(self, planned: PlannedCheck) -> None:
        for key in planned.needs:
            if key not in self._judged and not (self._stop.reason or self._lost):
                future = self._waiting.setdefault(key, asyncio.get_running_loop().create_future())
                await self._stop.race(asyncio.shield(future))

    def _resolve(self, planned: PlannedCheck) -> Step | None:
        try:
            resolved = self._script.resolve(planned, self._judged)
        except TemplateError as error:
            reason = Reason(subject="template", expected="", actual="", message=str(error))
            self._record(self._outcome(planned, Verdict(state=VerdictState.UNKNOWN, reasons=(reason,))))
            return None
        if isinstance(resolved, Skip):
            reason = Reason(subject="when", expected="true", actual="false", message=resolved.reason)
            self._record(self._outcome(planned, Verdict(state=VerdictState.SKIPPED, reasons=(reason,))))
            return None
        return resolved

    async def _one(self, session: Session, step: Step, answer_by: float) -> None:
        started = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(answer_by):
                see = functools.partial(self._see, step.planned)
                result, early = await session.run(step, on_state=see, on_prompt=self._on_prompt(step.planned))
        except TimeoutError:
            self._host_lost(SessionLostError("the remote side stopped answering"))
            await session.aclose()
            self._record(self._lost_outcome(step, started))
            return
        except (AgentError, BecomeError) as error:
            self._record(self._refused_outcome(step, error, started))
            return
        except HostError as error:
            self._host_lost(error)
            # A remote side that never started has run nothing: the check is left to be recorded as not run.
            if isinstance(error, SessionError):
                self._record(self._lost_outcome(step, started))
            return
        result = self._with_cause(result)
        verdict = self._script.judge(step, result, self._judged)
        outcome = self._outcome(step.planned, verdict, result=result)
        # Checks that need this one go on at once; they read its metadata, never its slices.
        self._publish(outcome)
        slices = await self._slices(session, step, result, verdict, early)
        self._record(self._outcome(step.planned, verdict, result=result, slices=slices))

    def _on_prompt(self, planned: PlannedCheck) -> OnPrompt | None:
        if self._driver is None:
            return None
        return functools.partial(self._driver.answer, self._script.host.name, planned)

    def _see(self, planned: PlannedCheck, observation: Observation) -> None:
        self._seen[planned.key] = observation
        self._observer.check_state(self._script.host.name, planned, observation)

    def _with_cause(self, result: Result) -> Result:
        """The host knows only that a command was cancelled; here it is known what for."""
        if "cancelled" not in result.notes or not self._stop.reason:
            return result
        notes = tuple(self._stop.reason if note == "cancelled" else note for note in result.notes)
        return replace(result, notes=notes)

    async def _slices(
        self,
        session: Session,
        step: Step,
        result: Result,
        verdict: Verdict,
        early: Sequence[RawSlice | None],
    ) -> tuple[Slice, ...]:
        slices = [self._script.show(step, raw) for raw in early if raw is not None]
        queries = () if self._stop.reason or self._lost else self._script.ask(step, result, verdict)
        if queries:
            fetched = await asyncio.gather(*(self._fetch(session, result, query) for query in queries))
            slices += [self._script.show(step, raw) for raw in fetched if raw is not None]
        return tuple(piece for piece in slices if piece.lines)

    async def _fetch(self, session: Session, result: Result, query: SliceQuery) -> RawSlice | None:
        """A slice that cannot be had leaves the verdict as it is; the link's loss is noted on the host."""
        try:
            async with asyncio.timeout(_FETCH_TIMEOUT_S + self._away_s):
                return await session.fetch(result, query)
        except (AgentError, BecomeError):
            return None
        except TimeoutError:
            self._host_lost(SessionLostError("the remote side stopped answering while a slice was read"))
        except HostError as error:
            self._host_lost(error)
        return None

    def _host_lost(self, error: HostError) -> None:
        if self._lost is None:
            self._lost = error
            for future in self._waiting.values():
                if not future.done():
                    future.set_result(None)

    def _refused_outcome(self, step: Step, error: HostError, started: float) -> CheckOutcome:
        """The check alone was refused, or what ran it went: the host stands."""
        if isinstance(error, BecomeError) and error.kind is BecomeFailure.LOST:
            return self._lost_outcome(step, started, error)
        message = str(error) if isinstance(error, BecomeError) else error.message
        reason = Reason(subject="execution", expected="done", actual="not_run", message=message)
        verdict = Verdict(state=VerdictState.UNKNOWN, reasons=(reason,))
        return self._outcome(step.planned, verdict, error=error)

    def _lost_outcome(self, step: Step, started: float, error: HostError | None = None) -> CheckOutcome:
        error = error or self._lost
        message = error.message if error else "the link was lost"
        elapsed = asyncio.get_running_loop().time() - started
        seen = self._seen.get(step.planned.key)
        result = Result(
            seq=0,
            session=step.command.session,
            execution=Execution.LOST,
            elapsed_s=round(elapsed, 3),
            state=message,
            seen=seen,
        )
        last = f"; last seen: {seen.evidence}" if seen else ""
        reason = Reason(subject="execution", expected="done", actual="lost", message=f"lost: {message}{last}")
        verdict = Verdict(state=VerdictState.UNKNOWN, reasons=(reason,))
        return self._outcome(step.planned, verdict, result=result, error=error)

    def _finish_rest(self, why: str, error: HostError | None = None) -> None:
        reason = Reason(subject="execution", expected="done", actual="not_run", message=f"not run: {why}")
        verdict = Verdict(state=VerdictState.UNKNOWN, reasons=(reason,))
        for planned in self._script.checks:
            if planned.key in self._outcomes:
                continue
            # A check that was judged but whose slices never came keeps its verdict.
            self._record(self._judged.get(planned.key) or self._outcome(planned, verdict, error=error))

    def _outcome(
        self,
        planned: PlannedCheck,
        verdict: Verdict,
        *,
        result: Result | None = None,
        slices: tuple[Slice, ...] = (),
        error: HostError | None = None,
    ) -> CheckOutcome:
        return CheckOutcome(
            host=self._script.host.name, planned=planned, verdict=verdict, result=result, slices=slices, error=error
        )

    def _publish(self, outcome: CheckOutcome) -> None:
        key = outcome.planned.key
        self._judged[key] = outcome
        future = self._waiting.get(key)
        if future is not None and not future.done():
            future.set_result(None)

    def _record(self, outcome: CheckOutcome) -> None:
        self._outcomes[outcome.planned.key] = outcome
        self._publish(outcome)
        self._observer.check_finished(outcome)

    def _stop_message(self) -> str:
        return _STOP_MESSAGES.get(self._stop.reason, self._stop.reason)

    def _host_outcome(
        self,
        state: HostState,
        error: HostError | None,
        *,
        session: Session | None = None,
        connect_s: float = 0.0,
    ) -> HostOutcome:
        return HostOutcome(
            host=self._script.host,
            state=state,
            checks=tuple(self._outcomes[planned.key] for planned in self._script.checks),
            error=error,
            connect_s=round(connect_s, 3),
            agent=session.agent if session else "",
            notes=(*session.notes, *_left_running(self._outcomes.values())) if session else (),
        )


def _left_running(outcomes: Iterable[CheckOutcome]) -> Iterator[str]:
    """A warning for each check that started what it should not have."""
    for outcome in outcomes:
        if outcome.result is not None and outcome.result.leftover_pids and not outcome.planned.check.keep_children:
            yield (
                f"left_running: the check {outcome.planned.check.id} left processes running; what was left of them at "
                "the end of the run was ended, but for what runs as another user (keep_children: true would keep them)"
            )
