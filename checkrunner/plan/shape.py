"""What is known of a check before any host is: its texts, the names that they read, what is the same everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from checkrunner.model.errors import TemplateError
from checkrunner.model.inventory import empty
from checkrunner.model.metadata import RESULT_NAMES
from checkrunner.model.options import RunOptions
from checkrunner.model.playbook import Check, Play
from checkrunner.model.sources import Template
from checkrunner.plan.texts import Templates

__all__ = ["Part", "Shape", "make_shape", "parts_of"]

_RESULT = frozenset(RESULT_NAMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One template or expression of a check.

    `where` is its key (``run``, ``env.NAME``, ``when``, ...). `needed` are the names it cannot do without: those of
    `free` that have no default, and for an expression over the result, those that are not the result's own.
    """

    where: str
    template: Template
    expression: bool
    judging: bool
    free: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    guarded: frozenset[str] = frozenset()
    attributes: Mapping[str, frozenset[str]] = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A check as far as it is the same on every host.

    `free` and `needed` are over all parts, without what `when` makes sure of (``x is defined``). `plain_command`: no
    template has a part in the command. `errors` are the syntax errors of its parts.
    """

    check: Check
    play: Play
    play_index: int
    timeout_s: float
    parts: tuple[Part, ...]
    free: frozenset[str]
    needed: frozenset[str]
    plain_command: bool
    errors: tuple[TemplateError, ...] = ()

    @property
    def when_names(self) -> frozenset[str]:
        """The names that the conditions read."""
        return frozenset().union(*(part.free for part in self.parts if part.where == "when"))


def parts_of(check: Check) -> Iterator[tuple[str, Template, bool, bool]]:
    """Each text of a check: its key, the text, whether it is an expression, whether it can read the result."""
    yield from (("when", condition, True, False) for condition in check.when)
    yield from (("argv", word, False, False) for word in check.argv)
    yield from (
        (f"env.{name}", value, False, False) for name, value in check.env.items() if isinstance(value, Template)
    )
    for key, text in (("run", check.run), ("cwd", check.cwd), ("why", check.why), ("fix", check.fix)):
        if text is not None:
            yield key, text, False, False
    for prompt in check.prompts:
        yield "prompts.match", prompt.match, False, False
        if isinstance(prompt.answer, Template):
            yield "prompts.answer", prompt.answer, False, False
    yield from _judging_parts(check)


def _judging_parts(check: Check) -> Iterator[tuple[str, Template, bool, bool]]:
    for expected in check.expect:
        values: Any = expected.value if isinstance(expected.value, (list, tuple)) else [expected.value]
        that = expected.op == "that"
        for value in values:
            if isinstance(value, Template):
                yield f"expect.{expected.subject}.{expected.op}", value, that, that
    yield from (("warn_if", condition, True, True) for condition in check.warn_if)
    yield from (("crit_if", condition, True, True) for condition in check.crit_if)
    for rule in check.slices:
        if rule.pattern is not None:
            yield "slice.pattern", rule.pattern, False, False


def make_shape(play_index: int, play: Play, check: Check, templates: Templates, options: RunOptions) -> Shape:
    """Compile a check's texts. Errors of syntax are kept, so that all of them can be told at once."""
    parts: list[Part] = []
    errors: list[TemplateError] = []
    for where, template, expression, judging in parts_of(check):
        try:
            parts.append(_part(where, template, expression, judging, templates))
        except TemplateError as error:
            errors.append(error)
    sure = frozenset().union(*(part.guarded for part in parts if part.where == "when"))
    commanding = ("when", "run", "argv", "cwd")
    plain = all(
        part.template.is_static and not part.expression
        for part in parts
        if part.where in commanding or part.where.startswith(("env.", "prompts."))
    )
    return Shape(
        check=check,
        play=play,
        play_index=play_index,
        timeout_s=_timeout_s(check, play, options),
        parts=tuple(parts),
        free=frozenset().union(*(part.free for part in parts)),
        needed=frozenset().union(*(part.needed for part in parts)) - sure,
        plain_command=plain and not errors,
        errors=tuple(errors),
    )


def _timeout_s(check: Check, play: Play, options: RunOptions) -> float:
    """The check's own; else what holds for it, beside the time that it takes by its own account."""
    if check.timeout_s is not None:
        return check.timeout_s
    planned = check.sample.every_s * (check.sample.count - 1) if check.sample else check.duration_s or 0.0
    return planned + (options.timeout_s if play.timeout_s is None else play.timeout_s)


def _part(where: str, template: Template, expression: bool, judging: bool, templates: Templates) -> Part:
    unit = templates.unit(template, expression=expression)
    if unit is None:
        return Part(where=where, template=template, expression=expression, judging=judging)
    free = unit.free - _RESULT if judging else unit.free
    return Part(
        where=where,
        template=template,
        expression=expression,
        judging=judging,
        free=free,
        needed=free - unit.guarded,
        guarded=unit.guarded,
        attributes=unit.attributes,
    )
