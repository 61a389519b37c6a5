"""When something runs again and again: periods and cron's five fields, and what cron and systemd make of them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from checkrunner.model.errors import SettingsError, UsageError
from checkrunner.model.quantities import QuantityError, quantity, show_quantity

__all__ = ["Period", "calendars", "cron_line", "next_times", "period_of", "period_text"]

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_CRON_PERIODS = {
    **{n * _MINUTE: f"*/{n} * * * *" if n > 1 else "* * * * *" for n in range(1, 60) if 60 % n == 0},
    **{n * _HOUR: f"0 */{n} * * *" if n > 1 else "0 * * * *" for n in range(1, 24) if 24 % n == 0},
    _DAY: "0 0 * * *",
    7 * _DAY: "0 0 * * 0",
}
"""What cron can do at equal distances, in seconds."""
_MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_FIELDS = ("minute", "hour", "day of the month", "month", "day of the week")
_VALUE = r"(?:[0-9]+|[A-Za-z]{3})"
_TERM = re.compile(rf"(?:\*|{_VALUE}-{_VALUE})(?:/[0-9]+)?|{_VALUE}")
_DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Either a distance in seconds, or cron's five fields: what cron can say of a distance is there as well."""

    seconds: float | None = None
    cron: str = ""


def period_of(every: str | None, cron: str | None) -> Period:
    """The one of the two that is given. Raises UsageError members."""
    if (every is None) == (cron is None):
        raise UsageError("when is it to run?", hint="Give either --every, such as --every 5m, or --cron '0 6 * * 1-5'")
    if cron is not None:
        return Period(cron=_checked(cron))
    try:
        seconds = quantity(str(every), "s").number
    except QuantityError:
        raise SettingsError("every", every, "flag", "expected a time such as 30s, 5m, 1h or 1d") from None
    if not 1 <= seconds <= 366 * _DAY:
        raise SettingsError("every", every, "flag", "expected a time between 1s and 366d")
    return Period(seconds=seconds, cron=_CRON_PERIODS.get(int(seconds), "") if seconds == int(seconds) else "")


def _checked(cron: str) -> str:
    """The five fields, if cron takes them: only what all crons know."""
    from cronsim import CronSim, CronSimError

    text = _MACROS.get(cron.strip().lower(), cron.strip())
    fields = text.split()
    if len(fields) != len(_FIELDS):
        hint = f"Five fields: {', '.join(_FIELDS)}; or one of {', '.join(_MACROS)}"
        raise SettingsError("cron", cron, "flag", f"it has {len(fields)} fields. {hint}")
    for field, name in zip(fields, _FIELDS, strict=True):
        wrong = [term for term in field.split(",") if not _TERM.fullmatch(term)]
        if wrong:
            raise SettingsError("cron", cron, "flag", f"{name}: {wrong[0]!r} is not *, N, N-M, */S or N-M/S")
    try:
        next(CronSim(text, datetime(2024, 1, 1)))  # noqa: DTZ001 - only whether there is a time at all
    except CronSimError as error:
        raise SettingsError("cron", cron, "flag", str(error)[:1].lower() + str(error)[1:]) from None
    except StopIteration:
        raise SettingsError("cron", cron, "flag", "there is no such day") from None
    return " ".join(fields)


def cron_line(period: Period) -> str:
    """The five fields. Raises UsageError for a distance that cron cannot keep, with the nearest that it can."""
    if period.cron:
        return period.cron
    seconds = period.seconds or 0
    known = sorted(_CRON_PERIODS)
    near = [max((s for s in known if s < seconds), default=None), min((s for s in known if s > seconds), default=None)]
    words = " or ".join(period_text(s) for s in near if s is not None)
    why = "it knows whole minutes only" if seconds % _MINUTE else "it starts anew each hour, day and week"
    raise UsageError(
        f"cron cannot run anything every {period_text(seconds)}: {why}",
        hint=f"The nearest that it can: {words}. --format systemd can do it",
    )


def calendars(period: Period) -> tuple[str, ...]:
    """The same times as systemd's calendar events (any of them); empty for a distance that no calendar has."""
    if not period.cron:
        return ()
    from cronsim import CronSim

    sim = CronSim(period.cron, datetime(2024, 1, 1))  # noqa: DTZ001 - only what it makes of the fields
    week = {day % 7 for day in sim.weekdays if isinstance(day, int)}
    days = "" if len(week) == len(_DAYS) else ",".join(_DAYS[day] for day in sorted(week)) + " "
    months, dates = _values(sim.months, 1, 12), _values(sim.days, 1, 31)
    time = f"{_values(sim.hours, 0, 23)}:{_values(sim.minutes, 0, 59)}:00"
    if days and dates != "*" and not sim.day_and:
        # Cron takes a day that fits either; one event of systemd's takes those that fit both.
        return f"*-{months}-{dates} {time}", f"{days}*-{months}-* {time}"
    return (f"{days}*-{months}-{dates} {time}",)


def _values(values: Iterable[int], first: int, last: int) -> str:
    """Numbers as systemd writes them: all, from one on in steps, or one by one."""
    found = sorted(values)
    if found == list(range(first, last + 1)):
        return "*"
    steps = {after - before for before, after in itertools.pairwise(found)}
    if len(found) > 2 and len(steps) == 1 and found[-1] + min(steps) > last:
        return f"{found[0]:02}/{min(steps)}"
    return ",".join(f"{value:02}" for value in found)


def next_times(period: Period, now: datetime, count: int) -> list[datetime]:
    """The next times, of the same clock and zone as `now`."""
    if not period.cron:
        return [now + timedelta(seconds=(period.seconds or 0) * number) for number in range(1, count + 1)]
    from cronsim import CronSim

    # By the wall: what a change to summer time does to a time within it is up to cron and systemd.
    return [
        at.replace(tzinfo=now.tzinfo) for at in itertools.islice(CronSim(period.cron, now.replace(tzinfo=None)), count)
    ]


def period_text(seconds: float) -> str:
    """``7m``, ``1h30m``."""
    return "1m" if seconds == _MINUTE else show_quantity(seconds, "s")
