"""Versions compared as Ansible's test ``version`` does it."""

from __future__ import annotations

import operator as compare
import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["TESTS", "is_version"]

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    **dict.fromkeys(("==", "=", "eq"), compare.eq),
    **dict.fromkeys(("!=", "<>", "ne"), compare.ne),
    **dict.fromkeys(("<", "lt"), compare.lt),
    **dict.fromkeys(("<=", "le"), compare.le),
    **dict.fromkeys((">", "gt"), compare.gt),
    **dict.fromkeys((">=", "ge"), compare.ge),
}
_PART = re.compile(r"(\d+|[a-z]+|\.)")
_STRICT = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?(?:([ab])(\d+))?", re.ASCII)
_WORD = r"(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_SEMANTIC = re.compile(
    rf"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-({_WORD}(?:\.{_WORD})*))?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?"
)


def _loose(text: str) -> list[int | str]:
    """Numbers and words in turn, what stands between them as it is."""
    parts = [part for part in _PART.split(text) if part and part != "."]
    return [int(part) if part.isdecimal() else part for part in parts]


def _strict(text: str) -> tuple[Any, ...]:
    found = _STRICT.fullmatch(text)
    if found is None:
        msg = f"{text!r} is no strict version, such as 1.2 or 1.2.3b1"
        raise ValueError(msg)
    numbers = (int(found[1]), int(found[2]), int(found[3] or 0))
    # A version that is out comes after those before it.
    return (*numbers, (found[4], int(found[5])) if found[4] else ("z", 0))


def _semantic(text: str) -> tuple[Any, ...]:
    found = _SEMANTIC.fullmatch(text)
    if found is None:
        msg = f"{text!r} is no semantic version, such as 1.2.3-rc.1"
        raise ValueError(msg)
    numbers = tuple(int(found[number]) for number in (1, 2, 3))
    if not found[4]:
        return (*numbers, 1, ())
    words = [(0, int(word), "") if word.isdigit() else (1, 0, word) for word in found[4].split(".")]
    return (*numbers, 0, tuple(words))


_KINDS: Mapping[str, Callable[[str], Any]] = {
    "loose": _loose,
    "strict": _strict,
    "semver": _semantic,
    "semantic": _semantic,
}


def is_version(
    value: object, version: object, operator: str = "eq", strict: bool | None = None, version_type: str | None = None
) -> bool:
    """Whether a version is equal to another one, or as `operator` says (``>=``, ``lt``, ...). `version_type` is loose
    (the default), strict, semver or semantic."""
    if strict is not None and version_type is not None:
        msg = "strict and version_type cannot be said together"
        raise ValueError(msg)
    if not value or not version:
        msg = "a version is empty"
        raise ValueError(msg)
    if operator not in _OPERATORS:
        msg = f"{operator!r} is no comparison: {', '.join(_OPERATORS)}"
        raise ValueError(msg)
    kind = version_type or ("strict" if strict else "loose")
    if kind not in _KINDS:
        msg = f"version_type is one of {', '.join(_KINDS)}, not {kind!r}"
        raise ValueError(msg)
    left, right = (_KINDS[kind](str(text)) for text in (value, version))
    # What cannot be ordered is an error even where only equality is asked for.
    order = 0 if left == right else -1 if left < right else 1
    return _OPERATORS[operator](order, 0)


TESTS: Mapping[str, Callable[..., bool]] = {"version": is_version, "version_compare": is_version}
