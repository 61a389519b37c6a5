#!/usr/bin/env python3
"""How large the HTML report of many hosts is, how long it takes to write, and how long until a browser shows it.

    .venv/bin/python bench/html_report.py [--hosts 500] [--checks 60] [-o report.html] [--rounds 5]

The fleet is mostly well: a tenth of the hosts have troubles of some forty kinds, with evidence, and a few cannot be
reached. The browser is Debian's Chromium, headless; without it only size and writing are measured. Its times count from
the start of navigation: until the document is complete, and until two frames after that were drawn, map included.
"""

from __future__ import annotations

import argparse
import io
import random
import shutil
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from checkrunner.model.drift import Change, ChangeKind, Drift
from checkrunner.model.history import Detail
from checkrunner.model.report import Finding, Incomplete, Report, RunInfo, Silenced, Suppressed, Totals
from checkrunner.model.results import (
    CaptureState,
    Execution,
    HostState,
    Reason,
    Severity,
    Slice,
    SliceLine,
    SliceMode,
    SliceQuery,
    Stream,
    VerdictState,
)
from checkrunner.render.html import HtmlRenderer

THINGS = ("disk", "inodes", "raid", "oom", "nfs", "dns", "cert", "swap", "kernel", "clock", "units", "load")
SIDES = ("space", "errors", "latency", "queue", "state")
STARTED = datetime(2026, 3, 14, 6, 30, tzinfo=UTC)
VERDICTS = {"c": VerdictState.CRIT, "w": VerdictState.WARN, "u": VerdictState.UNKNOWN}
SEVERITY = {"c": Severity.CRITICAL, "w": Severity.WARNING, "u": Severity.CRITICAL}


def named(names: list[str]) -> dict[str, Any]:
    """Names folded well enough for a picture."""
    short = f"{names[0]},...,{names[-1]}" if len(names) > 6 else ",".join(names)
    return {"hosts": short, "names": tuple(names)}


def evidence(host: str, check: str, chance: random.Random) -> Slice:
    lines = tuple(
        SliceLine(
            number=37 * at + chance.randrange(30),
            text=f"2026-03-14T06:2{at}:11Z {check}[{chance.randrange(9999)}]: "
            f"error: {check} of unit{chance.randrange(60)} failed after {chance.randrange(3000)} ms, retrying",
            count=chance.choice([1, 1, 31]),
            rank=at,
        )
        for at in range(1, chance.randrange(2, 7))
    )
    last = lines[-1].number
    return Slice(
        stream=Stream.STDOUT,
        query=SliceQuery(mode=SliceMode.SALIENT),
        lines=lines,
        total_lines=900,
        more_lines=700,
        more_shapes=17,
        evidence=f"{host}/{check}/stdout:{lines[0].number}-{last}",
    )


def finding(at: int, check: str, letter: str, names: list[str], chance: random.Random) -> Finding:
    value, new = chance.randrange(91, 100), chance.random() < 0.3
    return Finding(
        id=f"{at:08x}",
        check=check,
        name=check.replace("-", " ").capitalize(),
        play="Health",
        severity=SEVERITY[letter],
        verdict=VERDICTS[letter],
        execution=Execution.TIMED_OUT if letter == "u" else Execution.DONE,
        reasons=(
            Reason(
                subject="warn_if",
                expected="not used > 90",
                actual=f"used = {value}",
                message=f"{check}: used > 90 (used = {value})",
            ),
        ),
        result={"rc": 1, "elapsed_s": 0.4},
        slices=(evidence(names[0], check, chance),),
        folded_by="masked" if len(names) > 1 else "",
        since=STARTED if new else STARTED - timedelta(minutes=chance.randrange(5, 9000)),
        novelty="new" if new else "known",
        changes=chance.choice([0, 0, 0, 5]),
        why="What it stands for is not available to anybody while this lasts.",
        fix=f"Look at the log first:\n  journalctl -u {check} -S -1h | tail -50\nThen restart it.",
        **named(names),
    )


def fleet(hosts: int, checks: int, kinds: int = 40, seed: int = 7) -> tuple[Report, Detail]:
    """A report of so many hosts and checks, and all of its cells."""
    chance = random.Random(seed)
    names = [f"{chance.choice(['web', 'db', 'cache', 'queue'])}{at:03d}.example.com" for at in range(hosts)]
    keys = [f"{THINGS[at % len(THINGS)]}-{SIDES[at // len(THINGS) % len(SIDES)]}" for at in range(checks)]
    keys = [key if at < 60 else f"{key}-{at}" for at, key in enumerate(keys)]
    rows = [["o"] * checks for _ in names]
    away = set(chance.sample(range(hosts), max(1, hosts // 80)))
    for at in away:
        rows[at] = ["u"] * checks
    ill = [at for at in chance.sample(range(hosts), max(4, hosts // 10)) if at not in away]
    findings = []
    for at in range(kinds):
        letter, column = chance.choice("ccwwwu"), chance.randrange(checks)
        some = chance.sample(ill, chance.randrange(1, len(ill) + 1))
        some = sorted(host for host in some if rows[host][column] == "o")[: None if at < 6 else 3]
        for host in some:
            rows[host][column] = letter
        if some:
            findings.append(finding(at, keys[column], letter, [names[host] for host in some], chance))
    for row in rows:
        row[-1] = "s" if row[-1] == "o" and chance.random() < 0.7 else row[-1]
    findings.sort(key=lambda one: ["crit", "unknown", "warn"].index(str(one.verdict)))
    report = _report(names, rows, findings, [names[at] for at in sorted(away)])
    states = [HostState.UNREACHABLE if at in away else HostState.REACHED for at in range(hosts)]
    detail = Detail(
        hosts=tuple(names), states=tuple(states), checks=tuple(keys),
        names=tuple(key.replace("-", " ").capitalize() for key in keys), rows=tuple("".join(row) for row in rows),
    )  # fmt: skip
    return report, detail


def _report(names: list[str], rows: list[list[str]], findings: list[Finding], away: list[str]) -> Report:
    count = Counter(letter for row in rows for letter in row)
    silenced = Silenced(until=STARTED + timedelta(days=4), why="the array is being replaced", by="alice")
    findings = [*findings[:-1], replace(findings[-1], silenced=silenced)]
    first, second = findings[0], findings[1]
    changes = [
        Change(kind=ChangeKind.REGRESSION, check=one.check, before="ok", after=str(one.verdict), finding=one.id,
               since=one.since, hosts=one.hosts, names=one.names)
        for one in (first, second)
    ]  # fmt: skip
    changes.append(Change(kind=ChangeKind.RECOVERY, check="load-state", before="warn", after="ok", **named(names[:3])))
    planned, not_run = sum(count.values()), len(away) * len(rows[0])
    return Report(
        run=RunInfo(
            id="20260314T063000-7f3a", version="0.1.0", playbook="linux-health", playbook_digest="", limit=None,
            inventory=("inventory.yml",), started_at=STARTED, elapsed_s=41.5, ended="normal",
            complete=False, exit_code=2,
        ),
        totals=Totals(
            hosts=len(names), planned=planned, done=planned - count["s"] - not_run, skipped=count["s"], not_run=not_run,
            verdict={
                VerdictState.OK: count["o"], VerdictState.WARN: count["w"], VerdictState.CRIT: count["c"],
                VerdictState.UNKNOWN: count["u"], VerdictState.SKIPPED: count["s"],
            },
            execution={Execution.DONE: planned - count["s"] - not_run, Execution.NOT_RUN: count["s"] + not_run},
            host={HostState.REACHED: len(names) - len(away), HostState.UNREACHABLE: len(away)},
            capture={CaptureState.COMPLETE: planned - count["s"] - not_run},
        ),
        findings=tuple(findings),
        incomplete=(
            Incomplete(state=HostState.UNREACHABLE, phase="connect",
                       reason="cannot connect to port 22: no route to host",
                       hint="Is the host on? Is it in the right network?", **named(away)),
        ),
        suppressed=(
            Suppressed(check="nfs-latency", until=STARTED + timedelta(hours=20), strikes=3,
                       reason="could not be ended: df waits in rpc_wait_bit_killable", **named(names[-2:])),
        ),
        drift=Drift(against="20260314T062500-11aa", against_started_at=STARTED - timedelta(minutes=5),
                    changes=tuple(changes), unchanged=312, worse=2,),
    )  # fmt: skip


def opened(path: Path, rounds: int) -> list[tuple[float, float]]:
    """Seconds until complete, and until drawn, of each opening, in a browser that has started already."""
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for _ in range(rounds):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(path.as_uri())
            loaded = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
            drawn = page.evaluate(
                "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
            )
            assert page.locator("#view tbody td").count() > 0, "the map is drawn"
            times.append((loaded / 1000, drawn / 1000))
            page.close()
        browser.close()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=500)
    parser.add_argument("--checks", type=int, default=60)
    parser.add_argument("--kinds", type=int, default=40, help="how many kinds of trouble there are")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path, help="keep the page here")
    args = parser.parse_args()
    report, detail = fleet(args.hosts, args.checks, args.kinds)
    HtmlRenderer().render(report, io.StringIO(), detail)  # what is loaded once is loaded
    before = time.perf_counter()
    out = io.StringIO()
    HtmlRenderer().render(report, out, detail)
    written = time.perf_counter() - before
    with tempfile.TemporaryDirectory() as folder:
        path = (args.output or Path(folder) / "report.html").resolve()
        path.write_text(out.getvalue(), encoding="utf-8")
        print(f"{args.hosts:,} hosts x {args.checks} checks, {len(report.findings)} findings: ", end="")
        print(f"{path.stat().st_size / 1024:,.0f} KiB, written in {written:.2f} s")
        if shutil.which("chromium") is None:
            print("no chromium here: opening was not measured")
            return
        times = opened(path, args.rounds)
    for at, what in enumerate(("complete", "drawn")):
        figures = sorted(one[at] for one in times)
        print(
            f"{what} after {statistics.median(figures):.2f} s (median of {len(figures)}, at most {figures[-1]:.2f} s)"
        )


if __name__ == "__main__":
    main()
