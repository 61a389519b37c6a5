"""Times that people write on a command line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from checkrunner.load.moments import until_of
from checkrunner.model.errors import UsageError

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 28, 17, 0, tzinfo=UTC)  # 18:00 in Berlin, the day before its clocks are put forward


def in_berlin(naive: datetime) -> datetime:
    return naive.replace(tzinfo=BERLIN)


def until(text: str) -> datetime:
    return until_of(text, NOW, in_berlin)


@pytest.mark.parametrize(
    ("text", "hours"),
    [("90m", 1.5), ("2h", 2), (" 2 h ", 2), ("1.5h", 1.5), ("3d", 72), ("1w", 168), ("1d12h", 36), ("1h 30m", 1.5)],
)
def test_times_from_now(text: str, hours: float) -> None:
    assert until(text) == NOW + timedelta(hours=hours)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-04-01", datetime(2026, 3, 31, 22, 0, tzinfo=UTC)),
        ("2026-03-29", datetime(2026, 3, 28, 23, 0, tzinfo=UTC)),
        ("2026-03-28 20:30", datetime(2026, 3, 28, 19, 30, tzinfo=UTC)),
        ("2026-03-28T20:30", datetime(2026, 3, 28, 19, 30, tzinfo=UTC)),
        ("2026-03-28T20:30Z", datetime(2026, 3, 28, 20, 30, tzinfo=UTC)),
        ("2026-03-28 20:30-05:00", datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),
        ("19:15", datetime(2026, 3, 28, 18, 15, tzinfo=UTC)),
        ("18:00", datetime(2026, 3, 29, 16, 0, tzinfo=UTC)),  # tomorrow, in summer time
        ("07:00", datetime(2026, 3, 29, 5, 0, tzinfo=UTC)),
    ],
)
def test_dates_and_times_of_day(text: str, expected: datetime) -> None:
    assert until(text) == expected
    assert until(text).tzinfo is UTC


def test_a_zone_of_another_kind_of_clock() -> None:
    kathmandu = timezone(timedelta(hours=5, minutes=45))

    found = until_of("00:30", NOW, lambda naive: naive.replace(tzinfo=kathmandu))

    assert found == datetime(2026, 3, 28, 18, 45, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("2 hours", "is no time", "Did you mean '2h'?"),
        ("1day 3hrs", "is no time", "Did you mean '1d3h'?"),
        ("2H", "is no time", "Did you mean '2h'?"),
        ("30s", "is no time", "90m, 2h"),
        ("5", "is no time", "5m, 5h or 5d"),
        ("tomorrow", "is no time", "2026-12-24"),
        ("24.12.2026", "is no time", "2026-MM-DD"),
        ("25:00", "is no time", "18:00"),
        ("2026-13-01", "is no time", "2026-12-24"),
        ("2026-02-30 12:00", "is no time", "2026-12-24"),
        ("", "is no time", "2h"),
        ("-2h", "is no time", "2h"),
        ("0h", "is past", ""),
        ("2026-03-28", "is past: that was 18 hours ago", "name the next day"),
        ("2025-12-24", "is past: that was 94 days ago", "name the next day"),
        ("2026-03-28T16:59Z", "is past: that was 1 minute ago", ""),
        ("400d", "more than 366 days away", "nearer"),
        ("999999w", "more than 366 days away", "nearer"),
        ("2100-01-01", "more than 366 days away", "nearer"),
    ],
)
def test_what_is_no_time_to_come(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        until(text)

    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.exit_code == 64
