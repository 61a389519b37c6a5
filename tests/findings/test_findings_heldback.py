"""Checks that were skipped because of another one's trouble are named where that trouble is told."""

from __future__ import annotations

from dataclasses import replace

from outcome_factory import finished, host, planned, reason, run_info, skipped

from checkrunner.findings.build import build_report
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.report import Finding
from checkrunner.model.results import VerdictState

CRIT, OK = VerdictState.CRIT, VerdictState.OK


def findings(*outcomes: HostOutcome) -> tuple[Finding, ...]:
    return build_report(outcomes, run=run_info()).findings


def failed(name: str, key: str = "up") -> CheckOutcome:
    return finished(name, planned(key), CRIT, reason())


def held(name: str, key: str, by: str) -> CheckOutcome:
    return replace(skipped(name, planned(key)), held_by=by)


def test_the_trouble_names_what_was_not_run_because_of_it() -> None:
    (finding,) = findings(
        host("a", failed("a"), held("a", "lag", "up"), held("a", "deep", "lag")),
        host("b", failed("b"), held("b", "lag", "up"), held("b", "locks", "up")),
    )

    assert finding.hosts == "a,b"
    assert finding.notes == ("because of it 3 checks were skipped: lag, deep, locks",)


def test_one_and_many() -> None:
    (one,) = findings(host("a", failed("a"), held("a", "lag", "up")))
    (many,) = findings(host("a", failed("a"), *(held("a", f"c{at}", "up") for at in range(12))))

    assert one.notes == ("because of it a check was skipped: lag",)
    assert many.notes[0].endswith("c8, c9 and 2 more")


def test_a_loop_holds_back_what_needs_it() -> None:
    bad = replace(planned("unit"), key="unit[x]", loop="unit", label="x")
    outcomes = [finished("a", bad, CRIT, reason()), held("a", "after", "unit")]

    assert findings(host("a", *outcomes))[0].notes == ("because of it a check was skipped: after",)


def test_what_is_well_holds_back_nothing() -> None:
    noted = finished("a", planned("up"), OK, reason(), noted=True)
    (finding,) = findings(host("a", noted, held("a", "x", "other"), held("a", "y", "y")))

    assert finding.notes == ()
