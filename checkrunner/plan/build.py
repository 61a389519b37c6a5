"""Playbook and hosts -> plan: which checks on which host, in which order, and what each waits for. Pure.

Costs are shared: hosts that the same plays select have one track, and a check is compiled once for all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from checkrunner.model.inventory import Host, empty
from checkrunner.model.options import RunOptions
from checkrunner.model.plan import PlannedCheck, Step
from checkrunner.model.playbook import Playbook
from checkrunner.plan.hostplan import Entry, HostPlan, Setup, Track, make_command
from checkrunner.plan.magic import Magic, Surroundings
from checkrunner.plan.shape import Shape, make_shape
from checkrunner.plan.tags import check_tags, selected, verify_tags
from checkrunner.plan.texts import Templates
from checkrunner.plan.variables import MAGIC, holds_template

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
    chosen = {key: s for key, s in shapes.items() if selected(check_tags(s.play, s.check), tags, skip_tags)}
    tracks: dict[tuple[int, ...], Track] = {}
    hosts = []
    for host, plays in _in_order(hosts_of_play, order):
        track = tracks.get(plays)
        if track is None:
            track = tracks[plays] = _track({k: s for k, s in chosen.items() if s.play_index in plays}, setup)
        if track.entries:
            hosts.append(HostPlan(host, track, setup))
    return Plan(playbook=playbook, hosts=tuple(hosts), shapes=shapes, selected=frozenset(chosen), setup=setup)


def _shapes(playbook: Playbook, setup: Setup) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    for index, play in enumerate(playbook.plays):
        for check in play.checks:
            key = check.id if check.id not in shapes else f"{check.id}~{index + 1}"
            while key in shapes:
                key += "~"
            shapes[key] = make_shape(index, play, check, setup.templates, setup.options)
    return shapes


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


def _track(shapes: Mapping[str, Shape], setup: Setup) -> Track:
    before: dict[str, str] = {}
    entries = []
    for key, shape in shapes.items():
        entry = _entry(key, shape, dict(before), setup)
        entries.append(entry)
        if shape.check.register:
            before[shape.check.register] = key
    return Track(
        entries=tuple(entries),
        planned=tuple(entry.planned for entry in entries),
        by_key={entry.planned.key: entry for entry in entries},
        from_host=frozenset().union(*(entry.from_host for entry in entries)),
    )


def _entry(key: str, shape: Shape, before: Mapping[str, str], setup: Setup) -> Entry:
    reads = {name: before[name] for name in shape.free if name in before}
    planned = PlannedCheck(
        key=key,
        play=shape.play.name,
        check=shape.check,
        needs=frozenset(reads.values()),
        stage=shape.play_index,
        once=shape.check.run_once,
    )
    step = None
    if shape.plain_command:
        step = Step(planned=planned, command=make_command(shape, empty(), setup))
    return Entry(
        planned=planned,
        shape=shape,
        before=before,
        reads=reads,
        from_host=shape.needed - before.keys() - shape.play.vars.keys() - setup.extra_vars.keys() - {*MAGIC},
        step=step,
    )


def same_everywhere(entry: Entry, setup: Setup) -> bool:
    """Whether the check reads no variable that could differ from host to host."""
    layers = (setup.extra_vars, entry.shape.play.vars)
    for name in entry.shape.free - entry.before.keys():
        value = next((layer[name] for layer in layers if name in layer), None)
        if name in MAGIC or value is None or holds_template(value):
            return False
    return True
