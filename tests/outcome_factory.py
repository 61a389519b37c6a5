"""Outcomes for tests, made with few words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from checkrunner.model.errors import HostError
from checkrunner.model.inventory import Host
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.playbook import Check
from checkrunner.model.report import RunInfo
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

__all__ = ["check", "finished", "host", "planned", "reason", "result", "run_info", "shown", "skipped", "stopped"]


def check(key: str = "disk", **fields: Any) -> Check:
    return Check(id=key, name=fields.pop("name", f"Check {key}"), run=Template(text="true"), **fields)


def planned(key: str = "disk", **fields: Any) -> PlannedCheck:
    return PlannedCheck(key=key, play="health", check=check(key, **fields))


def reason(message: str = "rc is 1", subject: str = "rc", expected: str = "0", actual: str = "1") -> Reason:
    return Reason(subject=subject, expected=expected, actual=actual, message=message)


def result(**fields: Any) -> Result:
    given: dict[str, Any] = {"seq": 1, "session": "main", "execution": Execution.DONE, "rc": 0, "elapsed_s": 0.01}
    return Result(**{**given, **fields})


def shown(name: str, key: str, *texts: str, first: int = 1, more: int = 0) -> Slice:
    lines = tuple(SliceLine(number=first + at, text=text) for at, text in enumerate(texts))
    query = SliceQuery(mode=SliceMode.TAIL)
    made = Slice(stream=Stream.STDOUT, query=query, lines=lines, total_lines=len(texts), more_lines=more)
    evidence = evidence_id(name, key, Stream.STDOUT, made.ranges)
    return Slice(
        stream=Stream.STDOUT, query=query, lines=lines, total_lines=len(texts), more_lines=more, evidence=evidence
    )


def finished(
    name: str,
    what: PlannedCheck,
    state: VerdictState = VerdictState.OK,
    *reasons: Reason,
    slices: Sequence[Slice] = (),
    noted: bool = False,
    **fields: Any,
) -> CheckOutcome:
    verdict = Verdict(state=state, reasons=reasons, noted=noted)
    return CheckOutcome(host=name, planned=what, verdict=verdict, result=result(**fields), slices=tuple(slices))


def skipped(name: str, what: PlannedCheck, missing: str = "") -> CheckOutcome:
    why = reason(f"needs {missing}, which is not on this host" if missing else "when is false", subject="when")
    verdict = Verdict(state=VerdictState.SKIPPED, reasons=(why,))
    made = result(execution=Execution.NOT_RUN, rc=None, missing=(missing,)) if missing else None
    return CheckOutcome(host=name, planned=what, verdict=verdict, result=made)


def stopped(name: str, what: PlannedCheck, why: str, error: HostError | None = None) -> CheckOutcome:
    verdict = Verdict(state=VerdictState.UNKNOWN, reasons=(reason(f"not run: {why}", subject="execution"),))
    return CheckOutcome(host=name, planned=what, verdict=verdict, error=error)


def host(
    name: str,
    *checks: CheckOutcome,
    state: HostState = HostState.REACHED,
    error: HostError | None = None,
    notes: Sequence[str] = (),
    address: str = "",
) -> HostOutcome:
    made = Host(name=name, address=address or name)
    return HostOutcome(host=made, state=state, checks=tuple(checks), error=error, notes=tuple(notes))


def run_info(**fields: Any) -> RunInfo:
    given: dict[str, Any] = {
        "id": "r1",
        "version": "0.1.0",
        "playbook": "health.yml",
        "playbook_digest": "",
        "inventory": ("inventory.yml",),
        "limit": None,
        "started_at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        "elapsed_s": 1.5,
        "ended": "normal",
        "complete": True,
        "exit_code": 0,
    }
    return RunInfo(**{**given, **fields})


def output(lines: int = 3, **fields: Any) -> Output:
    return Output(**{"lines": lines, "bytes": 10 * lines, "captured_bytes": 10 * lines, **fields})
