"""The standard reports that every format is shown with. Each is what a run would have built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from checkrunner.findings.build import build_report
from checkrunner.findings.redact import PatternRedactor
from checkrunner.findings.slices import show
from checkrunner.findings.view import Series
from checkrunner.model.errors import HostKeyError, SessionLostError, UnreachableError
from checkrunner.model.history import CheckVersion, RunView
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Activity, Observation
from checkrunner.model.plan import CheckOutcome, Command, HostOutcome, PlannedCheck, Step
from checkrunner.model.playbook import Check
from checkrunner.model.report import Report, RunInfo
from checkrunner.model.results import (
    CaptureState,
    Execution,
    HostState,
    Output,
    RawLine,
    RawSlice,
    Reason,
    Result,
    Severity,
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
from checkrunner.testing import MemoryPast

__all__ = ["CASES", "fleet"]


def _planned(key: str, name: str, **fields: Any) -> PlannedCheck:
    texts: dict[str, Any] = {field: Template(text=fields.pop(field)) for field in ("why", "fix") if field in fields}
    return PlannedCheck(
        key=key, play="Linux health", check=Check(id=key, name=name, run=Template(text="true"), **texts, **fields)
    )


DISK = _planned(
    "disk-space",
    "Space on local disks",
    why="A full disk stops databases and logins.",
    fix="Find the largest directories:\n  du -xh --max-depth=2 / | sort -h | tail",
)
NFS = _planned("mounts", "Mounts answer")
LOAD = _planned("load", "Load per core", severity=Severity.WARNING)
TIME = _planned("time-sync", "Clock is synchronised", severity=Severity.INFO)
SMART = _planned("smart", "Disks report no errors", requires=("smartctl",))
APP = _planned("app-log", "Application log")
FINE = Verdict(state=VerdictState.OK)
CHECKS = (DISK, NFS, LOAD, TIME, SMART, APP)


def _outcome(
    name: str,
    planned: PlannedCheck,
    verdict: Verdict = FINE,
    raw: RawSlice | None = None,
    redactor: PatternRedactor | None = None,
    **fields: Any,
) -> CheckOutcome:
    given: dict[str, Any] = {
        "seq": 1,
        "session": "main",
        "execution": Execution.DONE,
        "rc": 0,
        "elapsed_s": 0.012,
        "stdout": Output(lines=2, bytes=80, captured_bytes=80),
    }
    step = Step(planned=planned, command=Command(shell="true"))
    slices = (show(name, planned.key, step, raw, redactor or PatternRedactor()),) if raw else ()
    return CheckOutcome(
        host=name, planned=planned, verdict=verdict, result=Result(**{**given, **fields}), slices=slices
    )


def _verdict(state: VerdictState, *reasons: tuple[str, str, str, str], noted: bool = False) -> Verdict:
    made = tuple(
        Reason(subject=subject, expected=expected, actual=actual, message=message)
        for subject, expected, actual, message in reasons
    )
    return Verdict(state=state, reasons=made, noted=noted)


def _raw(mode: SliceMode, first: int, *lines: bytes, total: int = 0, more: int = 0, **fields: Any) -> RawSlice:
    numbered = tuple(RawLine(number=first + at, data=line) for at, line in enumerate(lines))
    return RawSlice(
        query=SliceQuery(mode=mode, **fields), lines=numbered, total_lines=total or len(lines), more_lines=more
    )


def _host(name: str, checks: Sequence[CheckOutcome], **fields: Any) -> HostOutcome:
    return HostOutcome(
        host=Host(name=name, address=fields.pop("address", name)),
        state=fields.pop("state", HostState.REACHED),
        checks=tuple(checks),
        **fields,
    )


def _report(outcomes: Sequence[HostOutcome], **fields: Any) -> Report:
    given: dict[str, Any] = {
        "id": "20260102T030405-7f3a",
        "version": "0.1.0",
        "playbook": "linux-health",
        "playbook_digest": "",
        "inventory": ("inventory.yml",),
        "limit": None,
        "started_at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        "elapsed_s": 3.42,
        "ended": "normal",
        "complete": True,
        "exit_code": 0,
    }
    warnings = fields.pop("warnings", ())
    redactor = fields.pop("redactor", PatternRedactor())
    options = {name: fields.pop(name) for name in ("budget_tokens", "past", "series", "keep_view") if name in fields}
    run = RunInfo(**{**given, **fields})
    return build_report(outcomes, run=run, warnings=warnings, redactor=redactor, to_text=json_text, **options)


def fleet(hosts: int, checks: int) -> Report:
    """Healthy hosts in any number."""
    planned = [_planned(f"check-{at}", f"Check {at}") for at in range(checks)]
    names = [f"node{at:05d}.example.com" for at in range(hosts)]
    return _report([_host(name, [_outcome(name, check) for check in planned]) for name in names])


def healthy() -> Report:
    return _report(
        [_host(f"web{at:02d}", [_outcome(f"web{at:02d}", check) for check in CHECKS]) for at in range(1, 13)]
    )


def _full(name: str, used: int) -> CheckOutcome:
    verdict = _verdict(VerdictState.CRIT, ("stdout", "is empty", "1 line", "stdout has 1 line, expected none"))
    line = f"/dev/sda1  20G  {used}% /".encode()
    return _outcome(name, DISK, verdict, _raw(SliceMode.TAIL, 1, line, max_lines=10), elapsed_s=0.02)


def _loaded(name: str, load: str) -> CheckOutcome:
    verdict = _verdict(
        VerdictState.WARN, ("warn_if", "not load > 4", f"load = {load}", f"warn_if: load > 4 (load = {load})")
    )
    return _outcome(name, LOAD, verdict)


def trouble() -> Report:
    redactor = PatternRedactor(key=b"of these files")
    outcomes = []
    for at in range(1, 6):
        name = f"web{at:02d}"
        outcomes.append(
            _host(
                name,
                [
                    _full(name, 90 + at) if at < 4 else _outcome(name, DISK),
                    _stuck(name) if at == 5 else _outcome(name, NFS),
                    _loaded(name, f"{at * 3}.5") if at in {2, 4} else _outcome(name, LOAD),
                    _drifted(name) if at == 1 else _outcome(name, TIME),
                    _without_tool(name),
                    _noisy(name, redactor) if at == 3 else _outcome(name, APP),
                ],
            )
        )
    return _report(outcomes, redactor=redactor, limit="web*", warnings=["web03: ssh option ForwardX11 is not used"])


def _stuck(name: str) -> CheckOutcome:
    seen = Observation(
        kind=Activity.IO_WAIT,
        pid=4242,
        name="df",
        wchan="rpc_wait_bit_killable",
        syscall="statfs",
        on="/mnt/nfs",
        since_s=30.0,
    )
    message = f"could not be ended after 33.0 s; last seen: {seen.evidence}"
    verdict = _verdict(VerdictState.UNKNOWN, ("execution", "done", "stuck", message))
    return _outcome(name, NFS, verdict, execution=Execution.STUCK, rc=None, elapsed_s=33.0, seen=seen)


def _drifted(name: str) -> CheckOutcome:
    verdict = _verdict(VerdictState.OK, ("rc", "0", "1", "rc was 1, expected 0 (the default)"), noted=True)
    return _outcome(name, TIME, verdict, rc=1)


def _without_tool(name: str) -> CheckOutcome:
    verdict = _verdict(
        VerdictState.SKIPPED, ("requires", "smartctl", "missing", "needs smartctl, which is not on this host")
    )
    return _outcome(name, SMART, verdict, execution=Execution.NOT_RUN, rc=None, missing=("smartctl",))


def _noisy(name: str, redactor: PatternRedactor) -> CheckOutcome:
    verdict = _verdict(
        VerdictState.CRIT,
        ("stdout", "does not match 'FATAL'", "line 118 (3 lines do)", "stdout line 118 matches 'FATAL' (3 lines do)"),
    )
    lines = [
        b"\x1b[31mFATAL\x1b[0m cannot reach postgres://app:hunter2@db1/main",
        "FATAL größe \u202eevil [bold]not markup[/bold]".encode(),
    ]
    raw = _raw(SliceMode.MATCH, 118, *lines, total=40_000, more=1, pattern="FATAL", stream=Stream.STDOUT, max_lines=2)
    cut = RawLine(number=240, data=b"FATAL " + b"x" * 40, cut_bytes=120_000)
    raw = RawSlice(query=raw.query, lines=(*raw.lines, cut), total_lines=40_000, more_lines=1)
    out = Output(lines=40_000, bytes=90 << 20, captured_bytes=64 << 20, state=CaptureState.TRUNCATED)
    return _outcome(name, APP, verdict, raw, redactor, elapsed_s=4.2, stdout=out, notes=("capped",))


def incomplete() -> Report:
    checks = (DISK, NFS)
    outcomes = [_host(f"web{at}", [_outcome(f"web{at}", check) for check in checks]) for at in (1, 2)]
    for at in (3, 4):
        name, address = f"web{at}", f"192.0.2.{at}"
        error = UnreachableError(
            f"{name}: cannot connect to {address} port 22: connection refused", hint="Is sshd running there?"
        )
        outcomes.append(_unseen(name, error, checks, HostState.UNREACHABLE, address))
    key = HostKeyError(
        "db1: the host key is not the known one (line 7 of known_hosts)", hint="Compare it, then ssh-keygen -R db1."
    )
    outcomes.append(_unseen("db1", key, checks, HostState.HOST_KEY_MISMATCH, "192.0.2.9"))
    lost = SessionLostError("the connection ended while a check was running")
    rest = CheckOutcome(
        host="db2",
        planned=NFS,
        verdict=_verdict(VerdictState.UNKNOWN, ("execution", "done", "lost", "lost: the connection ended")),
        result=Result(seq=0, session="main", execution=Execution.LOST),
        error=lost,
    )
    outcomes.append(_host("db2", [_outcome("db2", DISK), rest], state=HostState.LOST, error=lost))
    return _report(outcomes)


def _unseen(
    name: str, error: UnreachableError | HostKeyError, checks: Sequence[PlannedCheck], state: HostState, address: str
) -> HostOutcome:
    verdict = _verdict(VerdictState.UNKNOWN, ("execution", "done", "not_run", f"not run: {error.message}"))
    made = [CheckOutcome(host=name, planned=check, verdict=verdict, error=error) for check in checks]
    return _host(name, made, state=state, error=error, address=address)


def warned() -> Report:
    return _report([_host("localhost", [_outcome("localhost", DISK), _loaded("localhost", "7.5")])], inventory=())


def interrupted() -> Report:
    verdict = _verdict(VerdictState.UNKNOWN, ("execution", "done", "not_run", "not run: the run was interrupted"))
    rest = [CheckOutcome(host="web2", planned=check, verdict=verdict) for check in (DISK, NFS)]
    outcomes = [
        _host("web1", [_full("web1", 96), _outcome("web1", NFS)]),
        _host("web2", rest),
    ]
    return _report(outcomes, ended="interrupted", elapsed_s=71.0)


def failed() -> Report:
    report = _report([], ended="error", error="KeyError: 'x' (this is a bug)", playbook="", inventory=())
    return replace(report, run=replace(report.run, complete=False, exit_code=70))


def _telling(name: str, planned: PlannedCheck, *texts: str, count: int = 1, of: int = 900) -> CheckOutcome:
    """A check that failed, and the lines of its output that tell most, those first."""
    lines = tuple(
        SliceLine(number=37 * at, text=text, count=count if at == 1 else 1, rank=at) for at, text in enumerate(texts, 1)
    )
    made = Slice(
        stream=Stream.STDOUT,
        query=SliceQuery(mode=SliceMode.SALIENT),
        lines=lines,
        total_lines=of,
        more_lines=of - len(lines) - count + 1,
        more_shapes=17,
        prefix="time",
        why="most telling lines of stdout",
    )
    made = replace(made, evidence=evidence_id(name, planned.key, Stream.STDOUT, made.ranges))
    verdict = _verdict(VerdictState.CRIT, ("rc", "0", "1", "rc was 1, expected 0 (the default)"))
    return replace(_outcome(name, planned, verdict, rc=1, elapsed_s=0.4), slices=(made,))


def squeezed() -> Report:
    """Troubles on sixty hosts, in a budget that has no room for all that there is to say."""
    outcomes = []
    for at in range(1, 61):
        name = f"db{at:02d}"
        lost = [f"ERROR sdc: block {at * 977} is lost", "WARN sdc: 3 retries", f"INFO worker {'abc'[at % 3]}x is idle"]
        checks = [_outcome(name, check) for check in (DISK, NFS, APP)]
        if at % 2:
            checks[0] = _telling(name, DISK, *lost, count=31)
            checks[2] = _telling(name, APP, "ERROR cannot write to /dev/sdc1: read-only file system", *lost[2:])
        if at in {7, 19}:
            checks[0] = _telling(name, DISK, lost[0], "ERROR sdc: the battery of its cache is empty", lost[2], count=31)
        if at in {10, 20}:
            checks[1] = _stuck(name)
        outcomes.append(_host(name, [*checks, _loaded(name, f"{at}.5")]))
    past = MemoryPast({finding.id for finding in _report(outcomes).findings if finding.check != "mounts"})
    return _report(outcomes, budget_tokens=700, past=past)


def changed() -> Report:
    """The second of two runs."""
    checks = {
        check.key: CheckVersion(key=check.key, name=check.check.name, play=check.play, command=check.key, rules="")
        for check in CHECKS
    }
    names = [f"web{at:02d}" for at in range(1, 5)]
    views: list[RunView] = []

    def run(outcomes: Sequence[HostOutcome], minute: int, before: RunView | None) -> Report:
        return _report(
            outcomes,
            past=MemoryPast(view=before),
            series=Series(playbook="linux-health", checks=checks),
            keep_view=views.append,
            started_at=datetime(2026, 1, 2, 3, minute, 5, tzinfo=UTC),
        )

    earlier = [_host(name, [_outcome(name, check) for check in CHECKS]) for name in names]
    fine = [NFS, TIME, SMART, APP]

    def with_disk(name: str, used: int, load: CheckOutcome) -> HostOutcome:
        return _host(name, [_full(name, used), load, *(_outcome(name, check) for check in fine)])

    earlier[0] = with_disk("web01", 91, _loaded("web01", "6.5"))
    run(earlier, 4, None)
    later = [_host(name, [_outcome(name, check) for check in CHECKS]) for name in names]
    later[0] = with_disk("web01", 92, _outcome("web01", LOAD))
    later[1] = with_disk("web02", 90, _outcome("web02", LOAD))
    gone = UnreachableError("web03: connection refused", hint="Is sshd running there?")
    later[2] = _unseen("web03", gone, CHECKS, HostState.UNREACHABLE, "192.0.2.3")
    return run(later, 9, views[0])


CASES: dict[str, Callable[[], Report]] = {
    "healthy": healthy,
    "squeezed": squeezed,
    "trouble": trouble,
    "incomplete": incomplete,
    "warned": warned,
    "interrupted": interrupted,
    "failed": failed,
    "changed": changed,
}
