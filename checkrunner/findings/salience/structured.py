"""Messages in JSON, one object a line: the words in the order in which a reader wants them."""

from __future__ import annotations

import re

__all__ = ["words_in_order"]

_PAIR = re.compile(r"\"([^\"\\]{1,80})\"\s{0,4}:\s{0,4}(\"(?:[^\"\\]|\\.)*+\"|[^\s,{}\[\]\"]++)")
_LEVELS = frozenset(("level", "severity", "lvl", "loglevel", "levelname", "log.level", "priority", "@l"))
_TEXTS = frozenset(("msg", "message", "log", "event", "text", "@m", "@mt"))
_CAUSES = frozenset(("error", "err", "exception", "reason", "cause", "stderr", "status", "code", "errors", "failure"))
_TIMES = frozenset(("time", "ts", "timestamp", "@timestamp", "date", "datetime", "asctime", "@t", "t", "caller", "pid"))


def words_in_order(text: str) -> list[str] | None:
    """The words of a JSON object: its level, its message, what is said of an error, then the other pairs as they
    stand, without times. None for a line that is no object. Each word is in the line."""
    stripped = text.strip()
    if not (stripped.startswith("{") and '"' in stripped):
        return None
    level: list[str] = []
    said: list[str] = []
    causes: list[str] = []
    others: list[str] = []
    for found in _PAIR.finditer(stripped):
        key, value = found[1].lower(), found[2]
        if key in _LEVELS and value.startswith('"'):
            level += [value[1:-1]]
        elif key in _TEXTS and value.startswith('"'):
            said += value[1:-1].split()
        elif key in _CAUSES:
            causes += found.group().split()
        elif key not in _TIMES:
            others += found.group().split()
    return [*level, *said, *causes, *others] if said else None
