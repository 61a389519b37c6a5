"""The report as GitHub-flavoured Markdown, for a ticket, a wiki or a chat: small enough for any of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TextIO

from checkrunner.model.folded import OnHosts
from checkrunner.model.history import Detail
from checkrunner.model.report import Finding, Incomplete, Report
from checkrunner.model.results import Slice, SliceMode
from checkrunner.render.choice import telling_reasons
from checkrunner.render.drift import change_text, drift_title, quiet_texts
from checkrunner.render.finding_facts import facts_of, notes_of, place_of, reason_text
from checkrunner.render.gfm import cell, code, fence, prose
from checkrunner.render.headline import (
    Sorted,
    besides,
    counts_of,
    ended_text,
    facts_of_run,
    label_of,
    title_of,
    totals_text,
    unseen_text,
    word_of,
)
from checkrunner.render.layout import count_of
from checkrunner.render.safe import for_stream
from checkrunner.render.since import flapping_text, moment, silenced_text, since_text, suppressed_text
from checkrunner.render.values import metric_lines, value_words

__all__ = ["MOST_CHARACTERS", "MarkdownRenderer"]

MOST_CHARACTERS = 60_000
"""GitHub takes 65,536 in a ticket, and others more."""

_TABLE, _LIST = 12_000, 3_000
"""So many characters a table takes, and a list."""

_LONGEST = 300


class MarkdownRenderer:
    """Markdown: a headline, the findings as a table, then each with its evidence. What finds no room in
    `MOST_CHARACTERS` is counted. Texts of hosts are escaped, or stand as code."""

    def __init__(self, *, color: bool | None = None, width: int | None = None) -> None:
        """Markdown has neither colour nor width; both are taken so that all formats are made in one way."""
        del color, width

    def render(self, report: Report, out: TextIO, detail: Detail | None = None) -> None:  # noqa: ARG002 - the seam's
        """Write the page."""
        out.write(for_stream(_Page(report).text(), out))


class _Page:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._began = report.run.started_at
        self._sorted = Sorted(report)
        self._plays = len({finding.play for finding in report.findings}) > 1
        self._checks = {finding.id: finding.check for finding in report.findings}

    def text(self) -> str:
        head, tail = "\n".join(self._head()), "\n".join(self._tail())
        left = MOST_CHARACTERS - len(head) - len(tail) - 200
        blocks = []
        for told, finding in enumerate(self._sorted.findings):
            block = "\n".join(self._finding(finding))
            left -= len(block) + 1
            if left < 0:
                more = count_of(len(self._sorted.findings) - told, "finding")
                blocks.append(f"\n*{more} more: there is no room for them here; the JSON report has them.*\n")
                break
            blocks.append(block)
        return "\n".join([head, *blocks, tail]) + "\n"

    def _head(self) -> Iterator[str]:
        run = self._report.run
        yield f"## {word_of(self._report)}: {counts_of(self._report)}"
        yield ""
        facts = [*facts_of_run(self._report), moment(self._began), *([f"run {run.id}"] if run.id else [])]
        yield _prose(", ".join(facts))
        for text in itertools.islice(besides(run), 5):
            yield f"<br>{_prose(text)}"
        for sentence in (ended_text(self._report), run.error):
            if sentence:
                yield ""
                yield f"**{_prose(sentence)}**"
        yield from self._drift()
        if rows := [
            *map(self._row, self._sorted.findings),
            *(_host_row(entry, self._began) for entry in self._sorted.incomplete),
        ]:
            yield ""
            yield "| | check | where | what | since |"
            yield "| --- | --- | --- | --- | --- |"
            yield from _fitting(rows, _TABLE, _more_row)

    def _drift(self) -> Iterator[str]:
        """What changed since the last run."""
        drift = self._report.drift
        if drift is None:
            return
        yield ""
        yield f"**{_prose(drift_title(drift))}**"
        yield ""
        loud = [change for change in drift.changes if change.is_worse]
        told = [change_text(change, self._began) for change in loud]
        if more := drift.worse - len(loud):
            told.append(f"{more:,} more got worse")
        told += quiet_texts(drift)
        if drift.unchanged:
            told.append(f"as before: {count_of(drift.unchanged, 'thing')} in trouble")
        told += [f"mind: {sentence}" for sentence in drift.unlike]
        yield from _fitting((f"- {_prose(text)}" for text in told), _LIST, _more_item)

    def _row(self, finding: Finding) -> str:
        reasons = telling_reasons(finding)
        what = reason_text(reasons[0]) if reasons else ", ".join(facts_of(finding))
        cells = (
            f"**{label_of(finding)}**",
            cell(_cut(finding.check), as_code=True),
            f"{cell(_cut(finding.hosts, 80), as_code=True)}{_number(finding)}",
            cell(_cut(what, 160)),
            cell("; ".join(self._when(finding))),
        )
        return f"| {' | '.join(cells)} |"

    def _when(self, finding: Finding) -> Iterator[str]:
        if since := since_text(finding.since, self._began):
            yield since.removeprefix("since ")
        elif finding.novelty == "new":
            yield "new"
        if flapping := flapping_text(finding):
            yield flapping

    def _finding(self, finding: Finding) -> Iterator[str]:
        yield ""
        yield f"### {label_of(finding)} {_prose(title_of(finding, plays=self._plays, began=self._began))}"
        yield ""
        yield ", ".join(self._where(finding))
        if finding.item_count:
            more = finding.item_count - len(finding.items)
            items = ", ".join(code(_cut(item)) for item in finding.items) + (f", and {more:,} more" if more else "")
            yield f"<br>{finding.item_count:,} items: {items}"
        yield ""
        yield from (f"- {_prose(reason_text(reason))}" for reason in telling_reasons(finding))
        yield from (f"- {_prose(value_words(value))}" for value in finding.values)
        if facts := facts_of(finding):
            yield f"- {_prose(', '.join(facts))}"
        for piece in finding.slices:
            yield from self._slice(piece)
        for variant in finding.variants:
            yield ""
            yield f"On {code(variant.hosts)}{_number(variant)} {'also:' if variant.slices else 'a little different'}"
            for piece in variant.slices:
                yield from self._slice(piece)
        for label, text in (("Note", "; ".join(notes_of(finding))), ("Why", finding.why), ("Fix", finding.fix)):
            yield from _labelled(label, text)

    def _where(self, finding: Finding) -> Iterator[str]:
        yield f"On {code(finding.hosts)}{_number(finding)}"
        parent = self._checks.get(finding.explained_by, "")
        if finding.because:
            yield f"because of {code(finding.because)}"
        elif parent:
            yield f"follows from {code(parent)}"
        if since := since_text(finding.since, self._began):
            yield since
        if flapping := flapping_text(finding):
            yield flapping

    def _slice(self, piece: Slice) -> Iterator[str]:
        if not piece.lines:
            return
        what = piece.what + (f", without {piece.prefix}" if piece.prefix else "")
        yield ""
        yield _prose(what) + (f" ({code(piece.evidence)}):" if piece.evidence else ":")
        yield ""
        yield from fence(list(_numbered(piece)))

    def _tail(self) -> Iterator[str]:
        report = self._report
        yield from _section("Could not look everywhere", map(_prose, self._not_seen()))
        yield from _section(
            "Not run because they do harm",
            (_prose(f"{one.check} on {one.hosts}: {suppressed_text(one)}") for one in report.suppressed),
        )
        yield from _section(
            "Silenced",
            (
                _prose(f"{what} on {where.hosts}{_number(where)}: {silenced_text(silenced)}")
                for what, where, silenced in self._sorted.silenced
            ),
        )
        yield from _section("Skipped", map(_prose, self._reasons_of_skipped()))
        messages = (f"{message.hosts}: {message.name}: {message.text}" for message in report.messages)
        yield from _section("Messages", map(_prose, messages))
        yield from _section("Values", map(_prose, metric_lines(report.metrics)))
        yield from _section("Warnings", map(_prose, report.warnings))
        yield from _section(
            "Left out",
            (
                _prose(f"{one.count:,} x {one.what}: {one.why}" + (f" ({one.where})" if one.where else ""))
                for one in report.omissions
            ),
        )
        yield ""
        yield _prose(totals_text(report))

    def _not_seen(self) -> Iterator[str]:
        for entry in self._sorted.incomplete:
            hint = f". To do: {entry.hint}" if entry.hint else ""
            yield f"{entry.hosts}{_number(entry)}: {unseen_text(entry)}{hint}"

    def _reasons_of_skipped(self) -> Iterator[str]:
        for finding in self._sorted.skipped:
            why = "; ".join(reason.message for reason in finding.reasons)
            yield f"{finding.check} on {finding.hosts}{_number(finding)}" + (f": {why}" if why else "")


def _host_row(entry: Incomplete, began: datetime) -> str:
    where = f"{cell(_cut(entry.hosts, 80), as_code=True)}{_number(entry)}"
    since = cell(since_text(entry.since, began).removeprefix("since "))
    return f"| **HOST** | | {where} | {cell(_cut(unseen_text(entry), 160))} | {since and since + ' '}|"


def _numbered(piece: Slice) -> Iterator[str]:
    """The lines with their numbers, as the terminal shows them."""
    places = [place_of(line) for line in piece.lines]
    columns = max(map(len, places))
    last = 0
    for line, place in zip(piece.lines, places, strict=True):
        if last and line.number > last + 1 and piece.query.mode is not SliceMode.SALIENT:
            yield f"{'':>{columns}} :"
        last = line.number
        cut = f" ... ({count_of(line.cut_bytes, 'byte')} more)" if line.cut_bytes else ""
        yield f"{place:>{columns}} | {line.text}{cut}"
    if piece.more_lines:
        kinds = f" of {count_of(piece.more_shapes, 'kind')}" if piece.more_shapes else ""
        yield f"{'':>{columns}} : {count_of(piece.more_lines, 'line')}{kinds} more"


def _labelled(label: str, text: str) -> Iterator[str]:
    """A text of the playbook's author. What is to be done is often to be typed, and so are some of several lines."""
    lines = text.strip().splitlines()
    if not lines:
        return
    yield ""
    if len(lines) == 1 and label != "Fix":
        yield f"**{label}:** {prose(lines[0])}"
        return
    yield f"**{label}:**"
    yield ""
    yield from fence(lines)


def _section(title: str, items: Iterable[str]) -> Iterator[str]:
    for at, line in enumerate(_fitting((f"- {item}" for item in items), _LIST, _more_item)):
        if not at:
            yield from ("", f"### {title}", "")
        yield line


def _fitting(lines: Iterable[str], room: int, more: Callable[[int], str]) -> Iterator[str]:
    """As many lines as find room, and one on how many did not."""
    left_out = 0
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            left_out += 1
        else:
            yield line
    if left_out:
        yield more(left_out)


def _more_row(number: int) -> str:
    return f"| | {number:,} more | | | |"


def _more_item(number: int) -> str:
    return f"- {number:,} more"


def _number(of: OnHosts) -> str:
    """`` (3 hosts)``; nothing for a single one."""
    return f" ({count_of(of.host_count, 'host')})" if of.host_count > 1 else ""


def _prose(text: str) -> str:
    return prose(_cut(text))


def _cut(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
