"""Metadata and reasons of many hosts in one: a value where they agree, a range where they do not."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from statistics import median

from checkrunner.model.plan import CheckOutcome
from checkrunner.model.report import NumberRange
from checkrunner.model.results import Reason, Result

__all__ = ["shared_reasons", "shared_result"]

_NUMBERS: dict[str, Callable[[Result], float | None]] = {
    "rc": lambda result: result.rc,
    "signal": lambda result: result.signal,
    "elapsed_s": lambda result: result.elapsed_s,
    "cpu_s": lambda result: result.cpu_s,
    "stdout_lines": lambda result: result.stdout.lines,
    "stdout_bytes": lambda result: result.stdout.bytes,
    "stderr_lines": lambda result: result.stderr.lines,
    "stderr_bytes": lambda result: result.stderr.bytes,
    "leftover_processes": lambda result: len(result.leftover_pids),
}
_QUANTITY = re.compile(r"\s*(-?\d+(?:\.\d+)?)(\s*[^\d\s][^\d]*)?\s*\Z")


def shared_result(outcomes: Sequence[CheckOutcome]) -> dict[str, object]:
    """The metadata of a finding. Numbers that are 0 everywhere are left out, except the return code."""
    results = [(outcome.host, outcome.result) for outcome in outcomes if outcome.result is not None]
    out: dict[str, object] = {}
    for name, read in _NUMBERS.items():
        values = [(value, host) for host, result in results if (value := read(result)) is not None]
        if values and (name == "rc" or any(value for value, _ in values)):
            out[name] = _value_or_range(values)
    states = {result.state for _, result in results}
    if len(states) == 1 and (state := states.pop()):
        out["state"] = state
    return out


def _value_or_range(values: Sequence[tuple[float, str]]) -> object:
    numbers = sorted(value for value, _ in values)
    if numbers[0] == numbers[-1]:
        return numbers[0]
    top = next(host for value, host in values if value == numbers[-1])
    return NumberRange(minimum=numbers[0], median=median(numbers), maximum=numbers[-1], max_host=top)


def shared_reasons(outcomes: Sequence[CheckOutcome]) -> tuple[tuple[Reason, ...], bool]:
    """The reasons of a finding, and whether the exemplar's texts stand for others that differ in more than a number.

    Where the actual values are quantities they become a range that names the hosts of both ends.
    """
    first = outcomes[0].verdict.reasons
    reasons: list[Reason] = []
    differ = False
    for at, reason in enumerate(first):
        actuals = [(outcome.verdict.reasons[at].actual, outcome.host) for outcome in outcomes]
        if all(actual == reason.actual for actual, _ in actuals):
            reasons.append(reason)
            differ |= any(outcome.verdict.reasons[at].message != reason.message for outcome in outcomes)
            continue
        spread = _spread(actuals)
        differ |= spread is None
        reasons.append(_with_spread(reason, *spread) if spread else reason)
    return tuple(reasons), differ


def _spread(actuals: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """A short and a long text for the range of the actual values, if they are all quantities of one unit."""
    quantities = []
    for actual, host in actuals:
        match = _QUANTITY.match(actual)
        if match is None:
            return None
        quantities.append((float(match[1]), match[2] or "", host))
    if len({unit for _, unit, _ in quantities}) != 1:
        return None
    unit = quantities[0][1].rstrip()
    low = min(quantities, key=lambda item: item[0])
    high = max(quantities, key=lambda item: item[0])
    middle = median(value for value, _, _ in quantities)
    short = f"{_number(low[0])} to {_number(high[0])}{unit}"
    return short, f"{short} (median {_number(middle)}; lowest on {low[2]}, highest on {high[2]})"


def _with_spread(reason: Reason, short: str, long: str) -> Reason:
    message = reason.message
    if reason.actual and message.count(reason.actual) == 1:
        message = message.replace(reason.actual, short)
    return Reason(subject=reason.subject, expected=reason.expected, actual=long, message=message)


def _number(value: float) -> str:
    return f"{value:.10g}" if value == int(value) else f"{value:.4g}"
