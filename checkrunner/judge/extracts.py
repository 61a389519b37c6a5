"""Found things to values: of the wanted type, in the base unit, aggregated. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from checkrunner.judge.parsed import NothingError, Parsed, UnreadError, listed, short
from checkrunner.judge.patterns import first_places
from checkrunner.model.quantities import QuantityError, base_unit, quantity
from checkrunner.model.values import Aggregate, Extract
from checkrunner.queries import QueryError, search

__all__ = [
    "MOST_ENTRIES",
    "MOST_TEXT",
    "Extracted",
    "Found",
    "aggregated",
    "found_in_columns",
    "found_in_data",
    "found_in_lines",
]

MOST_ENTRIES = 1000
"""A value that is a list has no more; beyond it, it could not be read."""

MOST_TEXT = 4096
"""Characters of a value that is a text."""

_TRUE = frozenset({"true", "yes", "on", "1", "enabled", "y"})
_FALSE = frozenset({"false", "no", "off", "0", "disabled", "n"})
_ABSENT = frozenset({"", "-"})
_NO_NUMBERS = frozenset({"nan", "inf", "infinity"})


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was found, as it was there; `label` names it among others."""

    raw: Any
    label: str = ""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The value, and its entries with their labels: those of a list, or the one that it is or was made of."""

    value: float | str | bool | tuple[Any, ...]
    unit: str = ""
    entries: tuple[tuple[Any, str], ...] = ()


def found_in_data(query: str, data: Any) -> list[Found]:
    """What a JMESPath query finds; the items of a list one by one."""
    try:
        result = search(query, data)
    except QueryError as error:
        raise UnreadError(str(error)) from error
    items = result if isinstance(result, list) else [result]
    return [Found(item) for item in _flat(items) if item is not None]


def _flat(items: Sequence[Any]) -> Iterator[Any]:
    for item in items:
        if isinstance(item, list):
            yield from item
        else:
            yield item


def found_in_columns(column: str, parsed: Parsed, chosen: Callable[[Mapping[str, Any]], bool] | None) -> list[Found]:
    """The cells of a column in the rows that are chosen. Each is named by the first other column of its row."""
    if column not in parsed.columns:
        column = _respelled(column, parsed)
    label = next((name for name in parsed.columns if name != column), None)
    found: list[Found] = []
    for row in parsed.rows:
        cell = row.get(column)
        if cell is None or (chosen is not None and not chosen(row)):
            continue
        name = row.get(label) if label is not None else None
        named = name if isinstance(name, str) else ""
        found += [Found(item, named) for item in (cell if isinstance(cell, list) else [cell])]
    return found


def _respelled(column: str, parsed: Parsed) -> str:
    """The column of that name but for spaces and capitals, where there is one."""
    if not parsed.columns:
        raise NothingError(f"there is nothing to read column {short(column)} from: {parsed.what}")
    wanted = column.split()
    same = [name for name in parsed.columns if name.split() == wanted]
    same = same or [name for name in parsed.columns if name.lower().split() == column.lower().split()]
    if len(same) == 1:
        return same[0]
    # Of what has no fixed columns a name that is not there is nothing that was found.
    kind = NothingError if parsed.ragged else UnreadError
    raise kind(f"column {short(column)} is not in {parsed.what}: {listed(parsed.columns)}")


def found_in_lines(name: str, pattern: re.Pattern[str], lines: Sequence[str]) -> list[Found]:
    """Of each line the first place of the pattern: the group called as the value, else ``value``, else the first, else
    all of it; a group ``unit`` is put behind it, a group ``label`` names it. Raises UnreadError where that takes too
    long."""
    groups = pattern.groupindex
    group: int | str = next((one for one in (name, "value") if one in groups), min(pattern.groups, 1))
    found = []
    for match in first_places(pattern, lines):
        text = match[group] if match else None
        if match is None or text is None:
            continue
        unit = (match["unit"] or "") if "unit" in groups else ""
        label = (match["label"] or "") if "label" in groups else ""
        found.append(Found(text + unit, label))
    return found


def aggregated(extract: Extract, found: Sequence[Found]) -> Extracted:
    """The value of what was found. Raises UnreadError, and NothingError where it needs something and nothing is there.

    Empty cells and a lone dash are no numbers and count as not found.
    """
    if extract.kind != "text":
        found = [one for one in found if not (isinstance(one.raw, str) and one.raw.strip() in _ABSENT)]
    unit = base_unit(extract.unit)
    if extract.agg is Aggregate.COUNT:
        return Extracted(float(len(found)), unit, ((float(len(found)), ""),))
    if not found and extract.agg is not Aggregate.LIST:
        raise NothingError("nothing was found")
    if extract.agg in _ONE:
        found = [found[_ONE[extract.agg]]]
    converted = [_converted(extract, one.raw) for one in found]
    entries = tuple((value, one.label) for (value, _), one in zip(converted, found, strict=True))
    units = dict.fromkeys(own for _, own in converted if own)
    if len(units) > 1:
        raise UnreadError(f"its entries are in different units: {listed(units)}")
    unit = next(iter(units), unit)
    if extract.agg is Aggregate.LIST:
        if len(entries) > MOST_ENTRIES:
            raise UnreadError(f"{len(entries):,} entries were found, more than {MOST_ENTRIES:,}")
        return Extracted(tuple(value for value, _ in entries), unit, entries)
    if extract.agg in _ONE:
        return Extracted(entries[0][0], unit, entries)
    return _of_numbers(extract, entries, unit)


_ONE = {Aggregate.FIRST: 0, Aggregate.LAST: -1}
_PICKED: Mapping[Aggregate, Callable[..., Any]] = {Aggregate.MIN: min, Aggregate.MAX: max}
_MADE: Mapping[Aggregate, Callable[[list[float]], float]] = {
    Aggregate.SUM: math.fsum,
    Aggregate.MEAN: fmean,
    Aggregate.MEDIAN: median,
}


def _of_numbers(extract: Extract, entries: tuple[tuple[Any, str], ...], unit: str) -> Extracted:
    if extract.kind == "text":
        raise UnreadError(f"agg: {extract.agg} is for numbers")
    if extract.agg in _PICKED:
        entry = _PICKED[extract.agg](entries, key=lambda one: one[0])
        return Extracted(entry[0], unit, (entry,))
    number = float(_MADE[extract.agg]([float(value) for value, _ in entries]))
    if not math.isfinite(number):
        raise UnreadError(f"the {extract.agg} is too large a number")
    return Extracted(number, unit, ((number, ""),))


def _converted(extract: Extract, raw: Any) -> tuple[Any, str]:
    """The value and, of a number, the unit that it is in."""
    if isinstance(raw, dict | list):
        raise UnreadError(f"a {'mapping' if isinstance(raw, dict) else 'list'} is there, not one value: {short(raw)}")
    if extract.kind == "text":
        return _text(raw), ""
    if extract.kind == "bool":
        return _bool(raw), ""
    return _number(extract, raw)


def _number(extract: Extract, raw: Any) -> tuple[float, str]:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise UnreadError(f"{short(raw)} is not a number")
    if isinstance(raw, str):
        try:
            read = quantity(raw, extract.unit)
        except QuantityError as error:
            text = "; of a text say `type: text`" if raw.isalpha() and raw.lower() not in _NO_NUMBERS else ""
            raise UnreadError(f"{error}{text}") from error
        return read.number, read.unit
    try:
        number = float(raw)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UnreadError(f"{short(raw)} is {'not a number' if math.isnan(number) else 'too large a number'}")
    scale = quantity("1", extract.unit)
    return number * scale.number, scale.unit


def _text(raw: Any) -> str:
    text = ("true" if raw else "false") if isinstance(raw, bool) else str(raw)
    text = text.strip()
    if len(text) > MOST_TEXT:
        raise UnreadError(f"the text has {len(text):,} characters, more than {MOST_TEXT:,}")
    return text


def _bool(raw: Any) -> bool:
    word = _text(raw).lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise UnreadError(f"{short(raw)} is neither true nor false")
