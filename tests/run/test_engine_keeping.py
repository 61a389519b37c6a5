"""What is kept of outputs: fetched last, in bounded time, and never a reason for anything."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import pytest
from scripted import FakeScript, FakeSession, Recorder, done, planned

from checkrunner.model.errors import AgentError, HostError, SessionLostError
from checkrunner.model.inventory import Host
from checkrunner.model.options import RunOptions
from checkrunner.model.plan import HostOutcome, Step
from checkrunner.model.results import HostState, RawLine, RawSlice, Result, SliceMode, SliceQuery, Verdict, VerdictState
from checkrunner.model.seams import Session
from checkrunner.run import errand
from checkrunner.run.engine import Engine
from checkrunner.run.stop import Stop

HOST = Host(name="h", address="127.0.0.1")
PARTS = [SliceQuery(mode=SliceMode.PACKED, first=first, last=first + 5, max_bytes=5) for first in (0, 5, 10)]


@dataclass
class Keeps(FakeScript):
    got: dict[str, list[int]] = field(default_factory=dict)

    def keep(self, step: Step, result: Result, verdict: Verdict) -> Sequence[SliceQuery]:
        return PARTS if verdict.state is not VerdictState.OK else ()

    def kept(self, step: Step, result: Result, parts: Sequence[RawSlice]) -> None:
        assert step.planned.key not in self.got
        self.got[step.planned.key] = [part.query.first for part in parts]


@dataclass
class Packs(FakeSession):
    """`before` is called with each packed query."""

    before: Callable[[SliceQuery], Awaitable[None]] | None = None
    asked: list[int] = field(default_factory=list)

    async def fetch(self, result: Result, query: SliceQuery) -> RawSlice:
        if query.mode is not SliceMode.PACKED:
            return await super().fetch(result, query)
        self.asked.append(query.first)
        if self.before is not None:
            await self.before(query)
        return RawSlice(query=query, lines=(RawLine(number=1, data=b"12345"),), total_lines=1)


async def fails(step: Step) -> Result:
    return done(step, 1)


def run(script: Keeps, session: Packs, recorder: Recorder | None = None, stop: Stop | None = None) -> HostOutcome:
    async def open_session(_host: Host) -> Session:
        return session

    async def main() -> HostOutcome:
        engine = Engine(open_session, options=RunOptions(), observer=recorder or Recorder())
        async with asyncio.timeout(60):
            (outcome,) = await engine.run([script], stop or Stop())
        return outcome

    return asyncio.run(main())


def raises(error: HostError) -> Callable[[SliceQuery], Awaitable[None]]:
    async def before(query: SliceQuery) -> None:
        if query.first:
            raise error

    return before


async def never(query: SliceQuery) -> None:
    if query.first:
        await asyncio.Event().wait()


def test_outputs_come_one_part_after_the_other_once_the_check_has_its_outcome() -> None:
    recorder, finished = Recorder(), []

    async def before(_query: SliceQuery) -> None:
        finished.append(recorder.of("check_finished"))

    script, session = (
        Keeps(host=HOST, checks=[planned("a"), planned("b")]),
        Packs(behaviours={"b": fails}, before=before),
    )
    outcome = run(script, session, recorder)

    assert (session.asked, script.got) == ([0, 5, 10], {"b": [0, 5, 10]})
    assert all("b" in names for names in finished)
    assert [check.verdict.state for check in outcome.checks] == [VerdictState.OK, VerdictState.CRIT]


@pytest.mark.parametrize("error", [AgentError("gone"), SessionLostError("the link ended")])
def test_what_cannot_be_had_is_no_trouble_of_the_host(error: HostError) -> None:
    script, session = Keeps(host=HOST, checks=[planned("a")]), Packs(behaviours={"a": fails}, before=raises(error))
    outcome = run(script, session)

    assert script.got == {"a": [0]}
    assert (outcome.state, outcome.error) == (HostState.REACHED, None)
    assert (outcome.checks[0].verdict.state, len(outcome.checks[0].slices)) == (VerdictState.CRIT, 1)


def test_nobody_waits_long_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errand, "_KEEP_S", 0.05)
    script, session = Keeps(host=HOST, checks=[planned("a")]), Packs(behaviours={"a": fails}, before=never)
    outcome = run(script, session)

    assert script.got == {"a": [0]}
    assert (outcome.state, outcome.checks[0].verdict.state) == (HostState.REACHED, VerdictState.CRIT)


def test_a_run_that_is_stopped_drops_it() -> None:
    stop = Stop()

    async def before(query: SliceQuery) -> None:
        if query.first:
            stop.set("interrupted")
            await asyncio.Event().wait()

    script, session = Keeps(host=HOST, checks=[planned("a")]), Packs(behaviours={"a": fails}, before=before)
    outcome = run(script, session, stop=stop)

    assert script.got == {"a": [0]}
    assert outcome.checks[0].verdict.state is VerdictState.CRIT
