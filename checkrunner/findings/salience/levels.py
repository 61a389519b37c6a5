"""Levels that programs give their own messages: syslog's names, those of Java, Python and Go, glog and logcat."""

from __future__ import annotations

import re

__all__ = ["DEBUG", "ERROR", "FATAL", "INFO", "LETTERS", "LEVELS", "NOTICE", "WARN", "level_of_token", "spoken_level"]

FATAL = 5
ERROR = 4
WARN = 3
NOTICE = 1
INFO = 0
DEBUG = -1

LEVELS = {
    "emerg": FATAL, "emergency": FATAL, "panic": FATAL, "alert": FATAL, "crit": FATAL, "critical": FATAL,
    "fatal": FATAL, "severe": ERROR, "error": ERROR, "err": ERROR, "failure": ERROR, "failed": ERROR, "fail": ERROR,
    "warning": WARN, "warn": WARN, "wrn": WARN, "notice": NOTICE, "info": INFO, "information": INFO,
    "informational": INFO, "inf": INFO, "log": INFO, "audit": INFO, "success": INFO, "ok": INFO, "pass": INFO,
    "statement": INFO, "hint": INFO, "detail": INFO, "debug": DEBUG, "dbg": DEBUG, "debug1": DEBUG, "debug2": DEBUG,
    "trace": DEBUG, "verbose": DEBUG, "fine": DEBUG, "finer": DEBUG, "finest": DEBUG, "config": DEBUG,
}  # fmt: skip
"""Levels by name, in lower case."""

LETTERS = {"F": FATAL, "A": FATAL, "E": ERROR, "W": WARN, "N": NOTICE, "I": INFO, "D": DEBUG, "V": DEBUG, "T": DEBUG}
"""Levels of one letter, which only a column of them makes levels."""

_EDGES = "[]()<>{}\"',;:|*-=#."
_KEYS = frozenset(("level", "lvl", "severity", "loglevel", "levelname", "log.level"))
_GLOG = re.compile(r"[IWEF][0-9]{4}\Z")
_SPOKEN = re.compile(
    r"\b(?:level|lvl|severity|loglevel|log_level|levelname|log\.level|priority)\b[\"']?\s{0,2}[=:]\s{0,2}[\"']?"
    r"([A-Za-z]+)",
    re.IGNORECASE,
)


def level_of_token(token: str) -> int | None:
    """The level that a token of a level column stands for: ``[error]``, ``WARN:``, ``<info>``, glog's ``E0131``; None
    for other texts. Single letters are `LETTERS`'."""
    core = token.strip(_EDGES).lower()
    key, is_pair, value = core.partition("=")
    known = LEVELS.get(value.strip(_EDGES) if is_pair and key in _KEYS else core)
    if known is None and _GLOG.match(token):
        return LETTERS[token[0]]
    return known


def spoken_level(text: str) -> int | None:
    """The level that a line names with a key: ``level=error``, ``"severity": "WARN"``; None where it names none."""
    found = _SPOKEN.search(text, 0, 1000)
    return LEVELS.get(found[1].lower()) if found else None
