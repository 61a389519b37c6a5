"""Values of many hosts in one: what they agree on, else the range of the numbers with the hosts at its ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import median

from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.report import CheckValues, NumberRange, ValueSummary
from checkrunner.model.results import Value

__all__ = ["MOST_SHOWN", "shared_metrics", "shared_values"]

MOST_SHOWN = 10
"""Of a value that is a list, a report shows so many entries."""

_Text = Callable[[str], str]
_Seen = list[tuple[str, Value]]


def shared_values(outcomes: Sequence[CheckOutcome], text: _Text = str) -> tuple[ValueSummary, ...]:
    """The values of outcomes of one check, in the order of the check. `text` makes a host's text fit for a report.

    The size of the result depends on the number of values alone.
    """
    found: dict[str, _Seen] = {}
    for outcome in outcomes:
        for value in outcome.values:
            found.setdefault(value.name, []).append((outcome.host, value))
    return tuple(_summary(name, seen, text) for name, seen in found.items())


def shared_metrics(hosts: Iterable[HostOutcome], text: _Text = str) -> tuple[CheckValues, ...]:
    """The values of each check over all hosts, in the order in which checks first come up."""
    by_check: dict[str, list[CheckOutcome]] = {}
    for host in hosts:
        for check in host.checks:
            if check.values:
                by_check.setdefault(check.planned.key, []).append(check)
    return tuple(CheckValues(check=key, values=shared_values(some, text)) for key, some in by_check.items())


def _summary(name: str, seen: _Seen, text: _Text) -> ValueSummary:
    read = [(host, value) for host, value in seen if not value.error]
    first = read[0][1] if read else seen[0][1]
    numbers = [(number, host) for host, value in read for number in _numbers(value)]
    whole = all(_numbers(value) or value.value == () for _, value in read)
    shown: object = None
    different = 0
    if read and numbers and whole:
        shown = _range(numbers)
    elif read:
        kinds = {value.value for _, value in read}
        different = len(kinds) if len(kinds) > 1 else 0
        shown = None if different else _shown(first.value, text)
    return ValueSummary(
        name=name,
        value=shown,
        unit=first.unit,
        warn=_same(value.warn for _, value in read),
        crit=_same(value.crit for _, value in read),
        hosts=len(read),
        unread=len(seen) - len(read),
        different=different,
    )


def _numbers(value: Value) -> tuple[float, ...]:
    """The number, or those of a list; nothing for what is none."""
    items = value.value if isinstance(value.value, tuple) else (value.value,)
    numbers = tuple(item for item in items if isinstance(item, int | float) and not isinstance(item, bool))
    return numbers if len(numbers) == len(items) else ()


def _range(numbers: Sequence[tuple[float, str]]) -> object:
    low, high = min(numbers, key=lambda pair: pair[0]), max(numbers, key=lambda pair: pair[0])
    if low[0] == high[0]:
        return low[0]
    middle = median(number for number, _ in numbers)
    return NumberRange(minimum=low[0], median=middle, maximum=high[0], max_host=high[1], min_host=low[1])


def _shown(value: object, text: _Text) -> object:
    if isinstance(value, tuple):
        return tuple(_shown(item, text) for item in value[:MOST_SHOWN])
    return text(value) if isinstance(value, str) else value


def _same(texts: Iterable[str]) -> str:
    found = set(texts)
    return found.pop() if len(found) == 1 else ""
