"""Patterns that a user gives for secrets of their own: looked at before anything starts."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from itertools import pairwise

from checkrunner.patience import TooLongError, can_wait, patiently

__all__ = ["check_pattern"]

_SHORT, _LONG = 60, 2000
"""Characters of the texts that a pattern is tried on; no line that is shown is longer than the long ones."""
_MOST_CHARS = 40
_NEAR = 20


def check_pattern(pattern: str) -> str:
    """The pattern itself.

    Raises ValueError with a sentence part: it is no regular expression, it would mask nothing, or it takes too long on
    some texts. Cost: milliseconds, two seconds for a pattern that takes too long.
    """
    try:
        compiled = _compiled(pattern)
    except re.error as error:
        raise ValueError(f"it is no regular expression: {error.msg}{_near(pattern, error.pos)}") from None
    except (OverflowError, RecursionError):
        raise ValueError("it is no regular expression: its numbers or its nesting are too large") from None
    if compiled.search("") is not None:
        raise ValueError("it fits an empty text too, so there would be nothing to mask; use + where there is *")
    if "secret" in compiled.groupindex or compiled.groups:
        group = "secret" if "secret" in compiled.groupindex else 1
        if re.search(r"\(\)|\(\?P<secret>\)", pattern):
            raise ValueError(f"its group {group} is empty, so there would be nothing to mask")
    if can_wait():
        try:
            patiently(compiled, _LONG, lambda: _try(compiled))
        except TooLongError as error:
            raise ValueError(f"{error}; avoid repeats within repeats, as in (a+)+, and several .* in a row") from None
    return pattern


def _compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, without what Python has to say of ``[[``, which may mean something else one day. Raises re.error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(pattern)


def _near(pattern: str, at: int | None) -> str:
    """`` at position 4: ...d[ef``"""
    if at is None:
        return ""
    start, end = max(0, at - _NEAR), at + _NEAR
    before, after = "..." if start else "", "..." if end < len(pattern) else ""
    return f", at position {at + 1}: {before}{pattern[start:at]} >>> {pattern[at:end]}{after}"


def _try(pattern: re.Pattern[str]) -> None:
    for text in _texts(pattern.pattern):
        pattern.search(text)


def _texts(pattern: str) -> Iterator[str]:
    """Texts of characters that the pattern speaks of, which go on long and then do not fit."""
    chars = list(dict.fromkeys("aA0 -_./:=" + "".join(char for char in pattern if char.isprintable())))[:_MOST_CHARS]
    for length in (_SHORT, _LONG):
        for char in chars:
            yield char * length + "\0"
        for one, other in pairwise(chars):
            yield (one + other) * (length // 2) + "\0"
        for word in re.findall(r"\w{2,20}", pattern)[:_MOST_CHARS]:
            yield word * (length // len(word)) + "\0"
