"""Numbers far from those of other lines that say the same: the one slow answer, the one long queue, the one zero."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checkrunner.findings.salience.shapes import VARIABLE

__all__ = ["far_lines"]

_FEWEST_LINES = 8
_MOST_FAR = 3
_FROM_THE_NEXT = 3
_FROM_THE_MIDDLE = 8
_LEAST = 10
_FEW = 100
_MOST_POSITIONS = 30
_NUMBER = re.compile(r"[^0-9]{0,40}?(-?[0-9]{1,15}(?:\.[0-9]+)?)([A-Za-z%]*)[^0-9:/.]{0,10}\Z")
_UNITS = {
    "k": 1e3, "kb": 1e3, "kib": 1e3, "m": 1e6, "mb": 1e6, "mib": 1e6, "g": 1e9, "gb": 1e9, "gib": 1e9, "t": 1e12,
    "tb": 1e12, "tib": 1e12, "us": 1e-3, "ms": 1.0, "s": 1e3, "sec": 1e3, "b": 1.0,
}  # fmt: skip


def far_lines(lines: Sequence[Sequence[str]], masked: Sequence[str]) -> set[int]:
    """The indices of lines with a number far from the others' in its place. `lines` have the same shape, `masked`.

    Far is a number at least three times the next one and eight times the middle one, for at most three lines; and a
    zero where hardly any line has one. Linear but for sorting.
    """
    if len(lines) < _FEWEST_LINES:
        return set()
    far: set[int] = set()
    places = [at for at, mask in enumerate(masked) if VARIABLE in mask][:_MOST_POSITIONS]
    for place in places:
        values = [(value, at) for at, tokens in enumerate(lines) if (value := _value(tokens, place)) is not None]
        if len(values) == len(lines):
            far |= _far(values)
    return far


def _value(tokens: Sequence[str], place: int) -> float | None:
    token = tokens[place]
    if token.isdigit():
        return float(token) if len(token) <= 15 else None
    found = _NUMBER.match(token)
    if found is None:
        return None
    return float(found[1]) * _UNITS.get(found[2].lower(), 1.0)


def _far(values: list[tuple[float, int]]) -> set[int]:
    values.sort(reverse=True)
    middle = values[len(values) // 2][0]
    for count in range(1, _MOST_FAR + 1):
        value, following = values[count - 1][0], values[count][0]
        if value >= _LEAST and value > _FROM_THE_NEXT * following and value > _FROM_THE_MIDDLE * middle:
            return {at for _, at in values[:count]}
    zeros = [at for value, at in values[-max(1, len(values) // _FEW) :] if value == 0]
    others = values[-len(zeros) - 1][0]
    return set(zeros) if zeros and others * _FROM_THE_MIDDLE > middle > 0 and others > 0 else set()
