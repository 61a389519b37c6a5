"""Words of the HTML report: verdicts, times, what changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from checkrunner.model.drift import Change, ChangeKind
from checkrunner.model.report import Finding, Report
from checkrunner.model.results import VerdictState

__all__ = ["LETTERS", "WORDS", "age", "change_words", "letter_of", "names_of", "plural", "stamp", "status_of"]

LETTERS: Mapping[VerdictState, str] = MappingProxyType(
    {
        VerdictState.CRIT: "c",
        VerdictState.WARN: "w",
        VerdictState.UNKNOWN: "u",
        VerdictState.OK: "o",
        VerdictState.SKIPPED: "s",
    }
)
WORDS: Mapping[str, str] = MappingProxyType(
    {
        "c": "critical",
        "u": "unknown",
        "w": "warning",
        "n": "noted",
        "o": "ok",
        "s": "skipped",
        ".": "not planned",
        "_": "ok or not planned",
    }
)
"""What the letters of a row mean (see `Detail`), the worst first. ``_``: the report does not say."""

_STATUS: Mapping[int, tuple[str, str]] = MappingProxyType(
    {0: ("OK", "o"), 1: ("WARNING", "w"), 2: ("CRITICAL", "c"), 3: ("INCOMPLETE", "u")}
)
_BETWEEN = re.compile(r",(?![^\[]*\])")
_STEPS = ((86400, "day"), (3600, "hour"), (60, "minute"))
_CHANGES: Mapping[ChangeKind, str] = MappingProxyType(
    {
        ChangeKind.REGRESSION: "worse",
        ChangeKind.UNSEEN: "no longer seen",
        ChangeKind.CHANGED: "changed",
        ChangeKind.FLAPPING: "flapping from now on",
        ChangeKind.RECOVERY: "better",
        ChangeKind.SEEN: "seen again",
        ChangeKind.DROPPED: "no longer checked",
    }
)


def status_of(report: Report) -> tuple[str, str]:
    """The word for the whole run, and its letter: what the exit code says, or where it speaks of something else (an
    interrupt, say) the worst of what was seen."""
    if report.run.ended == "error":
        return "ERROR", "c"
    if not report.totals.planned:
        return "NOTHING CHECKED", "u"
    if report.run.exit_code in _STATUS:
        return _STATUS[report.run.exit_code]
    verdicts = report.totals.verdict
    if verdicts.get(VerdictState.CRIT):
        return _STATUS[2]
    if not report.run.complete:
        return _STATUS[3]
    return _STATUS[1 if verdicts.get(VerdictState.WARN) else 0]


def letter_of(finding: Finding) -> str:
    """Of its verdict; ``n`` where it is ok and something was noted all the same."""
    noted = finding.verdict is VerdictState.OK and bool(finding.reasons)
    return "n" if noted else LETTERS[finding.verdict]


def plural(number: int, one: str, many: str = "") -> str:
    """``critical``, ``warnings``: the word alone."""
    return one if number == 1 else many or one + "s"


def names_of(folded: str) -> str:
    """Folded names with places to break a long list at."""
    return _BETWEEN.sub(", ", folded)


def stamp(moment: datetime) -> str:
    """``2026-01-02 03:04 UTC``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def age(since: datetime, now: datetime) -> str:
    """``3 days``, ``5 hours``, ``2 minutes``: the two largest units are one too many for a glance."""
    seconds = abs((now - since).total_seconds())
    for size, unit in _STEPS:
        # 47 hours tell more than 1 day.
        if seconds >= (2 * size if size == _STEPS[0][0] else size):
            number = int(seconds // size)
            return f"{number:,} {plural(number, unit)}"
    return "less than a minute"


def change_words(change: Change) -> str:
    """``worse: ok, now critical``."""
    words = {str(state): WORDS[letter] for state, letter in LETTERS.items()}
    before, after = (words.get(state, state.replace("_", " ")) for state in (change.before, change.after))
    what = _CHANGES[change.kind]
    if change.kind is ChangeKind.CHANGED:
        return f"{what}: {after} for other reasons"
    return f"{what}: {before or 'not there'}, now {after or 'not there'}"
