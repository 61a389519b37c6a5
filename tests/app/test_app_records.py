"""What of a run is stored beside its report: evidence, who did harm, what healthy outputs look like."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from outcome_factory import finished, host, planned, reason, result, run_info, shown

from checkrunner.app.records import harm_of, record_of
from checkrunner.findings.totals import count
from checkrunner.findings.view import Series, view_of
from checkrunner.model.history import Evidence, KeptOutput, RunRecord
from checkrunner.model.plan import CheckOutcome
from checkrunner.model.report import Report
from checkrunner.model.results import LINK_LOST, Execution, Stream, Verdict, VerdictState


def ended(key: str, execution: Execution, *notes: str, said: str = "") -> CheckOutcome:
    why = (reason(said, subject="execution"),) if said else ()
    return CheckOutcome(
        host="web1",
        planned=planned(key),
        verdict=Verdict(state=VerdictState.UNKNOWN, reasons=why),
        result=result(execution=execution, rc=None, notes=notes, state="smartctl 42 s io_wait"),
    )


def record(*checks: CheckOutcome, **fields: Any) -> RunRecord:
    outcomes = [host("web1", *checks)]
    report = Report(run=run_info(), totals=count(outcomes))
    view = view_of(outcomes, info=report.run, series=Series(playbook="p"))
    given = {"mask": lambda text: text.replace("hunter2", "<secret>"), "kind": "run", **fields}
    return record_of(outcomes, report=report, report_text="{}", view=view, **given)


def test_evidence_is_of_what_is_not_fine_and_masked() -> None:
    piece = shown("web1", "disk", "full")
    made = record(
        finished("web1", planned("disk"), VerdictState.CRIT, reason("it has hunter2"), slices=(piece,)),
        finished("web1", planned("load"), VerdictState.OK),
        finished("web1", planned("swap"), VerdictState.SKIPPED, reason("no swap")),
    )

    assert made.evidence == {
        ("web1", "disk"): Evidence(reasons=(reason("it has <secret>"),), slices=(piece,)),
    }


def test_a_check_does_harm_that_cannot_be_ended_or_takes_its_session_along() -> None:
    outcome = host(
        "web1",
        ended("stuck", Execution.STUCK, said="could not be ended after 70.0 s"),
        ended("left", Execution.TIMED_OUT, "session_abandoned"),
        ended("lost", Execution.LOST, said="its session was lost while it ran"),
        ended("slow", Execution.TIMED_OUT),
        ended("killed", Execution.KILLED, "capped"),
        ended("next", Execution.LOST, LINK_LOST, said="its session was lost before it ran"),
    )

    assert dict(harm_of(outcome)) == {
        ("web1", "stuck"): "could not be ended after 70.0 s",
        ("web1", "left"): "smartctl 42 s io_wait",
        ("web1", "lost"): "its session was lost while it ran",
    }


def test_of_several_checks_whose_sessions_were_lost_none_is_to_blame() -> None:
    one, two = (ended(key, Execution.LOST, LINK_LOST) for key in ("one", "two"))
    assert two.result
    two = replace(two, result=replace(two.result, session="other"))

    assert dict(harm_of(host("web1", one, two))) == {}


def test_healthy_outputs_that_were_kept_say_what_lines_look_like() -> None:
    def kept(key: str, data: bytes) -> KeptOutput:
        return KeptOutput(
            host="web1",
            check=key,
            stream=Stream.STDOUT,
            data=data,
            total_bytes=len(data),
            total_lines=data.count(b"\n"),
        )

    made = record(
        finished("web1", planned("load"), VerdictState.OK),
        finished("web1", planned("disk"), VerdictState.CRIT),
        replace(finished("web1", planned("conf")), output=("a", "b")),
        kept=[kept("load", b"up 12 days\nup 13 days\n"), kept("disk", b"full\n")],
        witnessed={("web1", "seen"): frozenset({"x"})},
    )

    assert set(made.shapes) == {("web1", "load"), ("web1", "seen")}
    assert len(made.shapes["web1", "load"]) == 1
    assert made.baselined == {("web1", "conf"): ("a", "b")}
