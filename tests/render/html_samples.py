"""Reports whose page is looked at: a fleet in trouble, and one where every text wants to be a program."""

from __future__ import annotations

import runpy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from checkrunner.model.drift import Change, ChangeKind, Drift
from checkrunner.model.history import Detail
from checkrunner.model.report import (
    CheckValues,
    Finding,
    Incomplete,
    Message,
    Omission,
    Report,
    RunInfo,
    Silenced,
    Suppressed,
    Totals,
    ValueSummary,
    Variant,
    Wait,
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

__all__ = ["ATTACKS", "STARTED", "attacked", "fleet", "info", "made_finding"]

STARTED = datetime(2026, 3, 14, 6, 30, tzinfo=UTC)
ATTACKS = (
    "</script><script>owned('script')</script>",
    "<img src=x onerror=owned('img')>",
    "\"><svg onload=owned('attribute')>",
    "' onmouseover='owned(1)' autofocus onfocus='owned(2)' x='",
    "</style><style>*{display:none}</style>",
    "--><!--<script>owned('comment')",
    "{{ 7 * 7 }}{% raw %}${owned('template')}",
    "javascript:owned('link')",
    "</code></pre></div></main></body><iframe srcdoc='<script>parent.owned(3)</script>'>",
    "\x1b[31m\x00\u202egnp.exe\u2066\ud800\u200b\u2028\x7f",
)
_BENCH = Path(__file__).resolve().parents[2] / "bench" / "html_report.py"


def fleet(hosts: int, checks: int, kinds: int) -> tuple[Report, Detail]:
    """The fleet of the benchmark, which has something of everything."""
    made: tuple[Report, Detail] = runpy.run_path(str(_BENCH))["fleet"](hosts, checks, kinds)
    return made


def info(**fields: Any) -> RunInfo:
    given: dict[str, Any] = {
        "id": "run", "version": "1", "playbook": "health", "playbook_digest": "", "inventory": (), "limit": None,
        "started_at": STARTED, "elapsed_s": 1.5, "ended": "normal", "complete": True, "exit_code": 2,
    }  # fmt: skip
    return RunInfo(**{**given, **fields})


def made_finding(*names: str, **fields: Any) -> Finding:
    given: dict[str, Any] = {
        "id": "1", "check": "disk", "name": "disk", "play": "one", "severity": Severity.CRITICAL,
        "verdict": VerdictState.CRIT, "execution": Execution.DONE, "hosts": ",".join(names), "names": names,
    }  # fmt: skip
    return Finding(**{**given, **fields})


def attacked() -> tuple[Report, Detail]:
    """Every text that can come from a host or a playbook is one that would run, where it could."""
    bad = " ".join(ATTACKS)
    where: dict[str, Any] = {"hosts": bad, "names": ATTACKS}
    piece = Slice(
        stream=Stream.STDOUT,
        query=SliceQuery(mode=SliceMode.HEAD),
        lines=tuple(SliceLine(number=at, text=text, cut_bytes=at) for at, text in enumerate(ATTACKS, 1)),
        total_lines=99,
        more_lines=9,
        prefix=bad,
        why=bad,
        evidence=bad,
    )
    shared: dict[str, Any] = {
        "check": ATTACKS[0], "name": bad, "because": "", "play": bad, "result": {"state": bad, "rc": bad},
        "seen": {"kind": bad}, "items": ATTACKS, "item_count": len(ATTACKS) + 1, "notes": (bad,), "why": bad, "fix": bad,
        "reasons": (Reason(subject=bad, expected=bad, actual=bad, message=bad),), "slices": (piece,),
        "variants": (Variant(slices=(piece,), **where),), "values": (ValueSummary(name=bad, value=bad, unit=bad),),
        "since": STARTED - timedelta(hours=5), "novelty": "new", "changes": 5, "folded_by": "masked", **where,
    }  # fmt: skip
    one = made_finding(**{**shared, "id": ATTACKS[2]})
    other = made_finding(
        **{**shared, "id": "2", "check": "a", "explained_by": ATTACKS[2], "verdict": VerdictState.SKIPPED}
    )
    silent = made_finding(**{**shared, "id": "3", "silenced": Silenced(until=STARTED, why=bad, by=bad)})
    change = Change(
        kind=ChangeKind.REGRESSION, check=bad, before=bad, after="crit", since=STARTED, finding=ATTACKS[2], note=bad, **where
    )  # fmt: skip
    odd = {HostState.REACHED: 10}
    report = Report(
        run=info(
            id=bad, version=bad, playbook=bad, inventory=ATTACKS, limit=bad, ended="error", error=bad,
            waits=(Wait(place=bad, hosts=1, longest_s=1, waited_s=1),),
        ),
        totals=Totals(hosts=10, planned=20, done=20, skipped=0, not_run=0, verdict={VerdictState.CRIT: 20},
                      execution={Execution.DONE: 20}, host=odd, capture={}),
        findings=(one, other, silent),
        incomplete=(Incomplete(state=HostState.LOST, phase=bad, reason=bad, hint=bad, **where),),
        suppressed=(Suppressed(check=bad, until=STARTED, strikes=3, reason=bad, **where),),
        drift=Drift(against=bad, against_started_at=STARTED, unlike=(bad,), changes=(change,)),
        metrics=(CheckValues(check=bad, values=(ValueSummary(name=bad, value=bad),)),),
        messages=(Message(check=bad, name=bad, text=bad, **where),),
        warnings=(bad,),
        omissions=(Omission(what=bad, count=1, why=bad, where=bad),),
        redacted={bad: 1},
    )  # fmt: skip
    size = len(ATTACKS)
    detail = Detail(
        hosts=ATTACKS, states=(HostState.REACHED,) * size, checks=ATTACKS, names=ATTACKS, rows=("c" * size,) * size
    )
    return report, detail
