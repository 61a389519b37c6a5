"""The report for a person at a terminal: the worst first, each finding with what was expected, what was seen and where.

Text from hosts is made harmless here once more; nothing in it is read as markup.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TextIO

from checkrunner.model.history import Detail
from checkrunner.model.report import Finding, Incomplete, Report, Wait
from checkrunner.model.results import CaptureState, Execution, HostState, VerdictState
from checkrunner.render.finding_lines import FindingLines, on_hosts
from checkrunner.render.layout import count_of, duration, wrapped
from checkrunner.render.safe import safe
from checkrunner.render.style import Style

__all__ = ["TerminalRenderer"]

_NARROW, _ENDLESS = 40, 1 << 30
_ENDED = {
    "deadline": "The run's deadline passed before it was through.",
    "interrupted": "The run was interrupted: this is what was known by then.",
    "error": "The run ended with an error.",
}


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
        encoding = getattr(out, "encoding", None) or "utf-8"
        out.write(text.encode(encoding, "replace").decode(encoding))


def _columns(out: TextIO) -> int:
    try:
        return (os.get_terminal_size(out.fileno()).columns if out.isatty() else 0) or _ENDLESS
    except (OSError, ValueError, AttributeError):
        return _ENDLESS


def _waited(wait: Wait) -> str:
    """``waited 12 s for jump host ops@bastion (100 hosts, ...)``."""
    facts = [count_of(wait.hosts, "host")] if wait.hosts else []
    if wait.dropped:
        facts.append(f"it dropped {count_of(wait.dropped, 'connection')}")
    if wait.channels:
        facts.append(f"{wait.channels:,} hosts a connection")
    if wait.connections > 1:
        facts.append(count_of(wait.connections, "connection"))
    return f"waited {duration(wait.waited_s)} for {safe(wait.place)}" + (f" ({', '.join(facts)})" if facts else "")


class _Page:
    def __init__(self, report: Report, style: Style, width: int) -> None:
        self._report = report
        self._style = style
        self._width = width
        self._findings = FindingLines(
            style,
            width,
            checks={finding.id: finding.check for finding in report.findings},
            plays=len({finding.play for finding in report.findings}) > 1,
        )

    def lines(self) -> Iterator[str]:
        yield from self._headline()
        skipped = [finding for finding in self._report.findings if finding.verdict is VerdictState.SKIPPED]
        for finding in self._report.findings:
            if finding.verdict is not VerdictState.SKIPPED:
                yield ""
                yield from self._findings.of(finding)
        yield from self._incomplete_hosts()
        if skipped:
            yield ""
            yield self._style("bold", "Skipped")
            for finding in skipped:
                yield from self._skipped(finding)
        yield from self._messages()
        yield from self._metrics()
        yield from self._listed("Warnings", (safe(warning) for warning in self._report.warnings))
        yield from self._listed("Left out", self._omissions())
        yield ""
        yield from wrapped(self._totals(), self._width)

    def _headline(self) -> Iterator[str]:
        run, totals = self._report.run, self._report.totals
        word, color = self._word()
        yield self._style(color, word) + "  " + self._counts()
        facts = [f"playbook {safe(run.playbook)}"] if run.playbook else []
        if run.inventory:
            facts.append(f"inventory {safe(', '.join(run.inventory))}")
        if run.limit:
            facts.append(f"limit {safe(run.limit)}")
        facts.append(
            f"{count_of(totals.hosts, 'host')}, {count_of(totals.planned, 'check')} in {duration(run.elapsed_s)}"
        )
        yield from (self._style("dim", line) for line in wrapped(", ".join(facts), self._width))
        for wait in run.waits:
            yield from (self._style("dim", line) for line in wrapped(_waited(wait), self._width, rest="  "))
        if run.stay:
            text = f"outputs stay on the hosts until {run.stay.until:%Y-%m-%d %H:%M} UTC: {safe(run.stay.directory)}"
            yield from (self._style("dim", line) for line in wrapped(text, self._width, rest="  "))
        if run.ended in _ENDED:
            yield self._style("magenta", _ENDED[run.ended])
        if run.error:
            yield from (self._style("red", line) for line in wrapped(run.error, self._width, rest="  "))

    def _word(self) -> tuple[str, str]:
        if self._report.run.ended == "error":
            return "ERROR", "red"
        verdicts = self._report.totals.verdict
        if verdicts.get(VerdictState.CRIT):
            return "CRITICAL", "red"
        if not self._report.run.complete:
            return "INCOMPLETE", "magenta"
        if verdicts.get(VerdictState.WARN):
            return "WARNING", "yellow"
        return "OK", "green"

    def _counts(self) -> str:
        verdicts = self._report.totals.verdict
        names = {
            VerdictState.CRIT: "critical",
            VerdictState.WARN: "warnings" if verdicts.get(VerdictState.WARN, 0) > 1 else "warning",
            VerdictState.UNKNOWN: "unknown",
            VerdictState.OK: "ok",
            VerdictState.SKIPPED: "skipped",
        }
        parts = [f"{verdicts[state]:,} {name}" for state, name in names.items() if verdicts.get(state)]
        return ", ".join(parts) or "nothing was checked"

    def _metrics(self) -> Iterator[str]:
        if self._report.metrics:
            from checkrunner.render.values import metric_lines

            yield from self._listed("Values", metric_lines(self._report.metrics))

    def _incomplete_hosts(self) -> Iterator[str]:
        entries = self._report.incomplete
        if not entries:
            return
        yield ""
        number = sum(entry.host_count for entry in entries)
        yield self._style("magenta", f"Could not look everywhere: {count_of(number, 'host')}")
        for entry in entries:
            yield from self._incomplete(entry)

    def _incomplete(self, entry: Incomplete) -> Iterator[str]:
        state = "" if entry.state is HostState.REACHED else f"{str(entry.state).replace('_', ' ')}: "
        text = f"{on_hosts(entry.hosts, entry.host_count).removeprefix('on ')}: {state}{entry.reason}"
        yield from wrapped(text, self._width, first="  - ", rest="    ")
        if entry.hint:
            yield from wrapped(entry.hint, self._width, first="    to do: ", rest="           ")

    def _skipped(self, finding: Finding) -> Iterator[str]:
        reason = "; ".join(reason.message for reason in finding.reasons)
        items = f" ({count_of(finding.item_count, 'item')})" if finding.item_count else ""
        text = f"{finding.check}{items} {on_hosts(finding.hosts, finding.host_count)}"
        text += f": {reason}" if reason else ""
        yield from (self._style("dim", line) for line in wrapped(text, self._width, first="  - ", rest="    "))

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

    def _listed(self, title: str, items: Iterator[str]) -> Iterator[str]:
        for at, item in enumerate(items):
            if not at:
                yield ""
                yield self._style("bold", title)
            yield from wrapped(item, self._width, first="  - ", rest="    ")

    def _omissions(self) -> Iterator[str]:
        for omission in self._report.omissions:
            where = f" ({omission.where})" if omission.where else ""
            yield f"{omission.count:,} x {omission.what}: {omission.why}{where}"

    def _totals(self) -> str:
        totals = self._report.totals
        odd_ends = ", ".join(
            f"{number:,} {str(state).replace('_', ' ')}"
            for state, number in totals.execution.items()
            if number and state not in {Execution.DONE, Execution.NOT_RUN}
        )
        text = (
            f"{count_of(totals.planned, 'check')} planned = {totals.done:,} run"
            f"{f' (of these {odd_ends})' if odd_ends else ''} + {totals.skipped:,} skipped"
            f" + {totals.not_run:,} not run"
        )
        reached = ", ".join(
            f"{number:,} {str(state).replace('_', ' ')}" for state, number in totals.host.items() if number
        )
        odd = {
            state: number for state, number in totals.capture.items() if number and state is not CaptureState.COMPLETE
        }
        captures = "".join(f"; {count_of(number, 'capture')} {state}" for state, number in odd.items())
        return f"{text}; hosts: {reached or 'none'}{captures}; exit code {self._report.run.exit_code}"
