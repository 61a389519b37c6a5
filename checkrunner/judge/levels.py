"""Levels: ranges as Nagios plugins write them, with units, and what a value's place in them says. Pure.

``90`` is 0 to 90, ``10:`` is 10 and more, ``~:5`` is 5 and less, ``1:2`` is 1 to 2; a value outside raises the
level. With ``@`` a value inside does. The ends belong to the range.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from checkrunner.model.quantities import QuantityError, plain_number, quantity, show_quantity

__all__ = ["Range", "parse_range", "raised", "said"]


@dataclass(frozen=True, slots=True)
class Range:
    """`low` to `high`, both ends included; a number `outside` of it raises the level, or one inside."""

    low: float
    high: float
    outside: bool = True

    def raises(self, number: float) -> bool:
        """Whether this number raises the level."""
        return (self.low <= number <= self.high) is not self.outside

    def distance(self, number: float) -> float:
        """How far a number that raises the level is from one that does not."""
        if self.outside:
            return max(self.low - number, number - self.high)
        return min(number - self.low, self.high - number)

    @property
    def text(self) -> str:
        """As Nagios writes it: numbers without units."""
        low = "~:" if self.low == -math.inf else "" if self.low == 0 else f"{plain_number(self.low)}:"
        high = "" if self.high == math.inf else plain_number(self.high)
        if not low and not high:
            low = "0:"
        return ("" if self.outside else "@") + low + high


@functools.lru_cache(maxsize=4096)
def parse_range(text: str, unit: str | None = "") -> Range:
    """Read a range whose bare numbers are in `unit` (a value's base unit); None takes any, but one for both ends, for a
    value whose unit is not known yet. Raises ValueError with what is wrong."""
    body = text.strip()
    outside = not body.startswith("@")
    body = body.removeprefix("@").strip()
    low_text, colon, high_text = body.rpartition(":")
    if not body or (not colon and body == "~"):
        raise ValueError(f"{text!r} is not a range: write 90, 10:, ~:5, 1:2 or @1:2, with units if need be")
    below = low_text.strip() == "~"
    low, low_unit = (-math.inf, "") if below else _end(low_text, text, unit, open_at=0.0)
    high, high_unit = _end(high_text, text, unit, open_at=math.inf)
    if low_unit and high_unit and low_unit != high_unit:
        raise ValueError(f"the range {text!r} is in two units: {low_unit} and {high_unit}")
    if low > high:
        raise ValueError(f"the range {text!r} is empty: {low_text.strip() or '0'} is more than {high_text.strip()}")
    return Range(low, high, outside)


def _end(part: str, text: str, unit: str | None, *, open_at: float) -> tuple[float, str]:
    """The number and the unit that it is in; `open_at` where nothing is written."""
    if not part.strip():
        return open_at, ""
    try:
        read = quantity(part, unit or "")
    except QuantityError as error:
        raise ValueError(f"{text!r} is not a range: {error}") from error
    if unit is not None and read.unit not in {unit, "%"}:
        raise ValueError(f"the range {text!r} is in {read.unit}, the value is not: give it a `unit`")
    return read.number, read.unit


def raised(level: Range, entries: Sequence[tuple[float, str]]) -> tuple[tuple[float, str], int] | None:
    """Of numbers with their labels the one that is farthest beyond the level, and how many are; None for none."""
    beyond = [entry for entry in entries if level.raises(entry[0])]
    if not beyond:
        return None
    return max(beyond, key=lambda entry: level.distance(entry[0])), len(beyond)


def said(level: Range, number: float, unit: str) -> tuple[str, str]:
    """The number, and where it lies, for people: ``93%`` and ``above 90%``; ``3`` and ``within 1 to 2``. The number is
    exact where its short form would read like the end that it is beyond."""
    low, high = (show_quantity(end, unit) for end in (level.low, level.high))
    shown = show_quantity(number, unit)
    if (shown == low and number != level.low) or (shown == high and number != level.high):
        shown = f"{plain_number(number)}{unit if unit in {'B', 's', '%'} or not unit else f' {unit}'}"
    if level.outside:
        return shown, f"below {low}" if number < level.low else f"above {high}"
    if level.low == -math.inf:
        return shown, f"at {high} or less"
    return shown, f"at {low} or more" if level.high == math.inf else f"within {low} to {high}"
