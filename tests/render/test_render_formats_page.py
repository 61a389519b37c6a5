"""docs/formats.md shows what the formats make of a report, to the letter."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from checkrunner.model.drift import Change, ChangeKind, Drift
from checkrunner.model.history import Detail
from checkrunner.model.report import (
    CheckValues,
    Finding,
    Incomplete,
    NumberRange,
    Report,
    RunInfo,
    Totals,
    ValueSummary,
)
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
from checkrunner.render import DETAILED, EXTENSIONS, RENDERERS, renderer

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
BEGAN = datetime(2026, 3, 4, 5, 30, tzinfo=UTC)
NAMES = ("web1", "web2")
DISK = Finding(
    id="cf75195a1aaf", check="disk", name="Space on local disks", play="web", severity=Severity.CRITICAL,
    verdict=VerdictState.CRIT, execution=Execution.DONE, hosts="web[1-2]", names=NAMES, result={"rc": 0, "elapsed_s": 0.02},
    reasons=(Reason(subject="used", expected="<= 90", actual="97", message="crit_if: used > 90 (used = 94 to 97)"),),
    slices=(
        Slice(
            stream=Stream.STDOUT, query=SliceQuery(mode=SliceMode.HEAD), total_lines=1, evidence="web1/disk/stdout:1",
            lines=(SliceLine(number=1, text="/dev/sda1  20G  97% /var"),),
        ),
    ),
    folded_by="masked", since=BEGAN - timedelta(hours=11), fix="du -xh --max-depth=2 /var | sort -h | tail",
)  # fmt: skip
REPORT = Report(
    run=RunInfo(
        id="20260304T053000Z-7f3a1c", version="0.1.0", playbook="web.yml", playbook_digest="", inventory=("hosts.yml",),
        limit=None, elapsed_s=3.4, started_at=BEGAN, ended="normal", complete=False, exit_code=2,
    ),
    totals=Totals(
        hosts=3, planned=6, done=4, skipped=0, not_run=2, capture={}, execution={Execution.DONE: 4, Execution.NOT_RUN: 2},
        verdict={VerdictState.OK: 2, VerdictState.CRIT: 2, VerdictState.UNKNOWN: 2},
        host={HostState.REACHED: 2, HostState.UNREACHABLE: 1},
    ),
    findings=(DISK,),
    incomplete=(
        Incomplete(
            hosts="web3", names=("web3",), state=HostState.UNREACHABLE, phase="connect", reason="connection refused",
            hint="See whether sshd runs there",
        ),
    ),
    drift=Drift(
        against="20260304T052500Z-19b0aa", against_started_at=BEGAN - timedelta(minutes=5), unchanged=1, worse=1,
        changes=(
            Change(
                hosts="web3", names=("web3",), kind=ChangeKind.UNSEEN, check="", before="reached", after="unreachable",
                before_since=BEGAN - timedelta(days=9),
            ),
        ),
    ),
    metrics=(
        CheckValues(
            check="disk",
            values=(
                ValueSummary(
                    name="used", unit="%", crit="90", hosts=2,
                    value=NumberRange(minimum=94.0, median=95.5, maximum=97.0, max_host="web1", min_host="web2"),
                ),
            ),
        ),
    ),
)  # fmt: skip
DETAIL = Detail(
    hosts=("web1", "web2", "web3"),
    states=(HostState.REACHED, HostState.REACHED, HostState.UNREACHABLE),
    checks=("disk", "http"),
    names=("Space on local disks", "Pages are served"),
    rows=("co", "co", "uu"),
)


def told(name: str) -> str:
    out = io.StringIO()
    renderer(name, width=100).render(REPORT, out, DETAIL if name in DETAILED else None)
    return out.getvalue()


def shown(name: str) -> str:
    """The block of the page that follows the format's mark."""
    match = re.search(rf"<!-- {name} -->\n(`{{3,}})\w*\n(.*?)\n\1\n", PAGE, re.DOTALL)
    assert match, f"docs/formats.md shows no {name}"
    return match[2] + "\n"


def test_the_page_shows_each_format_as_it_is() -> None:
    for name in ("terminal", "markdown", "junit", "nagios"):
        assert shown(name) == told(name)
    lines = told("prometheus").splitlines()
    assert [line for line in shown("prometheus").splitlines() if line not in lines] == ["..."]


def test_the_page_names_every_format_and_every_end_of_a_name() -> None:
    for name in RENDERERS:
        assert f"| `{name}` |" in PAGE
    for end in EXTENSIONS:
        assert f"`{end}`" in PAGE
