"""What one host is to do: its checks in order, and how each becomes a command or is skipped."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from checkrunner.model.inventory import Host, empty
from checkrunner.model.metadata import truth
from checkrunner.model.options import RunOptions
from checkrunner.model.plan import CheckOutcome, Command, PlannedCheck, Prompt, Skip, Step
from checkrunner.model.sources import Secret
from checkrunner.plan.answers import render_answer
from checkrunner.plan.magic import Magic
from checkrunner.plan.privileges import account, exact_command, wants_exact
from checkrunner.plan.shape import Shape
from checkrunner.plan.texts import Templates
from checkrunner.plan.values import Registered
from checkrunner.plan.variables import Names, host_variables

__all__ = ["Entry", "HostPlan", "Setup", "Track", "make_command"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What the hosts of a plan share. `host_called` knows the hosts that checks are delegated to, ready to be
    reached; it raises UsageError members. `magic` makes the names that nobody sets."""

    templates: Templates
    extra_vars: Mapping[str, Any]
    options: RunOptions
    host_called: Callable[[str], Host] | None = None
    magic: Magic | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A check at its place in a track.

    `before` are the registered names known there, each with the key of the check that has it; `from_host` are the
    names that only the host's own variables can supply; `step` is the whole answer where nothing differs by host.
    """

    planned: PlannedCheck
    shape: Shape
    before: Mapping[str, str]
    reads: Mapping[str, str]
    from_host: frozenset[str]
    step: Step | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """The checks of all hosts that are selected by the same plays. `from_host` is over all entries."""

    entries: tuple[Entry, ...]
    planned: tuple[PlannedCheck, ...]
    by_key: Mapping[str, Entry]
    from_host: frozenset[str]


class HostPlan:
    """One host's part of a plan. Everything that does not depend on the host is shared with the others."""

    __slots__ = ("_names", "_setup", "_track", "host")

    def __init__(self, host: Host, track: Track, setup: Setup) -> None:
        self.host = host
        self._track = track
        self._setup = setup
        self._names: dict[int, Mapping[str, Any]] = {}

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

    def names(self, planned: PlannedCheck, outcomes: Mapping[str, CheckOutcome]) -> Mapping[str, Any]:
        """What the check's texts can read: the host's variables, and the results that the check needs.

        A needed check that was not run reads as skipped, its rc as None; one without an outcome is not among them.
        """
        entry = self._track.by_key[planned.key]
        variables = self.variables(entry)
        if not entry.reads:
            return variables
        results = {name: Registered(outcomes[key]) for name, key in entry.reads.items() if key in outcomes}
        return Names(results, variables)

    def variables(self, entry: Entry) -> Mapping[str, Any]:
        """The host's variables in the entry's play."""
        found = self._names.get(entry.shape.play_index)
        if found is None:
            setup = self._setup
            index = entry.shape.play_index
            more = setup.magic.layers(self.host, index) if setup.magic else ()
            found = host_variables(self.host, entry.shape.play.vars, setup.extra_vars, setup.templates, more)
            self._names[entry.shape.play_index] = found
        return found

    def resolve(self, planned: PlannedCheck, outcomes: Mapping[str, CheckOutcome]) -> Step | Skip:
        """Render the check; `outcomes` holds at least those of `planned.needs`. Raises TemplateError.

        The step has no probes and no early slices yet.
        """
        entry = self._track.by_key[planned.key]
        step = entry.step
        if step is None:
            names = self.names(planned, outcomes)
            reason = self.unmet(entry, names)
            if reason is not None:
                return Skip(planned=planned, reason=reason)
            step = Step(planned=planned, command=make_command(entry.shape, names, self._setup))
        wanted = account(entry.shape, self.host, self._setup.options.become)
        if wanted is None:
            return step
        if not wants_exact(entry.shape):
            return replace(step, command=replace(step.command, become=wanted))
        login = self.host.user if self.host.transport == "ssh" else None
        shell = exact_command(entry.shape, step.command.shell, wanted, login)
        return replace(step, command=replace(step.command, shell=shell, exact=wanted))

    def follow(self, outcome: CheckOutcome) -> tuple[PlannedCheck, ...]:
        """The checks that are to run because of an outcome, in order."""
        return ()

    def unmet(self, entry: Entry, names: Mapping[str, Any]) -> str | None:
        """The first condition of the check that does not hold, as a reason; None when all hold."""
        for condition in entry.shape.check.when:
            if not truth(self._setup.templates.evaluate(condition, names)):
                return f"when: {' '.join(condition.text.split())}"
        return None


def make_command(shape: Shape, names: Mapping[str, Any], setup: Setup) -> Command:
    """The command of a check with everything filled in. Raises TemplateError."""
    check, templates = shape.check, setup.templates
    if check.run is not None:
        shell = templates.render(check.run, names, for_shell=True)
    else:
        shell = shlex.join(templates.render(word, names) for word in check.argv)
    env: Mapping[str, str | Secret] = empty()
    if check.env:
        env = {
            name: value if isinstance(value, Secret) else templates.render_env(value, names)
            for name, value in check.env.items()
        }
    cwd = templates.render(check.cwd, names) if check.cwd is not None else None
    return Command(
        shell=shell,
        session=check.session,
        env=env,
        cwd=cwd or None,
        timeout_s=shape.timeout_s,
        capture_bytes=setup.options.capture_bytes,
        requires=check.requires,
        prompts=tuple(
            Prompt(match=templates.render(prompt.match, names), answer=render_answer(prompt, names, templates))
            for prompt in check.prompts
        ),
        on_input=check.on_input,
        stdin_tty=check.stdin_tty,
        duration_s=check.duration_s,
        sample=check.sample,
        keep_children=check.keep_children,
    )
