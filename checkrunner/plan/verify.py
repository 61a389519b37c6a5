"""Finds before anything connects what would go wrong while rendering: on every host, for every text of every check."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from checkrunner.model.errors import LoadError, TemplateError
from checkrunner.model.inventory import empty
from checkrunner.model.metadata import RESULT_NAMES
from checkrunner.model.playbook import Check, PromptRule
from checkrunner.plan.answers import render_answer
from checkrunner.plan.build import Plan, same_everywhere
from checkrunner.plan.excerpts import excerpt
from checkrunner.plan.faults import (
    attribute_error,
    fault_at,
    find_name,
    of_variable,
    restated,
    undefined_error,
    value_error,
)
from checkrunner.plan.hostplan import Entry, HostPlan, Track
from checkrunner.plan.known_names import registered_names
from checkrunner.plan.needs import need_errors
from checkrunner.plan.shape import Part, own_loop_names
from checkrunner.plan.values import NotANumberError
from checkrunner.plan.variables import Names, connection_names

__all__ = ["Look", "PlanError", "check_plan", "late_in_items", "nothing_else", "plan_errors"]

_REGEX_PARTS = re.compile(
    r"expect\.std(out|err)\.(not_)?matches|slice\.pattern|prompts\.match|parse\.pattern|extract\.regex|baseline\.ignore"
)

_TRIED_ITEMS = 50
"""Of a loop whose items are known before the run. Further ones are as the first ones, most of the time."""

_SHOWN = 10


class PlanError(TemplateError):
    """Several errors of one playbook, or of connection settings. As an error it is the first one; its text shows up to
    ten."""

    def __init__(self, errors: Sequence[LoadError]) -> None:
        first = errors[0]
        super().__init__(first.message, source=first.source, line_text=first.line_text, hint=first.hint)
        self._errors = tuple(errors)

    @property
    def errors(self) -> tuple[LoadError, ...]:
        """All of them, in the order of the file."""
        return self._errors

    def __str__(self) -> str:
        shown = [str(error) for error in self._errors[:_SHOWN]]
        more = len(self._errors) - len(shown)
        return "\n".join([*shown, f"... and {more} more errors in this file"] if more else shown)


Look = Callable[[Check], Sequence[TemplateError]]


"""Finds what is wrong with a check."""


def nothing_else(_check: Check) -> Sequence[TemplateError]:
    """Where nobody knows more."""
    return ()


def check_plan(plan: Plan, also: Look = nothing_else) -> None:
    """Raise what `plan_errors` finds: nothing, the one error, or all of them as a PlanError."""
    errors = plan_errors(plan, also)
    if len(errors) > 1:
        raise PlanError(errors)
    if errors:
        raise errors[0]


def plan_errors(plan: Plan, also: Look = nothing_else) -> list[TemplateError]:
    """Every error that is sure to come, in the order of the file. Equal errors of several hosts are one, which names
    the first host and how many more there are, unless it is all of them. `also` finds what others know to be wrong with
    a check.

    Costs a rendering for each host and check; checks that are the same on every host are looked at once.
    """
    found: dict[tuple[str, int, int, str], tuple[TemplateError, list[str]]] = {}

    def note(error: TemplateError, host: str = "") -> None:
        key = (error.source.path, error.source.line, error.source.column, error.message)
        _, hosts = found.setdefault(key, (error, []))
        if host and hosts[-1:] != [host]:
            hosts.append(host)

    for key, shape in plan.shapes.items():
        for error in (*shape.errors, *also(shape.check), *need_errors(plan, key)):
            note(error)
    for track in {id(host.track): host.track for host in plan.hosts}.values():
        for entry in track.entries:
            for error in _result_errors(track, entry):
                note(error)
    done: set[int] = set()
    for host in plan.hosts:
        for entry, error in _host_errors(plan, host, done):
            note(error, "" if entry.step is not None or same_everywhere(entry, plan.setup) else host.host.name)
    errors = [_in_file(plan, _of_hosts(error, hosts, len(plan.hosts))) for error, hosts in found.values()]
    return sorted(errors, key=lambda e: (e.source.path, e.source.line, e.source.column))


def _of_hosts(error: TemplateError, hosts: list[str], of: int) -> TemplateError:
    if not hosts or len(hosts) == of:
        return error
    more = f" and {len(hosts) - 1} more" if len(hosts) > 1 else ""
    return restated(error, f"{error.message} (host {hosts[0]}{more})", error.source, error.line_text)


def _in_file(plan: Plan, error: TemplateError) -> TemplateError:
    return restated(error, error.message, *excerpt(plan.playbook, error.source, error.line_text))


def _result_errors(track: Track, entry: Entry) -> Iterator[TemplateError]:
    """What a text reads of a registered result that no result has, or of the check's values and is none of them."""
    values = [extract.name for extract in entry.shape.check.extracts]
    for part in entry.shape.parts:
        if part.judging:
            for name in sorted(part.attributes.get("values", frozenset()) - {*values}):
                yield value_error(part.template, part.expression, name, values)
        for name in part.attributes:
            if name not in entry.reads or name not in part.free:
                continue
            known = registered_names(track.by_key[entry.reads[name]].shape.check)
            if known is not None:
                for attribute in sorted(part.attributes[name] - known):
                    yield attribute_error(part.template, part.expression, attribute, f"the result {name!r}")


def _host_errors(plan: Plan, host: HostPlan, done: set[int]) -> Iterator[tuple[Entry, TemplateError]]:
    lacking = host.track.from_host - host.host.vars.keys() - connection_names(host.host).keys()
    for entry in host.track.entries:
        if id(entry) in done or entry.shape.check.task is not None:
            continue  # a task whose texts cannot be filled in has failed, which the playbook may be made for
        missing = entry.from_host & lacking if lacking else lacking
        if missing:
            names = host.variables(entry)
            if not _ruled_out(host, entry, names):
                yield from ((entry, error) for error in _undefined(plan, host, entry, missing, names))
        elif not entry.shape.errors:
            if same_everywhere(entry, plan.setup):
                done.add(id(entry))
            yield from ((entry, error) for error in _trial(plan, host, entry))


def _ruled_out(host: HostPlan, entry: Entry, names: Mapping[str, Any]) -> bool:
    """Whether the conditions, as far as they can be known now, keep the check from this host."""
    try:
        return _conditions(host, entry, names) is False
    except TemplateError:
        return False


def _conditions(host: HostPlan, entry: Entry, names: Mapping[str, Any]) -> bool | None:
    """False when a condition is false already; None when one needs a result to be known."""
    if not entry.shape.check.when:
        return True
    unsettled = entry.shape.when_names & entry.late
    if host.unmet(entry, names, without=entry.late) is not None:
        return False
    return None if unsettled else True


def _undefined(
    plan: Plan, host: HostPlan, entry: Entry, missing: frozenset[str], names: Mapping[str, Any]
) -> Iterator[TemplateError]:
    known = [*names, *entry.late]
    for part in entry.shape.parts:
        for name in sorted(part.needed & missing):
            where = _registered_elsewhere(plan, host, entry, name)
            if where is None:
                yield undefined_error(part.template, part.expression, name, known)
            else:
                message, hint = where
                offset = find_name(part.template, name, expression=part.expression)
                yield fault_at(part.template, offset, message, hint)
        for name in sorted(part.free - missing - entry.late):
            try:
                names.get(name)
            except TemplateError as error:
                yield of_variable(part.template, part.expression, error)


def _registered_elsewhere(plan: Plan, host: HostPlan, entry: Entry, name: str) -> tuple[str, str] | None:
    """Where a name that is missing here is registered: message and hint."""
    if entry.shape.check.register == name:
        hint = "Its own result is read without it: rc, stdout_lines, ..."
        return f"{name!r} is the result of this very check", hint
    for key, shape in plan.shapes.items():
        if shape.check.register != name:
            continue
        what = f"{name!r} is registered by check {key!r}"
        if key in host.track.by_key:
            return f"{name!r} is registered only later, by check {key!r}", "Move that check before this one"
        if key not in plan.selected:
            hint = f"Select it as well, or make sure of it with `when: {name} is defined`"
            return f"{what}, which the tags leave out", hint
        return f"{what}, which does not run on this host", f"It is in play {shape.play.name!r}"
    return None


def _trial(plan: Plan, host: HostPlan, entry: Entry) -> Iterator[TemplateError]:
    """Render everything that can be rendered before a result is known."""
    if entry.step is not None and all(part.template.is_static and not part.expression for part in entry.shape.parts):
        yield from (e for part in entry.shape.parts if (e := _bad_regex(part, part.template.text)))
        return
    names = host.variables(entry)
    late = entry.late
    try:
        holds = _conditions(host, entry, names)
    except TemplateError as error:
        yield error
        return
    if holds is False:
        return
    if entry.shape.check.loop is not None and not entry.shape.follows:
        own = frozenset(own_loop_names(entry.shape.check))
        if any(part.where == "loop" and not part.free.isdisjoint(late - own) for part in entry.shape.parts):
            yield from _trial_parts(plan, entry, names, late) if holds else ()
            return
        try:
            items = host.each_item(entry, empty())
        except TemplateError as error:
            yield error
            return
        settled = late_in_items(entry)
        for _, _, given in items[:_TRIED_ITEMS]:
            its = host.variables(entry, given)
            try:
                if host.unmet(entry, its, without=settled) is None:
                    yield from _trial_parts(plan, entry, its, settled)
            except TemplateError as error:
                yield error
        return
    if holds:
        yield from _trial_parts(plan, entry, names, late)


def late_in_items(entry: Entry) -> frozenset[str]:
    """The names that only a run knows where those of the entry's own loop are known."""
    late = entry.late - frozenset(own_loop_names(entry.shape.check))
    first = frozenset(name for name in late if not entry.shape.reach.get(name))
    return frozenset(name for name in late if not entry.shape.read_by([name]).isdisjoint(first))


def _trial_parts(plan: Plan, entry: Entry, names: Mapping[str, Any], late: frozenset[str]) -> Iterator[TemplateError]:
    """Render each text that reads nothing of what is known only during the run."""
    for part in entry.shape.parts:
        if part.where == "loop" or not part.free.isdisjoint(late):
            continue
        if part.expression:
            yield from _wrong_types(plan, part, names)
            continue
        try:
            if part.where == "prompts.answer":
                render_answer(PromptRule(match=part.template, answer=part.template), names, plan.templates)
                continue
            if part.where.startswith("env."):
                plan.templates.render_env_or_omit(part.template, names)
                continue
            if part.where in ("argv", "cwd"):
                plan.templates.render_or_omit(part.template, names)
                continue
            text = plan.templates.render(part.template, names, for_shell=part.where == "run")
        except TemplateError as error:
            yield error
        else:
            if bad := _bad_regex(part, text):
                yield bad


_TYPICAL = {
    "elapsed_s": 0.1,
    "cpu_s": 0.1,
    "cwd": "/",
    "execution": "done",
    "truncated": False,
    "samples": [],
    "values": {},
}
_SAMPLE: Mapping[str, Any] = {name: _TYPICAL.get(name, 0) for name in RESULT_NAMES}


def _wrong_types(plan: Plan, part: Part, names: Mapping[str, Any]) -> Iterator[TemplateError]:
    """What an expression over the result cannot do whatever the result is: the types of its names are known."""
    if not part.judging:
        return
    try:
        plan.templates.evaluate(part.template, Names(_SAMPLE, names))
    except TemplateError as error:
        cause = error.__cause__
        if isinstance(cause, NotANumberError) or (isinstance(cause, TypeError) and "not supported" in str(cause)):
            yield error


def _bad_regex(part: Part, text: str) -> TemplateError | None:
    if not _REGEX_PARTS.fullmatch(part.where):
        return None
    try:
        verbose = re.compile(text).flags & re.VERBOSE
    except (re.error, OverflowError, RecursionError) as error:
        offset = getattr(error, "pos", None) or 0
        message = f"not a valid regular expression: {getattr(error, 'msg', error)}"
        return fault_at(part.template, offset if part.template.is_static else 0, message)
    if part.where == "baseline.ignore" and all(re.search(text, line) for line in ("", "a", "# 1: x")):
        message = "this pattern is found in every line: nothing would be compared"
        return fault_at(part.template, 0, message, "Say more of the lines that are not to count")
    offset = _wanted_newline(text, bool(verbose))
    if offset is None:
        return None
    hint = "Write the block with `|-`, not `|`" if text[offset:] == "\n" else "Write one pattern for each line"
    message = "this pattern is never found: it wants a newline, and output is searched line by line"
    return fault_at(part.template, offset if part.template.is_static else 0, message, hint)


_REGEX_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)


def _wanted_newline(pattern: str, verbose: bool) -> int | None:
    """Where a valid pattern has a newline without which it does not match; None where there is none for sure.

    Looks at what stands outside of groups and alternatives. A newline that ends a text with alternatives counts too:
    it comes from how the text was written.
    """
    depth, found = 0, None
    for token in _REGEX_TOKEN.finditer(pattern):
        word = token.group()
        depth += (word == "(") - (word == ")")
        if depth == 0 and word == "|":
            return len(pattern) - 1 if pattern.endswith("\n") and not verbose else None
        newline = word == "\\n" or (word == "\n" and not verbose)
        if newline and depth == 0 and found is None and pattern[token.end() : token.end() + 1] not in ("?", "*", "{"):
            found = token.start()
    return found
