"""Regular expressions with an end: one that takes too long is given up.

Python's engine tries every way in which a pattern might fit, and for some patterns there are more than anybody can wait
for. It does look for signals while it does so: a timer of the processor's time, which nothing else here uses, ends it.
Signals reach the main thread alone; elsewhere a pattern that may take long meets short texts only.
"""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

__all__ = ["LONGEST_PATTERN", "SECONDS", "TooLongError", "can_wait", "patiently"]

SECONDS = 2.0
"""Processor time of one search, in the main thread."""

LONGEST_PATTERN = 10_000
"""Characters."""

_T = TypeVar("_T")
_EASY = 4_000_000
_SHORT = 8
_FEW = 8
_REPEATS = re.compile(r"[*+{]|(?<![(*+?}])\?")


class TooLongError(Exception):
    """A pattern was given up."""


def can_wait() -> bool:
    """Whether a search can be given up here: it can in the main thread."""
    return threading.current_thread() is threading.main_thread()


def patiently(pattern: str | re.Pattern[str], length: int, work: Callable[[], _T], *, seconds: float = SECONDS) -> _T:
    """`work`, which is to use the pattern on a text of this length. Raises TooLongError where it does not end within
    `seconds` of the processor's time."""
    text = pattern if isinstance(pattern, str) else pattern.pattern
    if len(text) > LONGEST_PATTERN:
        msg = f"a regular expression may have {LONGEST_PATTERN:,} characters, this one has {len(text):,}"
        raise TooLongError(msg)
    repeats = len(_REPEATS.findall(text))
    if repeats == 0 or (repeats == 1 and "(" not in text and length * length <= _EASY):
        return work()
    if can_wait():
        return _timed(text, work, seconds)
    if length <= _SHORT and repeats <= _FEW:
        return work()
    msg = f"the regular expression {_shown(text)} is used on short texts only, outside of the main thread"
    raise TooLongError(msg)


def _timed(pattern: str, work: Callable[[], _T], seconds: float) -> _T:
    def give_up(_signal: int, _frame: Any) -> NoReturn:
        msg = f"the regular expression {_shown(pattern)} takes more than {seconds:g} seconds"
        raise TooLongError(msg)

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _shown(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 60 else pattern[:57] + "...")
