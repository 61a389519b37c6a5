"""The kinds of expectation. Each says what it must ask of the host, and rules on the answer. Pure.

A kind never calls something met or unmet that the host could not see: it is then *unclear*, which becomes the verdict
`unknown`. What was found stands, whatever else was cut off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from checkrunner.model.numbers import NumberSpec, parse_number, show_number
from checkrunner.model.results import CaptureState, Output, ProbeKind, ProbeResult, Reason, Result, Stream

__all__ = ["EXPECTATIONS", "Case", "Kind", "Ruling", "clip", "gap"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """Why an expectation is not met; `unclear` when that could not be seen."""

    reason: Reason
    unclear: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One expectation before the bench. `value` is rendered; `answer` is that of its probe; `note` is added to what is
    expected (``the default``), `where` to what was there. For an expression, `value` is its text, `holds` what it came
    to and `note` the values of its names."""

    subject: str
    value: object
    result: Result
    answer: ProbeResult | None = None
    note: str = ""
    where: str = ""
    holds: bool = True

    @property
    def output(self) -> Output:
        """Of the stream that the subject names (``stdout``, ``stderr_lines``)."""
        return self.result.output(Stream(self.subject.split("_")[0]))

    @property
    def stream(self) -> str:
        """The subject's stream, for messages."""
        return self.subject.split("_")[0]


class Kind(Protocol):
    """A row of `EXPECTATIONS`."""

    @property
    def probe(self) -> ProbeKind | None:
        """The question about the subject's stream with the value as its text; None when metadata is enough."""
        ...

    def invalid(self, value: object) -> str:
        """Why `value` cannot be used, or nothing."""
        ...

    def judge(self, case: Case) -> Ruling | None:
        """None when met."""
        ...


def clip(value: object, limit: int = 80) -> str:
    """A value for a sentence: on one line, cut in its end."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 4]}...{text[-1]}"


def gap(output: Output, stream: str, *, text: bool) -> str:
    """Why not all of an output could be looked at; empty when it could. `text`: it had to be read as text."""
    if output.state is CaptureState.FAILED:
        return f"the capture of {stream} failed"
    if output.state is CaptureState.TRUNCATED:
        return f"{stream} was cut after {output.captured_bytes:,} bytes"
    return f"{stream} is not text" if text and output.binary else ""


def _lines(output: Output) -> str:
    return f"{output.lines:,} line{'' if output.lines == 1 else 's'}"


def _unclear(case: Case, expected: str, why: str) -> Ruling:
    message = f"could not tell whether {case.subject} {expected}: {why}"
    return Ruling(reason=Reason(subject=case.subject, expected=expected, actual=why, message=message), unclear=True)


class _Number:
    probe = None

    def invalid(self, value: object) -> str:
        try:
            parse_number(value)
        except ValueError as error:
            return str(error)
        return ""

    def judge(self, case: Case) -> Ruling | None:
        try:
            spec = parse_number(case.value)
        except ValueError as error:
            return _unclear(case, "is as expected", str(error))
        if case.subject == "rc":
            return self._judge_rc(case, spec)
        value = case.result.elapsed_s
        if case.subject.endswith("_lines"):
            value = case.output.lines
            if why := gap(case.output, case.stream, text=False):
                sure = None if case.output.state is CaptureState.FAILED else spec.accepts_from(value)
                if sure is None:
                    return _unclear(case, f"is {spec.text}", why)
                return None if sure else self._unmet(case, spec, f"at least {show_number(value)}")
        return None if spec.accepts(value) else self._unmet(case, spec, show_number(value))

    def _judge_rc(self, case: Case, spec: NumberSpec) -> Ruling | None:
        result = case.result
        if result.rc is not None:
            return None if spec.accepts(result.rc) else self._unmet(case, spec, str(result.rc))
        if result.ended_by_duration:
            message = f"it was ended when its duration was over, which counts as rc 0, expected {spec.text}"
            reason = Reason(subject="rc", expected=spec.text, actual="ended by its duration", message=message)
            return None if spec.accepts(0) else Ruling(reason=reason)
        if result.signal is None:
            return _unclear(case, f"is {spec.text}", "there is no return code")
        actual = f"signal {result.signal}"
        message = f"it was ended by {actual}, expected rc {spec.text}{case.note}"
        return Ruling(reason=Reason(subject="rc", expected=spec.text, actual=actual, message=message))

    @staticmethod
    def _unmet(case: Case, spec: NumberSpec, actual: str) -> Ruling:
        unit = " s" if case.subject.endswith("_s") else ""
        message = f"{case.subject} was {actual}{unit}{case.where}, expected {spec.text}{unit}{case.note}"
        return Ruling(reason=Reason(subject=case.subject, expected=spec.text, actual=actual, message=message))


class _Text:
    """What the kinds that ask the host have in common."""

    probe: ProbeKind | None = None
    verb = ""

    def invalid(self, value: object) -> str:
        return "" if isinstance(value, str) else f"{value!r} is not a text"

    def judge(self, case: Case) -> Ruling | None:
        expected = f"{self.verb} {clip(case.value)}"
        if case.answer is None:
            return _unclear(case, expected, "the host did not answer")
        if case.answer.error:
            return _unclear(case, expected, case.answer.error)
        return self._rule(case, case.answer, expected)

    def _rule(self, case: Case, answer: ProbeResult, expected: str) -> Ruling | None:
        if answer.count:
            return None
        if why := gap(case.output, case.stream, text=True):
            return _unclear(case, expected, why)
        actual, message = self._lacking(case)
        return Ruling(reason=Reason(subject=case.subject, expected=expected, actual=actual, message=message))

    def _lacking(self, case: Case) -> tuple[str, str]:
        raise NotImplementedError


class _Contains(_Text):
    probe = ProbeKind.CONTAINS
    verb = "contains"

    def _lacking(self, case: Case) -> tuple[str, str]:
        actual = f"not found in {_lines(case.output)}"
        return actual, f"{case.subject}: {clip(case.value)} {actual}"


class _Matches(_Text):
    probe = ProbeKind.MATCHES
    verb = "matches"

    def _lacking(self, case: Case) -> tuple[str, str]:
        actual = f"not found in {_lines(case.output)}"
        return actual, f"{case.subject}: the pattern {clip(case.value)} was {actual}"


class _NotMatches(_Text):
    probe = ProbeKind.MATCHES
    verb = "does not match"

    def _rule(self, case: Case, answer: ProbeResult, expected: str) -> Ruling | None:
        if answer.count == 0:
            why = gap(case.output, case.stream, text=True)
            return _unclear(case, expected, why) if why else None
        others = f" ({answer.count:,} lines do)" if answer.count > 1 else ""
        message = f"{case.subject} line {answer.first_line} matches {clip(case.value)}{others}"
        actual = f"line {answer.first_line}{others}"
        return Ruling(reason=Reason(subject=case.subject, expected=expected, actual=actual, message=message))


class _Equals(_Text):
    probe = ProbeKind.EQUALS
    verb = "equals"

    def _rule(self, case: Case, answer: ProbeResult, expected: str) -> Ruling | None:
        if why := gap(case.output, case.stream, text=True):
            return _unclear(case, expected, why)
        return super()._rule(case, answer, expected)

    def _lacking(self, case: Case) -> tuple[str, str]:
        actual = f"{_lines(case.output)}, {case.output.bytes:,} bytes"
        return actual, f"{case.subject} is not {clip(case.value)} (it has {actual})"


class _Empty:
    probe = None

    def invalid(self, value: object) -> str:
        return "" if isinstance(value, bool) else f"{value!r} is neither true nor false"

    def judge(self, case: Case) -> Ruling | None:
        expected = "is empty" if case.value else "is not empty"
        output = case.output
        if output.bytes == 0 and (why := gap(output, case.stream, text=False)):
            return _unclear(case, expected, why)
        if (output.bytes == 0) is bool(case.value):
            return None
        actual = _lines(output) if output.bytes else "nothing"
        message = f"{case.subject} has {_lines(output)}, expected none" if output.bytes else f"{case.subject} is empty"
        return Ruling(reason=Reason(subject=case.subject, expected=expected, actual=actual, message=message))


class _That:
    probe = None

    def invalid(self, value: object) -> str:
        return "" if isinstance(value, str) else f"{value!r} is not an expression"

    def judge(self, case: Case) -> Ruling | None:
        if case.holds:
            return None
        message = f"expected {case.value}" + (f" ({case.note})" if case.note else "")
        reason = Reason(subject="that", expected=str(case.value), actual=case.note or "false", message=message)
        return Ruling(reason=reason)


EXPECTATIONS: Mapping[str, Kind] = {
    "number": _Number(),
    "contains": _Contains(),
    "matches": _Matches(),
    "not_matches": _NotMatches(),
    "equals": _Equals(),
    "empty": _Empty(),
    "that": _That(),
}
"""By `Expectation.op`."""
