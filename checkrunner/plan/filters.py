"""Filters and tests known from Ansible, beyond those that come with Jinja2. Plain functions of plain values.

Also here: which of Jinja2's own are left out, because they are about web pages or make results irreproducible.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from checkrunner.model.metadata import truth
from checkrunner.plan.values import NotANumberError, Registered

__all__ = [
    "FILTERS",
    "LEFT_OUT",
    "TESTS",
    "basename",
    "dirname",
    "is_failed",
    "is_match",
    "is_search",
    "is_skipped",
    "is_succeeded",
    "number",
    "quote",
    "regex_replace",
    "regex_search",
    "ternary",
    "to_bool",
    "to_json",
]

LEFT_OUT: frozenset[str] = frozenset(
    {"e", "escape", "forceescape", "safe", "random", "pprint", "urlize", "xmlattr", "striptags", "attr"}
)
"""Filters of Jinja2 that are not available."""


def to_bool(value: object) -> bool:
    """`true` for true, yes, on, 1 (any case); the words that a condition takes as false are false."""
    return truth(value)


def quote(value: object) -> str:
    """The text as one word of a shell command."""
    return shlex.quote("" if value is None else str(value))


def number(value: object) -> int | float:
    """The number that a value is or that its text says; anything else is an error, where `int` and `float` say 0."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    text = str(value).strip()  # raises for what is undefined
    if _NUMBER.fullmatch(text):
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    raise NotANumberError(text)


_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)", re.ASCII)


def basename(value: object) -> str:
    """The last part of a path."""
    return posixpath.basename(str(value))


def dirname(value: object) -> str:
    """A path without its last part."""
    return posixpath.dirname(str(value))


def to_json(value: object) -> str:
    """The value as JSON on one line, keys in their order, text not escaped beyond what JSON needs."""
    return json.dumps(value, ensure_ascii=False)


def ternary(value: object, true: object, false: object = None) -> object:
    """The first argument when the value is true, else the second."""
    return true if truth(value) else false


def _flags(ignorecase: bool, multiline: bool) -> int:
    return (re.IGNORECASE if ignorecase else 0) | (re.MULTILINE if multiline else 0)


def regex_search(value: object, pattern: str, *, ignorecase: bool = False, multiline: bool = False) -> str:
    """The first place where the pattern is found; an empty text when there is none."""
    found = re.search(pattern, str(value), _flags(ignorecase, multiline))
    return found.group(0) if found else ""


def regex_replace(
    value: object, pattern: str, replacement: str = "", *, ignorecase: bool = False, multiline: bool = False
) -> str:
    """The text with each place where the pattern is found replaced."""
    return re.sub(pattern, replacement, str(value), flags=_flags(ignorecase, multiline))


def is_match(value: object, pattern: str, ignorecase: bool = False, multiline: bool = False) -> bool:
    """Whether the pattern fits at the start of the text."""
    return re.match(pattern, str(value), _flags(ignorecase, multiline)) is not None


def is_search(value: object, pattern: str, ignorecase: bool = False, multiline: bool = False) -> bool:
    """Whether the pattern is found anywhere in the text."""
    return re.search(pattern, str(value), _flags(ignorecase, multiline)) is not None


def _result(value: object) -> Registered:
    if not isinstance(value, Registered):
        msg = "this test is for a registered result"
        raise TypeError(msg)
    return value


def is_failed(value: object) -> bool:
    """Whether the verdict of the registered check was warn or crit."""
    return bool(_result(value).failed)


def is_succeeded(value: object) -> bool:
    """Whether the verdict of the registered check was ok."""
    return bool(_result(value).ok)


def is_skipped(value: object) -> bool:
    """Whether the registered check was not run."""
    return bool(_result(value).skipped)


FILTERS: Mapping[str, Callable[..., Any]] = {
    "basename": basename,
    "bool": to_bool,
    "dirname": dirname,
    "number": number,
    "quote": quote,
    "regex_replace": regex_replace,
    "regex_search": regex_search,
    "ternary": ternary,
    "to_json": to_json,
}

TESTS: Mapping[str, Callable[..., bool]] = {
    "failed": is_failed,
    "match": is_match,
    "search": is_search,
    "skipped": is_skipped,
    "succeeded": is_succeeded,
}
