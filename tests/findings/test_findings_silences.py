"""What is silenced, and what is not run for its harm: where it stands in a report, and what it counts for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from outcome_factory import finished, host, planned, reason, run_info, shown, stopped

from checkrunner.findings.build import build_report
from checkrunner.findings.fold import names_in
from checkrunner.findings.suppressions import suppressed_verdict
from checkrunner.load.report import read_report
from checkrunner.model.errors import UnreachableError
from checkrunner.model.history import Silence, Suppression
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.report import Report
from checkrunner.model.results import HostState, VerdictState
from checkrunner.render.json import json_text
from checkrunner.testing import MemoryPast

CRIT, WARN, OK, UNKNOWN = VerdictState.CRIT, VerdictState.WARN, VerdictState.OK, VerdictState.UNKNOWN
A, B = planned("a"), planned("b")
THEN = datetime(2026, 3, 1, tzinfo=UTC)


def silence(number: int = 1, name: str = "h1", check: str = "a", **fields: Any) -> Silence:
    given: dict[str, Any] = {"until": THEN, "why": "known", "by": "anna", "made_at": THEN}
    return Silence(**{**given, **fields}, number=number, host=name, check=check)


class SilencedPast(MemoryPast):
    """One in which these silences hold."""

    def __init__(self, *silences: Silence) -> None:
        super().__init__()
        self._all = silences

    def silence(self, host: str, check: str) -> Silence | None:
        return next((one for one in self._all if one.covers(host, check)), None)


def build(*outcomes: HostOutcome, past: MemoryPast | None = None, **options: Any) -> Report:
    return build_report(outcomes, run=run_info(), past=past, **options)


def failed(name: str, what: PlannedCheck = A, state: VerdictState = CRIT, text: str = "bad") -> CheckOutcome:
    return finished(name, what, state, reason(text), rc=1, slices=[shown(name, what.key, "same line")])


def test_silenced_hosts_are_a_finding_of_their_own_behind_all_others() -> None:
    hosts = [host(name, failed(name), failed(name, B, WARN)) for name in ("h1", "h2", "h3")]

    report = build(*hosts, past=SilencedPast(silence(name="h2")))

    told = [(one.check, one.names, one.silenced is not None) for one in report.findings]
    assert told == [("a", ("h1", "h3"), False), ("b", ("h1", "h2", "h3"), False), ("a", ("h2",), True)]
    assert len({one.id for one in report.findings}) == 3
    (silenced,) = [one.silenced for one in report.findings if one.silenced]
    assert (silenced.until, silenced.why, silenced.by) == (THEN, "known", "anna")
    assert report.totals.verdict == {CRIT: 3, WARN: 3}


def test_a_silence_changes_no_id_where_nothing_else_is_of_it() -> None:
    hosts = [host(name, failed(name)) for name in ("h1", "h2")]
    before = build(*hosts).findings[0].id

    all_silenced = build(*hosts, past=SilencedPast(silence(name="h*")))
    one_silenced = build(*hosts, past=SilencedPast(silence(name="h1")))

    assert [one.id for one in all_silenced.findings] == [before]
    assert one_silenced.findings[0].id == before


def test_two_silences_are_two_findings() -> None:
    hosts = [host(name, failed(name)) for name in ("h1", "h2")]

    report = build(*hosts, past=SilencedPast(silence(1, "h1", why="one"), silence(2, "h2", why="other")))

    assert [(one.names, one.silenced and one.silenced.why) for one in report.findings] == [
        (("h1",), "one"),
        (("h2",), "other"),
    ]


def test_what_follows_from_something_silenced_is_told_where_it_belongs() -> None:
    follower = replace(B, follows="a")
    hosts = [host("h1", failed("h1", A), failed("h1", follower, WARN))]

    report = build(*hosts, past=SilencedPast(silence(check="a")))

    assert [(one.check, one.explained_by) for one in report.findings] == [("b", ""), ("a", "")]


def test_the_exit_code_does_not_count_what_is_silenced() -> None:
    hosts = [host("h1", failed("h1"), finished("h1", B)), host("h2", failed("h2", A, WARN), finished("h2", B))]

    assert build(*hosts).run.exit_code == 2
    assert build(*hosts, past=SilencedPast(silence(name="h1"))).run.exit_code == 1
    assert build(*hosts, past=SilencedPast(silence(name="*", check="*"))).run.exit_code == 0
    assert build(*hosts, past=SilencedPast(silence(name="h1", check="b"))).run.exit_code == 2


def test_a_host_that_is_away_is_silenced_with_all_of_its_checks() -> None:
    error = UnreachableError("refused")
    away = [
        host(name, stopped(name, A, "refused", error), state=HostState.UNREACHABLE, error=error)
        for name in ("h1", "h2")
    ]

    one_check = build(*away, past=SilencedPast(silence(name="*", check="a")))
    one_host = build(*away, past=SilencedPast(silence(name="h1", check="*")))
    both = build(*away, past=SilencedPast(silence(name="*", check="*")))

    assert one_check.run.exit_code == 3
    assert [entry.silenced for entry in one_check.incomplete] == [None]
    assert one_host.run.exit_code == 3
    assert [(entry.names, entry.silenced is not None) for entry in one_host.incomplete] == [
        (("h2",), False),
        (("h1",), True),
    ]
    assert both.run.exit_code == 0
    assert not both.run.complete


@given(
    st.dictionaries(
        st.sampled_from([f"h{n}" for n in range(8)]), st.sampled_from([CRIT, WARN, UNKNOWN, OK]), min_size=1
    )
)
@settings(deadline=None, max_examples=40)
def test_no_finding_has_hosts_of_both_kinds(states: Mapping[str, VerdictState]) -> None:
    hosts = [host(name, finished(name, A) if state is OK else failed(name, A, state)) for name, state in states.items()]
    quiet = {name for name in states if int(name[1:]) % 2}
    past = SilencedPast(*(silence(number, name) for number, name in enumerate(sorted(quiet), 1)))

    report = build(*hosts, past=past)

    for finding in report.findings:
        assert (finding.silenced is not None) == bool(quiet & set(finding.names))
        assert set(finding.names) <= quiet or not quiet & set(finding.names)
    order = [finding.silenced is not None for finding in report.findings]
    assert order == sorted(order)
    loud = build(*(one for one in hosts if one.host.name not in quiet))
    assert report.run.exit_code == loud.run.exit_code


def test_what_is_not_run_is_in_the_report_twice() -> None:
    held = {
        name: Suppression(
            playbook="p.yml",
            host=name,
            check="a",
            since=THEN,
            until=THEN.replace(day=day),
            strikes=strikes,
            reason="could not be ended after 62.0 s",
        )
        for name, day, strikes in (("h1", 9, 3), ("h2", 8, 4))
    }
    hosts = [
        host(name, CheckOutcome(host=name, planned=A, verdict=suppressed_verdict(one)), finished(name, B))
        for name, one in held.items()
    ]
    past = MemoryPast(suppressions={(name, "a"): one for name, one in held.items()})

    report = build(*hosts, past=past, to_text=json_text)

    (finding,) = report.findings
    assert (finding.verdict, finding.names, finding.execution) == (UNKNOWN, ("h1", "h2"), "not_run")
    assert finding.reasons[0].subject == "suppressed"
    (entry,) = report.suppressed
    assert (entry.check, entry.names, entry.strikes, entry.until) == ("a", ("h1", "h2"), 4, THEN.replace(day=8))
    assert "could not be ended" in entry.reason
    assert (report.totals.not_run, report.run.exit_code, report.incomplete) == (2, 3, ())
    again = read_report(json_text(report), "r.json", names_in=names_in)
    assert again.suppressed == report.suppressed


def test_silences_are_read_back_from_a_report() -> None:
    error = UnreachableError("refused")
    hosts = [host("h1", failed("h1")), host("h2", state=HostState.UNREACHABLE, error=error)]

    report = build(*hosts, past=SilencedPast(silence(name="*", check="*", by="")), to_text=json_text)

    again = read_report(json_text(report), "r.json", names_in=names_in)
    assert [one.silenced for one in again.findings] == [one.silenced for one in report.findings] != [None]
    assert [one.silenced for one in again.incomplete] == [one.silenced for one in report.incomplete] != [None]
    assert json_text(again) == json_text(report)
