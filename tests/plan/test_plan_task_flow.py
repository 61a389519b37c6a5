"""Which tasks of a play are run after what has come of the others: Ansible's rules, against a plain model of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrunner.model.plan import CheckOutcome, PlannedCheck
from checkrunner.model.playbook import Check
from checkrunner.model.results import Verdict, VerdictState
from checkrunner.model.tasks import BlockPart, BlockPlace, Module, Task, TaskState
from checkrunner.plan.flow import Flow, fact_names, may_fail


@dataclass
class Block:
    """What a playbook says: a block's three lists, of tasks by name and of blocks."""

    name: str
    block: list[str | Block] = field(default_factory=list)
    rescue: list[str | Block] = field(default_factory=list)
    always: list[str | Block] = field(default_factory=list)


def tasks_of(items: list[str | Block], around: tuple[BlockPlace, ...] = ()) -> Iterator[tuple[str, Task]]:
    for item in items:
        if isinstance(item, str):
            yield item, Task(module=Module.SHELL, blocks=around)
            continue
        for part in BlockPart:
            place = BlockPlace(block=item.name, part=part)
            yield from tasks_of(getattr(item, part), (*around, place))


def planned(name: str, task: Task, stage: int = 0) -> PlannedCheck:
    check = Check(id=name, name=name, task=task)
    return PlannedCheck(key=name if not stage else f"{name}~{stage + 1}", play="p", check=check, stage=stage)


def outcome(one: PlannedCheck, task: TaskState | None, state: VerdictState = VerdictState.OK) -> CheckOutcome:
    return CheckOutcome(host="h", planned=one, verdict=Verdict(state=state), task=task)


def go(
    plays: list[list[PlannedCheck]], failing: set[str], *, ignoring: frozenset[str] = frozenset()
) -> tuple[list[str], dict[str, str]]:
    """What is run, in order; and why the others are not."""
    flow = Flow()
    every = [one for play in plays for one in play]
    for one in every:
        assert one.check.task is not None
        flow.add(one, one.check.task)
    outcomes: dict[str, CheckOutcome] = {}
    ran: list[str] = []
    held: dict[str, str] = {}
    for one in every:
        skip = flow.held_back(one, outcomes)
        if skip is not None:
            held[one.key] = skip.reason
            outcomes[one.key] = outcome(one, None, VerdictState.SKIPPED)
            continue
        ran.append(one.key)
        state = TaskState.OK
        if one.key in failing:
            state = TaskState.RESCUED if flow.is_rescued(one.key) else TaskState.FAILED
            state = TaskState.IGNORED if one.key in ignoring else state
        outcomes[one.key] = outcome(one, state)
    return ran, held


def play(items: list[str | Block], stage: int = 0) -> list[PlannedCheck]:
    return [planned(name, task, stage) for name, task in tasks_of(items)]


def test_a_failure_ends_the_play() -> None:
    ran, held = go([play(["a", "b", "c"])], {"b"})
    assert ran == ["a", "b"]
    assert held == {"c": "not run: task b failed before"}


def test_a_failure_ends_later_plays_of_tasks() -> None:
    ran, held = go([play(["a"]), play(["b"], 1)], {"a"})
    assert ran == ["a"]
    assert held == {"b~2": "not run: task a failed before, in an earlier play"}


def test_an_ignored_failure_ends_nothing() -> None:
    assert go([play(["a", "b"])], {"a"}, ignoring=frozenset({"a"}))[0] == ["a", "b"]


def test_rescue_and_always() -> None:
    items: list[str | Block] = [Block("x", block=["a", "b"], rescue=["r"], always=["z"]), "after"]
    assert go([play(items)], set())[0] == ["a", "b", "z", "after"]
    assert go([play(items)], {"a"})[0] == ["a", "r", "z", "after"]
    ran, held = go([play(items)], {"a", "r"})
    assert ran == ["a", "r", "z"]
    assert held == {"b": "not run: task a failed before", "after": "not run: task r failed before"}
    assert go([play(items)], {"z"})[1] == {
        "r": "not run: nothing failed in its block",
        "after": "not run: task z failed before",
    }


def test_always_of_a_block_that_was_never_begun() -> None:
    items: list[str | Block] = ["a", Block("x", block=["b"], always=["z"])]
    assert go([play(items)], {"a"})[0] == ["a"]


def test_a_block_within_a_rescue() -> None:
    inner = Block("in", block=["c"], rescue=["s"])
    items: list[str | Block] = [Block("out", block=["a"], rescue=[inner], always=["z"]), "end"]
    assert go([play(items)], {"a", "c"})[0] == ["a", "c", "s", "z", "end"]
    assert go([play(items)], {"a", "c", "s"})[0] == ["a", "c", "s", "z"]


def test_two_blocks_may_have_lists_of_the_same_shape() -> None:
    items: list[str | Block] = [Block("x", block=["a"], rescue=["r"]), Block("y", block=["b"], rescue=["s"])]
    assert go([play(items)], {"b"})[0] == ["a", "b", "s"]


def test_who_is_rescued() -> None:
    inner = Block("in", block=["c"], always=["d"])
    flow = Flow()
    for one in play([Block("out", block=["a", inner], rescue=["r"], always=["z"]), "end"]):
        assert one.check.task is not None
        flow.add(one, one.check.task)
    assert {key: flow.is_rescued(key) for key in ("a", "c", "d", "r", "z", "end")} == {
        "a": True,
        "c": True,
        "d": True,
        "r": False,
        "z": False,
        "end": False,
    }


def test_a_host_that_was_lost_fails_its_task_unless_errors_are_ignored() -> None:
    flow = Flow()
    ones = [planned("a", Task(module=Module.SHELL)), planned("b", Task(module=Module.SHELL))]
    careless = planned("c", Task(module=Module.SHELL, ignore_errors=True))
    for one in (ones[0], careless, ones[1]):
        assert one.check.task is not None
        flow.add(one, one.check.task)
    lost = {"a": outcome(ones[0], None, VerdictState.UNKNOWN)}
    assert flow.held_back(ones[1], lost) is not None
    assert flow.held_back(ones[1], {"c": outcome(careless, None, VerdictState.UNKNOWN)}) is None


def test_includes_and_handlers() -> None:
    include = planned("inc", Task(module=Module.INCLUDE_TASKS))
    inside = planned("in", Task(module=Module.SHELL, includes=("inc",)))
    handler = planned("h", Task(module=Module.SHELL, notified_by=("in",)))
    flow = Flow()
    for one in (include, inside, handler):
        assert one.check.task is not None
        flow.add(one, one.check.task)
    skipped = {"inc": outcome(include, None, VerdictState.SKIPPED)}
    included = {"inc": outcome(include, TaskState.OK)}
    assert flow.held_back(inside, skipped) is not None
    assert flow.held_back(inside, included) is None
    assert flow.held_back(handler, {**included, "in": outcome(inside, TaskState.OK)}) is not None
    assert flow.held_back(handler, {**included, "in": outcome(inside, TaskState.CHANGED)}) is None


@pytest.mark.parametrize(("ignores", "fails"), [(True, False), (False, True)])
def test_which_tasks_are_waited_for(ignores: bool, fails: bool) -> None:
    assert may_fail(Task(module=Module.SHELL, ignore_errors=ignores)) is fails


def test_what_a_task_leaves() -> None:
    assert fact_names(Task(module=Module.SET_FACT, args={"facts": {"a": 1, "b": 2}})) == {"a", "b"}
    assert fact_names(Task(module=Module.SHELL)) == frozenset()


# ---- against a model that runs the lists one after another


class _Model:
    """Runs a play as Ansible does."""

    def __init__(self, failing: set[str]) -> None:
        self.failing = failing
        self.ran: list[str] = []

    def run(self, items: list[str | Block]) -> bool:
        """Whether the list came to its end."""
        return all(self.one(item) for item in items)

    def one(self, item: str | Block) -> bool:
        if isinstance(item, str):
            self.ran.append(item)
            return item not in self.failing
        fine = self.run(item.block)
        if not fine and item.rescue:
            fine = self.run(item.rescue)
        return self.run(item.always) and fine


@st.composite
def plays(draw: st.DrawFn) -> tuple[list[str | Block], set[str]]:
    names: list[str] = []

    def some(depth: int, least: int = 0) -> list[str | Block]:
        found: list[str | Block] = []
        for _ in range(draw(st.integers(least, 3))):
            if depth and draw(st.booleans()):
                block = Block(f"b{len(names)}.{depth}.{draw(st.integers(0, 10**9))}")
                block.block = some(depth - 1, 1)
                block.rescue = some(depth - 1)
                block.always = some(depth - 1)
                found.append(block)
            else:
                names.append(f"t{len(names)}")
                found.append(names[-1])
        return found

    items = some(3, 1)
    failing = draw(st.sets(st.sampled_from(names))) if names else set()
    return items, failing


@settings(max_examples=300)
@given(plays())
def test_it_goes_as_a_run_of_the_lists_would(case: tuple[list[str | Block], set[str]]) -> None:
    items, failing = case
    model = _Model(failing)
    model.run(items)

    ran, held = go([play(items)], failing)

    assert ran == model.ran
    assert {*ran, *held} == {name for name, _ in tasks_of(items)}
