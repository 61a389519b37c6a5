"""Values in words, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkrunner.model.quantities import show_quantity
from checkrunner.model.report import CheckValues, NumberRange, ValueSummary
from checkrunner.render.safe import safe

__all__ = ["MOST_METRICS", "metric_lines", "value_words"]

MOST_METRICS = 20
"""The terminal shows so many values over all hosts; the JSON report has all."""


def value_words(value: ValueSummary) -> str:
    """``used_pct 12% to 97% (median 40%; lowest on web1, highest on db2)``, and on how many hosts it is not known."""
    parts = [_shown(value)]
    if value.unread:
        parts.append(f"not read on {value.unread:,} {'host' if value.unread == 1 else 'hosts'}")
    return f"{safe(value.name)} {', '.join(part for part in parts if part)}"


def _shown(value: ValueSummary) -> str:
    what = value.value
    if isinstance(what, NumberRange):
        low, middle, high = (show_quantity(n, value.unit) for n in (what.minimum, what.median, what.maximum))
        # Of a list on one host both ends are there.
        ends = f"; lowest on {what.min_host}, highest on {what.max_host}" if what.min_host != what.max_host else ""
        return safe(f"{low} to {high} (median {middle}{ends})")
    if value.different:
        return f"{value.different:,} different texts"
    if not value.hosts:
        return ""
    return _one(what, value.unit)


def _one(what: object, unit: str) -> str:
    if isinstance(what, tuple):
        return ", ".join(_one(item, unit) for item in what) or "nothing"
    if isinstance(what, bool):
        return "true" if what else "false"
    return safe(show_quantity(what, unit) if isinstance(what, int | float) else str(what))


def metric_lines(metrics: Sequence[CheckValues]) -> Iterator[str]:
    """A line for each check, and one for those that found no room."""
    left = MOST_METRICS
    more = 0
    for entry in metrics:
        if len(entry.values) > left:
            more += len(entry.values)
            continue
        left -= len(entry.values)
        many = f" ({entry.items:,} items)" if entry.items else ""
        yield f"{safe(entry.check)}{many}: {'; '.join(value_words(value) for value in entry.values)}"
    if more:
        yield f"{more:,} more {'is' if more == 1 else 'are'} in the JSON report"
