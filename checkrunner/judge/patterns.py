"""Regular expressions on what a host sent: compiled once, and given up where they take too long."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Sequence

from checkrunner.judge.parsed import UnreadError, clipped
from checkrunner.patience import TooLongError, patiently

__all__ = ["compiled", "first_places"]


@functools.lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern. Raises UnreadError for what is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # legal all the same
            return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise UnreadError(f"`{clipped(pattern, 80)}` is not a regular expression: {error}") from error


def first_places(pattern: re.Pattern[str], texts: Sequence[str]) -> list[re.Match[str] | None]:
    """Of each text the first place of the pattern. Raises UnreadError where looking for them takes too long: the host
    found them in its lines, but of a line that is cut, or of a host that lies, that says nothing."""
    try:
        return patiently(pattern, sum(map(len, texts)), lambda: [pattern.search(text) for text in texts])
    except TooLongError as error:
        raise UnreadError(str(error)) from error
