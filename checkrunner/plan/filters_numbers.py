"""Filters and tests of numbers, sizes and truth, as Ansible has them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from checkrunner.plan.values import Hidden, NotANumberError

__all__ = [
    "FILTERS",
    "TESTS",
    "human_readable",
    "human_to_bytes",
    "is_falsy",
    "is_nan",
    "is_truthy",
    "log",
    "number",
    "power",
    "root",
    "ternary",
    "to_bool",
]

_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)", re.ASCII)
_TRUE = frozenset({"yes", "on", "true", "1"})
_TRUE_WORDS = frozenset({"y", "yes", "on", "1", "true", "t"})
_FALSE_WORDS = frozenset({"n", "no", "off", "0", "false", "f"})
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:\s*([A-Za-z]+))?\s*")
_NAMES = {
    "B": "byte",
    "K": "kilobyte",
    "M": "megabyte",
    "G": "gigabyte",
    "T": "terabyte",
    "P": "petabyte",
    "E": "exabyte",
    "Z": "zetabyte",
    "Y": "yottabyte",
}
_POWERS = {letter: 1 << (10 * power) for power, letter in enumerate(_NAMES)}


def to_bool(value: object) -> bool:
    """`true` for true, yes, on, 1 (any case), `false` for everything else."""
    value = _tested(value)
    if isinstance(value, (str, int)):
        return str(value).lower() in _TRUE
    return isinstance(value, float) and value == 1


def _tested(value: object) -> object:
    """A secret as what it says: whether that is true gives nothing more away than a comparison."""
    return value.secret().reveal() if isinstance(value, Hidden) else value


def ternary(value: object, true: object, false: object, none: object = None) -> object:
    """The first argument where the value is true, else the second; the third where it is none."""
    if value is None and none is not None:
        return none
    return true if value else false


def number(value: object) -> int | float:
    """The number that a value is or that its text says; anything else is an error, where `int` and `float` say 0."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    text = str(value).strip()  # raises for what is undefined
    if _NUMBER.fullmatch(text):
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    raise NotANumberError(text)


def log(value: Any, base: float = math.e) -> float:
    """The logarithm, to the base e or another one."""
    return math.log10(value) if base == 10 else math.log(value, base)


def power(value: Any, exponent: float) -> float:
    """The value to the power of another number."""
    return math.pow(value, exponent)


def root(value: Any, base: float = 2) -> float:
    """The square root, or another one."""
    return math.sqrt(value) if base == 2 else math.pow(value, 1.0 / float(base))


def human_readable(size: Any, isbits: bool = False, unit: str | None = None) -> str:
    """A number of bytes as people write it: ``1.50 KB``."""
    word = "bits" if isbits else "Bytes"
    letters = list(reversed(_POWERS))
    if unit is None:
        letter = next((letter for letter in letters if size >= _POWERS[letter]), "B")
    else:
        letter = unit.upper() if unit.upper() in _POWERS else "B"
    name = word if letter == "B" else letter + word[0]
    return f"{size / _POWERS[letter]:.2f} {name}"


def human_to_bytes(value: object, default_unit: str | None = None, isbits: bool = False) -> int:
    """The bytes that a size says: ``1.5 KB``."""
    text = str(value)
    found = _SIZE.fullmatch(text)
    if found is None:
        msg = f"{text!r} is no size, such as 10M or 1.5 GB"
        raise ValueError(msg)
    amount, unit = float(found[1]), found[2] if found[2] is not None else default_unit
    if unit is None:
        return round(amount)
    letter = unit[:1].upper()
    name = _NAMES.get(letter)
    if name is None:
        msg = f"{unit!r} is no unit of a size: it begins with one of {', '.join(_NAMES)}"
        raise ValueError(msg)
    long, short = (name.replace("byte", "bit"), "b") if isbits else (name, "B")
    if len(unit) > 1 and unit.lower() != long and unit != (letter if letter != "B" else "") + short:
        msg = f"{unit!r} is no unit of a size: write {letter} or {letter}{short}"
        raise ValueError(msg)
    return round(amount * _POWERS[letter])


def is_nan(value: Any) -> bool:
    """Whether a number is none (not a number)."""
    try:
        return math.isnan(value)
    except TypeError:
        return False


def is_truthy(value: object, convert_bool: bool = False) -> bool:
    """Whether the value is true; with `convert_bool` also as a word."""
    if convert_bool:
        value = _tested(value)
        word = str(value).lower().strip() if isinstance(value, (str, int, float)) else None
        if word in _TRUE_WORDS or word == "1.0":
            return True
        if word in _FALSE_WORDS or word == "0.0":
            return False
    return bool(value)


def is_falsy(value: object, convert_bool: bool = False) -> bool:
    """Whether the value is false; with `convert_bool` also as a word."""
    return not is_truthy(value, convert_bool)


FILTERS: Mapping[str, Callable[..., Any]] = {
    "bool": to_bool,
    "human_readable": human_readable,
    "human_to_bytes": human_to_bytes,
    "log": log,
    "number": number,
    "pow": power,
    "root": root,
    "ternary": ternary,
}

TESTS: Mapping[str, Callable[..., bool]] = {
    "falsy": is_falsy,
    "isnan": is_nan,
    "nan": is_nan,
    "truthy": is_truthy,
}
