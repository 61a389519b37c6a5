"""Values for other programs: performance data as Nagios plugins write it, and metrics as JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.quantities import plain_number
from checkrunner.model.results import Value, VerdictState

__all__ = ["LABEL_UNITS", "label_of", "metric_texts", "perfdata_texts"]

_Mask = Callable[[str], str]

_STATES = {
    VerdictState.OK: "OK",
    VerdictState.WARN: "WARNING",
    VerdictState.CRIT: "CRITICAL",
    VerdictState.UNKNOWN: "UNKNOWN",
}
LABEL_UNITS = frozenset({"s", "%", "B", "c"})
"""What may stand behind a number; other units would be taken for a part of it."""

_NOT_LABEL = re.compile(r"[=|\x00-\x1f\x7f]")
_NOT_WORD = re.compile(r"[\s|]+")


def perfdata_texts(hosts: Iterable[HostOutcome], mask: _Mask = str) -> Iterator[str]:
    """A line for each host and check that has numbers: ``web1 disk WARNING | 'disk.used'=91%;80;95``.

    A value that could not be read is ``U``. Texts have no place in it. `mask` is applied to what comes from hosts.
    """
    for host in hosts:
        for check in host.checks:
            state = _STATES.get(check.verdict.state)
            parts = [part for value in check.values for part in _perfdata(check, value, mask)]
            if parts and state is not None:
                where = f"{_word(host.host.name)} {_word(mask(check.planned.key))}"
                yield f"{where} {state} | {' '.join(parts)}"


def _perfdata(check: CheckOutcome, value: Value, mask: _Mask) -> Iterator[str]:
    name = f"{mask(check.planned.key)}.{value.name}"
    if value.error:
        yield f"{label_of(name)}=U"
        return
    listed = isinstance(value.value, tuple)
    items = value.value if isinstance(value.value, tuple) else (value.value,)
    unit = value.unit if value.unit in LABEL_UNITS else ""
    for number, item in enumerate(items, 1):
        if isinstance(item, int | float):
            label = label_of(f"{name}[{number}]" if listed else name)
            yield f"{label}={plain_number(float(item))}{unit};{value.warn};{value.crit}".rstrip(";")


def label_of(text: str) -> str:
    """``'disk.used'``: a label of performance data."""
    return "'" + _NOT_LABEL.sub("_", text).replace("'", "''") + "'"


def _word(text: str) -> str:
    return _NOT_WORD.sub("_", text)


def metric_texts(hosts: Iterable[HostOutcome], began: datetime, mask: _Mask = str) -> Iterator[str]:
    """A JSON object for each value: host, check, name, value, unit, verdict and time, and where there are any its
    levels (`warn`, `crit`) and why it could not be read (`error`).

    The time is when the command was started, by the host's clock, or when the run `began`.
    """
    for host in hosts:
        for check in host.checks:
            started = check.result.started_at if check.result and check.result.started_at else began
            for value in check.values:
                yield json.dumps(_metric(check, value, started, mask), separators=(",", ":"), allow_nan=False)


def _metric(check: CheckOutcome, value: Value, started: datetime, mask: _Mask) -> dict[str, Any]:
    return {
        "host": check.host,
        "check": mask(check.planned.key),
        "name": value.name,
        "value": _plain(value.value, mask),
        "unit": value.unit,
        "verdict": str(check.verdict.state),
        "time": started.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        **({"warn": value.warn} if value.warn else {}),
        **({"crit": value.crit} if value.crit else {}),
        **({"error": mask(value.error)} if value.error else {}),
    }


def _plain(value: object, mask: _Mask) -> object:
    if isinstance(value, tuple):
        return [_plain(item, mask) for item in value]
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, float) and value == int(value):
        return int(value)
    return value
