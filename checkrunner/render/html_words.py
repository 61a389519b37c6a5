"""Words of the HTML report: verdicts, and what changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from checkrunner.model.drift import Change
from checkrunner.model.report import Report
from checkrunner.render.drift import kind_text
from checkrunner.render.headline import word_of

__all__ = ["UNTOLD", "WORDS", "kinds_of", "names_of", "plural", "status_of"]

UNTOLD = "_"
"""The letter of a cell of which a report does not say whether it was ok or not planned."""

WORDS: Mapping[str, str] = MappingProxyType(
    {
        "c": "critical",
        "u": "unknown",
        "w": "warning",
        "n": "noted",
        "o": "ok",
        "s": "skipped",
        ".": "not planned",
        UNTOLD: "ok or not planned",
    }
)
"""What the letters of a row mean (see `Detail`), the worst first."""

_STATUS = {"OK": "o", "WARNING": "w", "CRITICAL": "c", "INCOMPLETE": "u", "ERROR": "c"}
_BETWEEN = re.compile(r",(?![^\[]*\])")


def status_of(report: Report) -> tuple[str, str]:
    """The word for the whole run, and its letter."""
    word = word_of(report)
    if not report.totals.planned and word != "ERROR":
        return "NOTHING CHECKED", "u"
    return word, _STATUS[word]


def plural(number: int, one: str, many: str = "") -> str:
    """``critical``, ``warnings``: the word alone."""
    return one if number == 1 else many or one + "s"


def names_of(folded: str) -> str:
    """Folded names with places to break a long list at."""
    return _BETWEEN.sub(", ", folded)


def kinds_of(changes: Sequence[Change]) -> str:
    """``3 better, 1 flapping``."""
    counts = Counter(_kind(change) for change in changes)
    return ", ".join(f"{number:,} {word}" for word, number in counts.items())


def _kind(change: Change) -> str:
    if not change.kind.is_worse:
        return kind_text(change)
    return "flapping" if change.flapping else f"{kind_text(change)}, and silenced"
