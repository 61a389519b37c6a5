"""What dates, times of day and their parts look like in logs."""

from __future__ import annotations

import re

__all__ = ["MONTHS_AND_DAYS", "ZONES", "is_time", "is_zone"]

_NAMES = "mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec"
_ZONES = "utc gmt cet cest est edt cst cdt mst mdt pst pdt bst ist jst am pm"
_TIME_KEYS = "time ts timestamp t date datetime asctime"

MONTHS_AND_DAYS = frozenset(_NAMES.split())
"""Abbreviated names, in lower case."""

ZONES = frozenset(_ZONES.split())
"""Names of time zones and halves of days, in lower case."""

_KEYS = frozenset(_TIME_KEYS.split())
_EDGES = "[]()<>\"',;|"
_TIME = re.compile(
    r"(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?:[T:_ .-][0-9.,:]+)?"  # 2026-11-30T21:22:01.5
    r"|[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2,4}"  # 30/11/26
    r"|[0-9]{1,2}/[A-Z][a-z]{2}/[0-9]{4}(?::[0-9:]+)?"  # 30/Nov/2026:21:22:01
    r"|[0-9]{2}-[0-9]{2}"  # 11-30
    r"|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[.,:][0-9]+)?"  # 21:22:01,500
    r"|1[0-9]{9}(?:[0-9]{3})?(?:\.[0-9]+)?"  # seconds or milliseconds since 1970
    r"|[0-9]{8}[-T][0-9:.]+"  # 20261130-21:22:01
    r"|[0-9]{1,7}\.[0-9]{6})"  # seconds since the kernel's start
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?\Z"
)
_OFFSET = re.compile(r"[+-][0-9]{4}\Z")


def is_time(token: str) -> bool:
    """Whether the token is a date, a time of day, seconds since 1970 or since a kernel's start, or ``time=...``."""
    core = token.strip(_EDGES)
    if " " in core:
        return all(is_time(part) or is_zone(part) or part.isdigit() for part in core.split())
    low = core.lower()
    if low in MONTHS_AND_DAYS or ("=" in low and low.partition("=")[0] in _KEYS):
        return True
    return core[:1].isdigit() and _TIME.match(core.rstrip(":")) is not None


def is_zone(token: str) -> bool:
    """Whether the token names a time zone: ``UTC``, ``+0100``."""
    core = token.strip(_EDGES)
    return core.lower() in ZONES or _OFFSET.match(core) is not None
