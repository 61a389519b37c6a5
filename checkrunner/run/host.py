"""One host's run: its checks sent ahead as far as they depend on nothing, judged as the results come."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from checkrunner.model.errors import (
    AgentError,
    BecomeError,
    BecomeFailure,
    HostError,
    SessionError,
    SessionLostError,
    TemplateError,
    UnsupportedError,
)
from checkrunner.model.inventory import empty
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
from checkrunner.run.turns import Turn

__all__ = ["HostRun", "Lodge"]

Lodge = Callable[[str, str, str], Awaitable[Session]]
"""For (this host, another host, a named session) the session that this host has there. Raises HostError members."""

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
    """Drives one script over one session, all at once or stage by stage: `through` for each stage, `leave` for one that
    is not begun, `finish` at the end. Every planned check gets exactly one outcome, reported to the observer.

    `turns` are the checks, by key, that one host runs for many: where it is not this one, they have no outcome here,
    and what needs them sees that of the other host. `lodge` gives the sessions for checks that run on other hosts.
    `told` is called in the place of the observer's `check_finished`.
    """

    def __init__(
        self,
        script: Script,
        *,
        observer: Observer,
        stop: Stop,
        driver: Driver | None = None,
        start_s: float = 30.0,
        away_s: float = 0.0,
        turns: Mapping[str, Turn] | None = None,
        lodge: Lodge | None = None,
        told: Callable[[CheckOutcome], None] | None = None,
    ) -> None:
        self._script = script
        self._turns = empty() if turns is None else turns
        self._lodge = lodge
        self._guests: dict[int, Session] = {}
        self._awaiting: set[asyncio.Task[None]] = set()
        self._busy_until: dict[tuple[str, str], float] = {}
        self._reached = False
        self._start_s = start_s
        self._away_s = away_s
        self._accounts: set[tuple[str, str, Account | None]] = set()
        self._observer = observer
        self._told = told or observer.check_finished
        self._driver = driver
        self._stop = stop
        self._outcomes: dict[str, CheckOutcome] = {}
        self._judged: dict[str, CheckOutcome] = {}
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._lost: HostError | None = None
        self._seen: dict[str, Observation] = {}

    @property
    def lost(self) -> HostError | None:
        """Why nothing more can be had of the host: it was not reached, or is lost."""
        return self._lost

    def unreached(self, error: HostError) -> None:
        """The connection or the start of the remote side failed: no check can be looked at."""
        self._host_lost(error)

    def leave(self, checks: Iterable[PlannedCheck], why: str) -> None:
        """These checks are not to be begun."""
        self._finish_rest(checks, why)

    async def through(self, session: Session, checks: Sequence[PlannedCheck]) -> None:
        """Run these checks; returns when each has its outcome."""
        self._reached = True
        lanes: dict[str, list[PlannedCheck]] = defaultdict(list)
        for planned in checks:
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
        self._finish_rest(checks, self._why_not())

    def finish(self, session: Session | None = None, connect_s: float = 0.0) -> HostOutcome:
        """What came of the host. What has no outcome yet was not run: the host is lost, or the run was stopped."""
        self._finish_rest(self._script.checks, self._why_not())
        state = self._lost.state if self._lost else HostState.REACHED if self._reached else HostState.NOT_TRIED
        return self._host_outcome(state, self._lost, session=session, connect_s=connect_s)

    async def _end_early(self, session: Session, work: asyncio.Future[None]) -> None:
        try:
            async with asyncio.timeout(_CANCEL_TIMEOUT_S):
                await asyncio.gather(session.cancel(), *(_quietly(guest.cancel()) for guest in self._guests.values()))
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
        async with asyncio.TaskGroup() as group:
            for planned in lane:
                await self._wait_for_needs(planned)
                if self._stop.reason or self._lost:
                    break
                if planned.key in self._turns:
                    task = group.create_task(self._in_turn(session, planned))
                    self._awaiting.add(task)
                    task.add_done_callback(self._awaiting.discard)
                    continue
                sending = self._send(session, planned)
                if sending is not None:
                    group.create_task(sending)

    async def _in_turn(self, session: Session, planned: PlannedCheck) -> None:
        """Run the check if that is up to this host, else wait for what comes of it on another one."""
        outcome = await self._stop.race(self._turns[planned.key].wait(self._script.host.name))
        if self._stop.reason or self._lost:
            return
        if outcome is not None:
            self._publish(outcome)
            return
        self._awaiting.discard(_this_task())
        sending = self._send(session, planned)
        if sending is not None:
            await sending

    def _send(self, session: Session, planned: PlannedCheck) -> Coroutine[None, None, None] | None:
        """What sends the check as soon as it is begun, and goes on until it has its outcome; None where it has it."""
        step = self._resolve(planned)
        if step is None:
            return None
        self._observer.check_started(self._script.host.name, planned)
        if step.on:
            return self._elsewhere(step)
        return self._one(session, step, self._answer_by(step))

    async def _elsewhere(self, step: Step) -> None:
        """Run a check in the session that this host has on another one, whose trouble is that of this check alone."""
        try:
            guest = await self._stop.race(self._lodging(step))
        except HostError as error:
            self._record(self._not_there_outcome(step, error))
            return
        if guest is not None:
            self._guests[id(guest)] = guest
            await self._one(guest, step, self._answer_by(step))

    def _lodging(self, step: Step) -> Awaitable[Session]:
        if self._lodge is None:
            raise UnsupportedError(f"{step.on}: this run reaches no other hosts")
        return self._lodge(self._script.host.name, step.on, step.command.session)

    def _answer_by(self, step: Step) -> float:
        """When the answer counts as missing. Commands of a session run one after another: each may take its own time
        after the one before it."""
        lane = (step.on, step.command.session)
        begins = max(self._busy_until.get(lane, 0.0), asyncio.get_running_loop().time())
        self._busy_until[lane] = begins + step.command.timeout_s + self._account_s(step)
        return self._busy_until[lane] + _ANSWER_GRACE_S + self._away_s

    def _account_s(self, step: Step) -> float:
        """How much longer a session's first check of another account may take: its start, once more with a password,
        and somebody who types that."""
        account = step.command.become
        key = (step.on, step.command.session, account)
        if account is None or key in self._accounts:
            return 0.0
        self._accounts.add(key)
        return 2 * self._start_s + _TYPING_S

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
            lost = SessionLostError("the remote side stopped answering")
            if not step.on:
                self._host_lost(lost)
            await session.aclose()
            self._record(self._lost_outcome(step, started, lost))
            return
        except (AgentError, BecomeError) as error:
            self._record(self._refused_outcome(step, error, started))
            return
        except HostError as error:
            if not step.on:
                self._host_lost(error)
            # A remote side that never started has run nothing: the check is left to be recorded as not run.
            if isinstance(error, SessionError):
                self._record(self._lost_outcome(step, started, error))
            elif step.on:
                self._record(self._not_there_outcome(step, error))
            return
        result = self._with_cause(result)
        verdict = self._script.judge(step, result, self._judged)
        outcome = self._outcome(step.planned, verdict, result=result, on=step.on)
        # Checks that need this one go on at once; they read its metadata, never its slices.
        self._publish(outcome)
        slices = await self._slices(session, step, result, verdict, early)
        self._record(replace(outcome, slices=slices) if slices else outcome)

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
            fetched = await asyncio.gather(*(self._fetch(session, step, result, query) for query in queries))
            slices += [self._script.show(step, raw) for raw in fetched if raw is not None]
        return tuple(piece for piece in slices if piece.lines)

    async def _fetch(self, session: Session, step: Step, result: Result, query: SliceQuery) -> RawSlice | None:
        """A slice that cannot be had leaves the verdict as it is; the link's loss is noted on the host."""
        try:
            async with asyncio.timeout(_FETCH_TIMEOUT_S + self._away_s):
                return await session.fetch(result, query)
        except (AgentError, BecomeError):
            return None
        except TimeoutError:
            lost: HostError = SessionLostError("the remote side stopped answering while a slice was read")
        except HostError as error:
            lost = error
        if not step.on:
            self._host_lost(lost)
        return None

    def _host_lost(self, error: HostError) -> None:
        if self._lost is None:
            self._lost = error
            for future in self._waiting.values():
                if not future.done():
                    future.set_result(None)
            for task in self._awaiting:
                task.cancel()

    def _refused_outcome(self, step: Step, error: HostError, started: float) -> CheckOutcome:
        """The check alone was refused, or what ran it went: the host stands."""
        if isinstance(error, BecomeError) and error.kind is BecomeFailure.LOST:
            return self._lost_outcome(step, started, error)
        message = str(error) if isinstance(error, BecomeError) else error.message
        return self._outcome(step.planned, _not_run(message), error=error, on=step.on)

    def _not_there_outcome(self, step: Step, error: HostError) -> CheckOutcome:
        """The host that the check was to be run on could not be reached: this one stands."""
        message = f"on {step.on} (delegate_to): {error.message.removeprefix(f'{step.on}: ')}"
        return self._outcome(step.planned, _not_run(message), error=error, on=step.on)

    def _lost_outcome(self, step: Step, started: float, error: HostError) -> CheckOutcome:
        message = f"on {step.on}: {error.message}" if step.on else error.message
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
        return self._outcome(step.planned, verdict, result=result, error=error, on=step.on)

    def _finish_rest(self, checks: Iterable[PlannedCheck], why: str) -> None:
        verdict = _not_run(f"not run: {why}")
        host = self._script.host.name
        for planned in checks:
            if planned.key in self._outcomes:
                continue
            judged = self._judged.get(planned.key)
            turn = self._turns.get(planned.key)
            if judged is not None and judged.host == host:
                self._record(judged)  # its slices never came: it keeps its verdict
            elif judged is None and (turn is None or turn.leave(host)):
                self._record(self._outcome(planned, verdict, error=self._lost))

    def _outcome(
        self,
        planned: PlannedCheck,
        verdict: Verdict,
        *,
        result: Result | None = None,
        error: HostError | None = None,
        on: str = "",
    ) -> CheckOutcome:
        return CheckOutcome(
            host=self._script.host.name, planned=planned, verdict=verdict, result=result, error=error, on=on
        )

    def _publish(self, outcome: CheckOutcome) -> None:
        key = outcome.planned.key
        self._judged[key] = outcome
        turn = self._turns.get(key)
        if turn is not None:
            turn.ran(outcome)
        future = self._waiting.get(key)
        if future is not None and not future.done():
            future.set_result(None)

    def _record(self, outcome: CheckOutcome) -> None:
        self._outcomes[outcome.planned.key] = outcome
        self._publish(outcome)
        self._told(outcome)

    def _why_not(self) -> str:
        return self._lost.message if self._lost else _STOP_MESSAGES.get(self._stop.reason, self._stop.reason)

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
            checks=tuple(self._outcomes[p.key] for p in self._script.checks if p.key in self._outcomes),
            error=error,
            connect_s=round(connect_s, 3),
            agent=session.agent if session else "",
            notes=(*session.notes, *_left_running(self._outcomes.values())) if session else (),
        )


def _not_run(message: str) -> Verdict:
    reason = Reason(subject="execution", expected="done", actual="not_run", message=message)
    return Verdict(state=VerdictState.UNKNOWN, reasons=(reason,))


async def _quietly(ending: Awaitable[None]) -> None:
    with contextlib.suppress(HostError):
        await ending


def _this_task() -> asyncio.Task[None]:
    task = asyncio.current_task()
    assert task is not None
    return task


def _left_running(outcomes: Iterable[CheckOutcome]) -> Iterator[str]:
    """A warning for each check that started what it should not have."""
    for outcome in outcomes:
        if outcome.result is not None and outcome.result.leftover_pids and not outcome.planned.check.keep_children:
            yield (
                f"left_running: the check {outcome.planned.check.id} left processes running; what was left of them at "
                "the end of the run was ended (keep_children: true would keep them)"
            )
