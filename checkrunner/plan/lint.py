"""Everything that can be said of a playbook without connecting: errors that would stop a run, and what looks wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from checkrunner.model.metadata import RESULT_NAMES
from checkrunner.model.playbook import Playbook
from checkrunner.model.sources import NOWHERE, SourceRef, Template
from checkrunner.plan.build import Plan
from checkrunner.plan.faults import place
from checkrunner.plan.habits import bad_habits
from checkrunner.plan.privileges import become_user
from checkrunner.plan.shape import Shape
from checkrunner.plan.tags import check_tags
from checkrunner.plan.variables import MAGIC
from checkrunner.plan.verify import plan_errors

__all__ = ["Level", "Problem", "lint"]


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


def lint(plan: Plan) -> Sequence[Problem]:
    """All problems in the order of the file, errors before others of one place. Looks at every check of the playbook,
    also those that no host or tag selects; variables only where hosts are selected."""
    problems = [
        Problem(level=Level.ERROR, message=e.message, source=e.source, line_text=e.line_text, hint=e.hint)
        for e in plan_errors(plan)
    ]
    for shape in plan.shapes.values():
        problems += _commands(shape)
        problems += _tags(shape)
        problems += _become(shape)
    problems += _registers(plan)
    problems += _names(plan.playbook)
    order = list(Level)
    return sorted(set(problems), key=lambda p: (p.source.path, p.source.line, p.source.column, order.index(p.level)))


_BECOME_HINT = (
    "Log in as that user, or write `sudo -n` into the command; on hosts with another login the check is `unknown`"
)


def _become(shape: Shape) -> Iterator[Problem]:
    user = become_user(shape)
    if user:
        message = f"check {shape.check.id!r} runs only where one logs in as {user}: `become` changes no account yet"
        yield _at(shape, Level.WARNING, message, _BECOME_HINT)


def _commands(shape: Shape) -> Iterator[Problem]:
    check = shape.check
    words = check.argv
    text = check.run or (Template(text=" ".join(w.text for w in words), source=words[0].source) if words else None)
    if text is None:
        return
    for message, hint, offset in bad_habits(text.text):
        source, line_text = place(text, offset if check.run else 0)
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
        why = ""
        if name in seen:
            why = f"check {seen[name]!r} registers it too: later checks read this one"
        elif name in MAGIC or name in RESULT_NAMES:
            why = "it already means something in expressions"
        elif name in shape.play.vars or name in plan.setup.extra_vars or name in host_vars:
            where = f"of host {host_vars[name]}" if name in host_vars else "of the play or command line"
            why = f"it is a variable {where} as well: later checks read the result"
        if why:
            yield _at(shape, Level.WARNING, f"check {key!r} registers {name!r}, but {why}", "Take another name")
        seen[name] = key
    for play in plan.playbook.plays:
        for variable in sorted(play.vars.keys() & {*RESULT_NAMES, *MAGIC}):
            message = f"variable {variable!r} is hidden by the name of a result's metadata"
            if variable in MAGIC:
                message = f"variable {variable!r} cannot be set"
            yield Problem(level=Level.WARNING, message=message, source=play.source, hint="Take another name")


def _names(playbook: Playbook) -> Iterator[Problem]:
    for play in playbook.plays:
        counts = Counter(check.name for check in play.checks)
        for check in play.checks:
            if counts[check.name] > 1:
                message = f"several checks of this play are called {check.name!r}"
                yield Problem(level=Level.HINT, message=message, source=check.source, hint="Reports are read by names")
