"""A script and a session that do what a test says: the engine's two neighbours, by their seams."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from checkrunner.model.errors import SessionLostError, TemplateError
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Observation
from checkrunner.model.plan import (
    Account,
    CheckOutcome,
    Command,
    HostOutcome,
    Items,
    Judgement,
    OnPrompt,
    PlannedCheck,
    PromptText,
    Settled,
    Skip,
    Step,
)
from checkrunner.model.playbook import Check
from checkrunner.model.report import Wait
from checkrunner.model.results import (
    Execution,
    RawLine,
    RawSlice,
    Result,
    Slice,
    SliceLine,
    SliceMode,
    SliceQuery,
    Stream,
    Verdict,
    VerdictState,
)
from checkrunner.model.sources import Template

Behaviour = Callable[[Step], Awaitable[Result]]


def planned(
    key: str,
    *,
    needs: Sequence[str] = (),
    session: str = "main",
    stage: int = 0,
    once: bool = False,
    delegate_to: str = "",
) -> PlannedCheck:
    where = Template(text=delegate_to) if delegate_to else None
    check = Check(id=key, name=key, run=Template(text=key), session=session, delegate_to=where)
    return PlannedCheck(key=key, play="play", check=check, needs=frozenset(needs), stage=stage, once=once)


def done(step: Step, rc: int = 0) -> Result:
    return Result(seq=1, session=step.command.session, execution=Execution.DONE, rc=rc)


@dataclass
class FakeScript:
    """Commands are the checks' keys; those starting with ``skip`` are skipped, with ``bad`` fail to render, with
    ``here`` need no host. `loops` are the items of a check by its key, `followers` the checks that follow one that is
    not ok, `attempts` how often one runs, `held` what keeps one from being run."""

    host: Host
    checks: Sequence[PlannedCheck]
    timeout_s: float = 60.0
    accounts: Mapping[str, Account] = field(default_factory=dict)
    seen: dict[str, set[str]] = field(default_factory=dict)
    loops: Mapping[str, Sequence[PlannedCheck]] = field(default_factory=dict)
    followers: Mapping[str, Sequence[PlannedCheck]] = field(default_factory=dict)
    attempts: Mapping[str, int] = field(default_factory=dict)
    delay_s: float = 0.01
    on: Mapping[str, str] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)

    def resolve(self, planned: PlannedCheck, outcomes: Mapping[str, CheckOutcome]) -> Step | Skip | Items | Settled:
        self.seen[planned.key] = set(outcomes)
        if planned.key.startswith("skip"):
            return Skip(planned=planned, reason="never")
        if planned.key in self.held:
            return Skip(planned=planned, reason="held back", subject=self.held[planned.key])
        if planned.key.startswith("bad"):
            raise TemplateError("no such variable")
        if planned.key.startswith("here"):
            return Settled(planned=planned, verdict=Verdict(state=VerdictState.OK), message="settled")
        if planned.key in self.loops:
            return Items(planned=planned, items=tuple(self.loops[planned.key]))
        command = Command(
            shell=planned.key,
            session=planned.check.session,
            timeout_s=self.timeout_s,
            become=self.accounts.get(planned.key),
        )
        return Step(planned=planned, command=command, on=self.on.get(planned.key, ""))

    def judge(
        self,
        step: Step,
        result: Result,
        outcomes: Mapping[str, CheckOutcome],
        reads: Sequence[RawSlice | None] = (),
        attempt: int = 1,
    ) -> Judgement:
        if result.execution is not Execution.DONE:
            return Judgement(verdict=Verdict(state=VerdictState.UNKNOWN))
        return Judgement(verdict=Verdict(state=VerdictState.OK if result.rc == 0 else VerdictState.CRIT))

    def again(self, step: Step, result: Result, judgement: Judgement, attempt: int) -> float | None:
        return self.delay_s if attempt < self.attempts.get(step.planned.key, 1) else None

    def whole(self, planned: PlannedCheck, items: Sequence[CheckOutcome]) -> CheckOutcome:
        failed = any(item.verdict.state is not VerdictState.OK for item in items)
        verdict = Verdict(state=VerdictState.CRIT if failed else VerdictState.OK)
        return CheckOutcome(host=self.host.name, planned=planned, verdict=verdict, items=tuple(items))

    def follow(self, outcome: CheckOutcome) -> Sequence[PlannedCheck]:
        if outcome.verdict.state is VerdictState.OK:
            return ()
        return self.followers.get(outcome.planned.key, ())

    def ask(self, step: Step, result: Result, verdict: Verdict) -> Sequence[SliceQuery]:
        return [] if verdict.state is VerdictState.OK else [SliceQuery(mode=SliceMode.TAIL)]

    def keep(self, step: Step, result: Result, verdict: Verdict) -> Sequence[SliceQuery]:
        return ()

    def kept(self, step: Step, result: Result, parts: Sequence[RawSlice]) -> None:
        return None

    def show(self, step: Step, raw: RawSlice) -> Slice:
        lines = tuple(
            SliceLine(number=line.number, text=ascii(line.data.decode("latin-1"))[1:-1], cut_bytes=line.cut_bytes)
            for line in raw.lines
        )
        return Slice(
            stream=Stream.STDOUT,
            query=raw.query,
            lines=lines,
            total_lines=raw.total_lines,
            more_lines=raw.more_lines,
        )


@dataclass
class FakeSession:
    """Answers each command by the behaviour of its id, or with rc 0 at once. One command at a time per session name."""

    behaviours: Mapping[str, Behaviour] = field(default_factory=dict)
    states: Mapping[str, Sequence[Observation]] = field(default_factory=dict)
    asks: Mapping[str, PromptText] = field(default_factory=dict)
    typed: list[str | None] = field(default_factory=list)
    agent: str = "fake"
    notes: Sequence[str] = ()
    started: list[str] = field(default_factory=list)
    fetched: list[int] = field(default_factory=list)
    closed: bool = False
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    async def run(
        self, step: Step, *, on_state: Callable[[Observation], None] | None = None, on_prompt: OnPrompt | None = None
    ) -> tuple[Result, Sequence[RawSlice | None]]:
        name = step.planned.key
        self.started.append(name)
        if name in self.asks:
            answer = None if on_prompt is None else await on_prompt(self.asks[name])
            self.typed.append(answer.reveal() if answer is not None else None)
        async with self.locks.setdefault(step.command.session, asyncio.Lock()):
            ends = [asyncio.ensure_future(event.wait()) for event in (self.cancelled, self.lost)]
            for state in self.states.get(name, ()):
                assert on_state is not None
                on_state(state)
            behaviour = self.behaviours.get(name)
            work = asyncio.ensure_future(behaviour(step) if behaviour else _at_once(step))
            try:
                await asyncio.wait([work, *ends], return_when=asyncio.FIRST_COMPLETED)
                if self.lost.is_set():
                    raise SessionLostError("the link ended")
                if work.done():
                    return work.result(), []
                return Result(seq=1, session=step.command.session, execution=Execution.KILLED, notes=("cancelled",)), []
            finally:
                for task in (work, *ends):
                    task.cancel()

    async def fetch(self, result: Result, query: SliceQuery) -> RawSlice:
        if self.lost.is_set():
            raise SessionLostError("the link ended")
        self.fetched.append(result.seq)
        return RawSlice(query=query, lines=(RawLine(number=1, data=b"evidence"),), total_lines=1)

    async def cancel(self) -> None:
        self.cancelled.set()

    async def aclose(self) -> None:
        self.closed = True
        self.lost.set()


async def _at_once(step: Step) -> Result:
    return done(step)


class Recorder:
    """An observer that writes down what it was told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []

    def run_started(self, hosts: int, checks: int) -> None:
        self.events.append(("run_started", f"{hosts}/{checks}"))

    def checks_added(self, host: str, more: int) -> None:
        self.events.append(("checks_added", f"{host} {more}"))

    def host_connecting(self, host: str) -> None:
        self.events.append(("host_connecting", host))

    def hosts_waiting(self, waits: Sequence[Wait]) -> None:
        self.events += [("hosts_waiting", wait.place) for wait in waits]

    def host_connected(self, host: str) -> None:
        self.events.append(("host_connected", host))

    def check_started(self, host: str, planned: PlannedCheck) -> None:
        self.events.append(("check_started", planned.key))

    def check_state(self, host: str, planned: PlannedCheck, observation: Observation) -> None:
        self.events.append(("check_state", f"{planned.key} {observation.brief}"))

    def check_finished(self, outcome: CheckOutcome) -> None:
        self.events.append(("check_finished", outcome.planned.key))

    def host_finished(self, outcome: HostOutcome) -> None:
        self.events.append(("host_finished", outcome.host.name))

    def run_finished(self) -> None:
        self.events.append(("run_finished", ""))

    def tick(self) -> None:
        self.events.append(("tick", ""))

    def of(self, kind: str) -> list[str]:
        return [what for name, what in self.events if name == kind]
