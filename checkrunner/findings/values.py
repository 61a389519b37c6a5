"""Values of many hosts in one: what they agree on, else the range of the numbers with the hosts at its ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median

from checkrunner.findings.items import place, trunk
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.report import CheckValues, NumberRange, ValueSummary
from checkrunner.model.results import Value

__all__ = ["MOST_ITEMS", "MOST_SHOWN", "shared_metrics", "shared_values"]

MOST_SHOWN = 10
"""Of a value that is a list, a report shows so many entries."""

MOST_ITEMS = 10
"""Of a loop with more items, the values of all items are one entry."""

_Text = Callable[[str], str]
_Seen = list[tuple[CheckOutcome, Value]]


def shared_values(outcomes: Sequence[CheckOutcome], text: _Text = str) -> tuple[ValueSummary, ...]:
    """The values of outcomes of one check, in the order of the check. `text` makes a host's text fit for a report.

    The size of the result depends on the number of values alone.
    """
    found: dict[str, _Seen] = {}
    of_many = any(outcome.planned.key != outcomes[0].planned.key for outcome in outcomes)
    for outcome in outcomes:
        for value in outcome.values:
            found.setdefault(value.name, []).append((outcome, value))
    return tuple(_summary(name, seen, text, of_many=of_many) for name, seen in found.items())


def shared_metrics(hosts: Iterable[HostOutcome], text: _Text = str) -> tuple[CheckValues, ...]:
    """The values of each check over all hosts, in the order in which checks first come up. The items of a loop have
    their own each, up to `MOST_ITEMS`; those of a longer loop are spoken of together."""
    by_check: dict[str, dict[str, list[CheckOutcome]]] = {}
    for host in hosts:
        for check in host.checks:
            if check.values:
                its = by_check.setdefault(trunk(check.planned), {})
                its.setdefault(check.planned.key, []).append(check)
    return tuple(entry for key, its in by_check.items() for entry in _of_check(key, its, text))


def _of_check(key: str, its: Mapping[str, list[CheckOutcome]], text: _Text) -> Iterator[CheckValues]:
    if len(its) > MOST_ITEMS:
        every = [outcome for some in its.values() for outcome in some]
        yield CheckValues(check=key, values=shared_values(every, text), items=len(its))
        return
    for its_key, some in its.items():
        yield CheckValues(check=its_key, values=shared_values(some, text))


def _summary(name: str, seen: _Seen, text: _Text, *, of_many: bool) -> ValueSummary:
    read = [(outcome, value) for outcome, value in seen if not value.error]
    first = read[0][1] if read else seen[0][1]
    numbers = [(number, outcome) for outcome, value in read for number in _numbers(value)]
    whole = all(_numbers(value) or value.value == () for _, value in read)
    shown: object = None
    different = 0
    if read and numbers and whole:
        shown = _range(numbers, of_many=of_many)
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
        hosts=len({outcome.host for outcome, _ in read}),
        unread=len({outcome.host for outcome, value in seen if value.error}),
        different=different,
    )


def _numbers(value: Value) -> tuple[float, ...]:
    """The number, or those of a list; nothing for what is none."""
    items = value.value if isinstance(value.value, tuple) else (value.value,)
    numbers = tuple(item for item in items if isinstance(item, int | float) and not isinstance(item, bool))
    return numbers if len(numbers) == len(items) else ()


def _range(numbers: Sequence[tuple[float, CheckOutcome]], *, of_many: bool) -> object:
    low, high = min(numbers, key=lambda pair: pair[0]), max(numbers, key=lambda pair: pair[0])
    if low[0] == high[0]:
        return low[0]
    middle = median(number for number, _ in numbers)
    ends = [place(outcome, of_many=of_many) for _, outcome in (low, high)]
    return NumberRange(minimum=low[0], median=middle, maximum=high[0], max_host=ends[1], min_host=ends[0])


def _shown(value: object, text: _Text) -> object:
    if isinstance(value, tuple):
        return tuple(_shown(item, text) for item in value[:MOST_SHOWN])
    return text(value) if isinstance(value, str) else value


def _same(texts: Iterable[str]) -> str:
    found = set(texts)
    return found.pop() if len(found) == 1 else ""
