#!/usr/bin/env python3
"""What it costs to store runs of a large fleet, to read them and to compare them; how large the file gets.

    .venv/bin/python bench/history.py [--hosts 10000] [--checks 8] [--ill 500] [--runs 3] [--keep 4]

First runs in which all is well, then some with troubles: on each ill host two checks are not ok, with a slice of ten
lines and an output of its own that is kept. `--keep` is how many runs the store may hold: the last ones are saved while
others go. Times are wall seconds of this process; `--runs` is how many runs of each kind there are.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from checkrunner.app.diffing import compare
from checkrunner.app.records import record_of
from checkrunner.findings.build import build_report
from checkrunner.findings.redact import PatternRedactor
from checkrunner.findings.view import Series
from checkrunner.history.past import StoredPast
from checkrunner.history.store import Store
from checkrunner.model.history import CheckVersion, KeptOutput, RunView, Selection
from checkrunner.model.inventory import Host
from checkrunner.model.options import HistoryOptions
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.playbook import Check
from checkrunner.model.report import RunInfo
from checkrunner.model.results import (
    Execution,
    HostState,
    Reason,
    Result,
    Slice,
    SliceLine,
    SliceMode,
    SliceQuery,
    Stream,
    Verdict,
    VerdictState,
    evidence_id,
)
from checkrunner.model.sources import Template
from checkrunner.render.json import json_text

PLAYBOOK = "/srv/checks/health.yml"
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
FINE = Verdict(state=VerdictState.OK)


class Fleet:
    def __init__(self, hosts: int, checks: int) -> None:
        names = [f"node{at:05}.site{at % 7}.example.net" for at in range(hosts)]
        self.hosts = [Host(name=name, address=name) for name in names]
        self.planned = [
            PlannedCheck(
                key=f"check-{at}",
                play="health",
                check=Check(id=f"check-{at}", name=f"Check {at}", run=Template(text="true")),
            )
            for at in range(checks)
        ]
        self.done = Result(seq=1, session="main", execution=Execution.DONE, rc=0, elapsed_s=0.01)
        versions = {
            one.key: CheckVersion(key=one.key, name=one.check.name, play="health", command="c", rules="r")
            for one in self.planned
        }
        self.series = Series(playbook=PLAYBOOK, selection=Selection(), checks=versions)

    def outcomes(self, ill: int, seed: int) -> list[HostOutcome]:
        """`ill` hosts, other ones with each seed, have two checks that are not ok."""
        chance = random.Random(seed)
        troubled = {chance.randrange(len(self.hosts)) for _ in range(ill)}
        return [
            HostOutcome(
                host=host,
                state=HostState.REACHED,
                checks=tuple(
                    self.trouble(host.name, one, chance)
                    if at in troubled and place < 2
                    else CheckOutcome(host=host.name, planned=one, verdict=FINE, result=self.done)
                    for place, one in enumerate(self.planned)
                ),
            )
            for at, host in enumerate(self.hosts)
        ]

    def trouble(self, host: str, planned: PlannedCheck, chance: random.Random) -> CheckOutcome:
        texts = [f"kernel: sd{chance.choice('abcdef')}: I/O error, sector {chance.randrange(10**9)}" for _ in range(10)]
        piece = Slice(
            stream=Stream.STDOUT,
            query=SliceQuery(mode=SliceMode.TAIL),
            lines=tuple(SliceLine(number=at, text=text) for at, text in enumerate(texts, 1)),
            total_lines=10,
        )
        piece = replace(piece, evidence=evidence_id(host, planned.key, Stream.STDOUT, piece.ranges))
        count = chance.randrange(1, 40)
        reason = Reason(subject="stdout_lines", expected="0", actual=str(count), message=f"stdout had {count} lines")
        return CheckOutcome(
            host=host,
            planned=planned,
            verdict=Verdict(state=VerdictState.CRIT, reasons=(reason,)),
            result=self.done,
            slices=(piece,),
        )


def kept_of(outcomes: Sequence[HostOutcome]) -> list[KeptOutput]:
    return [
        KeptOutput(
            host=check.host,
            check=check.planned.key,
            stream=Stream.STDOUT,
            data="".join(f"{check.slices[0].lines[at % 10].text} {at}\n" for at in range(400)).encode(),
            total_bytes=24_000,
            total_lines=400,
        )
        for host in outcomes
        for check in host.checks
        if check.slices
    ]


@contextmanager
def timed(what: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    print(f"  {what:<54}{time.perf_counter() - began:8.2f} s")


def one_run(fleet: Fleet, path: Path, number: int, ill: int, options: HistoryOptions) -> None:
    now = BEGAN + timedelta(minutes=5 * number)
    outcomes = fleet.outcomes(ill, number)
    redactor = PatternRedactor()
    print(f"run {number}: {len(fleet.hosts):,} hosts x {len(fleet.planned)} checks, {ill:,} hosts ill")
    with timed("what the store knows before the run"), Store.open(path, options=options, create=True) as store:
        past = StoredPast(store, PLAYBOOK, Selection(), now)
    views: list[RunView] = []
    info = RunInfo(
        id=f"run-{number}",
        version="1",
        playbook=PLAYBOOK,
        playbook_digest="d",
        inventory=("fleet",),
        limit=None,
        started_at=now,
        elapsed_s=60.0,
        ended="normal",
        complete=True,
        exit_code=0,
    )
    with timed("the report, with drift and view"):
        report = build_report(
            outcomes,
            run=info,
            redactor=redactor,
            to_text=json_text,
            past=past,
            series=fleet.series,
            keep_view=views.append,
        )
    kept = kept_of(outcomes)
    began = time.perf_counter()
    with timed("the record of the run"):
        record = record_of(
            outcomes,
            report=report,
            report_text=json_text(report),
            view=views[0],
            kind="run",
            mask=redactor.redact,
            kept=kept,
        )
    with timed("saved (opened, written, closed)"), Store.open(path, options=options) as store:
        saved = store.save(record, now=now)
    print(f"  {'record and save together':<54}{time.perf_counter() - began:8.2f} s")
    print(f"  {'file':<54}{path.stat().st_size / 1e6:8.2f} MB")
    with Store.open(path, options=options) as store:
        with timed("view of it read again"):
            store.view(saved)
        if saved > 1:
            with timed("diff with the run before"):
                compare(store, [str(saved - 1), str(saved)], now=now)


def rows(path: Path, ask: Callable[[sqlite3.Connection], int]) -> int:
    connection = sqlite3.connect(path)
    try:
        return ask(connection)
    finally:
        connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--checks", type=int, default=8)
    parser.add_argument("--ill", type=int, default=500)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keep", type=int, default=4)
    options = parser.parse_args()
    fleet = Fleet(options.hosts, options.checks)
    kept = HistoryOptions(runs=options.keep)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.db"
        for number in range(1, 2 * options.runs + 1):
            one_run(fleet, path, number, 0 if number <= options.runs else options.ill, kept)
        stored = rows(path, lambda connection: int(connection.execute("SELECT count(*) FROM cell").fetchone()[0]))
        print(f"in the end {path.stat().st_size / 1e6:.2f} MB with {stored:,} cells")


if __name__ == "__main__":
    main()
