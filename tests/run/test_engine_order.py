"""Hosts in batches, plays that stop where too many failed, checks that run once for all and in other hosts' sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Behaviour, FakeScript, FakeSession, Recorder, done, planned

from checkrunner.model.errors import HostError, NoInterpreterError, UnreachableError, UnsupportedError
from checkrunner.model.inventory import Host
from checkrunner.model.options import RunOptions
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck, Step
from checkrunner.model.playbook import Play, Share
from checkrunner.model.results import HostState, Result, VerdictState
from checkrunner.model.seams import Session
from checkrunner.run.engine import Engine
from checkrunner.run.stop import Stop

Stopper = Callable[[Stop], Awaitable[None]]


def host(name: str) -> Host:
    return Host(name=name, address="127.0.0.1")


def script(name: str, checks: Sequence[PlannedCheck], on: Mapping[str, str] | None = None) -> FakeScript:
    return FakeScript(host=host(name), checks=checks, on=on or {})


def play(
    *, serial: Sequence[int] = (), forks: int | None = None, max_fail: int | None = None, fraction: float | None = None
) -> Play:
    limit = None if max_fail is None and fraction is None else Share(count=max_fail, fraction=fraction)
    sizes = tuple(Share(count=size) for size in serial)
    return Play(name="play", hosts="all", checks=(), serial=sizes, forks=forks, max_fail=limit)


async def fail(step: Step) -> Result:
    return done(step, rc=1)


async def never(step: Step) -> Result:
    await asyncio.Event().wait()
    raise AssertionError


@dataclass
class Hosts:
    """Opens a session each time it is asked, and counts. `dead` cannot be reached; `behaves` is what commands do, by
    the host that they run on and their key."""

    dead: Mapping[str, HostError] = field(default_factory=dict)
    behaves: Mapping[str, Mapping[str, Behaviour]] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)
    sessions: list[tuple[str, FakeSession]] = field(default_factory=list)
    gates: Mapping[str, asyncio.Event] = field(default_factory=dict)

    async def open(self, host: Host) -> Session:
        self.opened.append(host.name)
        if host.name in self.gates:
            await self.gates[host.name].wait()
        if host.name in self.dead:
            raise self.dead[host.name]
        session = FakeSession(behaviours=self.behaves.get(host.name, {}))
        self.sessions.append((host.name, session))
        return session

    def ran(self, key: str) -> list[str]:
        """The hosts in whose sessions a command was run, in order of their opening."""
        return [name for name, session in self.sessions if key in session.started]


def run(
    hosts: Hosts,
    scripts: Sequence[FakeScript],
    *plays: Play,
    forks: int = 100,
    recorder: Recorder | None = None,
    stop_on: Stopper | None = None,
    rooms: int = 16,
    most_kept: int = 1000,
) -> list[HostOutcome]:
    def find(name: str) -> Host:
        if name == "nobody":
            raise UnsupportedError("nobody: there is no such host")
        return host(name)

    async def main() -> list[HostOutcome]:
        stop = Stop()
        engine = Engine(
            hosts.open,
            options=RunOptions(forks=forks),
            observer=recorder or Recorder(),
            find=find,
            rooms=rooms,
            most_kept=most_kept,
        )
        stopper = asyncio.ensure_future(stop_on(stop)) if stop_on else None
        async with asyncio.timeout(20):
            outcomes = await engine.run(scripts, stop, plays)
        if stopper:
            await stopper
        return outcomes

    return asyncio.run(main())


def verdicts(outcomes: Sequence[HostOutcome]) -> dict[str, dict[str, str]]:
    return {o.host.name: {c.planned.key: str(c.verdict.state) for c in o.checks} for o in outcomes}


def why(outcome: HostOutcome, key: str) -> str:
    (check,) = [check for check in outcome.checks if check.planned.key == key]
    return check.verdict.reasons[0].message


def order_of(recorder: Recorder) -> list[str]:
    return [what for kind, what in recorder.events if kind == "check_started"]


# ---- stages


def test_a_play_that_says_nothing_is_gone_through_at_once() -> None:
    hosts, recorder = Hosts(), Recorder()
    checks = [planned("a"), planned("b", stage=1)]

    outcomes = run(hosts, [script("h1", checks), script("h2", checks)], play(), play(), forks=1, recorder=recorder)

    assert order_of(recorder) == ["a", "b", "a", "b"]
    assert hosts.opened == ["h1", "h2"]
    assert [o.state for o in outcomes] == [HostState.REACHED] * 2


def test_a_play_with_serial_waits_for_the_one_before_it_on_all_hosts() -> None:
    hosts, recorder = Hosts(), Recorder()
    checks = [planned("a"), planned("b", stage=1), planned("c", stage=2)]
    scripts = [script(name, checks) for name in ("h1", "h2", "h3")]

    outcomes = run(hosts, scripts, play(), play(serial=[1]), play(), forks=2, recorder=recorder)

    assert order_of(recorder) == ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    assert hosts.opened == ["h1", "h2", "h3"], "one connection for all stages"
    assert all(session.closed for _, session in hosts.sessions)
    assert recorder.of("host_finished") == ["h1", "h2", "h3"]
    assert recorder.events[0] == ("run_started", "3/9")
    assert sorted(recorder.of("check_finished")) == sorted(["a", "b", "c"] * 3)
    assert verdicts(outcomes) == {key: {"a": "ok", "b": "ok", "c": "ok"} for key in ("h1", "h2", "h3")}


@pytest.mark.parametrize(("serial", "most"), [([1], 1), ([2], 2), ([1, 3], 3), ([100], 7)])
def test_no_more_hosts_are_under_way_than_the_batch_has(serial: list[int], most: int) -> None:
    under_way: list[int] = [0, 0]
    checks = [planned("a")]

    async def count(step: Step) -> Result:
        under_way[0] += 1
        under_way[1] = max(under_way)
        for _ in range(20):
            await asyncio.sleep(0)
        under_way[0] -= 1
        return done(step)

    names = [f"h{number}" for number in range(7)]
    hosts = Hosts(behaves={name: {"a": count} for name in names})

    run(hosts, [script(name, checks) for name in names], play(serial=serial))

    assert under_way == [0, most]


@pytest.mark.parametrize(("run_forks", "play_forks", "most"), [(100, 2, 2), (2, 100, 2), (3, None, 3)])
def test_the_smaller_number_of_forks_wins(run_forks: int, play_forks: int | None, most: int) -> None:
    open_now: list[int] = [0, 0]

    class Counting(FakeSession):
        async def aclose(self) -> None:
            open_now[0] -= not self.closed
            await super().aclose()

    async def open_session(_: Host) -> Session:
        open_now[0] += 1
        open_now[1] = max(open_now)
        await asyncio.sleep(0)
        return Counting()

    async def main() -> None:
        engine = Engine(open_session, options=RunOptions(forks=run_forks), observer=Recorder())
        await engine.run([script(f"h{n}", [planned("a")]) for n in range(9)], Stop(), [play(forks=play_forks)])

    asyncio.run(main())

    assert open_now == [0, most]


def test_a_host_that_was_not_reached_or_is_lost_has_the_reason_in_all_later_stages() -> None:
    hosts = Hosts(dead={"dead": UnreachableError("dead: connection refused")})
    checks = [planned("a"), planned("b", stage=1)]
    recorder = Recorder()

    async def lose(step: Step) -> Result:
        next(session for name, session in hosts.sessions if name == "lost").lost.set()
        return await never(step)

    hosts.behaves = {"lost": {"a": lose}}
    scripts = [script(name, checks) for name in ("dead", "lost", "fine")]

    dead, lost, fine = run(hosts, scripts, play(), play(serial=[1]), recorder=recorder)

    assert (dead.state, lost.state, fine.state) == (HostState.UNREACHABLE, HostState.LOST, HostState.REACHED)
    assert why(dead, "b") == "not run: dead: connection refused"
    assert why(lost, "b") == "not run: the link ended"
    assert hosts.opened.count("dead") == hosts.opened.count("lost") == 1
    assert sorted(recorder.of("host_finished")) == ["dead", "fine", "lost"]
    assert len(recorder.of("check_finished")) == 6


def test_an_interrupt_between_stages_leaves_the_later_ones_not_run() -> None:
    hosts, recorder = Hosts(), Recorder()
    checks = [planned("a"), planned("b", stage=1), planned("c", stage=2)]
    running = asyncio.Event()

    async def hang(step: Step) -> Result:
        running.set()
        return await never(step)

    async def interrupt(stop: Stop) -> None:
        await running.wait()
        stop.set("interrupted")

    hosts.behaves = {"h1": {"b": hang}}
    scripts = [script("h1", checks), script("h2", checks), script("h3", checks[1:])]

    h1, h2, h3 = run(hosts, scripts, play(), play(serial=[1]), play(), recorder=recorder, stop_on=interrupt)

    assert verdicts([h1, h2]) == {
        "h1": {"a": "ok", "b": "unknown", "c": "unknown"},
        "h2": {"a": "ok", "b": "unknown", "c": "unknown"},
    }
    assert why(h2, "b") == "not run: the run was interrupted"
    assert (h2.state, h3.state) == (HostState.REACHED, HostState.NOT_TRIED)
    assert all(session.closed for _, session in hosts.sessions)
    assert len(recorder.of("check_finished")) == 8


def test_only_so_many_hosts_stay_connected_between_stages() -> None:
    hosts = Hosts()
    checks = [planned("a"), planned("b", stage=1)]
    names = [f"h{number}" for number in range(5)]

    outcomes = run(hosts, [script(name, checks) for name in names], play(), play(serial=[1]), forks=1, most_kept=2)

    assert sorted(hosts.opened) == sorted([*names, "h0", "h1", "h2"])
    assert all(session.closed for _, session in hosts.sessions)
    anew = [outcome.host.name for outcome in outcomes if any("connected_anew" in note for note in outcome.notes)]
    assert anew == ["h0", "h1", "h2"]
    assert all(set(checks.values()) == {"ok"} for checks in verdicts(outcomes).values())


# ---- max_fail


def test_no_further_host_is_begun_once_too_many_failed() -> None:
    names = [f"h{number}" for number in range(10)]
    hosts, recorder = Hosts(behaves={name: {"a": fail} for name in ("h1", "h2", "h4")}), Recorder()
    checks = [planned("a"), planned("b", stage=1)]

    outcomes = run(
        hosts, [script(name, checks) for name in names], play(max_fail=3), play(), forks=1, recorder=recorder
    )

    begun = [name for name, _ in hosts.sessions]
    assert begun[:5] == ["h0", "h1", "h2", "h3", "h4"]
    assert hosts.ran("a") == begun[:5], "h5 and those after it are not begun"
    assert hosts.ran("b") == names, "the next play has all hosts again"
    assert why(outcomes[5], "a") == "not run: max_fail: 3 of 10 hosts failed"
    assert verdicts(outcomes)["h9"] == {"a": "unknown", "b": "ok"}
    assert {outcome.state for outcome in outcomes} == {HostState.REACHED}
    assert len(recorder.of("check_finished")) == 20


def test_hosts_that_could_not_be_looked_at_have_failed_too() -> None:
    hosts = Hosts(dead={"h0": UnreachableError("refused"), "h1": UnreachableError("refused")})
    scripts = [script(f"h{number}", [planned("a")]) for number in range(4)]

    outcomes = run(hosts, scripts, play(fraction=0.5), forks=1)

    assert hosts.opened == ["h0", "h1"]
    assert [outcome.state for outcome in outcomes] == [HostState.UNREACHABLE] * 2 + [HostState.NOT_TRIED] * 2
    assert why(outcomes[3], "a") == "not run: max_fail: 2 of 4 hosts failed"


def test_what_failed_in_another_play_does_not_count() -> None:
    hosts = Hosts(behaves={"h0": {"a": fail}})
    checks = [planned("a"), planned("b", stage=1)]

    outcomes = run(hosts, [script("h0", checks), script("h1", checks)], play(), play(max_fail=1), forks=1)

    assert verdicts(outcomes) == {"h0": {"a": "crit", "b": "ok"}, "h1": {"a": "ok", "b": "ok"}}


def test_a_failure_counts_as_soon_as_it_is_known() -> None:
    released, failed = asyncio.Event(), asyncio.Event()

    async def slow(step: Step) -> Result:
        await released.wait()
        return done(step)

    async def second(step: Step) -> Result:
        await failed.wait()
        asyncio.get_running_loop().call_soon(released.set)
        return done(step)

    class Noticing(Recorder):
        def check_finished(self, outcome: CheckOutcome) -> None:
            super().check_finished(outcome)
            failed.set()

    hosts = Hosts(behaves={"h0": {"a": fail, "b": slow}, "h1": {"a": second}})
    scripts = [script("h0", [planned("a"), planned("b", session="other")])]
    scripts += [script(f"h{number}", [planned("a")]) for number in (1, 2)]

    outcomes = run(hosts, scripts, play(max_fail=1), forks=2, recorder=Noticing())

    assert hosts.opened == ["h0", "h1"], "h0 is still at work when h1 has ended, but has failed already"
    assert outcomes[2].state is HostState.NOT_TRIED


# ---- once for all


def test_the_first_host_that_can_be_reached_runs_it_for_all() -> None:
    hosts = Hosts(dead={"h0": UnreachableError("refused")}, behaves={"h1": {"once": fail}})
    recorder = Recorder()
    checks = [planned("once", once=True), planned("after", needs=["once"]), planned("own")]
    scripts = [script(f"h{number}", checks) for number in range(4)]

    outcomes = run(hosts, scripts, recorder=recorder)

    assert hosts.ran("once") == ["h1"]
    assert verdicts(outcomes)["h1"] == {"once": "crit", "after": "ok", "own": "ok"}
    assert verdicts(outcomes)["h3"] == {"after": "ok", "own": "ok"}
    assert set(verdicts(outcomes)["h0"]) == {"after", "own"}
    assert recorder.events[0] == ("run_started", "4/9")
    assert recorder.of("check_finished").count("once") == 1
    assert "once" in scripts[3].seen["after"], "its result is everybody's"


def test_a_host_that_has_no_shell_leaves_it_to_the_next() -> None:
    async def no_python(step: Step) -> Result:
        raise NoInterpreterError("no python3 >= 3.6")

    hosts = Hosts(behaves={"h0": {"once": no_python}})
    scripts = [script(f"h{number}", [planned("once", once=True)]) for number in range(2)]

    outcomes = run(hosts, scripts)

    assert verdicts(outcomes) == {"h0": {}, "h1": {"once": "ok"}}
    assert [outcome.state for outcome in outcomes] == [HostState.NO_SHELL, HostState.REACHED]


def test_where_no_host_can_run_it_that_is_said_once() -> None:
    hosts, recorder = Hosts(dead={name: UnreachableError("refused") for name in ("h0", "h1", "h2")}), Recorder()
    scripts = [script(f"h{number}", [planned("once", once=True)]) for number in range(3)]

    outcomes = run(hosts, scripts, recorder=recorder)

    assert recorder.of("check_finished") == ["once"]
    (check,) = [check for outcome in outcomes for check in outcome.checks]
    assert check.verdict.state is VerdictState.UNKNOWN


def test_a_command_that_was_lost_is_not_run_again_elsewhere() -> None:
    hosts = Hosts()

    async def lose(step: Step) -> Result:
        hosts.sessions[0][1].lost.set()
        return await never(step)

    hosts.behaves = {"h0": {"once": lose}}
    scripts = [script(f"h{number}", [planned("once", once=True)]) for number in range(2)]

    outcomes = run(hosts, scripts)

    assert hosts.ran("once") == ["h0"]
    assert verdicts(outcomes) == {"h0": {"once": "unknown"}, "h1": {}}


def test_nobody_waits_for_a_result_that_nobody_needs_here() -> None:
    gate, others = asyncio.Event(), [0]

    async def slow(step: Step) -> Result:
        await gate.wait()
        return done(step)

    async def own(step: Step) -> Result:
        others[0] += 1
        if others[0] == 2:
            gate.set()
        return done(step)

    hosts = Hosts(behaves={"h0": {"once": slow, "own": own}, "h1": {"own": own}})
    checks = [planned("once", once=True), planned("own", session="other")]

    outcomes = run(hosts, [script("h0", checks), script("h1", checks)])

    assert verdicts(outcomes) == {"h0": {"once": "ok", "own": "ok"}, "h1": {"own": "ok"}}


def test_each_batch_has_its_own_run_of_it() -> None:
    hosts, recorder = Hosts(), Recorder()
    checks = [planned("once", once=True), planned("own")]
    scripts = [script(f"h{number}", checks) for number in range(5)]

    run(hosts, scripts, play(serial=[2]), recorder=recorder)

    assert hosts.ran("once") == ["h0", "h2", "h4"]
    assert recorder.events[0] == ("run_started", "5/8")
    assert len(recorder.of("check_finished")) == 8


def test_a_loop_that_runs_once_has_its_items_on_one_host() -> None:
    loop = planned("loop", once=True)
    items = [replace(planned(f"loop[{label}]"), loop="loop") for label in "ab"]
    checks = [loop, planned("after", needs=["loop"])]
    hosts, recorder = Hosts(), Recorder()
    scripts = [FakeScript(host=host(f"h{n}"), checks=checks, loops={"loop": items}) for n in range(2)]

    outcomes = run(hosts, scripts, recorder=recorder)

    assert verdicts(outcomes) == {"h0": {"loop[a]": "ok", "loop[b]": "ok", "after": "ok"}, "h1": {"after": "ok"}}
    assert "loop" in scripts[1].seen["after"]


def test_a_skip_holds_for_all() -> None:
    hosts = Hosts()
    checks = [planned("skip-once", once=True), planned("after", needs=["skip-once"])]

    outcomes = run(hosts, [script("h0", checks), script("h1", checks)])

    assert verdicts(outcomes) == {"h0": {"skip-once": "skipped", "after": "ok"}, "h1": {"after": "ok"}}


@pytest.mark.parametrize("subject", ["tasks", "pre_checks", "needs"])
def test_a_host_that_its_own_checks_keep_from_it_leaves_it_to_the_next(subject: str) -> None:
    hosts, recorder = Hosts(), Recorder()
    checks = [planned("once", once=True), planned("after", needs=["once"])]
    scripts = [script(f"h{number}", checks) for number in range(3)]
    scripts[0].held["once"] = scripts[2].held["once"] = subject

    outcomes = run(hosts, scripts, forks=1, recorder=recorder)

    assert hosts.ran("once") == ["h1"]
    assert verdicts(outcomes) == {"h0": {"after": "ok"}, "h1": {"once": "ok", "after": "ok"}, "h2": {"after": "ok"}}
    assert recorder.of("check_finished").count("once") == 1


def test_the_first_host_runs_it_at_its_place() -> None:
    hosts = Hosts()
    checks = [planned("a"), planned("once", once=True), planned("z")]

    run(hosts, [script("h0", checks)])

    assert hosts.sessions[0][1].started == ["a", "once", "z"]


def test_where_all_are_kept_from_it_that_is_said_once() -> None:
    hosts = Hosts()
    scripts = [script(f"h{number}", [planned("once", once=True)]) for number in range(2)]
    for one in scripts:
        one.held["once"] = "needs"

    assert verdicts(run(hosts, scripts)) == {"h0": {}, "h1": {"once": "skipped"}}


def test_a_host_that_is_not_begun_any_more_sees_what_came_of_it() -> None:
    hosts = Hosts(behaves={"h0": {"own": fail}})
    checks = [planned("once", once=True), planned("own"), planned("after", needs=["once"], stage=1)]

    outcomes = run(hosts, [script(f"h{n}", checks) for n in range(3)], play(forks=1, max_fail=1), play())

    assert verdicts(outcomes)["h1"] == {"own": "unknown", "after": "ok"}


def test_hosts_of_a_batch_that_is_not_begun_wait_for_nobody() -> None:
    hosts = Hosts(behaves={"h0": {"once": fail}})
    checks = [planned("once", once=True), planned("after", needs=["once"], stage=1)]

    outcomes = run(hosts, [script(f"h{n}", checks) for n in range(3)], play(serial=[1, 2], max_fail=1), play())

    assert verdicts(outcomes) == {
        "h0": {"once": "crit", "after": "ok"},
        "h1": {"after": "ok"},
        "h2": {"once": "unknown", "after": "ok"},
    }


def test_an_interrupt_while_others_wait_for_it() -> None:
    running = asyncio.Event()

    async def hang(step: Step) -> Result:
        running.set()
        return await never(step)

    async def interrupt(stop: Stop) -> None:
        await running.wait()
        stop.set("interrupted")

    hosts = Hosts(behaves={"h0": {"once": hang}})
    checks = [planned("once", once=True), planned("after", needs=["once"])]

    outcomes = run(hosts, [script("h0", checks), script("h1", checks)], stop_on=interrupt)

    assert verdicts(outcomes) == {"h0": {"once": "unknown", "after": "unknown"}, "h1": {"after": "unknown"}}


# ---- on other hosts


def test_a_delegated_check_runs_on_the_other_host_and_is_reported_here() -> None:
    hosts, recorder = Hosts(behaves={"lb": {"there": fail}}), Recorder()
    checks = [planned("here-not"), planned("there"), planned("after", needs=["there"])]
    scripts = [script(name, checks, on={"there": "lb"}) for name in ("h0", "h1")]

    outcomes = run(hosts, scripts, recorder=recorder)

    assert hosts.opened.count("lb") == 1, "one remote side for both"
    assert hosts.ran("there") == ["lb"]
    assert verdicts(outcomes) == {key: {"here-not": "ok", "there": "crit", "after": "ok"} for key in ("h0", "h1")}
    (check,) = [check for check in outcomes[0].checks if check.planned.key == "there"]
    assert (check.host, check.on) == ("h0", "lb")
    assert check.result is not None
    assert check.result.session == "main"
    assert check.slices, "its evidence is read where it ran"
    assert all(session.closed for _, session in hosts.sessions)


def test_sessions_on_another_host_are_everyones_own() -> None:
    used: list[tuple[str, str]] = []

    async def note(step: Step) -> Result:
        used.append((step.planned.key, step.command.session))
        return done(step)

    hosts = Hosts(behaves={"lb": {"x": note, "y": note, "own": note}})
    checks = [planned("x"), planned("y")]
    scripts = [script(name, checks, on={"x": "lb", "y": "lb"}) for name in ("h0", "h1")]
    scripts.append(script("lb", [planned("own")]))

    run(hosts, scripts)

    by_key = {key: [session for found, session in used if found == key] for key in ("x", "y", "own")}
    assert by_key["own"] == ["main"]
    assert len({*by_key["x"], *by_key["own"]}) == 3, "neither those of two hosts nor the host's own are the same"
    assert sorted(by_key["x"]) == sorted(by_key["y"]), "one host's checks share theirs"


def test_a_host_that_cannot_be_reached_is_tried_once_whoever_wants_it() -> None:
    hosts = Hosts(dead={"lb": UnreachableError("lb: connection refused")})
    scripts = [script(f"h{n}", [planned("there"), planned("own")], on={"there": "lb"}) for n in range(5)]
    scripts.append(script("lb", [planned("own")]))

    outcomes = run(hosts, scripts)

    assert hosts.opened.count("lb") == 1
    assert [outcome.state for outcome in outcomes] == [HostState.REACHED] * 5 + [HostState.UNREACHABLE]
    assert why(outcomes[0], "there") == "on lb (delegate_to): connection refused"
    assert verdicts(outcomes)["h0"] == {"there": "unknown", "own": "ok"}


def test_a_host_that_cannot_be_used_costs_the_check_alone() -> None:
    (outcome,) = run(Hosts(), [script("h0", [planned("there"), planned("own")], on={"there": "nobody"})])

    assert verdicts([outcome]) == {"h0": {"there": "unknown", "own": "ok"}}
    assert why(outcome, "there") == "on nobody (delegate_to): there is no such host"


def test_the_loss_of_another_host_is_not_that_of_this_one() -> None:
    hosts = Hosts()

    async def lose(step: Step) -> Result:
        next(session for name, session in hosts.sessions if name == "lb").lost.set()
        return await never(step)

    hosts.behaves = {"lb": {"there": lose}}
    checks = [planned("there"), planned("again", needs=["there"]), planned("own", needs=["again"])]

    (outcome,) = run(hosts, [script("h0", checks, on={"there": "lb", "again": "lb"})])

    assert outcome.state is HostState.REACHED
    assert verdicts([outcome]) == {"h0": {"there": "unknown", "again": "unknown", "own": "ok"}}
    assert hosts.opened.count("lb") == 1, "what is lost is not tried again"


def test_more_sessions_than_a_remote_side_may_have_get_a_further_one() -> None:
    hosts = Hosts()
    scripts = [script(f"h{n}", [planned("there")], on={"there": "lb"}) for n in range(7)]

    outcomes = run(hosts, scripts, rooms=3)

    assert hosts.opened.count("lb") == 3
    assert {checks["there"] for checks in verdicts(outcomes).values()} == {"ok"}
    assert all(session.closed for _, session in hosts.sessions)


def test_delegated_checks_end_with_an_interrupt_too() -> None:
    running = asyncio.Event()

    async def hang(step: Step) -> Result:
        running.set()
        return await never(step)

    async def interrupt(stop: Stop) -> None:
        await running.wait()
        stop.set("interrupted")

    hosts = Hosts(behaves={"lb": {"there": hang}})

    (outcome,) = run(hosts, [script("h0", [planned("there")], on={"there": "lb"})], stop_on=interrupt)

    assert [session.cancelled.is_set() for name, session in hosts.sessions if name == "lb"] == [True]
    (check,) = outcome.checks
    assert check.result is not None
    assert check.result.notes == ("interrupted",)


def test_an_interrupt_while_the_other_host_is_connected_to() -> None:
    async def main() -> list[HostOutcome]:
        hosts = Hosts(gates={"lb": asyncio.Event()})
        stop = Stop()
        engine = Engine(hosts.open, options=RunOptions(), observer=Recorder(), find=host)
        running = asyncio.ensure_future(
            engine.run([script("h0", [planned("there"), planned("own")], on={"there": "lb"})], stop)
        )
        async with asyncio.timeout(10):
            while "lb" not in hosts.opened:
                await asyncio.sleep(0)
            stop.set("deadline")
            return await running

    (outcome,) = asyncio.run(main())

    assert why(outcome, "there") == "not run: the run's deadline passed"


def test_once_and_elsewhere() -> None:
    hosts = Hosts()
    checks = [planned("there", once=True)]

    outcomes = run(hosts, [script(f"h{n}", checks, on={"there": "lb"}) for n in range(3)])

    assert verdicts(outcomes) == {"h0": {"there": "ok"}, "h1": {}, "h2": {}}
    assert hosts.opened.count("lb") == 1


# ---- hosts that need no connection


def test_a_host_all_of_whose_checks_run_elsewhere_is_not_connected_to() -> None:
    hosts, recorder = Hosts(dead={"h0": UnreachableError("refused")}), Recorder()
    checks = [planned("there", delegate_to="lb")]

    outcomes = run(hosts, [script(f"h{n}", checks, on={"there": "lb"}) for n in range(2)], recorder=recorder)

    assert hosts.opened == ["lb"]
    assert verdicts(outcomes) == {"h0": {"there": "ok"}, "h1": {"there": "ok"}}
    assert [outcome.state for outcome in outcomes] == [HostState.REACHED] * 2
    assert recorder.of("host_connecting") == []


def test_it_is_connected_to_once_a_check_turns_out_to_be_its_own() -> None:
    hosts, recorder = Hosts(dead={"h1": UnreachableError("refused")}), Recorder()
    checks = [planned("x", delegate_to="{{ where }}"), planned("y", session="b", delegate_to="{{ where }}")]
    later = planned("later", stage=1)

    outcomes = run(
        hosts, [script(f"h{n}", [*checks, later]) for n in range(2)], play(), play(serial=[1]), recorder=recorder
    )

    assert hosts.opened == ["h0", "h1"]
    assert verdicts(outcomes) == {
        "h0": {"x": "ok", "y": "ok", "later": "ok"},
        "h1": {"x": "unknown", "y": "unknown", "later": "unknown"},
    }
    assert [outcome.state for outcome in outcomes] == [HostState.REACHED, HostState.UNREACHABLE]
    assert recorder.of("host_connecting") == ["h0", "h1"]
    assert recorder.of("host_connected") == ["h0"]
    assert outcomes[0].agent == "fake"


def test_the_time_to_connect_is_not_that_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkrunner.run.turns._ANSWER_GRACE_S", 0.05)
    gate = asyncio.Event()
    hosts = Hosts(gates={"h0": gate})
    one = script("h0", [planned("x", delegate_to="{{ where }}")])
    one.timeout_s = 0.05

    async def let_in(_stop: Stop) -> None:
        await asyncio.sleep(0.3)
        gate.set()

    assert verdicts(run(hosts, [one], stop_on=let_in)) == {"h0": {"x": "ok"}}


def test_an_interrupt_while_it_is_connected_to() -> None:
    async def main() -> list[HostOutcome]:
        hosts = Hosts(gates={"h0": asyncio.Event()})
        stop = Stop()
        engine = Engine(hosts.open, options=RunOptions(), observer=Recorder())
        running = asyncio.ensure_future(engine.run([script("h0", [planned("x", delegate_to="h0")])], stop))
        async with asyncio.timeout(10):
            while "h0" not in hosts.opened:
                await asyncio.sleep(0)
            stop.set("interrupted")
            return await running

    (outcome,) = asyncio.run(main())

    assert why(outcome, "x") == "not run: the run was interrupted"


# ---- all together


@given(st.data())
def test_any_order_of_plays_yields_each_outcome_once(data: st.DataObject) -> None:
    plays = [
        play(
            serial=data.draw(st.sampled_from([[], [1], [2, 1]])),
            forks=data.draw(st.sampled_from([None, 1, 2])),
            max_fail=data.draw(st.sampled_from([None, 1, 2])),
        )
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    names = [f"h{number}" for number in range(data.draw(st.integers(1, 4)))]
    checks = [
        planned(f"{kind}{number}", stage=data.draw(st.integers(0, len(plays) - 1)), once=data.draw(st.booleans()))
        for number, kind in enumerate(data.draw(st.lists(st.sampled_from(["c", "fail", "skip", "bad", "there"]))))
    ]
    checks.sort(key=lambda check: check.stage)
    for number in range(1, len(checks)):
        earlier = [check.key for check in checks[:number]]
        checks[number] = replace(checks[number], needs=frozenset(data.draw(st.sets(st.sampled_from(earlier)))))
    dead = data.draw(st.sets(st.sampled_from([*names, "lb"])))
    behaves = {name: {check.key: fail for check in checks if check.key.startswith("fail")} for name in names}
    hosts = Hosts(dead={name: UnreachableError("refused") for name in dead}, behaves=behaves)
    on = {check.key: "lb" for check in checks if check.key.startswith("there")}
    recorder = Recorder()
    scripts = [script(name, checks, on=on) for name in names]
    for one in scripts:
        kept = data.draw(st.sets(st.sampled_from([check.key for check in checks] or ["none"])))
        one.held |= dict.fromkeys(kept, data.draw(st.sampled_from(["tasks", "when"])))

    outcomes = run(
        hosts,
        scripts,
        *plays,
        forks=data.draw(st.integers(1, 4)),
        recorder=recorder,
    )

    told = recorder.of("check_finished")
    assert recorder.events[0] == ("run_started", f"{len(names)}/{len(told)}")
    assert sorted(told) == sorted(check.planned.key for outcome in outcomes for check in outcome.checks)
    for check in checks:
        wanted = told.count(check.key)
        assert wanted == len(names) if not check.once else 1 <= wanted <= len(names)
    assert [outcome.host.name for outcome in outcomes] == names
    assert sorted(recorder.of("host_finished")) == names
    assert max((hosts.opened.count(name) for name in {*names, "lb"}), default=0) <= 1
    assert all(session.closed for _, session in hosts.sessions)
