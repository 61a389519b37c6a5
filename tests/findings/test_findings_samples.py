"""Readings and answers in a report: in one for all hosts, whatever their number, and never what was answered."""

from __future__ import annotations

import io
from typing import Any

import jsonschema
import pytest
from outcome_factory import finished, host, planned, reason, run_info

from checkrunner.findings.build import build_report
from checkrunner.findings.redact import MARK, PatternRedactor
from checkrunner.findings.slices import show
from checkrunner.model.plan import Command, Prompt, Step
from checkrunner.model.report import NumberRange, Report
from checkrunner.model.results import (
    DURATION_ENDED,
    RawLine,
    RawSlice,
    Reading,
    SliceMode,
    SliceQuery,
    VerdictState,
)
from checkrunner.model.sources import Secret
from checkrunner.render.document import to_document
from checkrunner.render.schema import report_schema
from checkrunner.render.terminal import TerminalRenderer

DISK = planned("disk")


def readings(count: int, *, slow: float = 0.1, failed: int = 0) -> tuple[Reading, ...]:
    return tuple(
        Reading(at_s=float(n), rc=int(n < failed), elapsed_s=slow if n == count - 1 else 0.1, first_line=n + 1, lines=1)
        for n in range(count)
    )


def report_of(*hosts: tuple[str, dict[str, Any]]) -> Report:
    why = reason("rc was 1 in reading 1 of 5, expected 0")
    outcomes = [host(name, finished(name, DISK, VerdictState.CRIT, why, **fields)) for name, fields in hosts]
    return build_report(outcomes, run=run_info())


def result_of(report: Report) -> dict[str, object]:
    (finding,) = report.findings
    jsonschema.Draft202012Validator(report_schema()).validate(to_document(report))
    return dict(finding.result)


def terminal(report: Report) -> str:
    out = io.StringIO()
    TerminalRenderer(color=False, width=200).render(report, out)
    return out.getvalue()


def test_readings_of_a_host_are_in_one() -> None:
    report = report_of(("h1", {"rc": 1, "samples": readings(5, slow=2.5, failed=1)}))

    assert result_of(report)["samples"] == {
        "count": 5,
        "failed": 1,
        "rc": NumberRange(minimum=0, median=0, maximum=1, max_host="h1"),
        "elapsed_s": NumberRange(minimum=0.1, median=0.1, maximum=2.5, max_host="h1"),
        "stdout_lines": 1,
    }
    assert "5 readings (1 failed), each took 100 ms to 2.5 s (median 100 ms, most on h1), lines of each: 1" in terminal(
        report
    )


def test_readings_of_many_hosts_take_no_more_room() -> None:
    few = report_of(*((f"h{n}", {"samples": readings(5, slow=1.0 + n)}) for n in range(2)))
    many = report_of(*((f"h{n}", {"samples": readings(500, slow=1.0 + n)}) for n in range(50)))

    samples = result_of(many)["samples"]
    assert isinstance(samples, dict)
    assert samples["elapsed_s"] == NumberRange(minimum=0.1, median=0.1, maximum=50.0, max_host="h49")
    assert samples["count"] == 500
    assert len(str(to_document(many))) < len(str(to_document(few))) + 200


def test_a_command_without_readings_says_nothing_of_them() -> None:
    assert "samples" not in result_of(report_of(("h1", {})))


def test_answers_are_counted() -> None:
    report = report_of(("h1", {"answered": 2}))

    assert result_of(report)["answered"] == 2
    assert "questions answered: 2" in terminal(report)
    assert "answered" not in result_of(report_of(("h1", {})))


def test_a_duration_that_ended_is_a_note() -> None:
    report = report_of(("h1", {"rc": None, "notes": (DURATION_ENDED,)}))

    assert report.findings[0].notes == (DURATION_ENDED,)
    assert "rc" not in result_of(report)


@pytest.mark.parametrize(("answer", "seen"), [("hunter2", False), ("yes", True), (Secret("47"), False)])
def test_an_answer_is_masked_in_the_output_of_its_check(answer: str | Secret, seen: bool) -> None:
    text = answer.reveal() if isinstance(answer, Secret) else answer
    prompt = Prompt(match="x", answer=answer if seen else Secret(text))
    step = Step(planned=DISK, command=Command(shell="x", prompts=(prompt,)))
    raw = RawSlice(
        query=SliceQuery(mode=SliceMode.HEAD),
        lines=(RawLine(number=1, data=f"it was {text} indeed".encode()),),
        total_lines=1,
    )

    shown = show("h1", "disk", step, raw, PatternRedactor()).text

    assert shown == f"it was {text if seen else MARK} indeed"


def test_a_redactor_learns() -> None:
    redactor = PatternRedactor([Secret("first-one")])
    assert redactor.redact("first-one second-one") == f"{MARK} second-one"

    redactor.learn(Secret("second-one"))
    redactor.learn(Secret("second-one"))

    assert redactor.redact("first-one second-one") == f"{MARK} {MARK}"
