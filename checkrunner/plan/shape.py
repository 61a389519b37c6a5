"""What is known of a check before any host is: its texts, the names that they read, what is the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from checkrunner.model.errors import TemplateError
from checkrunner.model.inventory import empty
from checkrunner.model.metadata import RESULT_NAMES
from checkrunner.model.options import RunOptions
from checkrunner.model.playbook import DEFAULT_SESSION, Check, Loop, Play
from checkrunner.model.sources import Template
from checkrunner.model.values import Lookup
from checkrunner.plan.task_parts import OWN_RESULT, task_parts
from checkrunner.plan.texts import Templates
from checkrunner.plan.variables import holds_template, names_read

__all__ = ["Part", "Shape", "following", "loop_texts", "make_shape", "own_loop_names", "parts_of"]

_RESULT = frozenset({*RESULT_NAMES, "values"})
_COMMANDING = ("when", "run", "argv", "cwd", "loop", "loop.label", "delegate_to")


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
    reads: Mapping[str, frozenset[str]] = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A check as far as it is the same on every host.

    `free` and `needed` are over all parts, without what `when` makes sure of (``x is defined``). `loop_names` are the
    variables that its loop gives to them, or that of the check which it follows. `reach` has every name that its texts
    come to read, each with those that the value reads which the playbook gives it. `plain_command`: nothing but the
    text of the command has a part in what is run. `errors` are the syntax errors of its parts.

    `follows` is the key of the check whose trouble makes it run, `before` says that it is one of the play's
    `pre_checks`.
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
    loop_names: frozenset[str] = frozenset()
    reach: Mapping[str, frozenset[str]] = field(default_factory=empty)
    follows: str = ""
    before: bool = False

    @property
    def defaults(self) -> Mapping[str, Any]:
        """What the parameters of its play are where nobody sets them."""
        return {param.name: param.default for param in self.play.params if not param.required}

    @property
    def when_names(self) -> frozenset[str]:
        """The names that the conditions read."""
        return frozenset().union(*(part.free for part in self.parts if part.where == "when"))

    def read_by(self, names: Iterable[str]) -> frozenset[str]:
        """All names that texts with these names come to read, themselves among them."""
        found: set[str] = set()
        todo = set(names)
        while todo:
            found |= todo
            todo = {read for name in todo for read in self.reach.get(name, ())} - found
        return frozenset(found)


def parts_of(check: Check) -> Iterator[tuple[str, Template, bool, bool]]:
    """Each text of a check: its key, the text, whether it is an expression, whether it can read the result."""
    yield from (("when", condition, True, False) for condition in check.when)
    if check.loop is not None:
        yield from (("loop", text, expression, False) for text, expression in loop_texts(check.loop))
        if check.loop.label is not None:
            yield "loop.label", check.loop.label, False, False
    yield from (("argv", word, False, False) for word in check.argv)
    yield from (
        (f"env.{name}", value, False, False) for name, value in check.env.items() if isinstance(value, Template)
    )
    texts = {"run": check.run, "cwd": check.cwd, "delegate_to": check.delegate_to, "why": check.why, "fix": check.fix}
    for key, text in texts.items():
        if text is not None:
            yield key, text, False, False
    for prompt in check.prompts:
        yield "prompts.match", prompt.match, False, False
        if isinstance(prompt.answer, Template):
            yield "prompts.answer", prompt.answer, False, False
    if check.task is not None:
        yield from task_parts(check.task)
    yield from _judging_parts(check)


def loop_texts(loop: Loop) -> Iterator[tuple[Template, bool]]:
    """The texts that a loop's items are made of, and whether each is an expression."""
    if isinstance(loop.items, Template):
        yield loop.items, loop.items.is_static
    else:
        yield from ((text, False) for text in _texts_in(loop.items, loop))


def _texts_in(value: Any, loop: Loop) -> Iterator[Template]:
    if isinstance(value, Template):
        yield value
    elif isinstance(value, str) and holds_template(value):
        yield Template(text=value, source=loop.source)
    elif isinstance(value, (Mapping, list, tuple)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(item, loop)


def _judging_parts(check: Check) -> Iterator[tuple[str, Template, bool, bool]]:
    for expected in check.expect:
        values: Any = expected.value if isinstance(expected.value, (list, tuple)) else [expected.value]
        that = expected.op == "that"
        for value in values:
            if isinstance(value, Template):
                yield f"expect.{expected.subject}.{expected.op}", value, that, that
    yield from (("warn_if", condition, True, True) for condition in check.warn_if)
    yield from (("crit_if", condition, True, True) for condition in check.crit_if)
    if check.until is not None:
        yield from (("until", condition, True, True) for condition in check.until.conditions)
    for rule in check.slices:
        if rule.pattern is not None:
            yield "slice.pattern", rule.pattern, False, False
    yield from _value_parts(check)


def _value_parts(check: Check) -> Iterator[tuple[str, Template, bool, bool]]:
    if check.parse is not None and check.parse.pattern is not None:
        yield "parse.pattern", check.parse.pattern, False, False
    for extract in check.extracts:
        where = "extract.regex" if extract.lookup is Lookup.REGEX else "extract.query"
        yield where, extract.query, False, False
        if extract.where is not None:
            yield "extract.where", extract.where, True, False
    for pattern in check.baseline.ignore if check.baseline else ():
        yield "baseline.ignore", pattern, False, False
    for levels in check.levels:
        yield from (("levels", text, False, False) for text in (levels.warn, levels.crit) if text is not None)


def following(check: Check, parent: Check) -> Check:
    """A check of `on_fail` with what it has from the one that it follows, unless it says so itself: the session, as
    whom it runs and where, and its variables."""
    become = check.become
    return replace(
        check,
        session=parent.session if check.session == DEFAULT_SESSION else check.session,
        become=parent.become if become.become is None and not (become.user or become.method) else become,
        delegate_to=check.delegate_to or parent.delegate_to,
        vars={**parent.vars, **check.vars} if parent.vars else check.vars,
    )


def make_shape(
    play_index: int,
    play: Play,
    check: Check,
    templates: Templates,
    options: RunOptions,
    *,
    extra_vars: Mapping[str, Any] | None = None,
    parent: tuple[str, Shape] | None = None,
    before: bool = False,
) -> Shape:
    """Compile a check's texts. Errors of syntax are kept, so that all of them can be told at once. `parent` is the
    check that it follows, with its key."""
    if parent is not None:
        check = following(check, parent[1].check)
    parts: list[Part] = []
    errors: list[TemplateError] = []
    for where, template, expression, judging in parts_of(check):
        try:
            # Whether to run it again is said of this very result, also by the name that it is registered as.
            own = frozenset({check.register} if check.register and where in OWN_RESULT else ())
            parts.append(_part(where, template, expression, judging, templates, own))
        except TemplateError as error:
            errors.append(error)
    sure = frozenset().union(*(part.guarded for part in parts if part.where == "when"))
    plain = check.loop is None and check.task is None and check.delegate_to is None
    plain = plain and all(
        part.template.is_static and not part.expression
        for part in parts
        if part.where in _COMMANDING or part.where.startswith(("env.", "prompts."))
    )
    free = frozenset().union(*(part.free for part in parts))
    loop_names = frozenset(own_loop_names(check)) | (parent[1].loop_names if parent else frozenset())
    layers = (extra_vars or {}, check.vars, play.vars)
    return Shape(
        check=check,
        play=play,
        play_index=play_index,
        timeout_s=_timeout_s(check, play, options),
        parts=tuple(parts),
        free=free,
        needed=frozenset().union(*(part.needed for part in parts)) - sure,
        plain_command=plain and not errors,
        errors=tuple(errors),
        loop_names=loop_names,
        reach=_reach(free, layers, templates),
        follows=parent[0] if parent else "",
        before=before,
    )


def own_loop_names(check: Check) -> Iterator[str]:
    """The variables that the check's own loop gives."""
    if check.loop is not None:
        yield from (check.loop.variable, "ansible_loop")
        if check.loop.index_variable:
            yield check.loop.index_variable


def _reach(
    names: frozenset[str], layers: tuple[Mapping[str, Any], ...], templates: Templates
) -> Mapping[str, frozenset[str]]:
    """Each of the names, and those that their values read in the layers, the first of which wins."""
    found: dict[str, frozenset[str]] = {}
    todo = set(names)
    while todo:
        name = todo.pop()
        layer = next((layer for layer in layers if name in layer), None)
        found[name] = names_read(templates, layer[name]) if layer is not None else frozenset()
        todo |= found[name] - found.keys()
    return found


def _timeout_s(check: Check, play: Play, options: RunOptions) -> float:
    """The check's own; else what holds for it, beside the time that it takes by its own account."""
    if check.timeout_s is not None:
        return check.timeout_s
    planned = check.sample.every_s * (check.sample.count - 1) if check.sample else check.duration_s or 0.0
    return planned + (options.timeout_s if play.timeout_s is None else play.timeout_s)


def _part(
    where: str, template: Template, expression: bool, judging: bool, templates: Templates, own: frozenset[str]
) -> Part:
    unit = templates.unit(template, expression=expression)
    if unit is None:
        return Part(where=where, template=template, expression=expression, judging=judging)
    free = unit.free - _RESULT - own if judging else unit.free - own
    return Part(
        where=where,
        template=template,
        expression=expression,
        judging=judging,
        free=free,
        needed=frozenset() if where == "extract.where" else free - unit.guarded,  # most of its names are columns
        guarded=unit.guarded,
        attributes=unit.attributes,
        reads=unit.reads,
    )
