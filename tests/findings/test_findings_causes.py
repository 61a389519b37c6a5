"""Findings that follow from others."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from chosen_slices import NOISE, chosen
from outcome_factory import finished, host, planned, reason, run_info

from checkrunner.findings.build import build_report
from checkrunner.findings.explain import explained
from checkrunner.findings.grouping import Group
from checkrunner.model.results import VerdictState

CRIT, WARN = VerdictState.CRIT, VerdictState.WARN
DISK, FULL = planned("disk"), planned("full")


@pytest.mark.parametrize(
    ("broken", "full", "follows"), [(("sda", "sda", "sdb"), "sda1", False), (("sda",) * 3, "sda1", True)]
)
def test_a_finding_follows_from_trouble_with_the_same_disk_of_its_own_host(
    broken: Sequence[str], full: str, follows: bool
) -> None:
    outcomes = []
    for n, disk in enumerate(broken):
        name = f"h{n}"
        checks = [finished(name, DISK, CRIT, reason(), slices=[chosen(name, "disk", f"I/O error on {disk}", *NOISE)])]
        if n == 2:
            text = f"the file system on {full} is full"
            checks.append(finished(name, FULL, WARN, reason(), slices=[chosen(name, "full", text)]))
        outcomes.append(host(name, *checks))

    first, second = build_report(outcomes, run=run_info()).findings

    assert len(first.names) == 3
    assert second.explained_by == (first.id if follows else "")


def test_each_of_thousands_of_findings_follows_from_that_of_its_own_host() -> None:
    net, names = planned("net"), planned("names", needs=("net",))
    outcomes = [[finished(f"h{n}", made, CRIT, reason(f"trouble {n}")) for n in range(6000)] for made in (net, names)]
    groups = [Group(key=(one.host,), order=0, outcomes=[one]) for some in outcomes for one in some]

    began = time.process_time()
    found = explained(groups)

    assert found == {6000 + n: n for n in range(6000)}
    assert time.process_time() - began < 2  # comparing each with each takes ten times as long
