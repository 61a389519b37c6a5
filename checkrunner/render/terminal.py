"""The report for a person at a terminal: the worst first, each finding with what was expected, what was seen and where.

Text from hosts is made harmless here once more; nothing in it is read as markup.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from typing import TextIO

from checkrunner.model.folded import OnHosts
from checkrunner.model.history import Detail
from checkrunner.model.report import Finding, Incomplete, Report, Silenced, Suppressed
from checkrunner.render.choice import telling_reasons
from checkrunner.render.finding_facts import reason_text
from checkrunner.render.finding_lines import FindingLines, on_hosts
from checkrunner.render.headline import (
    Sorted,
    besides,
    counts_of,
    ended_text,
    facts_of_run,
    totals_text,
    unseen_text,
    word_of,
)
from checkrunner.render.layout import count_of, wrapped
from checkrunner.render.safe import cut_to, for_stream, safe
from checkrunner.render.since import age, silenced_text, since_text, suppressed_text
from checkrunner.render.style import Style

__all__ = ["TerminalRenderer"]

_NARROW, _ENDLESS = 40, 1 << 30
_SCREENFUL = 40
"""A report of more lines ends with its findings in short."""

_MOST_IN_SHORT = 15
_WIDE = 100
_COLORS = {"OK": "green", "WARNING": "yellow", "INCOMPLETE": "magenta"}


class TerminalRenderer:
    """Readable text. `color` None means when the stream is a terminal; `width` None means the terminal's columns, and
    that nothing is wrapped in a file or pipe. Lines of output are never wrapped, so that they can be copied."""

    def __init__(self, *, color: bool | None = None, width: int | None = None) -> None:
        self._color = color
        self._width = width

    def render(self, report: Report, out: TextIO, detail: Detail | None = None) -> None:  # noqa: ARG002 - the seam's
        """Write the report."""
        style = Style(out.isatty() if self._color is None else self._color)
        width = max(_NARROW, self._width or _columns(out))
        text = "\n".join(_Page(report, style, width).lines()) + "\n"
        out.write(for_stream(text, out))


def _columns(out: TextIO) -> int:
    try:
        return (os.get_terminal_size(out.fileno()).columns if out.isatty() else 0) or _ENDLESS
    except (OSError, ValueError, AttributeError):
        return _ENDLESS


class _Page:
    def __init__(self, report: Report, style: Style, width: int) -> None:
        self._report = report
        self._style = style
        self._width = width
        self._sorted = Sorted(report)
        self._findings = FindingLines(
            style,
            width,
            checks={finding.id: finding.check for finding in report.findings},
            plays=len({finding.play for finding in report.findings}) > 1,
            began=report.run.started_at,
        )

    def lines(self) -> Iterator[str]:
        yield from self._headline()
        yield from self._drift()
        body = list(self._body())
        yield from body
        if len(body) > _SCREENFUL:
            yield from self._in_short()
        yield ""
        yield from wrapped(totals_text(self._report), self._width)

    def _body(self) -> Iterator[str]:
        report = self._report
        for finding in self._sorted.findings:
            yield ""
            yield from self._findings.of(finding)
        yield from self._incomplete_hosts()
        yield from self._listed("Not run because they do harm", map(_suppressed, report.suppressed))
        yield from self._listed("Silenced", itertools.starmap(_silenced, self._sorted.silenced))
        yield from self._listed("Skipped", map(_skipped, self._sorted.skipped), style="dim")
        yield from self._messages()
        yield from self._metrics()
        yield from self._listed("Warnings", (safe(warning) for warning in report.warnings))
        yield from self._listed("Left out", self._omissions())

    def _drift(self) -> Iterator[str]:
        """What changed since the last run."""
        report = self._report
        if report.drift is not None:
            from checkrunner.render.drift import drift_lines

            yield ""
            yield from drift_lines(report.drift, report.run.started_at, self._style, self._width)

    def _in_short(self) -> Iterator[str]:
        """A line for each finding: the end is what stands on the screen of who has just run it."""
        yield ""
        yield self._style("bold", "In short")
        began = self._report.run.started_at
        for finding in self._sorted.findings[:_MOST_IN_SHORT]:
            reasons = "; ".join(map(reason_text, telling_reasons(finding)))
            text = f"{finding.check} {on_hosts(finding.hosts, finding.host_count)}"
            if since_text(finding.since, began):
                text += f", for {age((began - (finding.since or began)).total_seconds())}"
            yield self._cut(f"  {self._findings.label(finding)}  ", f"{text}: {reasons}" if reasons else text)
        if (more := len(self._sorted.findings) - _MOST_IN_SHORT) > 0:
            yield f"        {more:,} more"
        for entry in self._sorted.incomplete[:_MOST_IN_SHORT]:
            yield self._cut(f"  {self._style('magenta', 'HOST')}  ", f"{entry.hosts}: {unseen_text(entry)}")

    def _cut(self, label: str, text: str) -> str:
        """A line of the width of the page, or of what a wide terminal has."""
        room = min(self._width, _WIDE) - 8
        return label + cut_to(safe(text), room)

    def _headline(self) -> Iterator[str]:
        report = self._report
        word = word_of(report)
        yield self._style(_COLORS.get(word, "red"), word) + "  " + counts_of(report)
        yield from (self._style("dim", line) for line in wrapped(", ".join(facts_of_run(report)), self._width))
        for text in besides(report.run):
            yield from (self._style("dim", line) for line in wrapped(text, self._width, rest="  "))
        if ended := ended_text(report):
            yield self._style("magenta", ended)
        if report.run.error:
            yield from (self._style("red", line) for line in wrapped(report.run.error, self._width, rest="  "))

    def _metrics(self) -> Iterator[str]:
        if self._report.metrics:
            from checkrunner.render.values import metric_lines

            yield from self._listed("Values", metric_lines(self._report.metrics))

    def _incomplete_hosts(self) -> Iterator[str]:
        entries = self._sorted.incomplete
        if not entries:
            return
        yield ""
        number = sum(entry.host_count for entry in entries)
        yield self._style("magenta", f"Could not look everywhere: {count_of(number, 'host')}")
        for entry in entries:
            yield from self._incomplete(entry)

    def _incomplete(self, entry: Incomplete) -> Iterator[str]:
        text = f"{on_hosts(entry.hosts, entry.host_count).removeprefix('on ')}: {unseen_text(entry)}"
        since = since_text(entry.since, self._report.run.started_at)
        yield from wrapped(f"{text}, {since}" if since else text, self._width, first="  - ", rest="    ")
        if entry.hint:
            yield from wrapped(entry.hint, self._width, first="    to do: ", rest="           ")

    def _messages(self) -> Iterator[str]:
        """``web[01-03]: Disk: / is 24 % full``; a text of several lines has lines of its own."""
        if self._report.messages:
            yield ""
            yield self._style("bold", "Messages")
        for message in self._report.messages:
            lines = message.text.splitlines() or [""]
            who = f"{message.hosts}: {message.name}:"
            if len(lines) == 1:
                yield from wrapped(f"{who} {lines[0]}", self._width, first="  - ", rest="    ")
                continue
            yield from wrapped(who, self._width, first="  - ", rest="    ")
            yield from (f"    {safe(line)}" for line in lines)

    def _listed(self, title: str, items: Iterable[str], style: str = "") -> Iterator[str]:
        for at, item in enumerate(items):
            if not at:
                yield ""
                yield self._style("bold", title)
            lines = wrapped(item, self._width, first="  - ", rest="    ")
            yield from (self._style(style, line) if style else line for line in lines)

    def _omissions(self) -> Iterator[str]:
        for omission in self._report.omissions:
            where = f" ({omission.where})" if omission.where else ""
            yield f"{omission.count:,} x {omission.what}: {omission.why}{where}"


def _skipped(finding: Finding) -> str:
    reason = "; ".join(reason.message for reason in finding.reasons)
    items = f" ({count_of(finding.item_count, 'item')})" if finding.item_count else ""
    text = f"{finding.check}{items} {on_hosts(finding.hosts, finding.host_count)}"
    return text + (f": {reason}" if reason else "")


def _silenced(what: str, where: OnHosts, silenced: Silenced) -> str:
    return f"{what} {on_hosts(where.hosts, where.host_count)}: {silenced_text(silenced)}"


def _suppressed(entry: Suppressed) -> str:
    return f"{entry.check} {on_hosts(entry.hosts, entry.host_count)}: {suppressed_text(entry)}"
