"""The report as a monitoring plugin's output for Nagios, Icinga and their kin: one line, and performance data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TextIO

from checkrunner.model.history import Detail
from checkrunner.model.quantities import plain_number
from checkrunner.model.report import Finding, Incomplete, NumberRange, Report, ValueSummary
from checkrunner.model.results import HostState, VerdictState
from checkrunner.render.choice import telling_reasons
from checkrunner.render.finding_facts import reason_text
from checkrunner.render.headline import Sorted, counts_of, unseen_text
from checkrunner.render.layout import count_of
from checkrunner.render.perfdata import LABEL_UNITS, label_of
from checkrunner.render.safe import for_stream, safe

__all__ = ["NagiosRenderer"]

_WORDS = {0: "OK", 1: "WARNING", 2: "CRITICAL"}
_LONGEST_TEXT = 1000
_LONGEST_ITEM = 160
_MOST_BYTES = 4000
"""Of the whole line: what the oldest of these systems reads of a plugin, less a little for what they add."""
_BAR = "¦"


class NagiosRenderer:
    """``CHECKRUNNER CRITICAL - 5 hosts: 4 critical, 18 ok; disk-space on web[01-03]: ... | 'ok'=18 ...``

    The word is that of the run's exit code; what is none of a plugin's (64, 130) is UNKNOWN. The performance data are
    counts, then values of checks as far as they find room: of several hosts the smallest and the largest.
    """

    def __init__(self, *, color: bool | None = None, width: int | None = None) -> None:
        """The line has neither colour nor width; both are taken so that all formats are made in one way."""
        del color, width

    def render(self, report: Report, out: TextIO, detail: Detail | None = None) -> None:  # noqa: ARG002 - the seam's
        """Write the line."""
        text = for_stream(_text(report), out)
        left = _MOST_BYTES - len(text.encode("utf-8", "replace"))
        parts = []
        for part in _perfdata(report):
            left -= len(part.encode("utf-8", "replace")) + 1
            if left < 0:
                break
            parts.append(part)
        out.write(f"{text} | {for_stream(' '.join(parts), out)}\n")


def _text(report: Report) -> str:
    run, totals = report.run, report.totals
    word = _WORDS.get(run.exit_code, "UNKNOWN")
    sorted_ = Sorted(report)
    critical = [finding for finding in sorted_.findings if finding.verdict is VerdictState.CRIT]
    others = [finding for finding in sorted_.findings if finding.verdict in {VerdictState.UNKNOWN, VerdictState.WARN}]
    items = [f"{count_of(totals.hosts, 'host')}: {counts_of(report)}", *_of_run(report), *_drift(report)]
    items += [*map(_item, critical), *map(_not_seen, sorted_.incomplete), *map(_item, others)]
    return f"CHECKRUNNER {word} - {_joined(items)}"


def _of_run(report: Report) -> Iterator[str]:
    run = report.run
    if run.error:
        yield _plain(run.error)
    elif run.ended != "normal":
        yield f"the run ended early ({_plain(run.ended)})"


def _drift(report: Report) -> Iterator[str]:
    if report.drift is not None and report.drift.worse:
        yield f"{report.drift.worse:,} got worse"


def _not_seen(entry: Incomplete) -> str:
    return _plain(f"{entry.hosts}: {unseen_text(entry)}")


def _item(finding: Finding) -> str:
    reasons = "; ".join(map(reason_text, telling_reasons(finding)[:1]))
    text = _plain(f"{finding.check} on {finding.hosts}")
    return f"{text}: {_plain(reasons)}" if reasons else text


def _joined(items: list[str]) -> str:
    """As many as find room, and how many do not."""
    text = ""
    for at, item in enumerate(items):
        if len(text) + len(item) > _LONGEST_TEXT:
            return f"{text}; and {len(items) - at:,} more"
        text += f"; {item}" if text else item
    return text


def _plain(text: str) -> str:
    """One line, not too long, without the character that begins performance data."""
    text = " ".join(safe(text).replace("|", _BAR).split())
    return text if len(text) <= _LONGEST_ITEM else text[: _LONGEST_ITEM - 3] + "..."


def _perfdata(report: Report) -> Iterator[str]:
    run, totals = report.run, report.totals
    for state in (VerdictState.CRIT, VerdictState.WARN, VerdictState.UNKNOWN, VerdictState.OK, VerdictState.SKIPPED):
        yield f"'{state}'={totals.verdict.get(state, 0)};;;0"
    yield f"'hosts'={totals.hosts};;;0"
    yield f"'hosts_not_reached'={totals.hosts - totals.host.get(HostState.REACHED, 0)};;;0"
    yield f"'elapsed'={plain_number(round(run.elapsed_s, 3))}s;;;0"
    for entry in report.metrics:
        for value in entry.values:
            yield from _value(f"{entry.check}.{value.name}", value)


def _value(name: str, value: ValueSummary) -> Iterator[str]:
    unit = value.unit if value.unit in LABEL_UNITS else ""
    what = value.value
    if isinstance(what, NumberRange):
        ends = {f"{name}.min": what.minimum, f"{name}.max": what.maximum}
    elif isinstance(what, int | float) and not isinstance(what, bool):
        ends = {name: what}
    else:
        return
    for end, number in ends.items():
        shown = f"{plain_number(float(number))}{unit}" if math.isfinite(number) else "U"
        yield f"{label_of(_plain(end))}={shown};{_plain(value.warn)};{_plain(value.crit)}".rstrip(";")
