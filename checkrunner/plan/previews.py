"""What a check comes to on a host before anything runs. Pure: renders what can be rendered, connects nothing."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from checkrunner.model.errors import TemplateError, UsageError
from checkrunner.model.inventory import empty
from checkrunner.model.playbook import Expectation
from checkrunner.model.preview import ItemPreview, Preview, Runs
from checkrunner.model.sources import Template
from checkrunner.model.tasks import COMMANDS, Module, Task
from checkrunner.plan.build import same_everywhere
from checkrunner.plan.fills import Filler
from checkrunner.plan.hostplan import Entry, HostPlan
from checkrunner.plan.privileges import account, wants_exact
from checkrunner.plan.shape import own_loop_names
from checkrunner.plan.task_commands import task_environment
from checkrunner.plan.verify import late_in_items

__all__ = ["MOST_SHOWN_ITEMS", "Previewer", "conditions_of", "one_line"]

MOST_SHOWN_ITEMS = 50
"""Of one loop on one host."""

_HIDDEN = "(not shown: no_log)"
_Names = Mapping[str, Any]


def one_line(text: str) -> str:
    """The text with single spaces."""
    return " ".join(text.split())


def conditions_of(entry: Entry) -> tuple[str, ...]:
    """The conditions of a check as written."""
    return tuple(one_line(condition.text) for condition in entry.shape.check.when)


class Previewer:
    """Makes the previews of a plan; what is the same on all hosts is made once. `expects_rc_0` says whether a check is
    expected to end with 0 though nobody wrote it."""

    def __init__(self, expects_rc_0: Callable[[Entry], bool]) -> None:
        self._expects_rc_0 = expects_rc_0
        self._made: dict[int, Preview] = {}

    def preview(self, host: HostPlan, entry: Entry) -> Preview:
        """The check on the host. Total."""
        made = self._made.get(id(entry))
        if made is None:
            made = self._preview(host, entry)
            if entry.shape.check.delegate_to is None and same_everywhere(entry, host.setup):
                self._made[id(entry)] = made
        return replace(made, become=_become(host, entry, made.on)) if made.runs is not Runs.NO else made

    def _preview(self, host: HostPlan, entry: Entry) -> Preview:
        try:
            names = host.variables(entry)
        except TemplateError as error:
            return Preview(runs=Runs.LATER, reason=error.message, complete=False)
        runs, reason = _runs(host, entry, Filler(entry.shape, names, entry.late, host.setup.templates))
        if runs is Runs.NO:
            return Preview(runs=runs, reason=reason)
        filler = Filler(entry.shape, names, entry.late, host.setup.templates)
        made = Preview(
            runs=runs,
            reason=reason,
            command=_command(entry, filler),
            env=tuple(_env(entry, filler, names, host)),
            cwd=_cwd(entry, filler),
            on=_on(host, entry, filler),
            expects=tuple(self._expects(entry, filler)),
            levels=tuple(_levels(entry, filler)),
        )
        made = replace(made, complete=filler.complete)
        return _looped(host, entry, made) if entry.shape.check.loop is not None else made

    def _expects(self, entry: Entry, filler: Filler) -> Iterator[str]:
        check = entry.shape.check
        if self._expects_rc_0(entry):
            yield "rc 0 (the default)"
        for expected in check.expect:
            said = _expected(expected, filler)
            yield said if expected.op == "that" else f"{expected.subject} {said}"
        for key, conditions in (("warn_if", check.warn_if), ("crit_if", check.crit_if)):
            yield from (f"{key}: {one_line(condition.text)}" for condition in conditions)
        if check.task is not None and check.task.failed_when:
            yield from (f"failed_when: {one_line(condition.text)}" for condition in check.task.failed_when)


def _runs(host: HostPlan, entry: Entry, filler: Filler) -> tuple[Runs, str]:
    """Whether the check is run, and why not or on what that depends."""
    for wanted, key in entry.wanted:
        if key is None:
            return Runs.NO, f"needs {wanted}, which does not run on this host"
    later = []
    if entry.shape.follows:
        later.append(f"only where {entry.shape.follows} is not ok")
    loop = entry.shape.check.loop
    own = frozenset(own_loop_names(entry.shape.check))
    for condition in entry.shape.check.when:
        text = one_line(condition.text)
        if own and not own.isdisjoint(host.setup.templates.names_in_expression(condition)):
            continue  # it is said of each item
        holds = filler.holds(condition)
        if holds is False:
            return Runs.NO, f"when: {text}"
        if holds is None:
            later.append(f"when: {text}")
    if isinstance(loop and loop.items, tuple | list) and not (loop and loop.items):
        return Runs.NO, "loop: no items"
    later += [f"needs {wanted} to be ok or warn" for wanted, _ in entry.wanted]
    return (Runs.LATER, "; ".join(later)) if later else (Runs.YES, "")


def _command(entry: Entry, filler: Filler) -> str:
    check = entry.shape.check
    if check.task is not None:
        return _HIDDEN if check.task.no_log else _task(check.task, filler)
    if check.run is not None:
        return filler.text(check.run, for_shell=True) or ""
    return _words(check.argv, filler)


def _words(argv: tuple[Template, ...], filler: Filler) -> str:
    words = ((word, filler.text(word)) for word in argv)
    return " ".join(text if "{{" in text else shlex.quote(text) for _, text in words if text is not None)


def _task(task: Task, filler: Filler) -> str:
    args = task.args
    if task.module is Module.SETUP:
        return "(gather facts)"
    if task.module is Module.SCRIPT:
        rest = args.get("rest")
        return f"script: {args.get('file', '')} {filler.text(rest) if isinstance(rest, Template) else ''}".rstrip()
    if task.module in COMMANDS:
        if args.get("argv"):
            return _words(args["argv"], filler)
        written = args.get("cmd")
        return (filler.text(written, for_shell=True) or "") if isinstance(written, Template) else ""
    return f"{task.module}: {_argument(args, filler)}" if args else str(task.module)


def _argument(value: object, filler: Filler) -> str:
    """Arguments of a task that needs no host, in one line."""
    if isinstance(value, Template):
        return one_line(filler.text(value) or "")
    if isinstance(value, Mapping):
        if len(value) == 1 and "that" not in value:
            return _argument(next(iter(value.values())), filler)
        return ", ".join(f"{key}={_argument(item, filler)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_argument(item, filler) for item in value) + "]"
    return one_line(str(value))


def _env(entry: Entry, filler: Filler, names: _Names, host: HostPlan) -> Iterator[tuple[str, str]]:
    check = entry.shape.check
    if check.task is not None and check.task.environment:
        try:
            found = task_environment(check.task, names, host.setup.templates)
            yield from ((name, str(value)) for name, value in found.items() if name not in check.env)
        except TemplateError:
            filler.complete = False
            yield from (("...", one_line(text.text)) for text in check.task.environment)
    for name, value in check.env.items():
        text = filler.env(value)
        if text is not None:
            yield name, text


def _cwd(entry: Entry, filler: Filler) -> str:
    check = entry.shape.check
    where = check.cwd if check.task is None else check.task.args.get("chdir")
    return (filler.text(where) or "") if isinstance(where, Template) else ""


def _on(host: HostPlan, entry: Entry, filler: Filler) -> str:
    where = entry.shape.check.delegate_to
    name = (filler.text(where) or "").strip() if where is not None else ""
    return "" if name == host.host.name else name


def _become(host: HostPlan, entry: Entry, on: str) -> str:
    where = host.host
    if on and host.setup.host_called is not None and "{{" not in on:
        try:
            where = host.setup.host_called(on)
        except UsageError:
            return ""
    wanted = account(entry.shape, where, host.setup.options.become)
    if wanted is None:
        return ""
    return f"{wanted.user} by {wanted.method}{', the command alone' if wants_exact(entry.shape) else ''}"


def _expected(expected: Expectation, filler: Filler) -> str:
    values = expected.value if isinstance(expected.value, list | tuple) else [expected.value]
    shown = []
    for value in values:
        if isinstance(value, Template):
            text = one_line(value.text) if expected.op == "that" else (filler.text(value) or "")
            shown.append(text if expected.op in ("that", "number") else repr(text))
        else:
            shown.append(str(value).lower() if isinstance(value, bool) else str(value))
    joined = " or ".join(shown) if expected.op == "number" else " and ".join(shown)
    if expected.op in ("number", "that"):
        return joined
    if expected.op == "empty":
        return "is empty" if shown == ["true"] else "is not empty"
    return f"{expected.op.replace('_', ' ')} {joined}"


def _levels(entry: Entry, filler: Filler) -> Iterator[str]:
    for level in entry.shape.check.levels:
        said = [f"{key} {filler.text(text)}" for key, text in (("warn", level.warn), ("crit", level.crit)) if text]
        yield f"{level.name}: {', '.join(said)}"


def _looped(host: HostPlan, entry: Entry, made: Preview) -> Preview:
    """The same with the items of its loop, where they can be known."""
    loop = entry.shape.check.loop
    assert loop is not None
    own = frozenset(own_loop_names(entry.shape.check))
    late = entry.late - own
    written = one_line(loop.items.text) if isinstance(loop.items, Template) else "items that need a result"
    parts = [part for part in entry.shape.parts if part.where == "loop"]
    if entry.shape.follows or any(not entry.shape.read_by(part.free).isdisjoint(late) for part in parts):
        return replace(made, loop=written)
    try:
        items = host.each_item(entry, empty())
    except TemplateError:
        return replace(made, loop=written)
    if not items:
        return Preview(runs=Runs.NO, reason="loop: no items")
    settled = late_in_items(entry)
    found, complete = [], True
    for label, _, given in items[:MOST_SHOWN_ITEMS]:
        filler = Filler(entry.shape, host.variables(entry, given), settled, host.setup.templates)
        runs, reason = Runs.YES, ""
        for condition in entry.shape.check.when:
            holds = filler.holds(condition)
            if not holds:
                runs, reason = (Runs.NO if holds is False else Runs.LATER), f"when: {one_line(condition.text)}"
                break
        command = _command(entry, filler) if runs is not Runs.NO else ""
        complete = complete and filler.complete
        found.append(ItemPreview(label=label, runs=runs, reason=reason, command=command))
    return replace(made, items=tuple(found), item_count=len(items), complete=complete)
