"""Everything that can be said of a playbook without connecting: errors that would stop a run, and what looks wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from checkrunner.model.errors import TemplateError
from checkrunner.model.metadata import RESULT_NAMES, truth
from checkrunner.model.playbook import Check, Playbook
from checkrunner.model.problems import Level, Problem
from checkrunner.plan.answers import prompt_habits
from checkrunner.plan.build import Plan
from checkrunner.plan.changing import changes, unguarded_removals
from checkrunner.plan.command_texts import command_texts, place_in
from checkrunner.plan.excerpts import excerpt
from checkrunner.plan.faults import NeedError, UndefinedNameError, place
from checkrunner.plan.habits import endless
from checkrunner.plan.privileges import account
from checkrunner.plan.rules import in_order
from checkrunner.plan.shape import Shape, own_loop_names
from checkrunner.plan.tags import check_tags
from checkrunner.plan.unreachable import unreachable
from checkrunner.plan.unread import unread_extra_vars
from checkrunner.plan.variables import MAGIC
from checkrunner.plan.verify import Look, nothing_else, plan_errors

__all__ = ["in_file", "lint", "undocumented"]

_ACCEPTING = "changes_host"
_NUMBERED = re.compile(r"check-\d+")
"""What checks are called that nobody has named."""


def lint(
    plan: Plan,
    *,
    also: Look = nothing_else,
    guess: bool = False,
    lost: frozenset[str] = frozenset(),
    whole: bool = True,
) -> Sequence[Problem]:
    """All problems in the order of the file, errors before others of one place. Looks at every check of the playbook,
    also those that no host or tag selects; variables only where hosts are selected.

    With `guess` the plan's hosts stand for others that are not known: a variable that nobody defines is then only
    warned of. `lost` are names that would be known if the playbook were sound. With `whole` False there is more of it
    than the plan has, so that nothing is said of variables that nobody reads. `also` is as in `plan_errors`.
    """
    problems = [_of_error(error, guess) for error in plan_errors(plan) if getattr(error, "name", None) not in lost]
    problems += [_of_error(error, guess, "values") for shape in plan.shapes.values() for error in also(shape.check)]
    for shape in plan.shapes.values():
        problems += _commands(shape)
        problems += _prompts(shape)
        problems += _tags(shape)
        problems += _become(plan, shape)
    problems += unreachable(plan, guess=guess)
    problems += _registers(plan)
    problems += _names(plan.playbook)
    problems += _ids(plan)
    if whole and not any(shape.errors for shape in plan.shapes.values()):
        problems += _unread(plan)
    return in_order(in_file(plan.playbook, problems))


def undocumented(playbook: Playbook) -> Iterator[Problem]:
    """The checks that do not say why they matter, or how to fix what they find. Tasks have no words for it."""
    for play in playbook.plays:
        for check in (*play.pre_checks, *play.checks):
            missing = [key for key, text in (("why", check.why), ("fix", check.fix)) if text is None]
            if missing and check.task is None:
                said = " and no ".join(f"`{key}`" for key in missing)
                message = f"check {check.id!r} has no {said}"
                yield Problem(level=Level.INFO, rule="undocumented", message=message, source=check.source)


def in_file(playbook: Playbook, problems: Iterable[Problem]) -> Iterator[Problem]:
    """The problems, with the lines of the file."""
    for problem in problems:
        source, line_text = excerpt(playbook, problem.source, problem.line_text)
        yield replace(problem, source=source, line_text=line_text)


def _of_error(error: TemplateError, guess: bool, rule: str = "template") -> Problem:
    level, message = Level.ERROR, error.message
    if isinstance(error, NeedError):
        rule = "needs"
    if isinstance(error, UndefinedNameError):
        rule = "undefined-name"
        if guess:
            level, message = Level.WARNING, error.message.replace("is not defined", "is defined by no inventory given")
    return Problem(
        level=level, rule=rule, message=message, source=error.source, line_text=error.line_text, hint=error.hint
    )


def _unread(plan: Plan) -> Iterator[Problem]:
    for name, close in unread_extra_vars(plan):
        message = f"-e {name}: no text of the playbook reads it"
        hint = f"Did you mean {close!r}?" if close else ""
        if name.startswith("ansible_"):
            hint = "Connection settings are read from the inventory"
        level = Level.WARNING if close else Level.INFO
        yield Problem(level=level, rule="unread-variable", message=message, hint=hint)


def _become(plan: Plan, shape: Shape) -> Iterator[Problem]:
    """Where a user or a method is named, and nothing says that it is to be taken."""
    said = shape.check.become
    named = "become_user" if said.user else "become_method" if said.method else ""
    if not named or said.become is not None:
        return
    hosts = [host.host for host in plan.hosts if any(entry.shape is shape for entry in host.track.entries)]
    run = plan.setup.options.become
    if not any(account(shape, host, run) for host in hosts or (None,)):
        message = f"check {shape.check.id!r} names a {named}, but does not become: it runs as the account that logs in"
        yield _at(shape, "become-unused", message, "Write `become: true` beside it")


def _commands(shape: Shape) -> Iterator[Problem]:
    check = shape.check
    accepted = check.changes_host or truth(check.vars.get(_ACCEPTING, shape.play.vars.get(_ACCEPTING, False)))
    for text, as_written in command_texts(check):
        found: Iterable[tuple[str, str, str, int]] = chain(
            (("changes-host", *one) for one in (() if accepted else changes(text.text))),
            (("unguarded-removal", *one) for one in unguarded_removals(text.text)),
            endless(text.text, bounded=check.duration_s is not None),
        )
        for rule, message, hint, offset in found:
            source, line_text = place_in(text, as_written, offset)
            if rule == "changes-host" and check.task is not None:
                hint = "A task should only look; if it is meant to, give it `vars: {changes_host: true}`"
            yield Problem(
                level=Level.WARNING, rule=rule, message=message, source=source, line_text=line_text, hint=hint
            )


def _prompts(shape: Shape) -> Iterator[Problem]:
    for prompt in shape.check.prompts:
        for message, hint in prompt_habits(prompt):
            source, line_text = place(prompt.match, 0)
            rule = "secret-in-clear" if message.startswith("the answer") else "prompt"
            yield Problem(
                level=Level.WARNING, rule=rule, message=message, source=source, line_text=line_text, hint=hint
            )


def _tags(shape: Shape) -> Iterator[Problem]:
    if {"never", "always"} <= check_tags(shape.play, shape.check):
        message = f"check {shape.check.id!r} is tagged both `always` and `never`: it always runs"
        yield _at(shape, "contradicting-tags", message, "")


def _at(shape: Shape, rule: str, message: str, hint: str) -> Problem:
    return Problem(level=Level.WARNING, rule=rule, message=message, source=shape.check.source, hint=hint)


def _ids(plan: Plan) -> Iterator[Problem]:
    """Ids that several plays have. Tasks take theirs from their names, which say nothing of it."""
    first: dict[str, Shape] = {}
    for key, shape in plan.shapes.items():
        check: Check = shape.check
        before = first.setdefault(check.id, shape)
        if before.play_index == shape.play_index or _NUMBERED.fullmatch(check.id):
            continue
        if check.task is None and before.check.task is None:
            where = f"line {before.check.source.line}"
            if before.check.source.path != check.source.path:
                where = str(before.check.source)
            message = f"check id {check.id!r} is that of another play too ({where}): here it is {key!r} in reports"
            hint = "Give one of the two an `id` of its own"
            yield Problem(level=Level.INFO, rule="duplicate-id", message=message, source=check.source, hint=hint)


def _registers(plan: Plan) -> Iterator[Problem]:
    host_vars: dict[str, str] = {}
    for host in plan.hosts:
        for variable in host.host.vars.keys() - host_vars.keys():
            host_vars[variable] = host.host.name
    seen: dict[str, str] = {}
    for key, shape in plan.shapes.items():
        name = shape.check.register
        if name is None:
            continue
        # Tasks use a name again and again, and a file may be included several times.
        again = name in seen and not shape.play.tasks and plan.shapes[seen[name]].check.source != shape.check.source
        why = f"check {seen[name]!r} registers it too: later checks read this one" if again else ""
        why = why or _also(plan, shape, name, host_vars)
        if why:
            yield _at(shape, "name-clash", f"check {key!r} registers {name!r}, but {why}", "Take another name")
        seen[name] = key
    for play in plan.playbook.plays:
        for variable in sorted(play.vars.keys() & {*MAGIC, *(() if play.tasks else RESULT_NAMES)}):
            message = f"variable {variable!r} is hidden by the name of a result's metadata"
            if variable in MAGIC:
                message = f"variable {variable!r} cannot be set"
            hint = "Take another name"
            yield Problem(level=Level.WARNING, rule="name-clash", message=message, source=play.source, hint=hint)


def _also(plan: Plan, shape: Shape, name: str, host_vars: Mapping[str, str]) -> str:
    """What a registered name is besides."""
    if name in MAGIC or (name in RESULT_NAMES and not shape.play.tasks):
        return "it already means something in expressions"
    if name in plan.setup.extra_vars:
        return "-e sets it as well: later checks read that"
    if name in shape.play.vars or name in host_vars:
        where = f"of host {host_vars[name]}" if name in host_vars else "of the play"
        return f"it is a variable {where} as well: later checks read the result"
    if any(name in own_loop_names(one.check) for one in plan.shapes.values()):
        return "loops call their item so: their texts read the result"
    return ""


def _names(playbook: Playbook) -> Iterator[Problem]:
    for play in playbook.plays:
        counts = Counter(check.name for check in play.checks)
        for check in play.checks:
            if check.task is not None and check.name == check.task.module:
                continue  # nobody gave it that name
            if counts[check.name] > 1:
                message = f"several checks of this play are called {check.name!r}"
                hint = "Reports are read by names"
                yield Problem(level=Level.INFO, rule="duplicate-name", message=message, source=check.source, hint=hint)
