"""The kinds of values that a report document is made of, as pydantic annotations. Each says itself what is wrong."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import Field, PlainValidator
from pydantic_core import PydanticCustomError

from checkrunner.model.report import NumberRange
from checkrunner.model.results import SliceLine

__all__ = ["KINDS", "Count", "Line", "Metadata", "Seconds", "Time", "Value"]

KINDS = frozenset({"time", "range", "line", "number", "value", "metadata", "samples"})
"""The types of errors whose message is a whole one."""

_MOST = (1 << 63) - 1
_LARGEST = int(sys.float_info.max)
"""No whole number is larger: it has to have a place among the others."""
_RANGE = {"min", "median", "max", "max_host"}
_LEAST_LINE, _LONGEST_LINE = 2, 4


Count = Annotated[int, Field(ge=0, le=_MOST)]


def _time(value: object) -> datetime:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise PydanticCustomError("time", "is no time such as 2026-11-30T10:15:00Z")
    return moment.astimezone(UTC)


def _anything(value: object) -> object:
    """Metadata and values: lists become tuples, and ranges what they are."""
    if isinstance(value, Mapping):
        found = {str(name): _anything(part) for name, part in value.items()}
        return _range(found) if found.keys() >= _RANGE else found
    if isinstance(value, list):
        return tuple(map(_anything, value))
    if isinstance(value, float) and not math.isfinite(value):
        raise PydanticCustomError("number", "is a number that JSON does not have")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise PydanticCustomError("number", "is a number of more digits than any value has")
    return value


def _value(value: object) -> object:
    """A value: a number, text, boolean, a list of these, a range, or nothing."""
    found = _anything(value)
    if isinstance(found, Mapping) or (isinstance(found, tuple) and any(map(_has_parts, found))):
        raise PydanticCustomError("value", "is no value: it is a number, text, boolean, list, range or null")
    return found


def _has_parts(value: object) -> bool:
    return isinstance(value, Mapping | tuple | NumberRange)


def _result(value: object) -> object:
    found = _anything(value)
    if not isinstance(found, dict):
        raise PydanticCustomError("metadata", "is no object with metadata of a command")
    samples = found.get("samples", {"count": 0})
    if not isinstance(samples, Mapping) or "count" not in samples:
        raise PydanticCustomError("samples", "has samples without their count")
    return found


def _range(found: Mapping[str, Any]) -> NumberRange:
    """JSON has no infinity: null stands for what is no number."""
    parts = {name: math.nan if found[name] is None else found[name] for name in ("min", "median", "max")}
    hosts = (found["max_host"], found.get("min_host", ""))
    numbers = all(isinstance(part, int | float) and not isinstance(part, bool) for part in parts.values())
    if not numbers or not all(isinstance(host, str) for host in hosts) or found.keys() - _RANGE - {"min_host"}:
        raise PydanticCustomError("range", "is no range: it has min, median and max, which are numbers, and max_host")
    return NumberRange(
        minimum=parts["min"], median=parts["median"], maximum=parts["max"], max_host=hosts[0], min_host=hosts[1]
    )


def _line(value: object) -> SliceLine:
    fields = value if isinstance(value, list) else []
    numbers = [field for at, field in enumerate(fields) if at != 1]
    right = (
        _LEAST_LINE <= len(fields) <= _LONGEST_LINE
        and isinstance(fields[1], str)
        and all(isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= _MOST for number in numbers)
    )
    if not right:
        raise PydanticCustomError("line", "is no line: it is [number, text, bytes cut, how many], the last two if any")
    number, text, cut, count = (*fields, 0, 1)[:4] if len(fields) != 3 else (*fields, 1)
    return SliceLine(number=number, text=text, cut_bytes=cut, count=count)


Time = Annotated[datetime, PlainValidator(_time)]
Value = Annotated[Any, PlainValidator(_value)]
Metadata = Annotated[dict[str, Any], PlainValidator(_result)]
Line = Annotated[SliceLine, PlainValidator(_line)]
Seconds = Annotated[float, Field(ge=0, le=_MOST)]
