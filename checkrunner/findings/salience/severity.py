"""How much trouble a line tells of, by its words.

Words count where they are said, not where they are named: not in a path, an option or an identifier, and not where it
is said that there is none of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from checkrunner.findings.salience.vocabulary import CODE_HINT, CODES, COUNTED, GRADES, NO_VALUES, PHRASES, SOFTENED

__all__ = ["NOTHING", "Told", "is_counter", "told"]


@dataclass(frozen=True, slots=True)
class Told:
    """`grade` 0 (nothing) to 5 (the end of something); `start` and `end` of what says most, 0 and 0 for nothing."""

    grade: float
    start: int = 0
    end: int = 0


NOTHING = Told(0.0)

_LONGEST = 2000
_COUNTER = 2.5
_COUNTER_LINE = re.compile(
    r"(?<![\w.-])([A-Za-z]\w{2,60})[\"']?[ \t]{0,3}[:=][ \t]{0,8}\"?[1-9][0-9]{0,18}(?![\w.:/-])"
)
_SETTINGS = frozenset(
    {"max", "min", "limit", "threshold", "on", "log", "level", "at", "time", "interval", "retry", "if"}
)
_BEFORE = 24
_PART_OF_A_COMPOUND = 1.5
_HARMLESS = frozenset({"non", "pre", "anti", "free", "safe", "tolerant", "resistant"})
_SOFTER = 2.0
_BIGGEST_CODE = 4.0
_AN_END = 5.0

_WORD = re.compile(r"[A-Za-z]+(?:-[a-z]+)?")
_NAMED_ERROR = re.compile(r"[A-Za-z0-9]{2,}(?:Exception|Error|Failure|Fault|Timeout)\Z")
_ZERO_BEFORE = re.compile(r"(?<![\w.,:/=-])0(?:\.0+)?%?[ \t]+(?:[A-Za-z]+[ \t]+)?\Z")
_NO_BEFORE = re.compile(r"(?:^|[^\w])(?:no|without|zero|never|free of|isn't|aren't|not) (?:[a-z]+ )?\Z", re.IGNORECASE)
_VALUE_AFTER = re.compile(
    r"(?:[_ -]?(?:counts?|total|rate|code|s|\(s\)))?[\"']?\]?[ \t]{0,3}[=:][ \t]{0,3}[\"']?([A-Za-z0-9_.<>%/-]{0,20})"
)
_SETTING = re.compile(r"\w{0,60}=")
_GOES_ON = re.compile(r"[ \t]+[A-Za-z]+(?![\w.-]*[=:])")


def told(text: str) -> Told:
    """What the words of a line tell. Linear in the length of the text, of which 2,000 characters are looked at."""
    text = text[:_LONGEST]
    best = _counters(text, _codes(text, _phrases(text, _words(text))))
    if best.grade >= _SOFTER and SOFTENED.search(text):
        return Told(best.grade - _SOFTER, best.start, best.end)
    return best


def _words(text: str) -> Told:
    best = NOTHING
    for found in _WORD.finditer(text):
        grade = _grade(found.group())
        if grade > best.grade and not _is_a_name(text, found) and not _is_denied(text, found.start(), found.end()):
            best = Told(grade, found.start(), found.end())
    return best


def _phrases(text: str, best: Told) -> Told:
    for grade, rule in PHRASES:
        if grade <= best.grade:
            return best
        if (said := rule.search(text)) is not None and not _is_denied(text, said.start(), said.end()):
            return Told(grade, said.start(), said.end())
    return best


def _codes(text: str, best: Told) -> Told:
    if best.grade >= _BIGGEST_CODE or CODE_HINT.search(text) is None:
        return best
    for grade, rule in CODES:
        if grade > best.grade and (code := rule.search(text)) is not None:
            best = Told(grade, code.start(), code.end())
    return best


def _counters(text: str, best: Told) -> Told:
    """A counter of trouble that is not zero; one that is a setting (``max_errors``) is none."""
    if best.grade >= _COUNTER or "_" not in text:
        return best
    for found in _COUNTER_LINE.finditer(text):
        if is_counter(found[1]):
            return Told(_COUNTER, found.start(), found.end())
    return best


def is_counter(name: str) -> bool:
    """Whether the name is that of a counter which should be zero."""
    parts = name.lower().split("_")
    return len(parts) > 1 and not COUNTED.isdisjoint(parts) and _SETTINGS.isdisjoint(parts)


def _grade(word: str) -> float:
    known = GRADES.get(word.lower())
    if known is not None:
        return known
    if "-" in word:
        parts = word.lower().split("-")
        if _HARMLESS.intersection(parts):
            return 0.0
        return max(max(GRADES.get(part, 0.0) for part in parts) - _PART_OF_A_COMPOUND, 0.0)
    return GRADES["error"] if len(word) > 6 and _NAMED_ERROR.match(word) else 0.0


def _is_a_name(text: str, found: re.Match[str]) -> bool:
    """A word in a path, an option, an identifier: ``/var/log/error.log``, ``--fail-fast``, ``error_log``. The last part
    of the name of an exception's class is said."""
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 2]
    if "_" in {before, after[:1]}:  # a constant is said: CONNECTION_REFUSED; a variable is not: ERROR_LOG=
        return not found.group().isupper() or _SETTING.match(text, found.end()) is not None
    if after[:1] in {"/", "\\"} or after[:1].isalnum() or (after[:1] in {".", "-", "@"} and after[1:].isalnum()):
        return True
    if after[:1] == "=" and GRADES.get(found.group(), 0.0) >= _AN_END:  # a setting of what is done then: panic=30
        return True
    if before in {"/", "\\", "-", "@", "%", "&"} or before.isdigit():
        return True
    return before in {".", "$"} and _NAMED_ERROR.match(found.group()) is None


def _is_denied(text: str, start: int, end: int) -> bool:
    """Whether it is said that there is none: ``0 errors``, ``no error``, ``failed: 0``, ``error=0``, ``err=<nil>``."""
    first = max(start - _BEFORE, 0)
    if _ZERO_BEFORE.search(text, first, start) or _NO_BEFORE.search(text, first, start):
        return True
    value = _VALUE_AFTER.match(text, end)
    if value is None or value[1].lower().rstrip(".") not in NO_VALUES:
        return False
    return value[1][0] == "0" or value[1][-1] == "." or _GOES_ON.match(text, value.end()) is None
