"""Numbers with units, as people and programs write them: ``5GiB``, ``1.5k``, ``80%``, ``200ms``, ``1d2h``, ``12:34``.

All are read into one base unit of their kind: bytes (``B``), seconds (``s``), per cent (``%``), or the unit that was
given. The tables here are those of docs/values.md.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from checkrunner.model.numbers import show_number

__all__ = [
    "BINARY_PREFIXES",
    "DECIMAL_PREFIXES",
    "SMALL_PREFIXES",
    "TIMES",
    "Quantity",
    "QuantityError",
    "base_unit",
    "plain_number",
    "quantity",
    "show_quantity",
]

DECIMAL_PREFIXES: Mapping[str, float] = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
BINARY_PREFIXES: Mapping[str, float] = {
    f"{letter}i": float(1 << 10 * power) for power, letter in enumerate("KMGTPE", 1)
} | {"ki": 1024.0}
SMALL_PREFIXES: Mapping[str, float] = {"m": 1e-3, "u": 1e-6, "\u00b5": 1e-6, "\u03bc": 1e-6, "n": 1e-9}

TIMES: Mapping[str, float] = {
    **dict.fromkeys(("ns", "nsec"), 1e-9),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "usec"), 1e-6),
    **dict.fromkeys(("ms", "msec"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
    **dict.fromkeys(("w", "week", "weeks"), 604800.0),
}
"""Seconds of each unit of time."""

_BYTES = frozenset({"B", "b", "byte", "bytes", "Byte", "Bytes"})
_PLAIN = re.compile(r"([-+]?)([0-9][0-9.,]*|[.,][0-9]+)((?:[eE][-+]?[0-9]{1,4})?)\s*(.*)", re.DOTALL)
_PARTS = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z\u00b5\u03bc]+)(?:\s*,\s*|\s*)")
_CLOCK = re.compile(r"(?:(?:([0-9]+)-)?([0-9]{1,4}):)?([0-9]{1,4}):([0-9]{2}(?:\.[0-9]+)?)")
_DIGITS = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+")
_COMMA = re.compile(r"[0-9]*,[0-9]+")
_BYTE_STEPS = tuple((f"{letter}iB", 2.0 ** (10 * power)) for power, letter in reversed([*enumerate("KMGTPE", 1)]))
_LONGEST = 400
_SHOWN = 60


class QuantityError(ValueError):
    """A text is no number, or is one in another unit than is wanted."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A finite number in `unit`: ``B``, ``s``, ``%``, a unit that was given, or "" for a bare number."""

    number: float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class _Unit:
    """A unit as it was given: its base, and what a bare number in it has to be multiplied by."""

    base: str
    factor: float = 1.0
    binary: bool = False


@functools.lru_cache(maxsize=256)
def _unit(name: str) -> _Unit:
    if name in _BYTES or name in {"%", ""}:
        return _Unit("B" if name in _BYTES else name)
    if name in TIMES:
        return _Unit("s", TIMES[name])
    for prefixes in (BINARY_PREFIXES, DECIMAL_PREFIXES):
        for prefix, factor in prefixes.items():
            if name == f"{prefix}B":
                return _Unit("B", factor, prefixes is BINARY_PREFIXES)
    return _Unit(name)


def base_unit(unit: str) -> str:
    """What numbers in `unit` are kept in: ``B`` for ``KiB``, ``s`` for ``ms``; any other unit as it is."""
    return _unit(unit).base


def quantity(text: str, unit: str = "") -> Quantity:
    """Read `text`. A bare number is in `unit`; one with a unit of its own is converted, which must be possible.

    Without `unit` any unit is taken, and a lone prefix (``1.5k``) multiplies by a power of 1,000. Raises
    QuantityError.
    """
    wanted = _unit(unit)
    text = text.strip()
    if len(text) > _LONGEST:
        raise _error(text, unit)
    found = _PLAIN.fullmatch(text)
    if found is None:
        raise _error(text, unit)
    sign, digits, exponent, suffix = found.groups()
    number: float | None = None
    base = wanted.base
    if not suffix:
        number = _number(text, digits, exponent) * wanted.factor
    elif (scale := _scale(suffix, wanted)) is not None:
        number, base = _number(text, digits, exponent) * scale[0], scale[1]
    elif wanted.base in {"s", ""}:
        number, base = _span(text[len(sign) :], clock=wanted.base == "s"), "s"
    if number is None:
        raise _error(text, unit)
    if not math.isfinite(number):
        raise QuantityError(f"{_short(text)} is too large a number")
    return Quantity(-number if sign == "-" else number, base)


def _scale(suffix: str, wanted: _Unit) -> tuple[float, str] | None:
    """What a number with this suffix is multiplied by, and the unit it is then in; None for an unknown suffix."""
    if wanted.base == "B":
        factor = _byte_scale(suffix, bare=1024.0, binary=wanted.binary)
        return None if factor is None else (factor, "B")
    if wanted.base == "s":
        return (TIMES[suffix], "s") if suffix in TIMES else None
    if wanted.base == "%":
        return (1.0, "%") if suffix == "%" else None
    if wanted.base:
        factor = _prefixed(suffix, wanted.base)
        return None if factor is None else (factor, wanted.base)
    if suffix == "%":
        return 1.0, "%"
    if suffix in TIMES:
        return TIMES[suffix], "s"
    if suffix in DECIMAL_PREFIXES:
        return DECIMAL_PREFIXES[suffix], ""
    factor = _byte_scale(suffix, bare=None, binary=False)
    return None if factor is None else (factor, "B")


def _byte_scale(suffix: str, *, bare: float | None, binary: bool) -> float | None:
    """As GNU programs: ``K`` and ``KiB`` are 1,024, ``kB`` is 1,000. With `binary`, ``kB`` is 1,024 as well."""
    if suffix in _BYTES:
        return 1.0
    prefix = suffix.removesuffix("B")
    if prefix in BINARY_PREFIXES:
        return BINARY_PREFIXES[prefix]
    if prefix not in DECIMAL_PREFIXES or (prefix == suffix and bare is None):
        return None
    power = BINARY_PREFIXES[f"{prefix}i"]
    return power if binary or prefix == suffix else DECIMAL_PREFIXES[prefix]


def _prefixed(suffix: str, unit: str) -> float | None:
    """``GHz`` for the unit ``Hz``: its prefix; a lone prefix counts too, unless it makes things smaller."""
    if suffix == unit:
        return 1.0
    if suffix in DECIMAL_PREFIXES:
        return DECIMAL_PREFIXES[suffix]
    prefix = suffix.removesuffix(unit)
    if prefix == suffix:
        return None
    for prefixes in (DECIMAL_PREFIXES, BINARY_PREFIXES, SMALL_PREFIXES):
        if prefix in prefixes:
            return prefixes[prefix]
    return None


def _span(text: str, *, clock: bool) -> float | None:
    """Seconds of ``1d2h``, ``1h 30min``; with `clock` also of ``mm:ss``, ``hh:mm:ss`` and ``d-hh:mm:ss``."""
    if clock and (found := _CLOCK.fullmatch(text)):
        days, hours, minutes, seconds = (float(part) if part else 0.0 for part in found.groups())
        return days * 86400 + hours * 3600 + minutes * 60 + seconds
    total, last, at = 0.0, math.inf, 0
    while at < len(text):
        part = _PARTS.match(text, at)
        factor = TIMES.get(part[2]) if part else None
        if part is None or factor is None or factor >= last:
            return None
        total, last, at = total + float(part[1]) * factor, factor, part.end()
    return total


def _number(text: str, digits: str, exponent: str) -> float:
    """Digits with a point; with a comma where it can only be one thing."""
    if _DIGITS.fullmatch(digits):
        return float(digits + exponent)
    whole, point, rest = digits.rpartition(".")
    if point and rest.isdigit() and _GROUPED.fullmatch(whole):
        return float(whole.replace(",", "") + point + rest + exponent)  # 1,234.5
    if "." in digits:
        whole, comma, rest = digits.rpartition(",")
        if comma and rest.isdigit() and _GROUPED.fullmatch(whole.replace(".", ",")) and "," not in whole:
            return float(f"{whole.replace('.', '')}.{rest}{exponent}")  # 1.234,5
        raise _error(text, "")
    if _GROUPED.fullmatch(digits):
        if digits.count(",") > 1:
            return float(digits.replace(",", "") + exponent)
        one, other = digits.replace(",", ""), digits.replace(",", ".")
        raise QuantityError(f"{_short(text)} can be {one} or {other}: have the command run with LC_ALL=C")
    if _COMMA.fullmatch(digits):
        return float(digits.replace(",", ".") + exponent)  # 12,5
    raise _error(text, "")


def _error(text: str, unit: str) -> QuantityError:
    return QuantityError(f"{_short(text)} is not a number" + (f" in {unit}" if unit else ""))


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def plain_number(number: float) -> str:
    """Digits and a point alone, no exponent: what other programs read."""
    if number == int(number):
        return str(int(number))
    text = f"{number:.12g}"
    return text if "e" not in text else format(Decimal(text), "f")


def show_quantity(number: float, unit: str = "") -> str:
    """For people: ``5.2GiB``, ``200ms``, ``1d2h``, ``93%``, ``65 rpm``."""
    if not math.isfinite(number):
        return str(number)
    if unit == "B":
        return _show_scaled(number, _BYTE_STEPS, "B")
    if unit == "s":
        size = abs(number)
        if size >= 120 and number == int(number):
            return ("-" if number < 0 else "") + _show_span(int(size))
        small = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))
        return _show_scaled(number, small, "ns", 1e9) if size else "0s"
    if unit == "%":
        return f"{show_number(number)}%"
    return f"{show_number(number)} {unit}" if unit else show_number(number)


def _show_scaled(number: float, steps: tuple[tuple[str, float], ...], least: str, factor: float = 1.0) -> str:
    for name, size in steps:
        if abs(number) >= size:
            return f"{round(number / size, 2):g}{name}" if abs(number) < 1e6 * size else f"{number / size:.0f}{name}"
    return f"{show_number(number * factor)}{least}"


def _show_span(seconds: int) -> str:
    parts = []
    for name, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{name}")
    return "".join(parts[:3])
