"""Everything that can be said of a playbook without connecting: errors that would stop a run, and what looks wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from checkrunner.model.errors import TemplateError
from checkrunner.model.metadata import RESULT_NAMES
from checkrunner.model.playbook import Playbook
from checkrunner.model.sources import NOWHERE, SourceRef, Template
from checkrunner.plan.answers import prompt_habits
from checkrunner.plan.build import Plan
from checkrunner.plan.excerpts import excerpt
from checkrunner.plan.faults import UndefinedNameError, place
from checkrunner.plan.habits import bad_habits
from checkrunner.plan.privileges import account
from checkrunner.plan.shape import Shape
from checkrunner.plan.tags import check_tags
from checkrunner.plan.unread import unread_extra_vars
from checkrunner.plan.variables import MAGIC
from checkrunner.plan.verify import Look, nothing_else, plan_errors

__all__ = ["Level", "Problem", "in_order", "lint"]


class Level(StrEnum):
    """How much a problem matters: an error stops a run, a warning is probably a mistake, a hint may be ignored."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing found, as one sentence without a full stop; `line_text` and `hint` may be empty."""

    level: Level
    message: str
    source: SourceRef = NOWHERE
    line_text: str = ""
    hint: str = ""


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
    problems = [
        _of_error(error, guess) for error in plan_errors(plan, also) if getattr(error, "name", None) not in lost
    ]
    for shape in plan.shapes.values():
        problems += _commands(shape)
        problems += _prompts(shape)
        problems += _tags(shape)
        problems += _become(plan, shape)
    problems += _registers(plan)
    problems += _names(plan.playbook)
    if whole and not any(shape.errors for shape in plan.shapes.values()):
        problems += _unread(plan)
    return in_order(_in_file(plan, problem) for problem in problems)


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Each once, in the order of the file, errors before others of one place."""
    order = list(Level)
    return sorted(set(problems), key=lambda p: (p.source.path, p.source.line, p.source.column, order.index(p.level)))


def _of_error(error: TemplateError, guess: bool) -> Problem:
    level, message = Level.ERROR, error.message
    if guess and isinstance(error, UndefinedNameError):
        level, message = Level.WARNING, error.message.replace("is not defined", "is defined by no inventory given")
    return Problem(level=level, message=message, source=error.source, line_text=error.line_text, hint=error.hint)


def _in_file(plan: Plan, problem: Problem) -> Problem:
    source, line_text = excerpt(plan.playbook, problem.source, problem.line_text)
    return replace(problem, source=source, line_text=line_text)


def _unread(plan: Plan) -> Iterator[Problem]:
    for name, close in unread_extra_vars(plan):
        message = f"-e {name}: no text of the playbook reads it"
        hint = f"Did you mean {close!r}?" if close else ""
        if name.startswith("ansible_"):
            hint = "Connection settings are read from the inventory"
        yield Problem(level=Level.WARNING if close else Level.HINT, message=message, hint=hint)


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
        yield _at(shape, Level.WARNING, message, "Write `become: true` beside it")


def _commands(shape: Shape) -> Iterator[Problem]:
    check = shape.check
    words = check.argv
    text = check.run or (Template(text=" ".join(w.text for w in words), source=words[0].source) if words else None)
    if text is None:
        return
    for message, hint, offset in bad_habits(text.text, bounded=check.duration_s is not None):
        source, line_text = place(text, offset if check.run else 0)
        yield Problem(level=Level.WARNING, message=message, source=source, line_text=line_text, hint=hint)


def _prompts(shape: Shape) -> Iterator[Problem]:
    for prompt in shape.check.prompts:
        for message, hint in prompt_habits(prompt):
            source, line_text = place(prompt.match, 0)
            yield Problem(level=Level.WARNING, message=message, source=source, line_text=line_text, hint=hint)


def _tags(shape: Shape) -> Iterator[Problem]:
    tags = check_tags(shape.play, shape.check)
    if tags == {"never"}:
        hint = "Give it a second tag to select it by"
        yield _at(shape, Level.WARNING, f"check {shape.check.id!r} has only the tag `never`: no run selects it", hint)
    if {"never", "always"} <= tags:
        message = f"check {shape.check.id!r} is tagged both `always` and `never`: it always runs"
        yield _at(shape, Level.WARNING, message, "")


def _at(shape: Shape, level: Level, message: str, hint: str) -> Problem:
    return Problem(level=level, message=message, source=shape.check.source, hint=hint)


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
        why = f"check {seen[name]!r} registers it too: later checks read this one" if name in seen else ""
        why = why or _also(plan, shape, name, host_vars)
        if why:
            yield _at(shape, Level.WARNING, f"check {key!r} registers {name!r}, but {why}", "Take another name")
        seen[name] = key
    for play in plan.playbook.plays:
        for variable in sorted(play.vars.keys() & {*RESULT_NAMES, *MAGIC}):
            message = f"variable {variable!r} is hidden by the name of a result's metadata"
            if variable in MAGIC:
                message = f"variable {variable!r} cannot be set"
            yield Problem(level=Level.WARNING, message=message, source=play.source, hint="Take another name")


def _also(plan: Plan, shape: Shape, name: str, host_vars: Mapping[str, str]) -> str:
    """What a registered name is besides."""
    if name in MAGIC or name in RESULT_NAMES:
        return "it already means something in expressions"
    if name in plan.setup.extra_vars:
        return "-e sets it as well: later checks read that"
    if name in shape.play.vars or name in host_vars:
        where = f"of host {host_vars[name]}" if name in host_vars else "of the play"
        return f"it is a variable {where} as well: later checks read the result"
    return ""


def _names(playbook: Playbook) -> Iterator[Problem]:
    for play in playbook.plays:
        counts = Counter(check.name for check in play.checks)
        for check in play.checks:
            if counts[check.name] > 1:
                message = f"several checks of this play are called {check.name!r}"
                yield Problem(level=Level.HINT, message=message, source=check.source, hint="Reports are read by names")
