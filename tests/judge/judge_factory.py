"""Checks, steps and results for tests of the judge, made with few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checkrunner.judge.judge import Judge
from checkrunner.model.plan import Command, PlannedCheck, Step
from checkrunner.model.playbook import Check, Expectation
from checkrunner.model.results import (
    CaptureState,
    Execution,
    Output,
    Probe,
    ProbeKind,
    ProbeResult,
    Result,
    Verdict,
)
from checkrunner.model.sources import SourceRef, Template
from checkrunner.plan.texts import Templates


def text(content: str) -> Template:
    return Template(text=content, source=SourceRef(path="c.yml", line=3, column=5))


def expected(subject: str, op: str, value: Any) -> Expectation:
    return Expectation(subject=subject, op=op, value=text(value) if isinstance(value, str) else value)


def that(expression: str) -> Expectation:
    return expected("that", "that", expression)


def make_check(*expect: Expectation, **fields: Any) -> Check:
    for key in ("warn_if", "crit_if"):
        fields[key] = tuple(text(condition) for condition in fields.get(key, ()))
    return Check(id="c", name="c", run=text("true"), expect=expect, **fields)


def output(content: str | bytes = "", **fields: Any) -> Output:
    data = content.encode() if isinstance(content, str) else content
    known: dict[str, Any] = {
        "lines": len(data.splitlines()),
        "bytes": len(data),
        "captured_bytes": len(data),
        "binary": b"\0" in data,
    }
    return Output(**{**known, **fields})


TRUNCATED: Mapping[str, Any] = {"state": CaptureState.TRUNCATED, "captured_bytes": 4096}
FAILED: Mapping[str, Any] = {"state": CaptureState.FAILED}


def answered(probe: Probe, stdout: str) -> ProbeResult:
    """What a host would answer to the few patterns that these tests use (all of them plain words)."""
    lines = stdout.splitlines()
    if probe.kind is ProbeKind.EQUALS:
        same = stdout.removesuffix("\n") == probe.text.removesuffix("\n")
        return ProbeResult(name=probe.name, count=int(same), first_line=int(same))
    hits = [number for number, line in enumerate(lines, 1) if probe.text in line]
    return ProbeResult(name=probe.name, count=len(hits), first_line=hits[0] if hits else 0)


def judged(
    check: Check,
    *,
    stdout: str = "",
    names: Mapping[str, Any] | None = None,
    probes: Mapping[str, ProbeResult] | None = None,
    out: Mapping[str, Any] | None = None,
    command: Command | None = None,
    **result: Any,
) -> Verdict:
    judge = Judge(Templates())
    names = names or {}
    asked = judge.probes(check, names)
    step = Step(
        planned=PlannedCheck(key="c", play="p", check=check), command=command or Command(shell="true"), probes=asked
    )
    fields: dict[str, Any] = {
        "rc": 0,
        "execution": Execution.DONE,
        "stdout": output(stdout, **(out or {})),
        "probes": {p.name: answered(p, stdout) for p in asked} if probes is None else probes,
        **result,
    }
    return judge.verdict(check, step, Result(seq=1, session="main", **fields), names)


def reasons(verdict: Verdict) -> list[str]:
    return [reason.message for reason in verdict.reasons]
