"""Checks that no run ever gets to, as far as that is known before one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from checkrunner.model.errors import TemplateError
from checkrunner.model.metadata import truth
from checkrunner.model.playbook import Check
from checkrunner.model.problems import Level, Problem
from checkrunner.model.sources import SourceRef
from checkrunner.model.tasks import BlockPart, BlockPlace, Module
from checkrunner.plan.build import Plan
from checkrunner.plan.flow import ENDING
from checkrunner.plan.hostplan import Entry, HostPlan
from checkrunner.plan.needs import need_errors
from checkrunner.plan.shape import Shape
from checkrunner.plan.tags import check_tags

__all__ = ["unreachable"]


def unreachable(plan: Plan, *, guess: bool) -> Iterator[Problem]:
    """A problem for each check that cannot be run, with why. With `guess` the plan's hosts stand for others: nothing is
    said then of conditions that read their variables."""
    for shape in plan.shapes.values():
        if check_tags(shape.play, shape.check) == {"never"}:
            hint = "Give it a second tag to select it by"
            yield _at(shape, f"check {shape.check.id!r} has only the tag `never`: no run selects it", hint)
    yield from _everywhere(plan, _by_conditions(plan, guess))
    for play_index, play in enumerate(plan.playbook.plays):
        if play.tasks:
            shapes = {id(shape.check): shape for shape in plan.shapes.values() if shape.play_index == play_index}
            yield from _behind_ends(play.checks, shapes)


def _everywhere(plan: Plan, found: Iterable[tuple[str, Problem]]) -> Iterator[Problem]:
    """The problems of those checks that are reached nowhere: one in an included file may be several."""
    told: dict[SourceRef, list[Problem]] = {}
    dead: Counter[SourceRef] = Counter()
    for key, problem in found:
        told.setdefault(problem.source, []).append(problem)
        dead[plan.shapes[key].check.source] += 1
    there = Counter(shape.check.source for key, shape in plan.shapes.items() if key in plan.selected)
    for source, problems in told.items():
        if dead[source] >= there[source]:
            yield problems[0]


def _at(shape: Shape, message: str, hint: str = "") -> Problem:
    return Problem(level=Level.WARNING, rule="unreachable", message=message, source=shape.check.source, hint=hint)


def _by_conditions(plan: Plan, guess: bool) -> Iterator[tuple[str, Problem]]:
    """Those that each of their hosts rules out, and those that need one of them."""
    hosts: dict[str, list[tuple[HostPlan, Entry]]] = {}
    for host in plan.hosts:
        for entry in host.track.entries:
            hosts.setdefault(entry.planned.key, []).append((host, entry))
    dead: set[str] = set()
    for key, where in hosts.items():
        shape = where[0][1].shape
        if any(need_errors(plan, key)):
            continue
        found = _why(shape, where, dead, guess)
        if found is None:
            if shape.follows in dead:
                dead.add(key)  # said of the check that it follows
            continue
        dead.add(key)
        message, hint = found
        yield key, _at(shape, message, hint)


def _why(shape: Shape, where: Sequence[tuple[HostPlan, Entry]], dead: set[str], guess: bool) -> tuple[str, str] | None:
    """What keeps the check from all of its hosts: message and hint."""
    id_ = shape.check.id
    loop = shape.check.loop
    if loop is not None and isinstance(loop.items, (list, tuple)) and not loop.items:
        return f"check {id_!r} loops over an empty list: it never runs", "Give the loop items, or drop the check"
    for wanted, key in where[0][1].wanted:
        if key in dead and all((wanted, key) in entry.wanted for _, entry in where):
            return f"check {id_!r} never runs: it needs {wanted!r}, which never runs", ""
        if not guess and all((wanted, None) in entry.wanted for _, entry in where):
            message = f"check {id_!r} never runs: it needs {wanted!r}, which runs on none of its hosts"
            return message, "Look at the host patterns of the two plays"
    for number, condition in enumerate(shape.check.when):
        if all(_is_false(host, entry, number, guess) for host, entry in where):
            text = " ".join(condition.text.split())
            some = "whatever the host" if _is_constant(where[0][1], number) else "on every host that it is for"
            return f"check {id_!r} never runs: `when: {text}` is false {some}", ""
    return None


def _names_of(entry: Entry, number: int) -> frozenset[str]:
    """All names that a condition comes to read."""
    conditions = [part for part in entry.shape.parts if part.where == "when"]
    return entry.shape.read_by(conditions[number].free) if number < len(conditions) else frozenset()


def _is_constant(entry: Entry, number: int) -> bool:
    """Whether a condition is the same for whatever hosts there are: it reads what the playbook says, or nothing."""
    given = {*entry.shape.play.vars, *entry.shape.check.vars}
    return _names_of(entry, number) <= given


def _is_false(host: HostPlan, entry: Entry, number: int, guess: bool) -> bool:
    """Whether a condition is false on the host already, whatever a run finds out."""
    if entry.shape.errors or not entry.late.isdisjoint(_names_of(entry, number)):
        return False
    if guess and not _is_constant(entry, number):
        return False
    condition, names = entry.shape.check.when[number], host.variables(entry)
    try:
        if not all(name in names for name in _names_of(entry, number)):
            return False  # -e may define it
        return not truth(host.setup.templates.evaluate(condition, names))
    except TemplateError:
        return False


def _behind_ends(tasks: Sequence[Check], shapes: dict[int, Shape]) -> Iterator[Problem]:
    """Tasks after one that ends the play, or their block, in any case."""
    ends: list[tuple[Check, tuple[BlockPlace, ...], frozenset[str]]] = []
    for check in tasks:
        task = check.task
        shape = shapes.get(id(check))
        if task is None or shape is None or task.notified_by is not None:
            continue
        for end, within, spared in ends:
            if _is_behind(task.blocks, within, spared):
                message = f"task {check.name!r} is never got to: task {end.name!r} ends {_what(within)} before"
                yield _at(shape, message, f"Give {end.name!r} a `when`, or move it")
                break
        else:
            if _ends(check):
                ends += [(check, within, spared) for within, spared in _reach(check, tasks)]


def _what(within: tuple[BlockPlace, ...]) -> str:
    return "its block" if within else "the play"


def _ends(check: Check) -> bool:
    """Whether the task ends what comes after it whenever it is got to."""
    task = check.task
    if task is None or check.when or check.loop is not None or task.includes or task.ignore_errors is not False:
        return False
    if task.module is Module.FAIL:
        return task.failed_when is None
    return task.module is Module.META and task.args.get("action") in ENDING


def _reach(check: Check, tasks: Sequence[Check]) -> Iterator[tuple[tuple[BlockPlace, ...], frozenset[str]]]:
    """The lists of tasks that it ends: the path of each, and the blocks in it whose `rescue` and `always` go on."""
    task = check.task
    assert task is not None
    if task.module is Module.META:
        yield (), frozenset()
        return
    spared: set[str] = set()
    path = task.blocks
    while True:
        yield path, frozenset(spared)
        if not path:
            return
        inner = path[-1]
        if inner.part is BlockPart.RESCUE or (inner.part is BlockPart.BLOCK and _has_rescue(inner.block, tasks)):
            return  # a rescue is not always got to
        spared.add(inner.block)
        path = path[:-1]


def _has_rescue(block: str, tasks: Sequence[Check]) -> bool:
    rescue = BlockPlace(block=block, part=BlockPart.RESCUE)
    return any(check.task is not None and rescue in check.task.blocks for check in tasks)


def _is_behind(blocks: tuple[BlockPlace, ...], within: tuple[BlockPlace, ...], spared: frozenset[str]) -> bool:
    return blocks[: len(within)] == within and not any(place.block in spared for place in blocks[len(within) :])
