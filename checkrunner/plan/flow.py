"""What of a play of tasks is run after what has come of the tasks before: Ansible's rules, without a run.

A task that fails ends the list that it is in. A block goes on with its rescue then, and with its always in any case;
it has failed where nothing rescued it, or where one of those fails. A play that fails is over on the host, and so are
the plays of tasks after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from checkrunner.model.plan import CheckOutcome, PlannedCheck, Skip
from checkrunner.model.results import VerdictState
from checkrunner.model.tasks import BlockPart, Module, Task, TaskState
from checkrunner.plan.facts import FACT_NAMES

__all__ = ["ENDING", "Flow", "fact_names", "may_fail"]

ENDING = ("end_play", "end_host")
"""The actions of `meta` that end a play on the host."""

_FAILS = (TaskState.FAILED, TaskState.RESCUED)


@dataclass(slots=True, eq=False)
class _Block:
    """A block of the play, or the play itself (its only part is BLOCK). What a part holds is in order: keys of tasks,
    and blocks."""

    parts: dict[BlockPart, list[str | _Block]] = field(default_factory=dict)

    def part(self, which: BlockPart) -> list[str | _Block]:
        return self.parts.setdefault(which, [])


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a task is: the blocks around it with the part that it is in, the play first, and what stands before it in
    each of those parts."""

    around: tuple[tuple[_Block, BlockPart, int], ...]
    includes: tuple[str, ...]
    notified_by: tuple[str, ...] | None


def may_fail(task: Task) -> bool:
    """Whether the task can end the list that it is in: not one whose errors are ignored whatever comes of it."""
    return task.ignore_errors is not True


def fact_names(task: Task) -> frozenset[str]:
    """The variables that a task leaves to those after it, as far as they can be known before it runs."""
    if task.module is Module.SETUP:
        return frozenset({"ansible_facts", *(f"ansible_{name}" for name in FACT_NAMES)})
    if task.module is not Module.SET_FACT:
        return frozenset()
    facts = task.args.get("facts")
    return frozenset(facts) if isinstance(facts, Mapping) else frozenset()


class Flow:
    """The tasks of a host's plays, in order: `add` each once."""

    def __init__(self) -> None:
        self._plays: dict[int, _Block] = {}
        self._blocks: dict[tuple[int, str], _Block] = {}
        self._places: dict[str, _Place] = {}
        self._stages: dict[str, int] = {}
        self._keys: dict[tuple[int, str], str] = {}
        self._ends: dict[int, list[str]] = {}

    def add(self, planned: PlannedCheck, task: Task) -> None:
        """The next task."""
        stage = planned.stage
        inside = self._plays.setdefault(stage, _Block())
        which = BlockPart.BLOCK
        around = [(inside, which, 0)]
        for place in task.blocks:
            block = self._blocks.get((stage, place.block))
            siblings = inside.part(which)
            if block is None:
                block = self._blocks[stage, place.block] = _Block()
                siblings.append(block)
            around[-1] = (inside, which, next(n for n, one in enumerate(siblings) if one is block))
            inside, which = block, place.part
            around.append((inside, which, 0))
        siblings = inside.part(which)
        around[-1] = (inside, which, len(siblings))
        siblings.append(planned.key)
        self._keys[stage, planned.check.id] = planned.key
        self._stages[planned.key] = stage
        if task.module is Module.META and task.args.get("action") in ENDING:
            self._ends.setdefault(stage, []).append(planned.key)
        self._places[planned.key] = _Place(
            around=tuple(around),
            includes=tuple(self._keys.get((stage, id_), "") for id_ in task.includes),
            notified_by=None
            if task.notified_by is None
            else tuple(self._keys.get((stage, id_), "") for id_ in task.notified_by),
        )

    def is_rescued(self, key: str) -> bool:
        """Whether a failure of the task is rescued: a block that it is in, and not in its rescue or always, has a
        rescue."""
        for block, which, _ in reversed(self._places[key].around):
            if which is BlockPart.BLOCK and block.parts.get(BlockPart.RESCUE):
                return True
        return False

    def held_back(self, planned: PlannedCheck, outcomes: Mapping[str, CheckOutcome]) -> Skip | None:
        """Why a task is not to be run after what has come of others; None where it is."""
        place = self._places[planned.key]
        for stage in sorted(self._plays):
            if stage < self._stages[planned.key]:
                failed = self._failure(self._plays[stage], outcomes)
                if failed:
                    return _skip(planned, f"not run: task {failed} failed before, in an earlier play", by=failed)
        for key in self._ends.get(self._stages[planned.key], ()):
            if key != planned.key and (ended := outcomes.get(key)) and ended.task is TaskState.OK:
                return _skip(planned, "not run: the play has ended here", actual="ended")
        for block, which, number in place.around:
            failed = _first(self._failure(one, outcomes) for one in block.part(which)[:number])
            if failed:
                return _skip(planned, f"not run: task {failed} failed before", by=failed)
            if which is BlockPart.RESCUE and not self._failure_in(block, BlockPart.BLOCK, outcomes):
                return _skip(planned, "not run: nothing failed in its block", actual="ok")
        for key in place.includes:
            outcome = outcomes.get(key)
            if outcome is None or outcome.verdict.state is VerdictState.SKIPPED:
                return _skip(planned, "not run: its include was skipped", actual="skipped")
        if place.notified_by is not None and not any(_changed(outcomes.get(key)) for key in place.notified_by):
            return _skip(planned, "not run: no task has notified it", actual="ok")
        return None

    def _failure(self, one: str | _Block, outcomes: Mapping[str, CheckOutcome]) -> str:
        """The task that makes this one, or this block, a failed one; "" where it is not."""
        if isinstance(one, str):
            outcome = outcomes.get(one)
            return one if outcome is not None and _failed(outcome) else ""
        broken = self._failure_in(one, BlockPart.BLOCK, outcomes)
        if broken and one.parts.get(BlockPart.RESCUE):
            broken = self._failure_in(one, BlockPart.RESCUE, outcomes)
        return broken or self._failure_in(one, BlockPart.ALWAYS, outcomes)

    def _failure_in(self, block: _Block, which: BlockPart, outcomes: Mapping[str, CheckOutcome]) -> str:
        return _first(self._failure(one, outcomes) for one in block.parts.get(which, ()))


def _failed(outcome: CheckOutcome) -> bool:
    if outcome.task is not None:
        return outcome.task in _FAILS
    # It never came to a result of its own: its session was not to be had, or was lost.
    task = outcome.planned.check.task
    return outcome.verdict.state is VerdictState.UNKNOWN and (task is None or may_fail(task))


def _first(found: Iterable[str]) -> str:
    return next((key for key in found if key), "")


def _skip(planned: PlannedCheck, reason: str, *, actual: str = "failed", by: str = "") -> Skip:
    return Skip(planned=planned, reason=reason, subject="tasks", expected="run", actual=actual, held_by=by)


def _changed(outcome: CheckOutcome | None) -> bool:
    return outcome is not None and outcome.task is TaskState.CHANGED
