"""What one host is to do: its checks in order, and how each becomes a command or is skipped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from checkrunner.model.errors import TemplateError, UsageError
from checkrunner.model.inventory import Host, empty
from checkrunner.model.metadata import truth
from checkrunner.model.plan import (
    CheckOutcome,
    Items,
    Judgement,
    PlannedCheck,
    Settled,
    Skip,
    Step,
)
from checkrunner.model.results import RawSlice, Result, SliceQuery, Stream, Verdict, VerdictState
from checkrunner.model.sources import NOWHERE, Template
from checkrunner.model.tasks import ON_HOST
from checkrunner.plan.commands import Setup, make_command
from checkrunner.plan.privileges import account, exact_command, wants_exact
from checkrunner.plan.shape import Shape, own_loop_names
from checkrunner.plan.variables import Names, host_variables

if TYPE_CHECKING:  # what is only for tasks and loops is loaded where there are some
    from checkrunner.plan.flow import Flow
    from checkrunner.plan.tasks import Tasks

__all__ = ["Entry", "HostPlan", "Track"]

_TROUBLE = frozenset({VerdictState.WARN, VerdictState.CRIT, VerdictState.UNKNOWN})
_CLOSED = frozenset({VerdictState.CRIT, VerdictState.UNKNOWN})
_MET = frozenset({VerdictState.OK, VerdictState.WARN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A check at its place in a track.

    `before` are the registered names known there, each with the key of the check that has it; `reads` are those that
    its texts come to read. `late` are all names whose values are known only during the run: these, the facts that
    earlier tasks leave, the variables of a loop, and those of the playbook that are made of any of these. `apart` says
    that its variables are not the same as those of other checks of its play. `from_host` are the names that only the
    host's own variables can supply; `step` is the whole answer where nothing differs by host.

    `gate` are the keys of the `pre_checks` that it waits for, `wanted` the ids that it `needs`, each with its key, None
    where that check is not for these hosts. `rescued` says that a failure of this task is rescued, `outputs` which of
    its outputs later texts read.
    """

    planned: PlannedCheck
    shape: Shape
    before: Mapping[str, str]
    reads: Mapping[str, str]
    from_host: frozenset[str]
    step: Step | None
    late: frozenset[str] = frozenset()
    apart: bool = False
    gate: tuple[str, ...] = ()
    wanted: tuple[tuple[str, str | None], ...] = ()
    rescued: bool = False
    outputs: frozenset[Stream] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """The checks of all hosts that are selected by the same plays. `from_host` is over all entries.

    `entries` are all of them, each followed by those that are run because of it; `planned` has only those that are run
    in any case, `followers` the others by the key of the check that they follow. `facts` says that tasks leave some.
    """

    entries: tuple[Entry, ...]
    planned: tuple[PlannedCheck, ...]
    by_key: Mapping[str, Entry]
    from_host: frozenset[str]
    followers: Mapping[str, tuple[Entry, ...]] = field(default_factory=empty)
    flow: Flow | None = None
    facts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A check that came up during the run: `names` are the variables of the loops around it, `renamed` the keys that
    checks of its plan have here (those that follow an item of a loop)."""

    entry: Entry
    names: Mapping[str, Any]
    renamed: Mapping[str, str]


class HostPlan:
    """One host's part of a plan. Everything that does not depend on the host is shared with the others."""

    __slots__ = ("_made", "_mask", "_names", "_setup", "_track", "host")

    def __init__(self, host: Host, track: Track, setup: Setup) -> None:
        self.host = host
        self._track = track
        self._setup = setup
        self._names: dict[int, Mapping[str, Any]] = {}
        self._made: dict[str, _Made] = {}
        self._mask: Callable[[str], str] = str

    @property
    def _tasks(self) -> Tasks:
        from checkrunner.plan.tasks import Tasks

        return Tasks(self._setup.templates)

    @property
    def checks(self) -> tuple[PlannedCheck, ...]:
        """In play order."""
        return self._track.planned

    @property
    def track(self) -> Track:
        """What this host has in common with others."""
        return self._track

    @property
    def setup(self) -> Setup:
        """What all hosts of the plan share."""
        return self._setup

    def reached_as(self, host: Host) -> HostPlan:
        """The same plan for the host with its connection settings settled."""
        return HostPlan(host, self._track, self._setup)

    def masked_by(self, mask: Callable[[str], str]) -> None:
        """From now on `mask` takes secrets out of what items of loops are called: that stands in reports."""
        self._mask = mask

    def names(self, planned: PlannedCheck, outcomes: Mapping[str, CheckOutcome]) -> Mapping[str, Any]:
        """What the check's texts can read: the host's variables, what its loop gives, what was found out before, and
        the results that the check needs.

        A needed check that was not run reads as skipped, its rc as None; one without an outcome is not among them.
        """
        made = self._look_up(planned)
        found = self._found(made, outcomes)
        if made.names or self._track.facts or made.entry.apart:
            return self.variables(made.entry, found)
        variables = self.variables(made.entry)
        return Names(found, variables) if found else variables

    def _found(self, made: _Made, outcomes: Mapping[str, CheckOutcome]) -> Mapping[str, Any]:
        """What the run has given to the check's names, the stronger over the weaker."""
        if made.entry.shape.check.task is not None:
            from checkrunner.plan.task_names import found_by_tasks

            return {**made.names, **found_by_tasks(outcomes)}
        if not made.entry.reads:
            return {**made.names, **_facts(outcomes)} if self._track.facts else made.names
        from checkrunner.plan.task_names import registered_of

        reads = ((name, made.renamed.get(key, key)) for name, key in made.entry.reads.items())
        results = {name: registered_of(outcomes[key]) for name, key in reads if key in outcomes}
        return {**made.names, **_facts(outcomes), **results} if self._track.facts else {**made.names, **results}

    def variables(self, entry: Entry, found: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """The host's variables in the entry's play, for that entry; `found` are values from the run (see
        `host_variables`)."""
        play, setup, defaults = entry.shape.play, self._setup, entry.shape.defaults
        more = setup.magic.layers(self.host, entry.shape.play_index) if setup.magic else ()
        if found or entry.shape.check.vars:
            return host_variables(
                self.host,
                play.vars,
                setup.extra_vars,
                setup.templates,
                more,
                found=found or empty(),
                check_vars=entry.shape.check.vars,
                defaults=defaults,
            )
        shared = self._names.get(entry.shape.play_index)
        if shared is None:
            shared = host_variables(self.host, play.vars, setup.extra_vars, setup.templates, more, defaults=defaults)
            self._names[entry.shape.play_index] = shared
        return shared

    def resolve(self, planned: PlannedCheck, outcomes: Mapping[str, CheckOutcome]) -> Step | Skip | Items | Settled:
        """Render the check; `outcomes` holds at least those of `planned.needs`. Raises TemplateError.

        The step has no probes and no early slices yet.
        """
        made = self._look_up(planned)
        if made.entry.shape.check.task is None:
            return self._resolve(made, planned, outcomes)
        try:
            return self._resolve(made, planned, outcomes)
        except TemplateError as error:  # a task has failed then
            return self._tasks.failed(planned, error, self.names(planned, outcomes), rescued=made.entry.rescued)

    def _resolve(
        self, made: _Made, planned: PlannedCheck, outcomes: Mapping[str, CheckOutcome]
    ) -> Step | Skip | Items | Settled:
        entry = made.entry
        if not planned.loop:
            held = self._held_back(made, planned, outcomes)
            if held is not None:
                return held
            if entry.shape.check.loop is not None:
                return self._items(made, planned, outcomes)
        step = entry.step
        if step is None:
            names = self.names(planned, outcomes)
            reason = self.unmet(entry, names)
            if reason is not None:
                return Skip(planned=planned, reason=reason)
            if planned.check.task is not None and planned.check.task.module not in ON_HOST:
                return self._tasks.settle(planned, names, rescued=entry.rescued)
            step = self._step(entry, planned, names)
        elif step.planned is not planned:
            step = replace(step, planned=planned)
        where = self._called(step.on, entry) if step.on else self.host
        wanted = account(entry.shape, where, self._setup.options.become)
        if wanted is None:
            return step
        if not wants_exact(entry.shape):
            return replace(step, command=replace(step.command, become=wanted))
        login = where.user if where.transport == "ssh" else None
        shell = exact_command(entry.shape, step.command.shell, wanted, login)
        return replace(step, command=replace(step.command, shell=shell, exact=wanted))

    def _called(self, name: str, entry: Entry) -> Host:
        """The host that a check is delegated to: whom it runs as there is up to that host's variables."""
        if self._setup.host_called is None:
            return self.host
        try:
            return self._setup.host_called(name)
        except TemplateError:
            raise
        except UsageError as error:
            where = entry.shape.check.delegate_to
            source = where.source if where is not None else NOWHERE
            raise TemplateError(f"delegate_to: {error.message}", source=source, hint=error.hint) from error

    def _step(self, entry: Entry, planned: PlannedCheck, names: Mapping[str, Any]) -> Step:
        command = make_command(entry.shape, names, self._setup)
        where = entry.shape.check.delegate_to
        on = self._setup.templates.render(where, names).strip() if where is not None else ""
        return Step(planned=planned, command=command, on="" if on == self.host.name else on)

    def outputs(self, planned: PlannedCheck) -> tuple[SliceQuery, ...]:
        """What of a task's output is to be fetched in any case, because later texts read it."""
        from checkrunner.plan.task_results import text_query

        return tuple(text_query(stream) for stream in Stream if stream in self._look_up(planned).entry.outputs)

    def judge_task(
        self,
        step: Step,
        result: Result,
        names: Mapping[str, Any],
        reads: Sequence[RawSlice | None],
        unable: Verdict | None,
        attempt: int,
    ) -> Judgement:
        """What a task's command came to; see `Tasks.judge`."""
        rescued = self._look_up(step.planned).entry.rescued
        return self._tasks.judge(step, result, names, reads, unable, attempt=attempt, rescued=rescued)

    def again(
        self, planned: PlannedCheck, judgement: Judgement, names: Mapping[str, Any], attempt: int
    ) -> float | None:
        """In how many seconds a task is to be run once more."""
        return self._tasks.again(planned, judgement.registered, names, attempt)

    def follow(self, outcome: CheckOutcome) -> tuple[PlannedCheck, ...]:
        """The checks that are to run because of an outcome, in order. They read the result of the very item that they
        follow, and its variables."""
        parent = outcome.planned
        if outcome.verdict.state not in _TROUBLE or (parent.check.loop is not None and not parent.loop):
            return ()
        made = self._look_up(parent)
        entries = self._track.followers.get(made.entry.planned.key, ())
        behind = parent.key.removeprefix(made.entry.planned.key)
        if not behind:
            return tuple(entry.planned for entry in entries)
        keys = [(entry.planned.key, entry.planned.key + behind) for entry in entries]
        renamed = {**made.renamed, made.entry.planned.key: parent.key, **dict(keys)}
        found = []
        for entry, (_, key) in zip(entries, keys, strict=True):
            needs = frozenset(renamed.get(need, need) for need in entry.planned.needs)
            same = {"label": parent.label, "item": parent.item, "index": parent.index}
            found.append(replace(entry.planned, key=key, follows=parent.key, needs=needs, **same))
            self._made[key] = _Made(entry=entry, names=made.names, renamed=renamed)
        return tuple(found)

    def unmet(self, entry: Entry, names: Mapping[str, Any], *, without: frozenset[str] = frozenset()) -> str | None:
        """The first condition of the check that does not hold, as a reason; None when all hold. Those that come to read
        one of the names `without` are left out."""
        for condition in entry.shape.check.when:
            if without and not without.isdisjoint(entry.shape.read_by(self._names_in(condition))):
                continue
            if not truth(self._setup.templates.evaluate(condition, names)):
                return f"when: {' '.join(condition.text.split())}"
        return None

    def each_item(self, entry: Entry, found: Mapping[str, Any]) -> list[tuple[str, Any, Mapping[str, Any]]]:
        """The items of an entry's loop: label, value, and the variables that it gives. `found` are values from the run.
        Raises TemplateError."""
        from checkrunner.plan.loops import item_names, items_of, labels

        loop, templates = entry.shape.check.loop, self._setup.templates
        assert loop is not None
        items = items_of(loop, self.variables(entry, found), templates)
        given = [item_names(loop, items, index) for index in range(len(items))]
        called: Sequence[Any] = items
        task = entry.shape.check.task
        if task is not None and task.no_log:
            called = [f"item {number}" for number in range(1, len(items) + 1)]
        elif loop.label is not None:
            called = [templates.render(loop.label, self.variables(entry, {**found, **its})) for its in given]
        return list(zip(labels(called, self._mask), items, given, strict=True))

    def _look_up(self, planned: PlannedCheck) -> _Made:
        made = self._made.get(planned.key)
        return made or _Made(entry=self._track.by_key[planned.key], names=empty(), renamed=empty())

    def _names_in(self, condition: Template) -> frozenset[str]:
        return self._setup.templates.names_in_expression(condition)

    def _held_back(self, made: _Made, planned: PlannedCheck, outcomes: Mapping[str, CheckOutcome]) -> Skip | None:
        """What keeps the check from being run: a task that failed, a gate that is closed, a need that is not met."""
        entry = made.entry
        if self._track.flow is not None and entry.shape.check.task is not None:
            held = self._track.flow.held_back(planned, outcomes)
            if held is not None:
                return held
        for pre_check in entry.gate:
            state = outcomes[pre_check].verdict.state
            if state in _CLOSED:
                reason = f"the pre-check {pre_check} is {state} here"
                return Skip(
                    planned=planned,
                    reason=reason,
                    subject="pre_checks",
                    expected="ok",
                    actual=str(state),
                    held_by=pre_check,
                )
        for wanted, key in entry.wanted:
            actual, reason = "not run", f"needs {wanted}, which does not run on this host"
            if key is not None:
                key = made.renamed.get(key, key)
                state = outcomes[key].verdict.state
                if state in _MET:
                    continue
                actual, reason = str(state), f"needs {wanted}, which is {state} here"
            return Skip(
                planned=planned,
                reason=reason,
                subject="needs",
                expected="ok or warn",
                actual=actual,
                held_by=key or "",
            )
        return None

    def _items(self, made: _Made, planned: PlannedCheck, outcomes: Mapping[str, CheckOutcome]) -> Items | Skip:
        names = self.names(planned, outcomes)
        reason = self.unmet(made.entry, names, without=frozenset(own_loop_names(planned.check)))
        if reason is not None:
            return Skip(planned=planned, reason=reason)
        items = []
        for index, (label, item, given) in enumerate(self.each_item(made.entry, self._found(made, outcomes))):
            key = f"{planned.key}[{label}]"
            items.append(replace(planned, key=key, loop=planned.key, label=label, item=item, index=index))
            self._made[key] = _Made(entry=made.entry, names={**made.names, **given}, renamed=made.renamed)
        if not items:
            return Skip(planned=planned, reason="loop: no items", subject="loop", expected="items", actual="none")
        return Items(planned=planned, items=tuple(items))


def _facts(outcomes: Mapping[str, CheckOutcome]) -> Mapping[str, Any]:
    """The variables that tasks have left so far, the later ones over the earlier ones."""
    found: dict[str, Any] = {}
    for outcome in outcomes.values():
        found.update(outcome.facts)
    return found
