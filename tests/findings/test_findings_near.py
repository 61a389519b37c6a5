from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from outcome_factory import finished, host, planned, reason, run_info, shown

from checkrunner.findings.build import ReportLimits, build_report
from checkrunner.model.plan import HostOutcome
from checkrunner.model.report import Report
from checkrunner.model.results import Slice, SliceLine, SliceMode, SliceQuery, Stream, VerdictState, evidence_id

CRIT = VerdictState.CRIT
LOG = planned("log")


def build(outcomes: Sequence[HostOutcome], **options: Any) -> Report:
    return build_report(outcomes, run=run_info(), **options)


def chosen(name: str, *texts: str) -> Slice:
    """Lines of an output, the most telling first."""
    lines = tuple(SliceLine(number=at * 10, text=text, rank=at) for at, text in enumerate(texts, 1))
    made = Slice(stream=Stream.STDOUT, query=SliceQuery(mode=SliceMode.SALIENT), lines=lines, total_lines=900)
    return replace(made, evidence=evidence_id(name, "log", Stream.STDOUT, made.ranges))


def ill(name: str, *texts: str) -> HostOutcome:
    return host(name, finished(name, LOG, CRIT, reason(), slices=[chosen(name, *texts)], rc=1))


def test_the_same_trouble_among_other_noise_on_each_host_is_one_finding() -> None:
    words = random.Random(3)
    noise = ["abcdefghijklmnopqrstuvw"[at] * 6 for at in range(20)]
    outcomes = [ill(f"web{at:03d}", f"error: disk sdc lost block {at}", *words.sample(noise, 10)) for at in range(300)]

    (finding,) = build(outcomes).findings

    assert (finding.hosts, finding.folded_by) == ("web[000-299]", "near")
    assert min(finding.slices[0].lines, key=lambda line: line.rank).text.startswith("error: disk sdc lost block")
    assert len(finding.variants) <= 6


def test_what_some_hosts_show_besides_is_a_variant() -> None:
    same = ["error: disk sdc is lost", "retry of block 7", "giving up"]
    outcomes = [ill(f"web{at:02d}", *same) for at in range(8)]
    outcomes += [ill(f"web{at:02d}", same[0], "error: battery is empty", same[1]) for at in (8, 9)]

    report = build(outcomes)

    (finding,) = report.findings
    (variant,) = finding.variants
    assert finding.names[0] == "web00"
    assert [line.text for line in finding.slices[0].lines] == same
    assert (variant.hosts, variant.names) == ("web[08-09]", ("web08", "web09"))
    assert [line.text for line in variant.slices[0].lines] == ["error: battery is empty"]
    assert variant.slices[0].evidence == "web08/log/stdout:20"
    assert report.omissions == ()


def test_what_most_hosts_show_is_shown_whichever_comes_first() -> None:
    outcomes = [ill("a", "error: x is lost", "only here", "seen by all", "seen too")]
    outcomes += [ill(name, "error: x is lost", "seen by all", "seen too") for name in "bcdefghijkl"]

    (finding,) = build(outcomes).findings

    assert finding.slices[0].evidence.startswith("b/log/")
    assert sorted(finding.names) == list("abcdefghijkl")
    assert [one for one in finding.variants if one.names == ("a",)] == []


def test_rare_lines_of_the_host_that_is_shown_give_way_first() -> None:
    outcomes = [ill(name, "error: x is lost", f"{name * 9} alone", "seen by all") for name in "abcdefghijkl"]

    (finding,) = build(outcomes).findings

    ranked = sorted(finding.slices[0].lines, key=lambda line: line.rank)
    assert [line.text for line in ranked] == ["error: x is lost", "seen by all", "aaaaaaaaa alone"]


def test_other_troubles_of_one_check_stay_apart() -> None:
    report = build([ill("a", "error: disk is lost", "x"), ill("b", "error: fan is slow", "y")])

    assert [(finding.hosts, finding.folded_by) for finding in report.findings] == [("a", ""), ("b", "")]


def test_the_same_lines_told_in_another_order_are_one_finding() -> None:
    report = build(
        [ill("a", "first word", "second word", "third word"), ill("b", "second word", "first word", "third word")]
    )

    (finding,) = report.findings
    assert (finding.hosts, finding.folded_by, finding.variants) == ("a,b", "near", ())


def test_ids_do_not_depend_on_noise() -> None:
    ids = {build([ill("a", "error: disk 7 is lost", *noise)]).findings[0].id for noise in (["x"], ["y", "z"], [])}

    assert len(ids) == 1


def declared(name: str, *texts: str) -> HostOutcome:
    return host(name, finished(name, LOG, CRIT, reason(), slices=[shown(name, "log", *texts)], rc=1))


def test_declared_slices_that_differ_in_few_lines_are_one_finding_with_what_differs() -> None:
    table = ["Name State", "alpha up", "beta up", "gamma up"]
    outcomes = [declared(name, *table) for name in "abc"]
    outcomes += [declared("d", *table[:3], "gamma down"), declared("e", *table[:3])]

    (finding,) = build(outcomes).findings

    assert (finding.folded_by, finding.names) == ("near", ("a", "b", "c", "d", "e"))
    assert [(one.hosts, [line.text for piece in one.slices for line in piece.lines]) for one in finding.variants] == [
        ("d", ["gamma down"]),
        ("e", []),
    ]


def test_too_many_things_on_single_hosts_are_counted() -> None:
    outcomes = [ill(f"w{at:02d}", "error: x is lost", f"{'abcdefghijklmnopqrst'[at] * 5} alone") for at in range(20)]

    report = build(outcomes)

    assert report.findings[0].variants == ()
    assert [(one.what, one.count) for one in report.omissions] == [("variant of the output", 19)]


def test_one_check_on_ten_thousand_hosts_that_all_differ_takes_little_time() -> None:
    words = random.Random(5)
    letters = "abcdefghijklmnopqrstuvwxyz"
    outcomes = [ill(f"n{at:05d}", *("".join(words.choices(letters, k=12)) for _ in range(12))) for at in range(10_000)]
    start = time.process_time()

    report = build(outcomes, limits=ReportLimits(variants=8))

    assert len(report.findings) == 9
    assert sum(len(finding.names) for finding in report.findings) == 10_000
    assert time.process_time() - start < 15
