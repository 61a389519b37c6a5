"""Outputs that are nearly alike: one finding, and what some of its hosts show besides."""

from __future__ import annotations

from collections.abc import Sequence

from chosen_slices import NOISE, chosen
from outcome_factory import finished, host, planned, reason, run_info, shown

from checkrunner.findings.build import build_report
from checkrunner.model.plan import HostOutcome
from checkrunner.model.report import Finding
from checkrunner.model.results import Slice, VerdictState

LOG = planned("log")


def outcome(name: str, piece: Slice) -> HostOutcome:
    return host(name, finished(name, LOG, VerdictState.CRIT, reason(), slices=[piece]))


def only(outcomes: Sequence[HostOutcome]) -> Finding:
    (finding,) = build_report(outcomes, run=run_info()).findings
    return finding


def test_a_host_with_two_lines_that_are_alike_is_one_host() -> None:
    lines = ("a is bad", "b is bad", "c is bad", "d is bad")
    outcomes = [outcome(name, shown(name, "log", *lines)) for name in ("h1", "h2", "h3")]
    finding = only([*outcomes, outcome("z", shown("z", "log", *lines, "error 5", "error 7"))])

    (variant,) = finding.variants
    assert (variant.names, variant.host_count) == (("z",), 1)


def test_what_tells_most_on_a_single_one_of_many_hosts_is_told() -> None:
    many = [outcome(f"h{n}", chosen(f"h{n}", "log", "connection to the db refused", *NOISE)) for n in range(20)]
    finding = only([*many, outcome("z", chosen("z", "log", "Out of memory: killed mysqld", *NOISE))])

    assert finding.slices[0].lines[0].text == "connection to the db refused"
    (variant,) = finding.variants
    assert variant.names == ("z",)
    assert [line.text for line in variant.slices[0].lines] == ["Out of memory: killed mysqld"]
    assert variant.slices[0].evidence == "z/log/stdout:1"


def test_of_many_hosts_what_one_of_them_shows_in_passing_is_counted_only() -> None:
    many = [outcome(f"h{n}", chosen(f"h{n}", "log", "connection to the db refused", *NOISE)) for n in range(20)]
    odd = outcome("z", chosen("z", "log", "connection to the db refused", "fan is loud", *NOISE))
    report = build_report([*many, odd], run=run_info())

    assert report.findings[0].variants == ()
    assert [(one.what, one.count) for one in report.omissions] == [("variant of the output", 1)]
