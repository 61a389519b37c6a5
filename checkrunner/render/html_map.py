"""The hosts and checks of the HTML report's map, and the same in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from checkrunner.model.history import Detail
from checkrunner.model.report import Finding, Report
from checkrunner.model.results import HostState
from checkrunner.render.cells import keys_of, letter_of
from checkrunner.render.html_words import UNTOLD, WORDS

__all__ = ["Cells", "HostGroup", "cells_of", "columns_of", "host_groups", "ranges", "rows_data"]

_FINE = frozenset("o.s" + UNTOLD)
"""Letters of cells that need no words."""

_MOST_NAMED = 12
"""So many checks of one verdict are named of a host."""

_RUN = re.compile(r"(.)\1*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """As `Detail`. `whole`: it has every host and check of the run, and not just those that the report names, whose
    rows have ``_`` where the report does not say."""

    hosts: Sequence[str]
    states: Sequence[HostState]
    checks: Sequence[str]
    names: Sequence[str]
    rows: Sequence[str]
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HostGroup:
    """Hosts with the same row: in words what is not ok there. `at` are their places in `Cells.hosts`."""

    hosts: Sequence[str]
    at: Sequence[int]
    state: HostState
    parts: Sequence[tuple[str, str]]
    """Letter, and the checks that have it."""


def cells_of(report: Report, detail: Detail | None) -> Cells:
    """The cells of the run, or as far as the report names them."""
    if detail is None:
        return _named_cells(report)
    return Cells(
        hosts=detail.hosts,
        states=detail.states,
        checks=detail.checks,
        names=detail.names,
        rows=detail.rows,
        whole=True,
    )


def _named_cells(report: Report) -> Cells:
    states: dict[str, HostState] = {}
    names: dict[str, str] = {}
    for finding in report.findings:
        states |= dict.fromkeys(finding.names, HostState.REACHED)
        for key in keys_of(finding):
            names.setdefault(key, finding.name)
    for entry in report.incomplete:
        states |= dict.fromkeys(entry.names, entry.state)
    checks = list(names)
    # Of a host that was not reached no check could be looked at; of one that was, the findings tell.
    started = {HostState.REACHED, HostState.LOST}
    grid = {host: [UNTOLD if state in started else "u"] * len(checks) for host, state in states.items()}
    for finding in report.findings:
        letter, columns = letter_of(finding), columns_of(finding, checks)
        for host in finding.names:
            for column in columns:
                grid[host][column] = letter
    return Cells(
        hosts=list(states),
        states=list(states.values()),
        checks=checks,
        names=list(names.values()),
        rows=["".join(row) for row in grid.values()],
        whole=False,
    )


def columns_of(finding: Finding, checks: Sequence[str]) -> Sequence[int]:
    """The places of its checks. Where it does not name all of its items, all of its loop's are possible: the letters
    of the cells tell which."""
    keys = set(keys_of(finding))
    loop = f"{finding.check}[" if finding.item_count > len(finding.items) else None
    return [at for at, key in enumerate(checks) if key in keys or (loop is not None and key.startswith(loop))]


def ranges(places: Iterable[int]) -> list[int]:
    """Places as pairs, the first of a range and its length: ``[3, 2, 9, 1]`` for 3, 4 and 9."""
    pairs: list[int] = []
    for place in sorted(set(places)):
        if pairs and place == pairs[-2] + pairs[-1]:
            pairs[-1] += 1
        else:
            pairs += [place, 1]
    return pairs


def rows_data(rows: Sequence[str]) -> dict[str, object]:
    """Each different row once, ``57o2cu`` for 57 times ok, two critical and an unknown; and of each host which."""
    different = list(dict.fromkeys(rows))
    places = {row: at for at, row in enumerate(different)}
    return {"of": [_packed(row) for row in different], "at": [places[row] for row in rows]}


def _packed(row: str) -> str:
    return "".join(f"{len(run[0]) if len(run[0]) > 1 else ''}{run[1]}" for run in _RUN.finditer(row))


def host_groups(cells: Cells) -> Sequence[HostGroup]:
    """The hosts that show the same, the worst first; without those where all is well."""
    found: dict[tuple[str, HostState], list[int]] = {}
    for at, (row, state) in enumerate(zip(cells.rows, cells.states, strict=True)):
        if state is not HostState.REACHED or not _FINE.issuperset(row):
            found.setdefault((row, state), []).append(at)
    ordered = sorted(found.items(), key=lambda group: tuple(-group[0][0].count(letter) for letter in "cuwn"))
    return [
        HostGroup(
            hosts=[cells.hosts[at] for at in places], at=places, state=state, parts=list(_parts(row, cells.checks))
        )
        for (row, state), places in ordered
    ]


def _parts(row: str, checks: Sequence[str]) -> Iterator[tuple[str, str]]:
    planned = len(row) - row.count(".")
    for letter in WORDS:
        if letter in _FINE or letter not in row:
            continue
        keys = [key for key, its in zip(checks, row, strict=True) if its == letter]
        if len(keys) == planned > 1:
            yield letter, f"all {planned:,} checks"
            continue
        more = len(keys) - _MOST_NAMED
        yield letter, ", ".join(keys[:_MOST_NAMED]) + (f", and {more:,} more" if more > 0 else "")
