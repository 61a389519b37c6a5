"""Times that people write on a command line: ``2h``, ``18:00``, ``2026-12-24``, ``2026-12-24 18:00+01:00``."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta

from checkrunner.model.errors import UsageError

__all__ = ["LONGEST_DAYS", "until_of"]

LONGEST_DAYS = 366
"""What is to last longer is a decision, and belongs into the playbook."""

_UNITS_S = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_WORDS = {
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "m"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
    **dict.fromkeys(("wk", "week", "weeks"), "w"),
}
_PART = r"([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*([a-zA-Z]+)"
_DURATION = re.compile(rf"(?:{_PART}\s*)+")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].+)?")
_FORMS = "Write a time from now (90m, 2h, 3d, 1w), a time of day (18:00), or a date (2026-12-24, '2026-12-24 18:00')"


def until_of(text: str, now: datetime, in_zone: Callable[[datetime], datetime]) -> datetime:
    """The time that a text names, in UTC. `in_zone` makes a time without a zone one of the zone that people here live
    in. A date alone is its beginning; a time of day is the next one.

    Raises UsageError for another text, for what is past, and for what is more than `LONGEST_DAYS` away.
    """
    written = text.strip()
    found = _duration(written, now) or _clock(written, now, in_zone) or _date(written, in_zone)
    if found is None:
        raise UsageError(f"{text!r} is no time", hint=_near(written) or _FORMS)
    if found <= now:
        hint = "A date alone is its beginning; name the next day, or a time of day" if len(written) == 10 else _FORMS
        raise UsageError(f"{text!r} is past: that was {_ago(now - found)} ago", hint=hint)
    if found - now > timedelta(days=LONGEST_DAYS):
        raise UsageError(f"{text!r} is more than {LONGEST_DAYS} days away", hint="Choose a nearer end, and renew it")
    return found.astimezone(UTC)


def _duration(text: str, now: datetime) -> datetime | None:
    if not _DURATION.fullmatch(text):
        return None
    parts = re.findall(_PART, text)
    if any(unit not in _UNITS_S for _, unit in parts):
        return None
    seconds = sum(float(number) * _UNITS_S[unit] for number, unit in parts)
    try:
        return now + timedelta(seconds=seconds)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def _clock(text: str, now: datetime, in_zone: Callable[[datetime], datetime]) -> datetime | None:
    found = _CLOCK.fullmatch(text)
    if found is None or int(found[1]) > 23 or int(found[2]) > 59:
        return None
    at = time(int(found[1]), int(found[2]))
    today = now.astimezone(in_zone(now.replace(tzinfo=None)).tzinfo).date()
    # Tomorrow's own offset counts: it may be another one.
    days = (in_zone(datetime.combine(today + timedelta(days=more), at)) for more in (0, 1, 2))
    return next((moment for moment in days if moment > now), None)


def _date(text: str, in_zone: Callable[[datetime], datetime]) -> datetime | None:
    if not _DATE.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return in_zone(moment) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _near(text: str) -> str:
    """What was probably meant, in words; "" where nothing is close."""
    if re.fullmatch(r"[0-9]+", text):
        return f"Say of what: {text}m, {text}h or {text}d" if len(text) < 5 else ""
    parts = re.findall(_PART, text)
    if parts and _DURATION.fullmatch(text):
        units = [unit.lower() if unit.lower() in _UNITS_S else _WORDS.get(unit.lower(), "") for _, unit in parts]
        if all(units):
            meant = "".join(f"{number}{unit}" for (number, _), unit in zip(parts, units, strict=True))
            return f"Did you mean {meant!r}?"
    if text.lower() in {"tomorrow", "tonight", "today", "never", "forever"}:
        return _FORMS
    found = re.fullmatch(r"([0-9]{1,2})[./]([0-9]{1,2})[./]([0-9]{4})", text)
    if found:
        return f"Write a date with the year first: {found[3]}-MM-DD"
    return ""


def _ago(past: timedelta) -> str:
    seconds = past.total_seconds()
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if (number := int(seconds // length)) > 0:
            return f"{number:,} {unit}{'' if number == 1 else 's'}"
    return "less than a minute"
