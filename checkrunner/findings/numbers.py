"""Metadata and reasons of many hosts in one: a value where they agree, a range where they do not."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from statistics import median

from checkrunner.findings.items import place
from checkrunner.model.observation import Activity
from checkrunner.model.plan import CheckOutcome
from checkrunner.model.report import NumberRange
from checkrunner.model.results import Reading, Reason, Result

__all__ = ["shared_reasons", "shared_result", "shared_seen"]

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
    "answered": lambda result: result.answered,
}
_OF_READINGS: dict[str, Callable[[Reading], float | None]] = {
    "rc": lambda reading: reading.rc,
    "elapsed_s": lambda reading: reading.elapsed_s,
    "stdout_lines": lambda reading: reading.lines,
}
_MOST_PIDS = 5
# Numbers that stand free or carry a unit; 16 digits and more are identifiers.
_QUANTITY = re.compile(r"((?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,15})?(?![\d.]))")


def shared_result(outcomes: Sequence[CheckOutcome]) -> dict[str, object]:
    """The metadata of a finding. Numbers that are 0 everywhere are left out, except the return code. Pids mean
    something on one host only."""
    seen = [outcome for outcome in outcomes if outcome.result is not None]
    results = [outcome.result for outcome in seen if outcome.result is not None]
    out: dict[str, object] = {}
    for name, read in _NUMBERS.items():
        # No pairs with the host's name here: with tens of thousands of hosts, making them costs more than all the rest.
        values = [read(result) for result in results]
        numbers = [value for value in values if value is not None]
        if numbers and (name == "rc" or any(numbers)):
            low, high = min(numbers), max(numbers)
            out[name] = low
            if low != high:
                top = place(seen[values.index(high)], of_many=_of_items(outcomes))
                out[name] = NumberRange(minimum=low, median=median(numbers), maximum=high, max_host=top)
    if any(outcome.attempts > 1 for outcome in seen):
        out["attempts"] = _value_or_range([(outcome.attempts, where) for outcome, where in _placed(seen)])
    if len(results) == 1 and (pids := results[0].leftover_pids):
        out["leftover_pids"] = pids[:_MOST_PIDS]
    if samples := _shared_samples(seen):
        out["samples"] = samples
    states = {result.state for result in results if result.seen is None}
    if len(states) == 1 and (state := states.pop()):
        out["state"] = state
    return out


def _shared_samples(outcomes: Sequence[CheckOutcome]) -> dict[str, object]:
    """All readings of all hosts in one: how many a host has, how many of all were not rc 0, and what they came to.
    Its size depends on neither number."""
    readings = [(where, outcome.result.samples) for outcome, where in _placed(outcomes) if outcome.result is not None]
    every = [(reading, host) for host, samples in readings for reading in samples]
    if not every:
        return {}
    out: dict[str, object] = {"count": _value_or_range([(len(samples), host) for host, samples in readings])}
    if failed := sum(reading.rc != 0 for reading, _ in every):
        out["failed"] = failed
    for name, read in _OF_READINGS.items():
        values = [(value, host) for reading, host in every if (value := read(reading)) is not None]
        if values:
            out[name] = _value_or_range(values)
    return out


def shared_seen(outcomes: Sequence[CheckOutcome]) -> dict[str, object]:
    """What the commands of a finding were last seen doing. What has one value for each host (a process, a descriptor)
    is that of the first host; its `pid` is left out where there are more."""
    results = [(where, outcome.result) for outcome, where in _placed(outcomes) if outcome.result is not None]
    looks = [(host, result.seen) for host, result in results if result.seen is not None]
    out: dict[str, object] = {}
    if looks:
        seen = looks[0][1]
        parts = {"kind": str(seen.kind), "pid": seen.pid if len(outcomes) == 1 else 0, "name": seen.name}
        parts |= {"wchan": seen.wchan, "syscall": seen.syscall}
        out = {name: value for name, value in parts.items() if value}
        out |= {} if seen.fd is None else {"fd": seen.fd}
        out |= {"on": seen.on} if seen.on else {}
        out |= {} if seen.echo is None or seen.kind is not Activity.WAITING_INPUT else {"echo": seen.echo}
        if any(look.since_s for _, look in looks):
            out["since_s"] = _value_or_range([(look.since_s, host) for host, look in looks])
    if results and results[0][1].prompt:
        out["prompt"] = results[0][1].prompt
    return out


def _value_or_range(values: Sequence[tuple[float, str]]) -> object:
    numbers = sorted(value for value, _ in values)
    if numbers[0] == numbers[-1]:
        return numbers[0]
    top = next(host for value, host in values if value == numbers[-1])
    return NumberRange(minimum=numbers[0], median=median(numbers), maximum=numbers[-1], max_host=top)


def shared_reasons(outcomes: Sequence[CheckOutcome]) -> tuple[tuple[Reason, ...], bool]:
    """The reasons of a finding, and whether the exemplar's texts stand for others that differ in more than numbers.

    The outcomes have the same reasons but for what is masked. Where the actual values differ in numbers, each such
    number becomes a range; the hosts of both ends are named if there is one such number.
    """
    reasons: list[Reason] = []
    differ = False
    for at, reason in enumerate(outcomes[0].verdict.reasons):
        differ |= any(outcome.verdict.reasons[at].expected != reason.expected for outcome in outcomes)
        actuals = [(outcome.verdict.reasons[at].actual, where) for outcome, where in _placed(outcomes)]
        if all(actual == reason.actual for actual, _ in actuals):
            reasons.append(reason)
            differ |= any(outcome.verdict.reasons[at].message != reason.message for outcome in outcomes)
            continue
        spread = _spread(actuals)
        differ |= spread is None
        reasons.append(_with_spread(reason, *spread) if spread else reason)
    return tuple(reasons), differ


def _of_items(outcomes: Sequence[CheckOutcome]) -> bool:
    return any(outcome.planned.key != outcomes[0].planned.key for outcome in outcomes)


def _placed(outcomes: Sequence[CheckOutcome]) -> list[tuple[CheckOutcome, str]]:
    many = _of_items(outcomes)
    return [(outcome, place(outcome, of_many=many)) for outcome in outcomes]


def _spread(actuals: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """The text with its ranges, and the same with median and hosts; None when the texts differ in more than numbers."""
    split = [(_QUANTITY.split(actual), host) for actual, host in actuals]
    words = split[0][0][::2]
    if any(parts[::2] != words for parts, _ in split):
        return None
    out, details = list(split[0][0]), []
    for at in range(1, len(out), 2):
        values = [(float(parts[at].replace(",", "")), parts[at], host) for parts, host in split]
        low, high = min(values, key=lambda item: item[0]), max(values, key=lambda item: item[0])
        if low[0] != high[0]:
            out[at] = f"{low[1]} to {high[1]}"
            middle = f"{median(value for value, _, _ in values):.10g}"
            details.append(f"median {middle}; lowest on {low[2]}, highest on {high[2]}")
    short = "".join(out)
    return (short, f"{short} ({details[0]})") if len(details) == 1 else (short, short)


def _with_spread(reason: Reason, short: str, long: str) -> Reason:
    message = reason.message
    if reason.actual and message.count(reason.actual) == 1:
        message = message.replace(reason.actual, short)
    return Reason(subject=reason.subject, expected=reason.expected, actual=long, message=message)
