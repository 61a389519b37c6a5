"""One finding for a person at a terminal: where, why, what the command printed, what to do."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from checkrunner.model.report import Finding, NumberRange, Variant
from checkrunner.model.results import Execution, Reason, Slice, SliceLine, SliceMode, VerdictState
from checkrunner.render.choice import telling_reasons
from checkrunner.render.layout import count_of, duration, wrapped
from checkrunner.render.safe import safe
from checkrunner.render.style import Style

__all__ = ["FindingLines", "on_hosts"]

_LABELS = {
    VerdictState.CRIT: ("CRIT", "red"),
    VerdictState.WARN: ("WARN", "yellow"),
    VerdictState.UNKNOWN: ("UNKN", "magenta"),
    VerdictState.OK: ("OK", "green"),
    VerdictState.SKIPPED: ("SKIP", "dim"),
}
_INDENT = " " * 6
_ITS_PLAY_OR_ITEM = re.compile(r"[~[]")


def on_hosts(folded: str, number: int) -> str:
    """``on web[01-03] (3 hosts)``: the folded names with places to break a long list at."""
    names = safe(folded).replace("],", "], ")
    return f"on {names}" if number == 1 else f"on {names} ({count_of(number, 'host')})"


class FindingLines:
    """The lines of findings, in the style and width of a page. `checks` has the check of each finding by its id;
    `plays`: findings are of several plays, so that each names its own."""

    def __init__(self, style: Style, width: int, *, checks: Mapping[str, str], plays: bool) -> None:
        self._style = style
        self._width = width
        self._checks = checks
        self._plays = plays

    def of(self, finding: Finding) -> Iterator[str]:
        """The block of one finding."""
        noted = finding.verdict is VerdictState.OK and bool(finding.reasons)
        label, color = ("NOTE", "cyan") if noted else _LABELS[finding.verdict]
        title = safe(finding.check)
        if finding.name and finding.name != _ITS_PLAY_OR_ITEM.split(finding.check)[0]:
            title += f": {safe(finding.name)}"
        if self._plays and finding.play:
            title += f" (play {safe(finding.play)})"
        if finding.novelty == "new":
            title += " (new)"
        yield self._style(color, f"{label:<6}") + self._style("bold", title)
        where = on_hosts(finding.hosts, finding.host_count)
        parent = self._checks.get(finding.explained_by, "")
        if finding.because:
            where += f", because of {safe(finding.because)}"
        elif parent:
            where += f", follows from {safe(parent)} above"
        yield from wrapped(where, self._width, first=_INDENT, rest=_INDENT)
        yield from self._items(finding)
        for reason in telling_reasons(finding):
            yield from self._reason(reason)
        yield from self._values(finding)
        yield from self._metadata(finding)
        for piece in finding.slices:
            yield from self._slice(piece)
        for variant in finding.variants:
            yield from self._variant(variant)
        for label, text in (("note", "; ".join(_notes(finding))), ("why", finding.why), ("fix", finding.fix)):
            yield from self._labelled(label, text)

    def _items(self, finding: Finding) -> Iterator[str]:
        """``items sshd, cron``; of many the first, and how many there are."""
        if finding.item_count:
            more = finding.item_count - len(finding.items)
            named = ", ".join(finding.items) + (f", and {more:,} more" if more else "")
            text = safe(f"{finding.item_count:,} items: {named}")
            yield from wrapped(text, self._width, first=_INDENT, rest=_INDENT + "  ")

    def _reason(self, reason: Reason) -> Iterator[str]:
        text = reason.message
        if not text:
            text = f"{reason.subject}: expected {reason.expected}, got {reason.actual}"
        elif " (median " in reason.actual:
            # The message holds the range; who is at its ends stands in `actual` alone.
            text += reason.actual[reason.actual.rindex(" (median ") :]
        yield from wrapped(text, self._width, first=_INDENT + "- ", rest=_INDENT + "  ")

    def _values(self, finding: Finding) -> Iterator[str]:
        if finding.values:
            from checkrunner.render.values import value_words

            text = "; ".join(value_words(value) for value in finding.values)
            yield from wrapped(text, self._width, first=_INDENT, rest=_INDENT + "  ")

    def _metadata(self, finding: Finding) -> Iterator[str]:
        """What helps to judge a command that failed; sizes of outputs are left to the JSON report."""
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
        if facts and finding.verdict is not VerdictState.OK:
            for line in wrapped(", ".join(facts), self._width, first=_INDENT, rest=_INDENT):
                yield self._style("dim", line)

    def _variant(self, variant: Variant) -> Iterator[str]:
        """Only what its hosts show besides."""
        text = on_hosts(variant.hosts, variant.host_count) + (" also:" if variant.slices else " a little different")
        yield from wrapped(text, self._width, first=_INDENT, rest=_INDENT + "  ")
        for piece in variant.slices:
            yield from self._slice(piece)

    def _slice(self, piece: Slice) -> Iterator[str]:
        if not piece.lines:
            return
        what = piece.what
        what += f", without {piece.prefix}" if piece.prefix else ""
        title = f"{what} [{piece.evidence}]" if piece.evidence else what
        yield from (
            self._style("cyan", line) for line in wrapped(title, self._width, first=_INDENT, rest=_INDENT + "  ")
        )
        places = [_place(line) for line in piece.lines]
        columns = max(map(len, places))
        chosen = piece.query.mode is SliceMode.SALIENT
        last = 0
        for line, place in zip(piece.lines, places, strict=True):
            if last and line.number > last + 1 and not chosen:
                yield self._style("dim", f"{_INDENT}{'':>{columns}} :")
            last = line.number
            cut = f" ... ({count_of(line.cut_bytes, 'byte')} more)" if line.cut_bytes else ""
            yield (self._style("dim", f"{_INDENT}{place:>{columns}} | ") + safe(line.text) + self._style("dim", cut))
        if piece.more_lines:
            kinds = f" of {count_of(piece.more_shapes, 'kind')}" if piece.more_shapes else ""
            more = f"{count_of(piece.more_lines, 'line')}{kinds} more"
            yield self._style("dim", f"{_INDENT}{'':>{columns}} : {more}")

    def _labelled(self, label: str, text: str) -> Iterator[str]:
        """A text of the playbook's author; its own line breaks are kept."""
        first = f"{_INDENT}{label}: "
        for line in text.strip().splitlines():
            yield from wrapped(line, self._width, first=first, rest=" " * (len(_INDENT) + len(label) + 2))
            first = " " * (len(_INDENT) + len(label) + 2)


def _notes(finding: Finding) -> Iterator[str]:
    """Its notes, and whose texts they are where those of other hosts differ."""
    yield from finding.notes
    if finding.folded_by == "masked":
        first = finding.names[0] if finding.names else ""
        item = f"[{finding.items[0]}]" if finding.items else ""
        others = "for the others" if item else "on the other hosts"
        yield f"texts are of {first}{item}; {others} numbers, times or names in them differ"


def _place(line: SliceLine) -> str:
    """``118``; ``118 x31`` where it stands for so many."""
    number = str(line.number or "")
    return f"{number} x{line.count:,}" if line.count > 1 else number


def _value(value: object, show: Callable[[Any], str]) -> str:
    if isinstance(value, NumberRange):
        low, middle, high = show(value.minimum), show(value.median), show(value.maximum)
        return low if low == high else f"{low} to {high} (median {middle}, most on {safe(value.max_host)})"
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
    return safe(f"{value:g}" if isinstance(value, float) else str(value))


def _seconds(value: object) -> str:
    """Commands are often short: below a second in milliseconds."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        return safe(str(value))
    return f"{value * 1000:.0f} ms" if value < 1 else duration(value)
