from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from outcome_factory import finished, host, planned, reason, run_info, shown

from checkrunner.findings.build import build_report
from checkrunner.findings.explain import things_named
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.report import Report
from checkrunner.model.results import VerdictState
from checkrunner.testing import MemoryPast

CRIT, WARN, OK = VerdictState.CRIT, VerdictState.WARN, VerdictState.OK
A, B, C = planned("a"), planned("b"), planned("c")


def build(*outcomes: HostOutcome, **options: Any) -> Report:
    return build_report(outcomes, run=run_info(), **options)


def failed(name: str, what: PlannedCheck, message: str, state: VerdictState = CRIT) -> CheckOutcome:
    return finished(name, what, state, reason(message), rc=1)


def order(report: Report) -> list[tuple[str, str]]:
    """Each finding's check, and the check that it follows from."""
    by_id = {finding.id: finding.check for finding in report.findings}
    return [(finding.check, by_id.get(finding.explained_by, "")) for finding in report.findings]


def test_what_is_new_comes_before_what_is_known_and_both_after_what_is_worse() -> None:
    hosts = [
        host("h1", failed("h1", A, "old"), failed("h1", B, "fresh"), failed("h1", C, "odd", WARN)),
        host("h2", failed("h2", A, "old")),
    ]
    known = {finding.id for finding in build(*hosts).findings if finding.check == "a"}

    report = build(*hosts, past=MemoryPast(known))

    assert [(finding.check, finding.novelty) for finding in report.findings] == [
        ("b", "new"),
        ("a", "known"),
        ("c", "new"),
    ]
    assert [finding.novelty for finding in build(*hosts).findings] == ["", "", ""]


def test_a_check_that_ran_because_of_another_stands_under_it() -> None:
    follower = PlannedCheck(key="b", play="health", check=B.check, follows="a")
    hosts = [
        host("h1", failed("h1", A, "x"), failed("h1", follower, "y"), failed("h1", C, "z")),
        host("h2", failed("h2", C, "z")),
    ]

    assert order(build(*hosts)) == [("c", ""), ("a", ""), ("b", "a")]


def test_a_check_that_needs_another_follows_from_it_where_that_has_trouble_on_all_of_its_hosts() -> None:
    needy = planned("b", needs=("a",))
    both = [host(name, failed(name, A, "x", WARN), failed(name, needy, "y")) for name in ("h1", "h2")]
    alone = host("h3", finished("h3", A), failed("h3", needy, "y"))

    assert order(build(*both)) == [("a", ""), ("b", "a")]
    assert order(build(*both, alone)) == [("b", ""), ("a", "")]


@pytest.mark.parametrize(
    ("cause", "effect"),
    [
        ("I/O error on sdc", "/dev/sdc1 is read-only"),
        ("stuck in statfs, /mnt/nfs", "cannot write /mnt/nfs/backup/today"),
        ("nginx.service is dead", "nothing listens; see nginx.service"),
        ("nvme0n1 is gone", "mirror lost nvme0n1p2"),
    ],
)
def test_the_same_disk_mount_or_service_joins_two_findings(cause: str, effect: str) -> None:
    hosts = [host(name, failed(name, A, cause), failed(name, B, effect)) for name in ("h1", "h2")]
    more = host("h3", failed("h3", A, cause))

    assert order(build(*hosts, more)) == [("a", ""), ("b", "a")]


@pytest.mark.parametrize(
    ("cause", "effect"),
    [
        ("I/O error on sdc", "/dev/sdd1 is read-only"),
        ("/var/log is full", "cannot write /var/log/x"),
        ("no space on /", "no space on /"),
        ("user sda-admin is locked", "user sda-admin is locked"),
        ("nginx.service is dead", "my-nginx.service is dead"),
        ("/mnt/nfs is stuck", "/mnt/nfs2 is stuck"),
    ],
)
def test_what_only_looks_alike_joins_nothing(cause: str, effect: str) -> None:
    hosts = [host(name, failed(name, A, cause), failed(name, B, effect)) for name in ("h1", "h2")]

    assert order(build(*hosts)) == [("a", ""), ("b", "")]


def test_nothing_follows_from_what_other_hosts_have_or_what_is_less_grave() -> None:
    one, other = host("h1", failed("h1", A, "sdc is lost")), host("h2", failed("h2", B, "sdc is lost"))
    warned = host("h1", failed("h1", A, "sdc is slow", WARN), failed("h1", B, "sdc is slow", WARN))

    assert order(build(one, other)) == [("a", ""), ("b", "")]
    assert order(build(warned)) == [("a", ""), ("b", "")]


def test_what_every_check_names_explains_none_of_them() -> None:
    checks = [planned(f"c{at}") for at in range(8)]

    report = build(host("h1", *(failed("h1", what, "seen on sda") for what in checks)))

    assert {parent for _, parent in order(report)} == {""}


def test_only_the_line_that_tells_most_is_read_for_names() -> None:
    outcome = finished("a", A, CRIT, slices=[shown("a", "a", "sda is fine", "sdb is lost")])

    assert things_named(outcome) == frozenset()
    assert things_named(finished("a", A, CRIT, slices=[shown("a", "a", "sdb is lost")])) == {"disk sdb"}


def chain(names: Sequence[str]) -> list[CheckOutcome]:
    out, before = [], ""
    for name in names:
        what = planned(name, needs=(before,) if before else ())
        out.append(failed("h1", what, f"trouble of {name}"))
        before = name
    return out


def test_chains_stand_in_their_order_and_circles_end() -> None:
    assert order(build(host("h1", *chain("abcd")))) == [("a", ""), ("b", "a"), ("c", "b"), ("d", "c")]
    round_ = [failed("h1", planned("a", needs=("b",)), "x"), failed("h1", planned("b", needs=("a",)), "y")]
    assert len(build(host("h1", *round_)).findings) == 2
