"""What the HTML report shows and in which order, as far as it is no matter of layout.

Each thing that a reader can search for is an entry with a number, and the page's script knows of each the letter of
its verdict, its hosts and, for findings, its checks: so the search finds a host in a folded list of names, and the map
leads from a cell to its finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from checkrunner.model.drift import Change, Drift
from checkrunner.model.folded import OnHosts
from checkrunner.model.history import CELL_LETTERS, Detail
from checkrunner.model.report import Finding, Report
from checkrunner.model.results import VerdictState
from checkrunner.render.cells import letter_of
from checkrunner.render.html_map import Cells, HostGroup, cells_of, columns_of, host_groups, ranges, rows_data
from checkrunner.render.html_words import WORDS, status_of
from checkrunner.render.safe import safe

__all__ = ["Entry", "Page", "page_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A thing on the page. `at` is its number in the script's list, `letter` that of its verdict, "" for none; `anchor`
    is where the finding stands that it speaks of."""

    at: int
    letter: str
    of: OnHosts | HostGroup
    anchor: str = ""
    parent: str = ""
    parent_check: str = ""

    @property
    def word(self) -> str:
        """Its verdict."""
        return WORDS.get(self.letter, "")


@dataclass(slots=True, kw_only=True)
class Page:
    """The parts of the page. `counts` are the verdicts of all checks on all hosts: letter, number, and the share's left
    edge and width in thousandths. `bad_hosts` counts hosts with a finding that somebody is to be told of."""

    status: str
    letter: str
    counts: Sequence[tuple[str, int, float, float]]
    bad_hosts: int
    more_bad_hosts: bool
    told: list[Entry] = field(default_factory=list)
    noted: list[Entry] = field(default_factory=list)
    silenced: list[Entry] = field(default_factory=list)
    skipped: list[Entry] = field(default_factory=list)
    worse: list[Entry] = field(default_factory=list)
    other_changes: list[Entry] = field(default_factory=list)
    incomplete: list[Entry] = field(default_factory=list)
    quiet_hosts: list[Entry] = field(default_factory=list)
    suppressed: list[Entry] = field(default_factory=list)
    messages: list[Entry] = field(default_factory=list)
    cells: Cells
    groups: list[Entry] = field(default_factory=list)
    plays: bool = False
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def legend(self) -> Sequence[str]:
        """The letters that are on the map."""
        found = frozenset().union(*self.cells.rows)
        return [letter for letter in WORDS if letter in found]

    @property
    def findings(self) -> Sequence[Entry]:
        """Those that are shown in full, the most important first."""
        return (*self.told, *self.noted)


def page_of(report: Report, detail: Detail | None) -> Page:
    """The page for a report. Costs time in proportion to the number of cells."""
    cells = cells_of(report, detail)
    return _Maker(report, cells).page()


class _Maker:
    def __init__(self, report: Report, cells: Cells) -> None:
        self._report = report
        self._cells = cells
        self._places = {name: at for at, name in enumerate(cells.hosts)}
        self._entries: list[list[Any]] = []
        self._anchors = {finding.id: f"f{at}" for at, finding in enumerate(report.findings, 1)}
        self._checks = {finding.id: finding.check for finding in report.findings}

    def page(self) -> Page:
        report = self._report
        status, letter = status_of(report)
        bad = [finding for finding in report.findings if _is_told(finding)]
        page = Page(
            status=status,
            letter=letter,
            counts=_shares(report),
            bad_hosts=len({name for finding in bad for name in finding.names}),
            more_bad_hosts=any(finding.unnamed for finding in bad),
            cells=self._cells,
            plays=len({finding.play for finding in report.findings}) > 1,
        )
        for finding in report.findings:
            _place_for(page, finding).append(self._finding(finding))
        if report.drift:
            self._changes(page, report.drift)
        for unseen in report.incomplete:
            (page.quiet_hosts if unseen.silenced else page.incomplete).append(self._entry("u", unseen))
        page.suppressed = [self._entry("u", one) for one in report.suppressed]
        page.messages = [self._entry("", one) for one in report.messages]
        page.groups = [self._group(group) for group in host_groups(self._cells)]
        page.data = self._data()
        return page

    def _entry(self, letter: str, of: OnHosts, columns: Sequence[int] = (), **fields: Any) -> Entry:
        hosts = ranges(self._places[name] for name in of.names if name in self._places)
        return Entry(
            at=self._listed(letter, hosts, *([list(columns)] if columns else [])), letter=letter, of=of, **fields
        )

    def _listed(self, *parts: Any) -> int:
        self._entries.append(list(parts))
        return len(self._entries) - 1

    def _finding(self, finding: Finding) -> Entry:
        parent = finding.explained_by
        columns = columns_of(finding, self._cells.checks)
        return self._entry(
            letter_of(finding),
            finding,
            columns,
            anchor=self._anchors[finding.id],
            parent=self._anchors.get(parent, ""),
            parent_check=self._checks.get(parent, ""),
        )

    def _changes(self, page: Page, drift: Drift) -> None:
        for change in drift.changes:
            (page.worse if change.is_worse else page.other_changes).append(self._change(change))

    def _change(self, change: Change) -> Entry:
        letters = {str(state): letter for state, letter in CELL_LETTERS.items()}
        letter = letters.get(change.after, "o" if change.after in {"", "reached"} else "u")
        return self._entry(letter, change, anchor=self._anchors.get(change.finding, ""))

    def _group(self, group: HostGroup) -> Entry:
        letter = group.parts[0][0] if group.parts else "u"
        return Entry(at=self._listed(letter, ranges(group.at)), letter=letter, of=group)

    def _data(self) -> dict[str, Any]:
        cells = self._cells
        return {
            "hosts": [safe(name) for name in cells.hosts],
            "states": [str(state).replace("_", " ") for state in cells.states],
            "checks": [safe(key) for key in cells.checks],
            "names": [safe(name) for name in cells.names],
            "rows": rows_data(cells.rows),
            "entries": self._entries,
            "words": dict(WORDS),
        }


def _is_told(finding: Finding) -> bool:
    bad = {VerdictState.CRIT, VerdictState.WARN, VerdictState.UNKNOWN}
    return finding.verdict in bad and finding.silenced is None


def _place_for(page: Page, finding: Finding) -> list[Entry]:
    if finding.silenced is not None:
        return page.silenced
    if finding.verdict is VerdictState.SKIPPED:
        return page.skipped
    return page.told if _is_told(finding) else page.noted


def _shares(report: Report) -> Sequence[tuple[str, int, float, float]]:
    counts = {letter: report.totals.verdict.get(state, 0) for state, letter in CELL_LETTERS.items()}
    counts = {letter: counts[letter] for letter in WORDS if counts.get(letter)}
    total = sum(counts.values()) or 1
    # A single critical check among thousands has to be seen.
    widths = {letter: max(1000 * number / total, 6.0) for letter, number in counts.items()}
    scale = 1000 / (sum(widths.values()) or 1)
    shares, left = [], 0.0
    for letter, number in counts.items():
        width = widths[letter] * scale
        shares.append((letter, number, round(left, 1), round(width, 1)))
        left += width
    return shares
