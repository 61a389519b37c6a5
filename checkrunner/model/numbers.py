"""What a number is expected to be: ``0``, ``[0, 1]``, ``">= 3"``, ``"1..5"``, ``"!= 0"``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["NumberSpec", "parse_number", "show_number"]

_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_COMPARISON = re.compile(rf"(?P<op>==|!=|>=|<=|=|>|<)\s*(?P<number>{_NUMBER})")
_RANGE = re.compile(rf"(?P<low>{_NUMBER})\s*\.\.\s*(?P<high>{_NUMBER})")
_INF = math.inf


@dataclass(frozen=True, slots=True)
class _Interval:
    low: float
    high: float
    low_open: bool = False
    high_open: bool = False

    def __contains__(self, value: float) -> bool:
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return above and below


_OPERATORS: Mapping[str, Callable[[float], tuple[_Interval, ...]]] = {
    "==": lambda n: (_Interval(n, n),),
    "=": lambda n: (_Interval(n, n),),
    "!=": lambda n: (_Interval(-_INF, n, high_open=True), _Interval(n, _INF, low_open=True)),
    ">=": lambda n: (_Interval(n, _INF),),
    "<=": lambda n: (_Interval(-_INF, n),),
    ">": lambda n: (_Interval(n, _INF, low_open=True),),
    "<": lambda n: (_Interval(-_INF, n, high_open=True),),
}


@dataclass(frozen=True, slots=True)
class NumberSpec:
    """The accepted numbers; `text` says them to people."""

    text: str
    intervals: tuple[_Interval, ...]

    @property
    def exactly(self) -> float | None:
        """The one number that is accepted; None when there are more."""
        (first, *others) = self.intervals
        return first.low if not others and first.low == first.high else None

    def accepts(self, value: float) -> bool:
        """Whether the number is as expected."""
        return any(value in interval for interval in self.intervals)

    def accepts_from(self, value: float) -> bool | None:
        """What holds for every number from `value` on: True when all are accepted, False when none is, else None.

        For counts of an output that was cut: they are lower bounds.
        """
        if any(value in interval and interval.high == _INF for interval in self.intervals):
            return True
        if all(interval.high < value or (interval.high == value and interval.high_open) for interval in self.intervals):
            return False
        return None


def parse_number(value: Any) -> NumberSpec:
    """Read an expectation of a number; raises ValueError whose text says what can be written."""
    if isinstance(value, bool):
        _refuse(value)
    if isinstance(value, (int, float)):
        if not math.isfinite(value):
            _refuse(value)
        return NumberSpec(show_number(value), (_Interval(value, value),))
    if isinstance(value, (list, tuple)) and value:
        specs = [parse_number(item) for item in value]
        intervals = tuple(interval for spec in specs for interval in spec.intervals)
        return NumberSpec(" or ".join(spec.text for spec in specs), intervals)
    if isinstance(value, str):
        return _parse_text(value.strip())
    return _refuse(value)


def _parse_text(text: str) -> NumberSpec:
    if re.fullmatch(_NUMBER, text):
        return parse_number(_number(text))
    if found := _COMPARISON.fullmatch(text):
        number = _number(found["number"])
        operator = "==" if found["op"] == "=" else found["op"]
        if not math.isfinite(number):
            _refuse(text)
        shown = show_number(number)
        return NumberSpec(shown if operator == "==" else f"{operator} {shown}", _OPERATORS[operator](number))
    if found := _RANGE.fullmatch(text):
        low, high = _number(found["low"]), _number(found["high"])
        if not low <= high:
            msg = f"{text!r} is empty: the smaller number comes first"
            raise ValueError(msg)
        return NumberSpec(f"{show_number(low)}..{show_number(high)}", (_Interval(low, high),))
    return _refuse(text)


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _refuse(value: Any) -> NumberSpec:
    msg = f"{value!r} is not a number or a comparison: write 0, [0, 1], '>= 3', '!= 0' or '1..5'"
    raise ValueError(msg)


def show_number(value: float) -> str:
    """A number as people write it: whole ones without a point, others with at most three decimals."""
    if isinstance(value, int) or (math.isfinite(value) and value == int(value) and abs(value) < 1e15):
        return str(int(value))
    return f"{value:.3f}".rstrip("0").rstrip(".") if 0.001 <= abs(value) < 1e15 else f"{value:g}"
