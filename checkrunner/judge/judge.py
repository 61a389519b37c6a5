"""Results -> verdicts: what was expected, what came, and what that says. Pure; asks for text only through probes.

The order of looking: could it run at all (`executed`), is its return code that of a command that was not found, do
`crit_if` and `warn_if` hold, is what was expected there. The worst state wins: crit, unknown, warn, ok.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checkrunner.judge.execution import not_found, not_looked
from checkrunner.judge.expectations import EXPECTATIONS, Case, Ruling, clip, gap
from checkrunner.judge.names import Over
from checkrunner.judge.readings import READING_NAMES, each_reading, in_reading
from checkrunner.judge.refusals import refused
from checkrunner.judge.severities import WORST, unmet
from checkrunner.model.errors import TemplateError
from checkrunner.model.metadata import ValueNames, result_names, truth, unread_names
from checkrunner.model.plan import Judgement, Step
from checkrunner.model.playbook import Check, Expectation, Until
from checkrunner.model.results import (
    Probe,
    ProbeKind,
    RawSlice,
    Reason,
    Result,
    SliceQuery,
    Stream,
    Verdict,
    VerdictState,
)
from checkrunner.model.seams import Templates
from checkrunner.model.sources import Template

if TYPE_CHECKING:  # it is loaded only for checks that have values
    from checkrunner.judge.values import ReadValue, ValueReader

__all__ = ["Judge"]

_Names = Mapping[str, Any]

_OK = Verdict(state=VerdictState.OK)
_NOT_LOOKED = frozenset({VerdictState.UNKNOWN, VerdictState.SKIPPED})


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

    @functools.cached_property
    def _reader(self) -> ValueReader:
        from checkrunner.judge.values import ValueReader

        return ValueReader(self._templates)

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

    def verdict(
        self, check: Check, step: Step, result: Result, names: _Names, values: Sequence[ReadValue] = ()
    ) -> Verdict:
        """The verdict on a result. `step` has the probes that were asked, `names` the check's variables and the
        results that it needs (its own result's names are added here), `values` are what it extracts. Never raises
        TemplateError."""
        unable = self._unable(check, step, result)
        if unable is not None:
            return unable
        said = [reason for value in values for reason in value.reasons]
        if result.rc == 0 and not (check.expect or check.warn_if or check.crit_if):
            return _combine(said)
        own = result_names(result, [read.value for read in values])
        over = Over(own, names)
        return _combine([*self._alarms(check, result, over), *said, *self._unmet(check, step, result, over)])

    def _unable(self, check: Check, step: Step, result: Result) -> Verdict | None:
        """The verdict where nothing was looked at."""
        unable = not_looked(step.command, result) or refused(step.command, result)
        return unable or (None if self._speaks_of_rc(check) else not_found(result))

    def reads(self, check: Check, names: _Names) -> tuple[SliceQuery, ...]:
        """The parts of the output that the check's values are read from. Raises TemplateError."""
        return self._reader.queries(check, names) if check.extracts else ()

    def judgement(
        self, step: Step, result: Result, names: _Names, reads: Sequence[RawSlice | None] = (), attempt: int = 1
    ) -> Judgement:
        """The verdict, and the values in `reads`, which answer the queries of `reads()`. Never raises TemplateError.

        The last run that a check with `until` may have counts as one that did not do what was expected, if its
        conditions do not hold then.
        """
        check = step.planned.check
        judgement = self._judgement(check, step, result, names, reads)
        until = check.until
        if until is None or attempt <= until.retries or judgement.verdict.state in _NOT_LOOKED:
            return judgement
        reason = self._unmet_until(until, result, judgement, names)
        if reason is None:
            return judgement
        reason = replace(reason, message=f"{reason.message} after {_times(attempt)}")
        known = [(judgement.verdict.state, known) for known in judgement.verdict.reasons]
        return replace(judgement, verdict=_combine([*known, (unmet(check.severity), reason)]))

    def _judgement(
        self, check: Check, step: Step, result: Result, names: _Names, reads: Sequence[RawSlice | None]
    ) -> Judgement:
        if not check.extracts:
            return Judgement(verdict=self.verdict(check, step, result, names))
        from checkrunner.judge.values import unread

        unable = self._unable(check, step, result)
        if unable is not None:
            return Judgement(verdict=unable, values=unread(check, "its command was not looked at to the end"))
        queries = step.early[len(step.early) - step.reads :]
        values = self._reader.read(check, result, names, queries, reads)
        verdict = self.verdict(check, step, result, names, values)
        return Judgement(verdict=verdict, values=tuple(read.value for read in values))

    def again(self, step: Step, result: Result, judgement: Judgement, names: _Names, attempt: int) -> float | None:
        """In how many seconds the command is to be run once more, because what `until` waits for is not there yet."""
        until = step.planned.check.until
        if until is None or attempt > until.retries:
            return None
        unmet = judgement.verdict.state in _NOT_LOOKED or self._unmet_until(until, result, judgement, names)
        return until.delay_s if unmet else None

    def _unmet_until(self, until: Until, result: Result, judgement: Judgement, names: _Names) -> Reason | None:
        """What `until` waits for and is not there. A condition that cannot be evaluated does not hold."""
        all_names = Over(result_names(result, judgement.values), names)
        for condition in until.conditions:
            holds, trouble = self._holds("until", condition, result, all_names)
            if trouble is not None:
                return trouble
            if not holds:
                text = _one_line(condition.text)
                values = self._values(condition, all_names)
                message = f"until: {text} was not met" + (f" ({values})" if values else "")
                return Reason(subject="until", expected=text, actual=values or "false", message=message)
        return None

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

    def expects_rc_0(self, check: Check) -> bool:
        """Whether the check is expected to end with 0 though nobody wrote it."""
        return check.task is None and not self._speaks_of_rc(check)

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
        if check.consensus is not None and check.consensus.on == "rc":
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

    def _alarms(self, check: Check, result: Result, names: Over) -> Iterator[tuple[VerdictState, Reason]]:
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

    def _unmet(self, check: Check, step: Step, result: Result, names: Over) -> Iterator[tuple[VerdictState, Reason]]:
        answers = {(p.kind, p.stream, p.text): result.probes.get(p.name) for p in step.probes}
        for item in self._items(check):
            ruling = self._rule(item, result, names, answers)
            if ruling is not None:
                yield VerdictState.UNKNOWN if ruling.unclear else unmet(check.severity), ruling.reason
        if not self._speaks_of_rc(check):
            ruling = _number(Case(subject="rc", value=0, result=result, note=" (the default)"))
            if ruling is not None:
                yield VerdictState.UNKNOWN if ruling.unclear else unmet(check.severity), ruling.reason

    def _rule(self, item: _Item, result: Result, names: Over, answers: Mapping[Any, Any]) -> Ruling | None:
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
        self, key: str, condition: Template, result: Result, names: Over, *, wanted: bool
    ) -> tuple[bool, Reason | None, str]:
        """Whether a condition comes to what is `wanted`, what kept that from being told, and the values that it had.

        Of a sample any reading will do, unless the condition speaks of all of them.
        """
        read = self._names_of(condition)
        whole = "samples" in read or read.isdisjoint(READING_NAMES)
        found: list[int] = []
        trouble, values = None, ""
        for number, one in enumerate((result,) if whole else each_reading(result)):
            its = names if one is result else Over({**result_names(one), "values": names["values"]}, names.below)
            holds, why = self._holds(key, condition, one, its)
            trouble = trouble or why
            if why is None and holds is wanted:
                values = values if found else self._values(condition, its)
                found.append(number)
        if trouble is not None and unread_names(names["values"]) & self._templates.attributes_of(condition, "values"):
            trouble = None  # that the value could not be read is said already
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
                pairs = [pair for one in pairs for pair in _opened(one, condition.text)]
            except (KeyError, TemplateError):
                continue
            plain = value is None or isinstance(value, (bool, int, float, str, list, tuple, dict))
            shown += pairs or ([(name, value)] if plain else [])
        shown.sort(key=lambda pair: (_position(condition.text, pair[0]), pair[0]))
        return ", ".join(f"{name} = {_shown(value)}" for name, value in shown[:6])


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
    ranked = sorted(found, key=lambda pair: WORST.index(pair[0]))
    state = ranked[0][0]
    return Verdict(state=state, reasons=tuple(reason for _, reason in ranked), noted=state is VerdictState.OK)


def _opened(pair: tuple[str, Any], text: str) -> list[tuple[str, Any]]:
    """A name and its value; of an earlier check's values, those that the text names."""
    name, value = pair
    if not isinstance(value, ValueNames):
        return [pair]
    return [(f"{name}.{one}", its) for one, its in vars(value).items() if f"{name}.{one}" in text]


def _trouble(subject: str, expected: str, error: TemplateError) -> Reason:
    message = f"{subject}: {expected}: {error.message}"
    return Reason(subject=subject, expected=expected, actual=error.message, message=message)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _times(attempts: int) -> str:
    return "one attempt" if attempts == 1 else f"{attempts} attempts"


def _position(text: str, name: str) -> int:
    found = re.search(rf"(?<![\w.]){re.escape(name)}\b", text)
    return found.start() if found else len(text)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return clip(value, 60)
