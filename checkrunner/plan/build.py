"""Playbook and hosts -> plan: which checks on which host, in which order, and what each waits for. Pure.

Costs are shared: hosts that the same plays select have one track, and a check is compiled once for all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checkrunner.model.inventory import Host, empty
from checkrunner.model.options import RunOptions
from checkrunner.model.plan import PlannedCheck, Step
from checkrunner.model.playbook import Check, Play, Playbook
from checkrunner.model.results import Stream
from checkrunner.model.tasks import Module
from checkrunner.plan.commands import Setup, make_command
from checkrunner.plan.hostplan import Entry, HostPlan, Track
from checkrunner.plan.magic import Magic, Surroundings
from checkrunner.plan.shape import Shape, make_shape
from checkrunner.plan.tags import check_tags, selected, verify_tags
from checkrunner.plan.task_reads import FAILED_RESULT, needless_gathering, outputs_read
from checkrunner.plan.texts import Templates
from checkrunner.plan.variables import MAGIC, holds_template

if TYPE_CHECKING:  # it is loaded where there are tasks
    from checkrunner.plan.flow import Flow

__all__ = ["Plan", "build_plan", "same_everywhere"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run will do. `hosts` has each host once, those with no check left out; `shapes` are all checks of the
    playbook by key, also those that no tag selects and no host has; `selected` are the keys that the tags select."""

    playbook: Playbook
    hosts: tuple[HostPlan, ...]
    shapes: Mapping[str, Shape]
    selected: frozenset[str]
    setup: Setup

    @property
    def templates(self) -> Templates:
        """What renders this plan's texts."""
        return self.setup.templates


def build_plan(
    playbook: Playbook,
    hosts_of_play: Sequence[Sequence[Host]],
    *,
    extra_vars: Mapping[str, Any] | None = None,
    tags: Collection[str] = (),
    skip_tags: Collection[str] = (),
    options: RunOptions | None = None,
    order: Iterable[str] = (),
    templates: Templates | None = None,
    surroundings: Surroundings | None = None,
) -> Plan:
    """The plan of a run: nothing is rendered and nothing is verified yet (see `check_plan`).

    `hosts_of_play` has one list for each play. `order` are host names in inventory order; hosts that it does not have
    come after, in the order in which the plays name them. `surroundings` is what texts may read of the run itself.
    Raises UnknownNameError for an unknown tag and UsageError
    where the tags leave no check.
    """
    verify_tags(playbook, tags, skip_tags)
    templates = templates or Templates()
    extra_vars = empty() if extra_vars is None else extra_vars
    named = [(play.name, hosts) for play, hosts in zip(playbook.plays, hosts_of_play, strict=True)]
    magic = Magic(surroundings or Surroundings(), named, extra_vars=extra_vars, templates=templates)
    setup = Setup(templates=templates, extra_vars=extra_vars, options=options or RunOptions(), magic=magic)
    shapes = _shapes(playbook, setup)
    chosen = _chosen(shapes, tags, skip_tags)
    everybody = [host for hosts in hosts_of_play for host in hosts]
    for key in needless_gathering(chosen, everybody):
        del chosen[key]
    outputs = outputs_read(chosen.values(), everybody)
    tracks: dict[tuple[int, ...], Track] = {}
    hosts = []
    for host, plays in _in_order(hosts_of_play, order):
        track = tracks.get(plays)
        if track is None:
            track = tracks[plays] = _track({k: s for k, s in chosen.items() if s.play_index in plays}, setup, outputs)
        if track.entries:
            hosts.append(HostPlan(host, track, setup))
    return Plan(playbook=playbook, hosts=tuple(hosts), shapes=shapes, selected=frozenset(chosen), setup=setup)


def _shapes(playbook: Playbook, setup: Setup) -> dict[str, Shape]:
    """All checks by key, each followed by those of its `on_fail`."""
    shapes: dict[str, Shape] = {}

    def add(check: Check, play: Play, index: int, parent: tuple[str, Shape] | None, before: bool) -> None:
        key = check.id if check.id not in shapes else f"{check.id}~{index + 1}"
        while key in shapes:
            key += "~"
        shapes[key] = shape = make_shape(
            index,
            play,
            check,
            setup.templates,
            setup.options,
            extra_vars=setup.extra_vars,
            parent=parent,
            before=before,
        )
        for follower in check.on_fail:
            add(follower, play, index, (key, shape), before)

    for index, play in enumerate(playbook.plays):
        for check in play.pre_checks:
            add(check, play, index, None, True)
        for check in play.checks:
            add(check, play, index, None, False)
    return shapes


def _chosen(shapes: Mapping[str, Shape], tags: Collection[str], skip_tags: Collection[str]) -> dict[str, Shape]:
    """The checks that the tags leave. Pre-checks come with any check of their play, and a check of `on_fail` comes with
    the one that it follows, unless they are left out by name."""
    plays = {s.play_index for s in shapes.values() if not s.before and not s.follows and _selected(s, tags, skip_tags)}
    chosen: dict[str, Shape] = {}
    for key, shape in shapes.items():
        if shape.follows:
            take = shape.follows in chosen and _selected(shape, (), skip_tags)
        elif shape.before:
            take = shape.play_index in plays and _selected(shape, (), skip_tags)
        else:
            take = _selected(shape, tags, skip_tags)
        if take:
            chosen[key] = shape
    return chosen


def _selected(shape: Shape, tags: Collection[str], skip_tags: Collection[str]) -> bool:
    return selected(check_tags(shape.play, shape.check), tags, skip_tags)


def _in_order(hosts_of_play: Sequence[Sequence[Host]], order: Iterable[str]) -> Iterable[tuple[Host, tuple[int, ...]]]:
    plays: dict[str, list[int]] = {}
    hosts: dict[str, Host] = {}
    for index, some in enumerate(hosts_of_play):
        for host in some:
            hosts.setdefault(host.name, host)
            mine = plays.setdefault(host.name, [])
            if index not in mine:
                mine.append(index)
    ordered = {name: None for name in order if name in hosts} | dict.fromkeys(hosts)
    return ((hosts[name], tuple(plays[name])) for name in ordered)


class _Place:
    """Where a track has come to: what is known before its next check."""

    def __init__(self) -> None:
        self.registers: dict[str, str] = {}
        self.facts: frozenset[str] = frozenset()
        self.ids: dict[str, str] = {}
        self.gates: dict[int, list[str]] = {}
        self.wait = ""

    def copy(self) -> _Place:
        """For what follows a check, and is known to nobody else."""
        other = _Place()
        other.registers, other.ids, other.facts = dict(self.registers), dict(self.ids), self.facts
        other.gates, other.wait = self.gates, self.wait
        return other

    def passed(self, key: str, shape: Shape) -> None:
        """The check stands before what comes now."""
        check = shape.check
        self.ids[check.id] = key
        if check.register:
            self.registers[check.register] = key
        if shape.before and not shape.follows:
            self.gates.setdefault(shape.play_index, []).append(key)
        if check.task is not None:
            from checkrunner.plan.flow import fact_names, may_fail

            self.facts |= fact_names(check.task)
            if may_fail(check.task):
                self.wait = key


def _track(shapes: Mapping[str, Shape], setup: Setup, outputs: Mapping[str, frozenset[Stream]]) -> Track:
    entries: list[Entry] = []
    followers: dict[str, list[Entry]] = {}
    children: dict[str, list[str]] = {}
    for key, shape in shapes.items():
        if shape.follows:
            children.setdefault(shape.follows, []).append(key)

    def add(key: str, place: _Place) -> Entry:
        entry = _entry(key, shapes[key], place, setup)
        entries.append(entry)
        place.passed(key, shapes[key])
        if key in children:
            below = place.copy()
            followers[key] = [add(child, below) for child in children[key]]
        return entry

    place = _Place()
    planned = [add(key, place).planned for key, shape in shapes.items() if not shape.follows]
    flow = _flow(planned)
    if flow is not None:
        entries = [_as_task(entry, flow, outputs) for entry in entries]
    return Track(
        entries=tuple(entries),
        planned=tuple(planned),
        by_key={entry.planned.key: entry for entry in entries},
        from_host=frozenset().union(*(entry.from_host for entry in entries)),
        followers={key: tuple(some) for key, some in followers.items()},
        flow=flow,
        facts=bool(place.facts),
    )


def _flow(planned: Sequence[PlannedCheck]) -> Flow | None:
    """How the tasks among the checks follow each other; None where there is none."""
    tasks = [(one, one.check.task) for one in planned if one.check.task is not None]
    if not tasks:
        return None
    from checkrunner.plan.flow import Flow

    flow = Flow()
    for one, task in tasks:
        flow.add(one, task)
    return flow


def _as_task(entry: Entry, flow: Flow, outputs: Mapping[str, frozenset[Stream]]) -> Entry:
    """What is known of a task beside what is of checks."""
    check = entry.planned.check
    if check.task is None:
        return entry
    rescued = flow.is_rescued(entry.planned.key)
    if check.task.module is Module.SETUP:
        read = frozenset({Stream.STDOUT})
    else:
        read = outputs.get(check.register or "", frozenset())
        read |= outputs.get(FAILED_RESULT, frozenset()) if rescued else frozenset()
    return replace(entry, rescued=rescued, outputs=read)


def _entry(key: str, shape: Shape, place: _Place, setup: Setup) -> Entry:
    check, registers = shape.check, dict(place.registers)
    for name in setup.extra_vars:  # those of the command line win
        registers.pop(name, None)
    read = shape.read_by(shape.free)
    reads = {name: registers[name] for name in registers if name in read}
    gate = () if shape.before or shape.follows else tuple(place.gates.get(shape.play_index, ()))
    wanted = tuple((id_, place.ids.get(id_)) for id_ in check.needs)
    # A task waits for the one before it that may end the play, and with it what comes after, in later plays too.
    waits = {place.wait} if check.task is not None and place.wait else set()
    unsettled = {*registers, *shape.loop_names, *place.facts}
    planned = PlannedCheck(
        key=key,
        play=shape.play.name,
        check=check,
        needs=frozenset({*reads.values(), *gate, *waits, *(found for _, found in wanted if found)}),
        stage=shape.play_index,
        follows=shape.follows,
        once=check.run_once,
    )
    step = None
    if shape.plain_command and not gate and not wanted:
        step = Step(planned=planned, command=make_command(shape, empty(), setup))
    known = {*registers, *shape.loop_names, *place.facts, *check.vars, *shape.play.vars, *setup.extra_vars, *MAGIC}
    known |= shape.defaults.keys()
    return Entry(
        planned=planned,
        shape=shape,
        before=registers,
        reads=reads,
        from_host=shape.needed - known,
        step=step,
        late=_late(shape, frozenset(unsettled)),
        apart=bool(check.vars) or any(not some.isdisjoint(unsettled) for some in shape.reach.values()),
        gate=gate,
        wanted=wanted,
    )


def _late(shape: Shape, unsettled: frozenset[str]) -> frozenset[str]:
    """The names that are not settled before the run, also those of variables that are made of them."""
    made = (name for name in shape.reach if not shape.read_by([name]).isdisjoint(unsettled))
    return unsettled | frozenset(made)


def same_everywhere(entry: Entry, setup: Setup) -> bool:
    """Whether the check reads no variable that could differ from host to host."""
    layers = (setup.extra_vars, entry.shape.check.vars, entry.shape.play.vars)
    for name in entry.shape.free - entry.before.keys() - entry.shape.loop_names:
        value = next((layer[name] for layer in layers if name in layer), None)
        if name in MAGIC or value is None or holds_template(value):
            return False
    return True
