"""Filters and functions of dates and times. What time it is, and where, is handed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from checkrunner.plan.outside import Outside

__all__ = ["now", "time_filters"]


def time_filters(outside: Outside) -> Mapping[str, Callable[..., Any]]:
    """The filters ``strftime`` and ``to_datetime``."""

    def strftime(string_format: str, second: Any = None, utc: bool = False) -> str:
        """A moment (Unix time; now) as the format says."""
        if not isinstance(string_format, str):
            msg = f"strftime needs a text, not {type(string_format).__name__}"
            raise TypeError(msg)
        seconds = None if second is None else float(second)
        return outside.moment(seconds, utc=utc).strftime(string_format)

    def to_datetime(text: str, format: str = "%Y-%m-%d %H:%M:%S") -> datetime:  # noqa: A002 - Ansible's word
        """The moment that a text says."""
        return datetime.strptime(text, format)  # noqa: DTZ007 - as in Ansible: differences of two are what it is for

    return {"strftime": strftime, "to_datetime": to_datetime}


def now(outside: Outside, utc: bool = False, fmt: str | None = None) -> datetime | str:
    """The moment, as a datetime without a zone, or as a text where there is a format."""
    moment = outside.moment(None, utc=utc).replace(tzinfo=None)
    return moment.strftime(fmt) if fmt else moment
