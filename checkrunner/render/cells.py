"""Each check on each host, and what a report says of it: for formats that have an entry for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from checkrunner.model.history import CELL_LETTERS, NOT_PLANNED_LETTER, NOTED_LETTER, Detail
from checkrunner.model.report import Finding, Incomplete, Report
from checkrunner.model.results import VerdictState

__all__ = ["Cells", "CheckCells", "keys_of", "letter_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCells:
    """A check (an item of a loop is one) and its letter on each host that it was planned on; see `Detail`."""

    key: str
    name: str
    cells: tuple[tuple[str, str], ...]


def letter_of(finding: Finding) -> str:
    """Its letter in a `Detail`."""
    noted = finding.verdict is VerdictState.OK and finding.reasons
    return NOTED_LETTER if noted else CELL_LETTERS[finding.verdict]


class Cells:
    """The checks of a run. Without a detail these are the ones that its findings are about, on the hosts that they
    name: what was fine is not among them then."""

    def __init__(self, report: Report, detail: Detail | None) -> None:
        self._report = report
        self._detail = detail
        self._findings: dict[str, dict[str, Finding]] = {}
        self._unnamed: dict[tuple[str, str], Finding] = {}
        for finding in report.findings:
            for key in _keys(finding):
                by_host = self._findings.setdefault(key, {})
                for name in finding.names:
                    by_host.setdefault(name, finding)
                if finding.unnamed:
                    self._unnamed.setdefault((key, letter_of(finding)), finding)
        self._incomplete = {name: entry for entry in report.incomplete for name in entry.names}

    def checks(self) -> Iterator[CheckCells]:
        """In the order of the run, or in that of the findings."""
        if self._detail is None:
            yield from self._of_findings()
            return
        for place, key in enumerate(self._detail.checks):
            cells = tuple(
                (host, row[place])
                for host, row in zip(self._detail.hosts, self._detail.rows, strict=True)
                if row[place] != NOT_PLANNED_LETTER
            )
            yield CheckCells(key=key, name=self._detail.names[place], cells=cells)

    def _of_findings(self) -> Iterator[CheckCells]:
        for key, by_host in self._findings.items():
            named = [(host, finding) for host, finding in by_host.items() if key in keys_of(finding)]
            if named:
                cells = tuple((host, letter_of(finding)) for host, finding in named)
                yield CheckCells(key=key, name=named[0][1].name, cells=cells)

    def hosts(self) -> Mapping[str, bool]:
        """Whether a host was reached; without a detail only those of which something is said."""
        if self._detail is not None:
            return {
                host: str(state) == "reached"
                for host, state in zip(self._detail.hosts, self._detail.states, strict=True)
            }
        known = {name: True for by_host in self._findings.values() for name in by_host}
        return {**known, **{name: str(entry.state) == "reached" for name, entry in self._incomplete.items()}}

    def finding(self, key: str, host: str, letter: str) -> Finding | None:
        """The finding that says why the check is not simply ok there."""
        for word in (key, key.partition("[")[0]):
            found = self._findings.get(word, {}).get(host)
            if found is not None and letter_of(found) == letter:
                return found
        return self._unnamed.get((key, letter))

    def incomplete(self, host: str) -> Incomplete | None:
        """Why the host could not be looked at."""
        return self._incomplete.get(host)


def keys_of(finding: Finding) -> tuple[str, ...]:
    """The keys of the items that it is about, as far as they are named; without items that of the check."""
    return tuple(f"{finding.check}[{item}]" for item in finding.items) or (finding.check,)


def _keys(finding: Finding) -> tuple[str, ...]:
    """Those, and that of the loop: a list of items may be shorter than what it is about."""
    return tuple(dict.fromkeys((*keys_of(finding), finding.check)))
