from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Behaviour, FakeScript, FakeSession, Recorder, done, planned

from checkrunner.model.errors import (
    AgentError,
    BecomeError,
    BecomeFailure,
    HostKeyError,
    NoInterpreterError,
    UnreachableError,
)
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Activity, Observation
from checkrunner.model.options import RunOptions
from checkrunner.model.plan import Account, HostOutcome, PlannedCheck, PromptText, Step
from checkrunner.model.results import Execution, HostState, Output, RawSlice, Result, SliceQuery, VerdictState
from checkrunner.model.seams import Driver, Session
from checkrunner.model.sources import Secret
from checkrunner.run.engine import Engine
from checkrunner.run.stop import Stop
from checkrunner.testing import check_driver, check_observer, check_script


def host(name: str) -> Host:
    return Host(name=name, address="127.0.0.1")


def script(name: str, checks: Sequence[PlannedCheck], timeout_s: float = 60.0) -> FakeScript:
    return FakeScript(host=host(name), checks=checks, timeout_s=timeout_s)


Opener = Callable[[Host], Awaitable[Session]]


def run(
    scripts: Sequence[FakeScript],
    opener: Opener,
    *,
    options: RunOptions | None = None,
    recorder: Recorder | None = None,
    stop_on: Callable[[Stop], Awaitable[None]] | None = None,
    driver: Driver | None = None,
) -> list[HostOutcome]:
    async def main() -> list[HostOutcome]:
        stop = Stop()
        engine = Engine(opener, options=options or RunOptions(), observer=recorder or Recorder(), driver=driver)
        stopper = asyncio.ensure_future(stop_on(stop)) if stop_on else None
        async with asyncio.timeout(20):
            outcomes = await engine.run(scripts, stop)
        if stopper:
            await stopper
        return outcomes

    return asyncio.run(main())


def opens(sessions: Mapping[str, FakeSession | Exception]) -> Opener:
    async def open_session(host: Host) -> Session:
        found = sessions[host.name]
        if isinstance(found, Exception):
            raise found
        return found

    return open_session


def states(outcome: HostOutcome) -> dict[str, VerdictState]:
    return {check.planned.key: check.verdict.state for check in outcome.checks}


def test_what_the_tests_here_stand_on_keeps_the_contracts() -> None:
    check_script(script("a", [planned("one"), planned("skip"), planned("bad"), planned("two", needs=["one", "bad"])]))
    check_observer(Recorder)


def test_every_check_of_every_host_has_one_outcome_in_plan_order() -> None:
    recorder = Recorder()
    checks = [planned(f"c{n}") for n in range(5)]

    outcomes = run(
        [script("a", checks), script("b", checks)],
        opens({"a": FakeSession(), "b": FakeSession()}),
        recorder=recorder,
    )

    assert [outcome.host.name for outcome in outcomes] == ["a", "b"]
    assert [[c.key for c in checks]] * 2 == [[c.planned.key for c in outcome.checks] for outcome in outcomes]
    assert sorted([c.key for c in checks] * 2) == sorted(recorder.of("check_finished"))
    assert sorted(recorder.of("host_finished")) == ["a", "b"]
    assert recorder.events[0] == ("run_started", "2/10")
    assert recorder.events[-1] == ("run_finished", "")


def test_independent_checks_are_all_sent_before_the_first_answer() -> None:
    session = FakeSession()
    gate: list[int] = []

    async def slow(step: Step) -> Result:
        while len(session.started) < 3:
            await asyncio.sleep(0)
        gate.append(len(session.started))
        return done(step)

    session.behaviours = {"c0": slow}
    run([script("a", [planned("c0"), planned("c1"), planned("c2")])], opens({"a": session}))

    assert gate == [3]


def test_a_check_that_needs_a_result_waits_for_it_and_sees_it() -> None:
    session = FakeSession()
    one = script("a", [planned("c0"), planned("c1"), planned("c2", needs=["c0"])])

    outcomes = run([one], opens({"a": session}))

    assert "c0" in one.seen["c2"]
    assert set(states(outcomes[0]).values()) == {VerdictState.OK}


def test_a_hung_check_does_not_delay_another_session() -> None:
    released = asyncio.Event()

    async def hang(step: Step) -> Result:
        await released.wait()
        return done(step)

    async def release(step: Step) -> Result:
        released.set()
        return done(step)

    session = FakeSession(behaviours={"hung": hang, "free": release})
    checks = [planned("hung"), planned("after", needs=["hung"]), planned("free", session="other")]

    outcomes = run([script("a", checks)], opens({"a": session}))

    assert set(states(outcomes[0]).values()) == {VerdictState.OK}


def test_one_hosts_trouble_is_its_own() -> None:
    checks = [planned("c0"), planned("c1")]

    outcomes = run(
        [script("dead", checks), script("fine", checks), script("wrong", checks)],
        opens({"dead": UnreachableError("refused"), "fine": FakeSession(), "wrong": HostKeyError("changed")}),
    )

    assert [o.state for o in outcomes] == [HostState.UNREACHABLE, HostState.REACHED, HostState.HOST_KEY_MISMATCH]
    assert states(outcomes[0]) == {"c0": VerdictState.UNKNOWN, "c1": VerdictState.UNKNOWN}
    assert all(check.result is None and check.error is not None for check in outcomes[0].checks)
    assert set(states(outcomes[1]).values()) == {VerdictState.OK}


def test_a_bug_on_one_host_is_raised_and_the_sessions_are_closed() -> None:
    async def bug(step: Step) -> Result:
        raise ZeroDivisionError

    session = FakeSession(behaviours={"c0": bug})

    with pytest.raises(ExceptionGroup):
        run([script("a", [planned("c0")])], opens({"a": session}))

    assert session.closed


def test_a_lost_link_keeps_what_was_done_and_gives_elapsed_time_to_the_rest() -> None:
    waits = Observation(kind=Activity.IO_WAIT, name="df", wchan="nfs_wait_bit_killable", on="/mnt", since_s=9.0)
    session = FakeSession(states={"c1": [Observation(kind=Activity.RUNNING, name="df"), waits]})

    async def lose(step: Step) -> Result:
        session.lost.set()
        await asyncio.Event().wait()
        raise AssertionError

    session.behaviours = {"c1": lose}
    checks = [planned("c0"), planned("c1"), planned("c2"), planned("c3", needs=["c2"])]

    (outcome,) = run([script("a", checks)], opens({"a": session}))

    assert outcome.state is HostState.LOST
    assert states(outcome) == {
        "c0": VerdictState.OK,
        "c1": VerdictState.UNKNOWN,
        "c2": VerdictState.UNKNOWN,
        "c3": VerdictState.UNKNOWN,
    }
    lost = outcome.checks[1].result
    assert lost is not None
    assert lost.execution is Execution.LOST
    assert lost.rc is None
    assert lost.seen == waits
    (reason,) = outcome.checks[1].verdict.reasons
    assert reason.message.endswith("; last seen: df io_wait for 9.0 s, wchan nfs_wait_bit_killable, /mnt")
    assert outcome.checks[3].result is None


def test_the_observer_sees_what_a_command_does_between_its_start_and_its_end() -> None:
    recorder = Recorder()
    seen = [Observation(kind=Activity.RUNNING, name="df"), Observation(kind=Activity.IDLE, syscall="poll")]
    session = FakeSession(states={"c0": seen})

    run([script("a", [planned("c0"), planned("c1")])], opens({"a": session}), recorder=recorder)

    assert recorder.of("check_state") == ["c0 running (df)", "c0 idle poll"]
    events = [event for event in recorder.events if event[1].startswith("c0")]
    assert [kind for kind, _ in events] == ["check_started", "check_state", "check_state", "check_finished"]


def test_a_remote_side_that_never_started_has_run_nothing() -> None:
    async def no_python(step: Step) -> Result:
        raise NoInterpreterError("no python3 >= 3.6")

    session = FakeSession(behaviours={"c0": no_python})

    (outcome,) = run([script("a", [planned("c0"), planned("c1", needs=["c0"])])], opens({"a": session}))

    assert outcome.state is HostState.NO_SHELL
    assert [check.result for check in outcome.checks] == [None, None]
    assert set(states(outcome).values()) == {VerdictState.UNKNOWN}
    assert all("no python3" in check.verdict.reasons[0].message for check in outcome.checks)


def test_skips_and_template_trouble_are_outcomes() -> None:
    (outcome,) = run([script("a", [planned("skip1"), planned("bad1"), planned("c")])], opens({"a": FakeSession()}))

    assert states(outcome) == {"skip1": VerdictState.SKIPPED, "bad1": VerdictState.UNKNOWN, "c": VerdictState.OK}
    assert "no such variable" in outcome.checks[1].verdict.reasons[0].message


def test_what_the_remote_side_refuses_is_unknown_and_the_rest_goes_on() -> None:
    async def refuse(step: Step) -> Result:
        raise AgentError("too many sessions")

    (outcome,) = run(
        [script("a", [planned("c0"), planned("c1")])], opens({"a": FakeSession(behaviours={"c0": refuse})})
    )

    assert outcome.state is HostState.REACHED
    assert states(outcome) == {"c0": VerdictState.UNKNOWN, "c1": VerdictState.OK}


def test_slices_are_fetched_for_what_is_not_ok() -> None:
    async def fail(step: Step) -> Result:
        return done(step, rc=1)

    session = FakeSession(behaviours={"c0": fail})

    (outcome,) = run([script("a", [planned("c0"), planned("c1")])], opens({"a": session}))

    assert [piece.text for piece in outcome.checks[0].slices] == ["evidence"]
    assert outcome.checks[1].slices == ()


def test_a_check_whose_slices_cannot_be_had_says_so() -> None:
    async def fail(step: Step) -> Result:
        return replace(done(step, rc=1), stdout=Output(lines=1, bytes=9, captured_bytes=9))

    class Unreadable(FakeSession):
        async def fetch(self, result: Result, query: SliceQuery) -> RawSlice:
            raise AgentError("the capture is gone")

    (outcome,) = run([script("a", [planned("c0"), planned("c1")])], opens({"a": Unreadable(behaviours={"c0": fail})}))

    notes = [check.result.notes for check in outcome.checks if check.result is not None]
    assert notes == [("what was to be shown of its output could not be read",), ()]
    assert outcome.checks[0].verdict.state is VerdictState.CRIT


def test_an_interrupt_ends_running_commands_and_names_what_was_not_run() -> None:
    running = asyncio.Event()

    async def hang(step: Step) -> Result:
        running.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def interrupt(stop: Stop) -> None:
        await running.wait()
        stop.set("interrupted")

    session = FakeSession(behaviours={"c1": hang})
    checks = [planned("c0"), planned("c1"), planned("c2", needs=["c1"])]

    first, second = run(
        [script("a", checks), script("b", checks)],
        opens({"a": session}),
        options=RunOptions(forks=1),
        stop_on=interrupt,
    )

    assert session.cancelled.is_set()
    assert session.closed
    assert states(first) == {"c0": VerdictState.OK, "c1": VerdictState.UNKNOWN, "c2": VerdictState.UNKNOWN}
    ended = first.checks[1].result
    assert ended is not None
    assert ended.notes == ("interrupted",)
    assert "the run was interrupted" in first.checks[2].verdict.reasons[0].message
    assert second.state is HostState.NOT_TRIED
    assert {check.result for check in second.checks} == {None}


def test_a_deadline_ends_a_connection_attempt_too() -> None:
    async def never(host: Host) -> Session:
        await asyncio.Event().wait()
        raise AssertionError

    (outcome,) = run([script("a", [planned("c0")])], never, options=RunOptions(deadline_s=0.05))

    assert outcome.state is HostState.NOT_TRIED
    assert "deadline" in outcome.checks[0].verdict.reasons[0].message


def test_at_most_forks_hosts_are_open_at_once() -> None:
    open_now: list[int] = [0, 0]

    class Counting(FakeSession):
        async def aclose(self) -> None:
            open_now[0] -= 1

    async def open_session(host: Host) -> Session:
        open_now[0] += 1
        open_now[1] = max(open_now)
        return Counting()

    run([script(f"h{n}", [planned("c0")]) for n in range(20)], open_session, options=RunOptions(forks=3))

    assert open_now == [0, 3]


def test_a_remote_side_that_stops_answering_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkrunner.run.turns._ANSWER_GRACE_S", 0.05)

    async def hang(step: Step) -> Result:
        await asyncio.Event().wait()
        raise AssertionError

    (outcome,) = run(
        [script("a", [planned("c0"), planned("c1")], timeout_s=0.05)], opens({"a": FakeSession({"c0": hang})})
    )

    assert outcome.state is HostState.LOST
    assert "stopped answering" in outcome.checks[0].verdict.reasons[0].message
    assert outcome.checks[1].verdict.state is VerdictState.UNKNOWN


def test_what_hangs_as_another_account_costs_no_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor what waits behind it in its session: it is given up later than a check's own time says."""
    monkeypatch.setattr("checkrunner.run.turns._ANSWER_GRACE_S", 1.0)
    monkeypatch.setattr("checkrunner.run.turns._TYPING_S", 0.0)

    async def given_up(step: Step) -> Result:
        await asyncio.sleep(1.5)
        raise BecomeError(BecomeFailure.LOST, "it stopped answering")

    checks = [planned("c0"), planned("c1"), planned("c2")]
    hosts = [FakeScript(host("a"), checks, timeout_s=0.05, accounts={"c0": Account(user="root", method="sudo")})]
    session = FakeSession({"c0": given_up})
    (outcome,) = run(hosts, opens({"a": session}), options=RunOptions(start_s=0.0))

    assert outcome.state is HostState.REACHED
    assert [check.verdict.state for check in outcome.checks] == [
        VerdictState.UNKNOWN,
        VerdictState.OK,
        VerdictState.OK,
    ]
    assert outcome.checks[0].result is not None
    assert outcome.checks[0].result.execution is Execution.LOST
    assert outcome.error is None


@given(st.data())
def test_any_shape_of_run_yields_each_check_once(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(["c", "skip", "bad", "fail", "refuse"]), min_size=1, max_size=8))
    checks: list[PlannedCheck] = []
    for number, name in enumerate(names):
        needs = data.draw(st.sets(st.sampled_from([c.key for c in checks]))) if checks else set()
        session = data.draw(st.sampled_from(["main", "other"]))
        checks.append(planned(f"{name}{number}", needs=sorted(needs), session=session))

    async def fail(step: Step) -> Result:
        return done(step, rc=1)

    async def refuse(step: Step) -> Result:
        raise AgentError("no")

    behaviours: dict[str, Behaviour] = {c.key: fail for c in checks if c.key.startswith("fail")}
    behaviours |= {c.key: refuse for c in checks if c.key.startswith("refuse")}
    recorder = Recorder()

    (outcome,) = run([script("a", checks)], opens({"a": FakeSession(behaviours)}), recorder=recorder)

    assert [c.key for c in checks] == [c.planned.key for c in outcome.checks]
    assert sorted(c.key for c in checks) == sorted(recorder.of("check_finished"))


class Person:
    """A driver that answers with who asks what; refuses passwords."""

    async def answer(self, host: str, planned: PlannedCheck, prompt: PromptText) -> Secret | None:
        return None if prompt.secret else Secret(f"{host}/{planned.key}: {prompt.text}")


def test_the_driver_is_asked_with_host_and_check() -> None:
    asks = {"a": PromptText(text="Sure?"), "b": PromptText(text="Password:", secret=True)}
    sessions = {name: FakeSession(asks=asks) for name in ("h1", "h2")}
    scripts = [script(name, [planned("a"), planned("b")]) for name in sessions]

    run(scripts, opens(sessions), driver=Person())

    assert sessions["h1"].typed == ["h1/a: Sure?", None]
    assert sessions["h2"].typed == ["h2/a: Sure?", None]


def test_without_a_driver_nobody_is_asked() -> None:
    session = FakeSession(asks={"a": PromptText(text="Sure?")})

    run([script("h1", [planned("a")])], opens({"h1": session}))

    assert session.typed == [None]


def test_the_driver_of_the_tests_keeps_the_contract() -> None:
    asyncio.run(check_driver(Person, PromptText(text="Sure?")))
