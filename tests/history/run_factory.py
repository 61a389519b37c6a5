"""Runs for the store, made with few words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from checkrunner.model.history import Cell, CheckVersion, HostCell, RunRecord, RunView, Selection
from checkrunner.model.report import Report, RunInfo, Totals
from checkrunner.model.results import Execution, HostState, VerdictState

__all__ = ["PLAYBOOK", "at", "cell", "record"]

PLAYBOOK = "/etc/checks/health.yml"
_LETTERS = {
    "o": VerdictState.OK,
    "w": VerdictState.WARN,
    "c": VerdictState.CRIT,
    "u": VerdictState.UNKNOWN,
    "s": VerdictState.SKIPPED,
}


def at(minute: int) -> datetime:
    """So many minutes after the beginning of the tests' time."""
    return datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC) + timedelta(minutes=minute)


def cell(letter: str = "o", **fields: Any) -> Cell:
    """A cell: ``o`` ok, ``w`` warn, ``c`` crit, ``u`` unknown, ``s`` skipped."""
    return Cell(**{"verdict": _LETTERS[letter], "since": at(0), **fields})


def record(
    minute: int = 0, hosts: Mapping[str, str] | None = None, *, playbook: str = PLAYBOOK, limit: str = "", **fields: Any
) -> RunRecord:
    """A run at that minute, of ``{"web1": "disk:o load:c"}``: a record whose other fields are given by name."""
    hosts = {"web1": "disk:o load:c"} if hosts is None else hosts
    view_fields = {name: fields.pop(name) for name in ("ended", "complete") if name in fields}
    words = {host: dict(word.rsplit(":", 1) for word in text.split()) for host, text in hosts.items()}
    keys = dict.fromkeys(key for of_host in words.values() for key in of_host)
    view = RunView(
        id=f"20260102T{minute:06}Z-{minute:06x}",
        started_at=at(minute),
        playbook=playbook,
        playbook_digest="d1",
        selection=Selection(limit=limit),
        hosts={host: HostCell(state=HostState.REACHED, since=at(0)) for host in words},
        checks={
            key: CheckVersion(key=key, name=f"Check {key}", play="p", command=f"c-{key}", rules=f"r-{key}")
            for key in keys
        },
        cells={(host, key): cell(letter) for host, of_host in words.items() for key, letter in of_host.items()},
        **view_fields,
    )
    view = replace(view, **fields.pop("view", {}))
    return RunRecord(report=_report(view), report_text=f'{{"run":"{view.id}"}}', view=view, **fields)


def _report(view: RunView) -> Report:
    run = RunInfo(
        id=view.id,
        version="1",
        playbook=view.playbook,
        playbook_digest=view.playbook_digest,
        inventory=("localhost",),
        limit=None,
        started_at=view.started_at,
        elapsed_s=2.5,
        ended=view.ended,
        complete=view.complete,
        exit_code=view.exit_code,
    )
    verdicts = {state: sum(cell.verdict is state for cell in view.cells.values()) for state in VerdictState}
    executions = dict.fromkeys(Execution, 0)
    totals = Totals(
        hosts=0, planned=0, done=0, skipped=0, not_run=0, verdict=verdicts, execution=executions, host={}, capture={}
    )
    return Report(run=run, totals=totals)
