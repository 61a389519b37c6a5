"""Results -> verdicts: what was expected, what came, and what that says. Pure; asks for text only through probes.

The order of looking: could it run at all (`executed`), is its return code that of a command that was not found, do
`crit_if` and `warn_if` hold, is what was expected there. The worst state wins: crit, unknown, warn, ok.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from checkrunner.judge.execution import not_found, not_looked
from checkrunner.judge.expectations import EXPECTATIONS, Case, Ruling, clip, gap
from checkrunner.judge.readings import READING_NAMES, each_reading, in_reading
from checkrunner.judge.refusals import refused
from checkrunner.model.errors import TemplateError
from checkrunner.model.metadata import result_names, truth
from checkrunner.model.plan import Step
from checkrunner.model.playbook import Check, Expectation
from checkrunner.model.results import Probe, ProbeKind, Reason, Result, Severity, Stream, Verdict, VerdictState
from checkrunner.model.seams import Templates
from checkrunner.model.sources import Template

__all__ = ["Judge"]

_Names = Mapping[str, Any]

_OK = Verdict(state=VerdictState.OK)
_UNMET = {
    Severity.CRITICAL: VerdictState.CRIT,
    Severity.WARNING: VerdictState.WARN,
    Severity.INFO: VerdictState.OK,
}
_WORST = (VerdictState.CRIT, VerdictState.UNKNOWN, VerdictState.WARN, VerdictState.OK)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """One expected thing: lists are taken apart, and expressions keep their Template."""

    expectation: Expectation
    value: Any


class Judge:
    """Judges the results of any number of checks; what it knows of a check is kept."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        self._known: dict[int, tuple[Check, tuple[_Item, ...], bool]] = {}

    def probes(self, check: Check, names: _Names) -> tuple[Probe, ...]:
        """The questions that the host must answer for a check, each once: ``p0``, ``p1``, ... Raises TemplateError."""
        asked: dict[tuple[ProbeKind, Stream, str], None] = {}
        for item in self._items(check):
            kind = EXPECTATIONS[item.expectation.op].probe
            if kind is not None:
                asked[kind, Stream(item.expectation.subject), str(self._value(item, names))] = None
        return tuple(
            Probe(name=f"p{n}", kind=kind, stream=stream, text=text) for n, (kind, stream, text) in enumerate(asked)
        )

    def verdict(self, check: Check, step: Step, result: Result, names: _Names) -> Verdict:
        """The verdict on a result. `step` has the probes that were asked, `names` the check's variables and the
        results that it needs (its own result's names are added here). Never raises TemplateError."""
        unable = not_looked(step.command, result) or refused(step.command, result)
        if unable is None and not self._speaks_of_rc(check):
            unable = not_found(result)
        if unable is not None:
            return unable
        if result.rc == 0 and not (check.expect or check.warn_if or check.crit_if):
            return _OK
        all_names = _Over(result_names(result), names)
        return _combine([*self._alarms(check, result, all_names), *self._unmet(check, step, result, all_names)])

    def problems(self, check: Check) -> Sequence[TemplateError]:
        """Values of expectations that can never be used, as far as they are not made by templates."""
        found = []
        for item in self._items(check):
            expected, value = item.expectation, item.value
            if isinstance(value, Template):
                if not value.is_static:
                    continue
                value = value.text
            why = EXPECTATIONS[expected.op].invalid(value)
            if why:
                source = item.value.source if isinstance(item.value, Template) else expected.source
                found.append(TemplateError(f"{expected.subject}: {why}", source=source))
        return found

    def _items(self, check: Check) -> tuple[_Item, ...]:
        return self._about(check)[1]

    def _speaks_of_rc(self, check: Check) -> bool:
        return self._about(check)[2]

    def _about(self, check: Check) -> tuple[Check, tuple[_Item, ...], bool]:
        # By identity: checks are not hashable. The check is kept so that its id stays its own.
        known = self._known.get(id(check))
        if known is None:
            known = self._known[id(check)] = (check, tuple(_items(check)), self._finds_rc(check))
        return known

    def _finds_rc(self, check: Check) -> bool:
        if any(expected.subject == "rc" for expected in check.expect):
            return True
        expressions = [e.value for e in check.expect if e.op == "that"] + [*check.warn_if, *check.crit_if]
        return any("rc" in self._names_of(expression) for expression in expressions)

    def _names_of(self, expression: Template) -> frozenset[str]:
        try:
            return self._templates.names_in_expression(expression)
        except TemplateError:
            return frozenset()

    def _value(self, item: _Item, names: _Names) -> Any:
        return self._templates.render(item.value, names) if isinstance(item.value, Template) else item.value

    def _alarms(self, check: Check, result: Result, names: _Over) -> Iterator[tuple[VerdictState, Reason]]:
        for key, state, conditions in (
            ("crit_if", VerdictState.CRIT, check.crit_if),
            ("warn_if", VerdictState.WARN, check.warn_if),
        ):
            raised = False
            for condition in conditions:
                holds, trouble, values = self._look(key, condition, result, names, wanted=True)
                if trouble is not None:
                    yield VerdictState.UNKNOWN, trouble
                elif holds:
                    raised = True
                    text = _one_line(condition.text)
                    message = f"{key}: {text}" + (f" ({values})" if values else "")
                    yield state, Reason(subject=key, expected=f"not {text}", actual=values or "true", message=message)
            if raised:
                return

    def _unmet(self, check: Check, step: Step, result: Result, names: _Over) -> Iterator[tuple[VerdictState, Reason]]:
        answers = {(p.kind, p.stream, p.text): result.probes.get(p.name) for p in step.probes}
        for item in self._items(check):
            ruling = self._rule(item, result, names, answers)
            if ruling is not None:
                yield VerdictState.UNKNOWN if ruling.unclear else _UNMET[check.severity], ruling.reason
        if not self._speaks_of_rc(check):
            ruling = _number(Case(subject="rc", value=0, result=result, note=" (the default)"))
            if ruling is not None:
                yield VerdictState.UNKNOWN if ruling.unclear else _UNMET[check.severity], ruling.reason

    def _rule(self, item: _Item, result: Result, names: _Over, answers: Mapping[Any, Any]) -> Ruling | None:
        expected = item.expectation
        kind = EXPECTATIONS[expected.op]
        if expected.op == "that":
            fails, trouble, note = self._look("expect", item.value, result, names, wanted=False)
            if trouble is not None:
                return Ruling(reason=trouble, unclear=True)
            text = _one_line(item.value.text)
            return kind.judge(Case(subject="that", value=text, holds=not fails, result=result, note=note))
        try:
            # Texts are rendered before there is a result: its names are not among those they can read.
            value = self._value(item, names.below)
        except TemplateError as error:
            return Ruling(reason=_trouble(expected.subject, expected.op, error), unclear=True)
        answer = None if kind.probe is None else answers.get((kind.probe, Stream(expected.subject), str(value)))
        case = Case(subject=expected.subject, value=value, result=result, answer=answer)
        return _number(case) if expected.op == "number" else kind.judge(case)

    def _look(
        self, key: str, condition: Template, result: Result, names: _Over, *, wanted: bool
    ) -> tuple[bool, Reason | None, str]:
        """Whether a condition comes to what is `wanted`, what kept that from being told, and the values that it had.

        Of a sample any reading will do, unless the condition speaks of all of them.
        """
        read = self._names_of(condition)
        whole = "samples" in read or read.isdisjoint(READING_NAMES)
        found: list[int] = []
        trouble, values = None, ""
        for number, one in enumerate((result,) if whole else each_reading(result)):
            its = names if one is result else _Over(result_names(one), names.below)
            holds, why = self._holds(key, condition, one, its)
            trouble = trouble or why
            if why is None and holds is wanted:
                values = values if found else self._values(condition, its)
                found.append(number)
        return bool(found), None if found else trouble, values + ("" if whole else in_reading(found, result))

    def _holds(self, key: str, condition: Template, result: Result, names: _Names) -> tuple[bool, Reason | None]:
        text = _one_line(condition.text)
        read = self._names_of(condition)
        if "truncated" not in read:
            for stream in Stream:
                why = gap(result.output(stream), str(stream), text=False)
                if why and not read.isdisjoint({f"{stream}_lines", f"{stream}_bytes"}):
                    message = f"{key}: could not tell whether {text}: {why}"
                    return False, Reason(subject=key, expected=text, actual=why, message=message)
        try:
            return truth(self._templates.evaluate(condition, names)), None
        except TemplateError as error:
            return False, _trouble(key, text, error)

    def _values(self, condition: Template, names: _Names) -> str:
        """``free_pct = 3, disk.rc = 1``: what the condition was about, in the order in which it names them."""
        shown = []
        for name in self._names_of(condition):
            try:
                value = names[name]
                attributes = self._templates.attributes_of(condition, name)
                pairs = [(f"{name}.{a}", getattr(value, a)) for a in attributes if hasattr(value, a)]
            except (KeyError, TemplateError):
                continue
            plain = value is None or isinstance(value, (bool, int, float, str, list, tuple, dict))
            shown += pairs or ([(name, value)] if plain else [])
        shown.sort(key=lambda pair: (_position(condition.text, pair[0]), pair[0]))
        return ", ".join(f"{name} = {_shown(value)}" for name, value in shown[:6])


class _Over(Mapping[str, Any]):
    """A result's names over the check's others."""

    __slots__ = ("above", "below")

    def __init__(self, above: _Names, below: _Names) -> None:
        self.above, self.below = above, below

    def __getitem__(self, name: str) -> Any:
        return self.above[name] if name in self.above else self.below[name]

    def __contains__(self, name: object) -> bool:
        return name in self.above or name in self.below

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self.above), **dict.fromkeys(self.below)})

    def __len__(self) -> int:
        return len({*self.above, *self.below})


def _number(case: Case) -> Ruling | None:
    """A number, of each reading where each has its own: what is wrong with the first that is wrong."""
    kind = EXPECTATIONS["number"]
    cases = [case]
    if case.subject in READING_NAMES:
        cases = [replace(case, result=reading) for reading in each_reading(case.result)]
    ruled = [(number, ruling) for number, one in enumerate(cases) if (ruling := kind.judge(one)) is not None]
    sure = [number for number, ruling in ruled if not ruling.unclear]
    if sure:
        return kind.judge(replace(cases[sure[0]], where=in_reading(sure, case.result)))
    return ruled[0][1] if ruled else None


def _items(check: Check) -> Iterator[_Item]:
    for expected in check.expect:
        apart = expected.op != "number" and isinstance(expected.value, (list, tuple))
        for value in expected.value if apart else (expected.value,):
            yield _Item(expectation=expected, value=value)


def _combine(found: Sequence[tuple[VerdictState, Reason]]) -> Verdict:
    if not found:
        return _OK
    ranked = sorted(found, key=lambda pair: _WORST.index(pair[0]))
    state = ranked[0][0]
    return Verdict(state=state, reasons=tuple(reason for _, reason in ranked), noted=state is VerdictState.OK)


def _trouble(subject: str, expected: str, error: TemplateError) -> Reason:
    message = f"{subject}: {expected}: {error.message}"
    return Reason(subject=subject, expected=expected, actual=error.message, message=message)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _position(text: str, name: str) -> int:
    found = re.search(rf"(?<![\w.]){re.escape(name)}\b", text)
    return found.start() if found else len(text)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return clip(value, 60)
