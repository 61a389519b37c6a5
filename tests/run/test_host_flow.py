"""Loops, repeated commands, follow-ups and tasks of one host: what is sent when, and what comes of each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import FakeScript, FakeSession, Recorder, done, planned

from checkrunner.model.errors import AgentError
from checkrunner.model.inventory import Host
from checkrunner.model.options import RunOptions
from checkrunner.model.plan import HostOutcome, PlannedCheck, Step
from checkrunner.model.playbook import Loop, Until
from checkrunner.model.results import Result, VerdictState
from checkrunner.model.seams import Session
from checkrunner.model.tasks import Module, Task
from checkrunner.run.engine import Engine
from checkrunner.run.stop import Stop
from checkrunner.testing import check_script

HOST = Host(name="h", address="127.0.0.1")


def items(key: str, *labels: str, session: str = "main") -> list[PlannedCheck]:
    return [
        replace(planned(f"{key}[{label}]", session=session), loop=key, label=label, index=index)
        for index, label in enumerate(labels)
    ]


def follower(key: str, of: str, *, needs: Sequence[str] = (), session: str = "main") -> PlannedCheck:
    return replace(planned(key, needs=needs, session=session), follows=of)


def run(
    script: FakeScript,
    session: FakeSession,
    *,
    recorder: Recorder | None = None,
    stop_on: Callable[[Stop], Awaitable[None]] | None = None,
) -> HostOutcome:
    async def open_session(_host: Host) -> Session:
        return session

    async def main() -> HostOutcome:
        stop = Stop()
        engine = Engine(open_session, options=RunOptions(), observer=recorder or Recorder())
        stopper = asyncio.ensure_future(stop_on(stop)) if stop_on else None
        async with asyncio.timeout(20):
            (outcome,) = await engine.run([script], stop)
        if stopper:
            await stopper
        return outcome

    return asyncio.run(main())


def keys(outcome: HostOutcome) -> list[str]:
    return [check.planned.key for check in outcome.checks]


def fails(rc: int = 1) -> Callable[[Step], Awaitable[Result]]:
    async def behaviour(step: Step) -> Result:
        return done(step, rc)

    return behaviour


def test_the_script_that_these_tests_use_keeps_its_contract() -> None:
    script = FakeScript(
        host=HOST,
        checks=[planned("a"), planned("l"), planned("here"), planned("z", needs=["l", "here"])],
        loops={"l": items("l", "x", "y")},
    )
    check_script(script)


# ---- loops


def test_items_take_the_place_of_their_loop() -> None:
    recorder = Recorder()
    script = FakeScript(
        host=HOST, checks=[planned("a"), planned("l"), planned("z")], loops={"l": items("l", "x", "y", "z")}
    )

    outcome = run(script, FakeSession(), recorder=recorder)

    assert keys(outcome) == ["a", "l[x]", "l[y]", "l[z]", "z"]
    assert recorder.of("checks_added") == ["h 2"]
    assert sorted(recorder.of("check_finished")) == sorted(keys(outcome))


def test_items_are_all_sent_before_the_first_answer() -> None:
    session = FakeSession()
    seen: list[int] = []

    async def first(step: Step) -> Result:
        while len(session.started) < 4:
            await asyncio.sleep(0)
        seen.append(len(session.started))
        return done(step)

    session.behaviours = {"l[x]": first}
    run(FakeScript(host=HOST, checks=[planned("l"), planned("z")], loops={"l": items("l", "x", "y", "z")}), session)

    assert seen == [4]


def test_who_needs_a_loop_waits_for_all_of_its_items() -> None:
    session = FakeSession(behaviours={"l[y]": fails()})
    script = FakeScript(
        host=HOST,
        checks=[planned("l"), planned("z", needs=["l"], session="other")],
        loops={"l": items("l", "x", "y")},
    )

    run(script, session)

    assert script.seen["z"] >= {"l", "l[x]", "l[y]"}


def test_a_loop_all_of_whose_items_need_no_host_is_over_at_once() -> None:
    loop = [replace(planned(f"here[{n}]"), loop="l", index=n) for n in range(3)]
    script = FakeScript(host=HOST, checks=[planned("l"), planned("z", needs=["l"])], loops={"l": loop})

    assert keys(run(script, FakeSession())) == ["here[0]", "here[1]", "here[2]", "z"]


def test_items_with_a_pause_wait_for_each_other() -> None:
    session = FakeSession()
    order: list[str] = []

    async def slow(step: Step) -> Result:
        order.append(f"start {step.planned.label}")
        await asyncio.sleep(0.02)
        order.append(f"end {step.planned.label}")
        return done(step)

    session.behaviours = {"l[x]": slow, "l[y]": slow}
    looped = planned("l")
    looped = replace(looped, check=replace(looped.check, loop=Loop(items=["x", "y"], pause_s=0.01)))
    run(FakeScript(host=HOST, checks=[looped], loops={"l": items("l", "x", "y")}), session)

    assert order == ["start x", "end x", "start y", "end y"]


def test_a_loop_of_a_host_that_is_lost_has_an_outcome_for_each_item() -> None:
    session = FakeSession()

    async def loses(step: Step) -> Result:
        session.lost.set()
        await asyncio.sleep(60)
        return done(step)

    session.behaviours = {"l[x]": loses}
    script = FakeScript(
        host=HOST,
        checks=[planned("l"), planned("z", needs=["l"]), planned("m", needs=["l"])],
        loops={"l": items("l", "x", "y"), "m": items("m", "p")},
    )

    outcome = run(script, session)

    assert keys(outcome) == ["l[x]", "l[y]", "z", "m"]
    assert {check.verdict.state for check in outcome.checks} == {VerdictState.UNKNOWN}


# ---- until


def repeated(key: str, **fields: str) -> PlannedCheck:
    found = planned(key, **fields)  # type: ignore[arg-type]  # only `session` is given here
    return replace(found, check=replace(found.check, until=Until(conditions=())))


def test_a_command_is_run_again_and_its_lane_waits() -> None:
    session = FakeSession()
    script = FakeScript(
        host=HOST,
        checks=[repeated("u"), planned("z"), planned("free", session="other")],
        attempts={"u": 3},
    )

    outcome = run(script, session)

    assert [name for name in session.started if name != "free"] == ["u", "u", "u", "z"]
    assert session.started.index("free") <= 1
    assert {check.planned.key: check.attempts for check in outcome.checks} == {"u": 3, "z": 1, "free": 1}


def test_a_stop_ends_the_waiting_for_the_next_attempt() -> None:
    session = FakeSession()
    script = FakeScript(host=HOST, checks=[repeated("u"), planned("z")], attempts={"u": 1_000_000}, delay_s=60.0)

    async def interrupt(stop: Stop) -> None:
        while not session.started:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        stop.set("interrupted")

    outcome = run(script, session, stop_on=interrupt)

    assert [str(check.verdict.state) for check in outcome.checks] == ["unknown", "unknown"], "not known how it ends"
    (reason,) = outcome.checks[0].verdict.reasons
    assert reason.message == "until: was not met after 1 attempt, and the run was interrupted"
    assert outcome.checks[0].result is not None
    assert session.started == ["u"]


def test_a_last_attempt_counts_also_where_the_run_ends_with_it() -> None:
    stops: list[Stop] = []

    async def ends(step: Step) -> Result:
        stops[0].set("deadline")
        return done(step)

    async def keep(stop: Stop) -> None:
        stops.append(stop)

    script = FakeScript(host=HOST, checks=[repeated("u")], attempts={"u": 1})
    outcome = run(script, FakeSession(behaviours={"u": ends}), stop_on=keep)

    assert outcome.checks[0].verdict.state is VerdictState.OK


def test_a_host_that_is_lost_ends_the_waiting_for_the_next_attempt() -> None:
    async def lose(step: Step) -> Result:
        await asyncio.sleep(0.05)
        session.lost.set()
        return done(step, 1)

    async def failing(step: Step) -> Result:
        return done(step, 1)

    session = FakeSession(behaviours={"u": failing, "z": lose})
    script = FakeScript(
        host=HOST, checks=[repeated("u"), planned("z", session="other")], attempts={"u": 9}, delay_s=60.0
    )

    outcome = run(script, session)

    assert outcome.checks[0].verdict.state is VerdictState.UNKNOWN
    assert "until: was not met after 1 attempt, and the link ended" in outcome.checks[0].verdict.reasons[0].message


def test_an_attempt_that_is_refused_ends_it() -> None:
    session = FakeSession()
    ran: list[str] = []

    async def once(step: Step) -> Result:
        ran.append(step.planned.key)
        if len(ran) > 1:
            raise AgentError("no room")
        return done(step)

    session.behaviours = {"u": once}
    outcome = run(FakeScript(host=HOST, checks=[repeated("u")], attempts={"u": 5}), session)

    assert len(ran) == 2
    assert outcome.checks[0].verdict.reasons[0].message == "no room"


# ---- follow-ups


def test_follow_ups_come_after_their_check_and_are_reported_there() -> None:
    recorder = Recorder()
    session = FakeSession(behaviours={"a": fails(), "f1": fails()})
    script = FakeScript(
        host=HOST,
        checks=[planned("a"), planned("z")],
        followers={"a": [follower("f1", "a"), follower("f2", "a")], "f1": [follower("g", "f1")]},
    )

    outcome = run(script, session, recorder=recorder)

    assert keys(outcome) == ["a", "f1", "g", "f2", "z"]
    assert session.started[:2] == ["a", "z"], "what can be sent is not held up"
    assert recorder.of("checks_added") == ["h 2", "h 1"]
    assert sorted(recorder.of("check_finished")) == sorted(keys(outcome))


def test_follow_ups_hold_up_nobody() -> None:
    session = FakeSession(behaviours={"a": fails()})
    released = asyncio.Event()

    async def long(step: Step) -> Result:
        await released.wait()
        return done(step)

    async def last(step: Step) -> Result:
        released.set()
        return done(step)

    session.behaviours = {"a": fails(), "f": long, "z": last}
    script = FakeScript(
        host=HOST,
        checks=[planned("a"), planned("z", needs=["a"], session="other")],
        followers={"a": [follower("f", "a")]},
    )

    assert keys(run(script, session)) == ["a", "f", "z"]


def test_a_follow_up_waits_for_one_before_it() -> None:
    session = FakeSession(behaviours={"a": fails()})
    script = FakeScript(
        host=HOST,
        checks=[planned("a")],
        followers={"a": [follower("f", "a"), follower("g", "a", needs=["a", "f"])]},
    )

    run(script, session)

    assert script.seen["g"] >= {"a", "f"}


def test_follow_ups_of_items_and_of_what_cannot_be_rendered() -> None:
    session = FakeSession(behaviours={"l[y]": fails()})
    script = FakeScript(
        host=HOST,
        checks=[planned("l"), planned("bad")],
        loops={"l": items("l", "x", "y")},
        followers={"l[y]": [follower("f[y]", "l[y]")], "bad": [follower("b", "bad")]},
    )

    assert keys(run(script, session)) == ["l[x]", "l[y]", "f[y]", "bad", "b"]


def test_nothing_follows_once_the_run_ends() -> None:
    session = FakeSession()
    script = FakeScript(host=HOST, checks=[planned("a")], followers={"a": [follower("f", "a")]})

    async def waits(step: Step) -> Result:
        await asyncio.sleep(60)
        return done(step)

    async def interrupt(stop: Stop) -> None:
        while not session.started:
            await asyncio.sleep(0.01)
        stop.set("interrupted")

    session.behaviours = {"a": waits}

    assert keys(run(script, session, stop_on=interrupt)) == ["a"]


# ---- checks that need no host, and tasks


def test_a_check_that_needs_no_host_says_what_came_of_it() -> None:
    session = FakeSession()

    outcome = run(FakeScript(host=HOST, checks=[planned("here"), planned("z", needs=["here"])]), session)

    assert [(check.message, check.result is None) for check in outcome.checks] == [("settled", True), ("", False)]
    assert session.started == ["z"]


def as_task(check: PlannedCheck) -> PlannedCheck:
    return replace(check, check=replace(check.check, task=Task(module=Module.SHELL)))


def test_tasks_stand_between_the_checks_before_and_after_them() -> None:
    session = FakeSession()
    order: list[str] = []

    async def slow(step: Step) -> Result:
        await asyncio.sleep(0.03)
        order.append(step.planned.key)
        return done(step)

    async def quick(step: Step) -> Result:
        order.append(step.planned.key)
        return done(step)

    session.behaviours = {"t1": slow, "t2": quick, "c2": quick}
    tasks = [as_task(planned("t1", session="s1")), as_task(planned("t2", needs=["t1"], session="s2"))]
    run(FakeScript(host=HOST, checks=[planned("c1"), *tasks, planned("c2", session="s3")]), session)

    assert order == ["t1", "t2", "c2"]


# ---- all of it together


@st.composite
def scripts(draw: st.DrawFn) -> tuple[FakeScript, set[str]]:
    """A script of checks in several sessions with loops, needs and follow-ups; and which of its commands fail."""
    number = draw(st.integers(1, 6))
    checks: list[PlannedCheck] = []
    loops: dict[str, list[PlannedCheck]] = {}
    followers: dict[str, list[PlannedCheck]] = {}
    every: list[str] = []
    for n in range(number):
        key = f"{draw(st.sampled_from(['c', 'c', 'skip', 'bad', 'here']))}{n}"
        needs = draw(st.lists(st.sampled_from([c.key for c in checks]), max_size=2)) if checks else []
        session = draw(st.sampled_from(["s1", "s2"]))
        checks.append(planned(key, needs=needs, session=session))
        keys = [key]
        if key.startswith("c") and draw(st.booleans()):
            loops[key] = items(key, *draw(st.lists(st.sampled_from("xyz"), min_size=1, unique=True)), session=session)
            keys = [item.key for item in loops[key]]
        for one in keys:
            every.append(one)
            if draw(st.booleans()):
                followers[one] = [follower(f"f.{one}", one, session=session)]
                every.append(f"f.{one}")
    failing = draw(st.sets(st.sampled_from(every)))
    return FakeScript(host=HOST, checks=checks, loops=loops, followers=followers), failing


@given(scripts())
def test_every_check_has_one_outcome_whatever_there_is(case: tuple[FakeScript, set[str]]) -> None:
    script, failing = case
    recorder = Recorder()

    outcome = run(script, FakeSession(behaviours={key: fails() for key in failing}), recorder=recorder)

    found = keys(outcome)
    assert len(set(found)) == len(found)
    assert sorted(recorder.of("check_finished")) == sorted(found)
    top = [key for key in found if not key.startswith("f.")]
    expected = [one.key for check in script.checks for one in script.loops.get(check.key, [check])]
    assert top == expected, "plan order"
    added = sum(int(text.split()[1]) for text in recorder.of("checks_added"))
    assert len(found) == len(script.checks) + added
    for key in found:
        if key.startswith("f."):
            assert found[found.index(key) - 1].split("f.")[-1] == key.removeprefix("f.")


@pytest.mark.parametrize("needs", [["l"], ["l", "a"]])
def test_needs_are_there_whatever_the_session(needs: list[str]) -> None:
    script = FakeScript(
        host=HOST,
        checks=[planned("a"), planned("l", session="s2"), planned("z", needs=needs, session="s3")],
        loops={"l": items("l", "x", "y", session="s2")},
    )
    run(script, FakeSession())
    assert script.seen["z"] >= {*needs, "l[x]", "l[y]"}
