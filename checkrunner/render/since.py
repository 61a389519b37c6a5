"""How long something has been so, in words that need no clock: against the beginning of the run. Plain texts, not yet
made harmless for where they go."""

from __future__ import annotations

from datetime import UTC, datetime

from checkrunner.model.history import FLAP_RUNS
from checkrunner.model.report import Finding, Silenced, Suppressed
from checkrunner.render.layout import count_of

__all__ = ["age", "flapping_text", "moment", "silenced_text", "since_text", "suppressed_text"]


def moment(when: datetime) -> str:
    """``2026-11-30 14:05 UTC``."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def age(seconds: float) -> str:
    """Coarse: ``50 s``, ``5 min``, ``11 h``, ``3 days``."""
    for size, unit in ((172_800, "days"), (7200, "h"), (120, "min")):
        if seconds >= size:
            return f"{seconds // {'days': 86_400, 'h': 3600, 'min': 60}[unit]:,.0f} {unit}"
    return f"{seconds:.0f} s"


def since_text(since: datetime | None, began: datetime) -> str:
    """``since 2026-11-30 14:05 UTC (11 h)``; "" for what is not known, or so only since this run."""
    if since is None or since >= began:
        return ""
    return f"since {moment(since)} ({age((began - since).total_seconds())})"


def flapping_text(finding: Finding) -> str:
    """``flapping: 5 changes in the last 10 runs``, or ""."""
    return f"flapping: {count_of(finding.changes, 'change')} in the last {FLAP_RUNS} runs" if finding.changes else ""


def silenced_text(silenced: Silenced) -> str:
    """``silenced until 2026-12-24 08:00 UTC by anna: disk is on its way``."""
    by = f" by {silenced.by}" if silenced.by else ""
    return f"silenced until {moment(silenced.until)}{by}" + (f": {silenced.why}" if silenced.why else "")


def suppressed_text(entry: Suppressed) -> str:
    """``not run until 2026-12-24 08:00 UTC, since it did harm 3 times: could not be ended``."""
    return f"not run until {moment(entry.until)}, since it did harm {count_of(entry.strikes, 'time')}: {entry.reason}"
