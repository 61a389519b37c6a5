"""The report as Markdown: what a ticket gets to see of it."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from checkrunner.findings.totals import count
from checkrunner.model.report import Finding, Incomplete, Report, RunInfo, Silenced, Suppressed
from checkrunner.model.results import (
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
from checkrunner.render.markdown import MOST_CHARACTERS, MarkdownRenderer

BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LINES = Slice(
    stream=Stream.STDOUT,
    query=SliceQuery(mode=SliceMode.LINES),
    lines=(SliceLine(number=9, text="| a ``` b"), SliceLine(number=12, text="<b>", cut_bytes=7)),
    total_lines=20,
    more_lines=3,
    evidence="web1/disk/stdout:9,12",
)
DISK = Finding(
    id="1", check="disk", name="Space | left", play="p", severity=Severity.CRITICAL, verdict=VerdictState.CRIT,
    execution=Execution.DONE, hosts="web[1-2]", names=("web1", "web2"), slices=(LINES,), fix="rm x\ndf",
    reasons=(Reason(subject="rc", expected="0", actual="1", message="rc was 1, ask @root"),),
    since=BEGAN - timedelta(hours=11), changes=5,
)  # fmt: skip


def page(*findings: Finding, **fields: Any) -> str:
    run = RunInfo(
        id="r1", version="1", playbook="p.yml", playbook_digest="", inventory=(), limit=None, elapsed_s=1.0,
        started_at=BEGAN, ended="normal", complete=True, exit_code=2,
    )  # fmt: skip
    out = io.StringIO()
    MarkdownRenderer().render(Report(run=run, totals=count([]), findings=findings, **fields), out)
    return out.getvalue()


def test_a_finding_is_a_row_and_has_its_evidence_below() -> None:
    text = page(DISK)

    assert (
        "| **CRIT** | `disk` | `web[1-2]` (2 hosts) | rc was 1, ask `@root` | "
        "2026-01-01 16:04 UTC (11 h); flapping: 5 changes in the last 10 runs |\n"
    ) in text
    assert "### CRIT disk: Space | left\n\nOn `web[1-2]` (2 hosts), since 2026-01-01 16:04 UTC (11 h), " in text
    assert (
        "stdout (`web1/disk/stdout:9,12`):\n\n"
        "````text\n 9 | | a ``` b\n   :\n12 | <b> ... (7 bytes more)\n   : 3 lines more\n````\n"
    ) in text
    assert "**Fix:**\n\n```text\nrm x\ndf\n```\n" in text


def test_what_is_silenced_and_suppressed_is_told_apart() -> None:
    silenced = Silenced(until=BEGAN + timedelta(days=1), why="known", by="anna")
    gone = Incomplete(hosts="web9", names=("web9",), state=HostState.UNREACHABLE, phase="connect", reason="refused")
    stuck = Suppressed(
        check="nfs", hosts="web3", names=("web3",), until=BEGAN + timedelta(days=1), strikes=3, reason="it hung"
    )

    text = page(
        replace(DISK, silenced=silenced), incomplete=(gone, replace(gone, silenced=silenced)), suppressed=(stuck,)
    )

    assert "### CRIT" not in text
    assert "| **HOST** | | `web9` | unreachable: refused | |\n" in text
    assert text.count("| **") == 1
    assert "- CRIT disk on web\\[1-2\\] (2 hosts): silenced until 2026-01-03 03:04 UTC by anna: known\n" in text
    assert "- HOST unreachable: refused on web9: silenced until" in text
    assert "- nfs on web3: not run until 2026-01-03 03:04 UTC, since it did harm 3 times: it hung\n" in text


def test_it_fits_a_ticket_and_counts_what_does_not() -> None:
    long = "`|`<" * 200
    many = [
        replace(DISK, id=str(at), check=f"c{at}", hosts=long, names=(long,), reasons=DISK.reasons * 30, why=long)
        for at in range(400)
    ]

    text = page(*many, warnings=(long,) * 500)

    assert len(text) <= MOST_CHARACTERS
    told = text.count("\n### CRIT c")
    assert told > 3
    assert f"*{400 - told} findings more: there is no room for them here" in text
    rows = text.count("| **CRIT** |")
    assert f"| | {400 - rows:,} more | | | |" in text
