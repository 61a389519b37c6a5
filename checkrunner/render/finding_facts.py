"""What is told of a finding in words, whatever the format: plain texts, not yet made harmless for where they go."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from checkrunner.model.report import Finding, NumberRange
from checkrunner.model.results import Execution, Reason, SliceLine, VerdictState
from checkrunner.render.layout import duration

__all__ = ["facts_of", "notes_of", "place_of", "reason_text"]


def reason_text(reason: Reason) -> str:
    """A sentence part: what was expected, and what was there."""
    if not reason.message:
        return f"{reason.subject}: expected {reason.expected}, got {reason.actual}"
    if " (median " in reason.actual:
        # The message holds the range; who is at its ends stands in `actual` alone.
        return reason.message + reason.actual[reason.actual.rindex(" (median ") :]
    return reason.message


def facts_of(finding: Finding) -> list[str]:
    """What helps to judge a command that failed: ``timed out``, ``rc 1``, ``took 20 ms``; sizes of outputs are left to
    the JSON report. Nothing where it was ok."""
    result: Mapping[str, object] = finding.result
    facts = [
        f"{label} {_value(result[name], show)}"
        for name, label, show in (
            ("rc", "rc", _plain),
            ("signal", "signal", _plain),
            ("elapsed_s", "took", _seconds),
        )
        if name in result
    ]
    if finding.execution not in {Execution.DONE, Execution.NOT_RUN}:
        facts.insert(0, str(finding.execution).replace("_", " "))
    state = result.get("state")
    if isinstance(state, str) and not any(state in reason.message for reason in finding.reasons):
        facts.append(state)
    since = finding.seen.get("since_s")
    if isinstance(since, NumberRange):
        facts.append(f"{_plain(finding.seen.get('kind', 'seen'))} for {_value(since, _seconds)}")
    if attempts := result.get("attempts"):
        facts.append(f"attempts {_value(attempts, _plain)}")
    facts += _samples(result)
    if answered := result.get("answered"):
        facts.append(f"questions answered: {_value(answered, _plain)}")
    facts += _leftovers(result)
    return facts if finding.verdict is not VerdictState.OK else []


def notes_of(finding: Finding) -> Iterator[str]:
    """Its notes, and whose texts they are where those of other hosts differ."""
    yield from finding.notes
    if finding.folded_by == "masked":
        first = finding.names[0] if finding.names else ""
        item = f"[{finding.items[0]}]" if finding.items else ""
        others = "for the others" if item else "on the other hosts"
        yield f"texts are of {first}{item}; {others} numbers, times or names in them differ"


def place_of(line: SliceLine) -> str:
    """``118``; ``118 x31`` where it stands for so many."""
    number = str(line.number or "")
    return f"{number} x{line.count:,}" if line.count > 1 else number


def _value(value: object, show: Callable[[Any], str]) -> str:
    if isinstance(value, NumberRange):
        low, middle, high = show(value.minimum), show(value.median), show(value.maximum)
        return low if low == high else f"{low} to {high} (median {middle}, most on {value.max_host})"
    return show(value)


def _leftovers(result: Mapping[str, object]) -> list[str]:
    """``2 processes left running (pid 4242, 4243)``."""
    number, pids = result.get("leftover_processes"), result.get("leftover_pids")
    if not isinstance(number, int | NumberRange):
        return []
    what = _value(number, _plain)
    which = f" (pid {', '.join(_plain(pid) for pid in pids)})" if isinstance(pids, list | tuple) else ""
    return [f"{what} {'process' if what == '1' else 'processes'} left running{which}"]


def _samples(result: Mapping[str, object]) -> list[str]:
    """``5 readings (2 failed), each took 8 ms, lines of each: 1``: what the runs of a sampled command came to."""
    samples = result.get("samples")
    if not isinstance(samples, Mapping):
        return []
    failed = f" ({_plain(samples['failed'])} failed)" if "failed" in samples else ""
    facts = [f"{_value(samples['count'], _plain)} readings{failed}"]
    for name, label, show in (("elapsed_s", "each took", _seconds), ("stdout_lines", "lines of each:", _plain)):
        if name in samples:
            facts.append(f"{label} {_value(samples[name], show)}")
    return facts


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _seconds(value: object) -> str:
    """Commands are often short: below a second in milliseconds."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        return str(value)
    return f"{value * 1000:.0f} ms" if value < 1 else duration(value)
