"""One finding for a person at a terminal: where, why, what the command printed, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from checkrunner.model.report import Finding, Variant
from checkrunner.model.results import Slice, SliceMode
from checkrunner.render.choice import telling_reasons
from checkrunner.render.finding_facts import facts_of, notes_of, place_of, reason_text
from checkrunner.render.headline import label_of, title_of
from checkrunner.render.layout import count_of, wrapped
from checkrunner.render.safe import safe
from checkrunner.render.since import flapping_text, silenced_text, since_text
from checkrunner.render.style import Style

__all__ = ["FindingLines", "on_hosts"]

_COLORS = {"CRIT": "red", "WARN": "yellow", "UNKN": "magenta", "NOTE": "cyan", "OK": "green", "SKIP": "dim"}
_INDENT = " " * 6


def on_hosts(folded: str, number: int) -> str:
    """``on web[01-03] (3 hosts)``: the folded names with places to break a long list at."""
    names = safe(folded).replace("],", "], ")
    return f"on {names}" if number == 1 else f"on {names} ({count_of(number, 'host')})"


class FindingLines:
    """The lines of findings, in the style and width of a page. `checks` has the check of each finding by its id;
    `plays`: findings are of several plays, so that each names its own. `began` is when the run did: how long something
    has been so is told against it."""

    def __init__(self, style: Style, width: int, *, checks: Mapping[str, str], plays: bool, began: datetime) -> None:
        self._style = style
        self._width = width
        self._checks = checks
        self._plays = plays
        self._began = began

    def label(self, finding: Finding, columns: int = 4) -> str:
        """``CRIT`` in its colour, filled up to so many columns."""
        label = label_of(finding)
        return self._style(_COLORS[label], f"{label:<{columns}}")

    def of(self, finding: Finding) -> Iterator[str]:
        """The block of one finding."""
        title = safe(title_of(finding, plays=self._plays, began=self._began))
        yield self.label(finding, len(_INDENT)) + self._style("bold", title)
        yield from wrapped(self._where(finding), self._width, first=_INDENT, rest=_INDENT)
        for text in (flapping_text(finding), silenced_text(finding.silenced) if finding.silenced else ""):
            yield from (self._style("yellow", line) for line in wrapped(text, self._width, first=_INDENT, rest=_INDENT))
        yield from self._items(finding)
        for reason in telling_reasons(finding):
            yield from wrapped(reason_text(reason), self._width, first=_INDENT + "- ", rest=_INDENT + "  ")
        yield from self._values(finding)
        yield from self._metadata(finding)
        for piece in finding.slices:
            yield from self._slice(piece)
        for variant in finding.variants:
            yield from self._variant(variant)
        for label, text in (("note", "; ".join(notes_of(finding))), ("why", finding.why), ("fix", finding.fix)):
            yield from self._labelled(label, text)

    def _where(self, finding: Finding) -> str:
        where = on_hosts(finding.hosts, finding.host_count)
        parent = self._checks.get(finding.explained_by, "")
        if finding.because:
            where += f", because of {finding.because}"
        elif parent:
            where += f", follows from {parent} above"
        since = since_text(finding.since, self._began)
        return f"{where}, {since}" if since else where

    def _items(self, finding: Finding) -> Iterator[str]:
        """``items sshd, cron``; of many the first, and how many there are."""
        if finding.item_count:
            more = finding.item_count - len(finding.items)
            named = ", ".join(finding.items) + (f", and {more:,} more" if more else "")
            text = safe(f"{finding.item_count:,} items: {named}")
            yield from wrapped(text, self._width, first=_INDENT, rest=_INDENT + "  ")

    def _values(self, finding: Finding) -> Iterator[str]:
        if finding.values:
            from checkrunner.render.values import value_words

            text = "; ".join(value_words(value) for value in finding.values)
            yield from wrapped(text, self._width, first=_INDENT, rest=_INDENT + "  ")

    def _metadata(self, finding: Finding) -> Iterator[str]:
        if facts := facts_of(finding):
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
        places = [place_of(line) for line in piece.lines]
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
