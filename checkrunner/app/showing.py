"""The use case of `show`: the report of a run, what came of each check on a host, and of a check on each host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checkrunner.findings.fold import fold, names_in
from checkrunner.history.store import Store
from checkrunner.load.report import read_report
from checkrunner.model.errors import UnknownNameError
from checkrunner.model.history import Cell, Evidence, RunSummary, RunView, StoredResult
from checkrunner.model.report import Report
from checkrunner.model.results import VerdictState

__all__ = ["Shown", "report_of", "results_of"]

_FINE = frozenset({VerdictState.OK, VerdictState.SKIPPED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What is there of a run for a host, a check or both: what is to be told one by one, and of the rest the folded
    names of hosts or the keys of checks, by verdict."""

    run: RunSummary
    results: Sequence[StoredResult]
    rest: Sequence[tuple[VerdictState, str, int]]


def report_of(store: Store, number: int) -> Report:
    """The report of a run, as the run had it."""
    return read_report(store.report_text(number), f"run {number}", names_in=names_in)


def results_of(store: Store, number: int, *, host: str = "", check: str = "") -> Shown:
    """What came of the check (key, or a loop's id for all of its items) on the host; of all where one is not named.

    Results that are fine are only counted and named, unless both are named. Raises UnknownNameError for a host or check
    that the run does not have.
    """
    with store.reading():
        view = store.view(number)
        hosts, keys = _hosts(view, host), _keys(view, check)
        kept = store.kept_streams(number)
        results = []
        fine: dict[VerdictState, dict[str, None]] = {}
        for name in hosts:
            for key in keys:
                cell = view.cells.get((name, key))
                if cell is None:
                    continue
                if _is_fine(cell) and not (host and check):
                    fine.setdefault(cell.verdict, {})[key if host else name] = None
                    continue
                found = Evidence() if cell.verdict is VerdictState.SKIPPED else store.evidence(number, name, key)
                version = view.checks.get(key)
                results.append(
                    StoredResult(
                        host=name,
                        check=key,
                        name=version.name if version else "",
                        play=version.play if version else "",
                        state=view.hosts[name].state,
                        cell=cell,
                        evidence=found,
                        kept=tuple(kept.get((name, key), ())),
                    )
                )
        rest = [
            (verdict, ", ".join(names) if host else fold(names), len(names))
            for verdict, names in sorted(fine.items(), key=lambda one: one[0] is not VerdictState.OK)
        ]
        return Shown(run=store.summary(number), results=results, rest=rest)


def _is_fine(cell: Cell) -> bool:
    """Whether there is nothing to tell of it; what is ok but noted is part of a finding."""
    return cell.verdict in _FINE and not cell.finding


def _hosts(view: RunView, host: str) -> Sequence[str]:
    if not host:
        return list(view.hosts)
    if host not in view.hosts:
        raise UnknownNameError("host of that run", host, view.hosts)
    return [host]


def _keys(view: RunView, check: str) -> Sequence[str]:
    known = {**dict.fromkeys(view.checks), **dict.fromkeys(key for _, key in view.cells)}
    if not check:
        return list(known)
    keys = [key for key in known if check in (key, key.partition("[")[0])]
    if not keys:
        raise UnknownNameError("check of that run", check, known)
    return keys
