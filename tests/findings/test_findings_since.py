"""A report that knows an earlier run: since when findings are so, and what changed."""

from __future__ import annotations

from outcome_factory import host, planned, reason, run_info, stopped
from view_factory import at, fleet, series, versions

from checkrunner.findings.build import build_report
from checkrunner.findings.past import NoPast
from checkrunner.model.drift import ChangeKind
from checkrunner.model.history import RunView, Silence
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.report import Report
from checkrunner.model.results import HostState, Verdict, VerdictState
from checkrunner.testing import MemoryPast


def run(
    outcomes: list[HostOutcome],
    minute: int,
    before: RunView | None = None,
    silences: dict[tuple[str, str], Silence] | None = None,
) -> tuple[Report, RunView]:
    views: list[RunView] = []
    report = build_report(
        outcomes,
        run=run_info(id=f"r{minute}", started_at=at(minute)),
        past=MemoryPast(view=before, silences=silences),
        series=series(("disk", "load")),
        keep_view=views.append,
    )
    return report, views[0]


def test_findings_say_since_when_and_the_report_what_changed() -> None:
    first, view = run(fleet(web1="disk:c load:o", web2="disk:o load:o"), 0)
    assert (first.drift, first.findings[0].since) == (None, None)
    second, view = run(fleet(web1="disk:c load:w", web2="disk:c load:o"), 5, view)
    assert [(one.check, one.hosts, one.since) for one in second.findings] == [
        ("disk", "web[1-2]", at(0)),
        ("load", "web1", at(5)),
    ]
    drift = second.drift
    assert drift is not None
    assert (drift.against, drift.against_started_at, drift.unchanged, drift.worse) == ("r0", at(0), 1, 2)
    assert [(one.check, one.hosts, one.finding) for one in drift.changes] == [
        ("disk", "web2", second.findings[0].id),
        ("load", "web1", second.findings[1].id),
    ]


def test_hosts_say_since_when_they_are_away() -> None:
    gone = host("web1", stopped("web1", planned(), "not reached"), state=HostState.UNREACHABLE)
    _, view = run(fleet(web1="disk:o"), 0)
    _, view = run([gone], 5, view)
    third, _ = run([gone], 10, view)
    assert [one.since for one in third.incomplete] == [at(5)]
    assert third.drift is not None
    assert (third.drift.changes, third.drift.unchanged) == ((), 1)


def test_a_check_that_is_not_run_for_its_harm_is_told_once_and_is_no_blind_spot() -> None:
    why = reason("not run until tomorrow: it got stuck 3 times", subject="suppressed", expected="run")
    held = CheckOutcome(host="web1", planned=planned(), verdict=Verdict(state=VerdictState.UNKNOWN, reasons=(why,)))
    _, view = run(fleet(web1="disk:u"), 0)
    second, view = run([host("web1", held)], 5, view)
    third, _ = run([host("web1", held)], 10, view)
    assert second.drift is not None
    assert third.drift is not None
    assert [one.kind for one in second.drift.changes] == [ChangeKind.CHANGED]
    assert (third.drift.changes, third.drift.unchanged) == ((), 1)


def test_flapping_findings_say_how_often() -> None:
    report, before = run(fleet(web1="disk:o"), 0)
    for minute, letter in enumerate("cococ", 1):
        report, before = run(fleet(web1=f"disk:{letter}"), minute, before)
    assert [one.changes for one in report.findings] == [5]
    assert report.drift is not None
    assert [(one.kind, one.flapping) for one in report.drift.changes] == [(ChangeKind.REGRESSION, True)]
    assert not report.drift.is_worse


def test_what_is_silenced_is_not_worse() -> None:
    _, view = run(fleet(web1="disk:o"), 0)
    silence = Silence(number=1, host="web1", check="disk", until=at(60), why="known", by="ops", made_at=at(0))
    report, _ = run(fleet(web1="disk:c"), 5, view, {("web1", "disk"): silence})
    assert report.drift is not None
    assert ([one.silenced for one in report.drift.changes], report.drift.is_worse) == ([True], False)


def test_without_a_past_or_a_series_nothing_is_compared() -> None:
    _, view = run(fleet(web1="disk:o"), 0)
    outcomes = fleet(web1="disk:c")
    alone = build_report(outcomes, run=run_info(), past=NoPast(), series=series(versions("disk")))
    unknown = build_report(outcomes, run=run_info(), past=MemoryPast(view=view))
    assert [(one.drift, one.findings[0].since) for one in (alone, unknown)] == [(None, None)] * 2
