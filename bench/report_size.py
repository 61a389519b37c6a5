#!/usr/bin/env python3
"""How large the JSON report is, in bytes and in tokens, and how long it takes to build.

    .venv/bin/python bench/report_size.py [--hosts 10000] [--ill 3000] [--troubles 40] [--budget-tokens 4000]

First fleets in memory: healthy hosts with eight checks each; then some of them with troubles, each of which prints its
line in other numbers and among other noise on every host. `--runs` is a run of the real command on so many local
sessions, well and ill; 0 leaves that out.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from checkrunner.findings.build import build_report
from checkrunner.findings.salience import Row, rank
from checkrunner.findings.tokens import TokenEstimate
from checkrunner.model.inventory import Host
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.playbook import Check
from checkrunner.model.report import Report, RunInfo
from checkrunner.model.results import (
    Execution,
    HostState,
    Output,
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

CHECKS = 8
NOISE = 40
THINGS = ("raid array", "oom killer", "nfs server", "dns lookup", "certificate", "swap device", "kernel ring", "clock")
FAULTS = ("timed out", "is degraded", "was refused", "is full", "has expired")
PLANNED = [
    PlannedCheck(
        key=f"check-{at}", play="health", check=Check(id=f"check-{at}", name=f"Check {at}", run=Template(text="x"))
    )
    for at in range(CHECKS)
]
FINE = Verdict(state=VerdictState.OK)
BAD = Verdict(
    state=VerdictState.CRIT,
    reasons=(Reason(subject="rc", expected="0", actual="1", message="rc was 1, expected 0 (the default)"),),
)


def lines_of(trouble: int, random_: random.Random) -> list[str]:
    """What the troubled check prints: one line of it on every host, and noise of the host's own."""
    fault = f"error: {THINGS[trouble % len(THINGS)]} unit{trouble} {FAULTS[trouble // len(THINGS) % len(FAULTS)]}"
    noise = [f"info: worker {random_.choice('abcdefghij')}{random_.randrange(NOISE)}x is idle" for _ in range(20)]
    return [*noise[:9], f"{fault} after {random_.randrange(9999)} ms", *noise[9:]]


def slice_of(host: str, key: str, texts: Sequence[str]) -> Slice:
    rows = [Row(number, text, 1, number, 0) for number, text in enumerate(texts, 1)]
    ranking = rank(rows, total_lines=len(rows), stream=Stream.STDOUT, rc=1)
    lines = tuple(
        SliceLine(number=one.number, text=one.text, count=one.count, last=one.last, rank=one.rank)
        for one in ranking.entries
    )
    made = Slice(stream=Stream.STDOUT, query=SliceQuery(mode=SliceMode.SALIENT), lines=lines, total_lines=len(rows))
    return replace(made, evidence=evidence_id(host, key, Stream.STDOUT, made.ranges))


def fleet(hosts: int, ill: int, troubles: int) -> list[HostOutcome]:
    random_ = random.Random(7)
    output = Output(lines=21, bytes=800, captured_bytes=800)
    result = Result(seq=1, session="main", execution=Execution.DONE, rc=0, elapsed_s=0.02, stdout=output)
    out = []
    for at in range(hosts):
        name = f"node{at:05d}.example.com"
        checks = [CheckOutcome(host=name, planned=one, verdict=FINE, result=result) for one in PLANNED]
        if at < ill:
            trouble = at if at < troubles else random_.randrange(troubles)
            which = trouble % CHECKS
            shown = slice_of(name, PLANNED[which].key, lines_of(trouble, random_))
            took = replace(result, rc=1, elapsed_s=round(random_.random(), 3))
            checks[which] = CheckOutcome(host=name, planned=PLANNED[which], verdict=BAD, result=took, slices=(shown,))
        out.append(HostOutcome(host=Host(name=name, address=name), state=HostState.REACHED, checks=tuple(checks)))
    return out


def report_of(outcomes: Sequence[HostOutcome], budget: int) -> Report:
    run = RunInfo(
        id="20260102T030405-7f3a",
        version="0.1.0",
        playbook="health.yml",
        playbook_digest="0123456789abcdef" * 4,
        inventory=("inventory.yml",),
        limit=None,
        started_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        elapsed_s=83.1,
        ended="normal",
        complete=True,
        exit_code=0,
    )
    return build_report(outcomes, run=run, to_text=json_text, budget_tokens=budget or None)


def in_memory(hosts: int, ill: int, troubles: int, budget: int) -> None:
    for some in sorted({0, ill}):
        outcomes = fleet(hosts, some, troubles)
        began = time.perf_counter()
        report = report_of(outcomes, budget)
        took = time.perf_counter() - began
        text = json_text(report)
        left = [one for one in report.omissions if one.what == "finding"]
        shown = sum(any(piece.lines for piece in one.slices) for one in report.findings)
        more = f"; {left[0].count} more: {left[0].where}" if left else ""
        print(
            f"{hosts:,} hosts x {CHECKS} checks, {some:,} ill: {len(text.encode()):,} bytes, "
            f"{TokenEstimate().count(text):,} tokens, {took:.1f} s; {len(report.findings)} findings, "
            f"{shown} with lines{more}"
        )


def real_run(folder: Path, hosts: int, ill: int, budget: int) -> None:
    """The same over the local transport: each host is a session of its own on this machine."""
    checks: list[dict[str, object]] = [{"id": f"c{at}", "run": "seq 1000"} for at in range(CHECKS - 1)]
    checks.append({"id": "ill", "run": "seq 1000; echo disk 7 is broken >&2; exit {{ 1 if ill is defined else 0 }}"})
    playbook, inventory = folder / "play.yml", folder / "inventory.ini"
    playbook.write_text(json.dumps([{"name": "size", "hosts": "all", "checks": checks}]), encoding="utf-8")
    lines = [f"web{at:03d} ansible_connection=local" + (" ill=1" if at <= ill else "") for at in range(1, hosts + 1)]
    inventory.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = ["run", str(playbook), "-i", str(inventory), "--format", "json", "-q", "-f", "10"]
    command += ["--budget-tokens", str(budget)]
    done = subprocess.run([sys.executable, "-m", "checkrunner", *command], capture_output=True, check=False)
    if done.returncode not in {0, 2}:
        sys.exit(f"exit code {done.returncode}\n{done.stderr.decode()}")
    document = json.loads(done.stdout)
    print(
        f"a run on {hosts} local hosts, {ill} ill: {len(done.stdout):,} bytes, {document['budget']['used']:,} tokens, "
        f"{len(document['findings'])} findings"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--ill", type=int, default=3000)
    parser.add_argument("--troubles", type=int, default=40)
    parser.add_argument("--budget-tokens", type=int, default=4000)
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    in_memory(options.hosts, options.ill, options.troubles, options.budget_tokens)
    if options.runs:
        with tempfile.TemporaryDirectory() as folder:
            for ill in (0, max(1, options.runs // 10)):
                real_run(Path(folder), options.runs, ill, options.budget_tokens)


if __name__ == "__main__":
    main()
