"""A report that knows an earlier run: since when findings are so, and what changed."""

from __future__ import annotations

from outcome_factory import run_info
from view_factory import at, fleet, series, versions

from checkrunner.findings.build import build_report
from checkrunner.findings.past import NoPast
from checkrunner.model.drift import ChangeKind
from checkrunner.model.history import RunView, Silence
from checkrunner.model.plan import HostOutcome
from checkrunner.model.report import Report
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
