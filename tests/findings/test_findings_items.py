"""Items of loops in a report: its size follows the number of different troubles, not that of items."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from outcome_factory import check, finished, host, output, reason, run_info, shown

from checkrunner.findings.build import ReportLimits, build_report
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.report import NumberRange, Report
from checkrunner.model.results import CaptureState, Value, VerdictState
from checkrunner.model.sources import Template
from checkrunner.render.document import to_document
from checkrunner.render.json import json_text
from checkrunner.render.schema import report_schema
from checkrunner.render.terminal import TerminalRenderer

CRIT, OK = VerdictState.CRIT, VerdictState.OK


def item(label: str, value: Any = None, *, key: str = "unit", follows: str = "") -> PlannedCheck:
    return PlannedCheck(
        key=f"{key}[{label}]",
        play="health",
        check=check(key.partition("[")[0]),
        loop="" if follows else key,
        label=label,
        item=label if value is None else value,
        follows=follows,
    )


def failed(name: str, label: str, text: str = "rc was 1", **fields: Any) -> CheckOutcome:
    return finished(name, item(label), CRIT, reason(text), **fields)


def terminal_text(report: Report) -> str:
    out = io.StringIO()
    TerminalRenderer().render(report, out)
    return out.getvalue()


def report_of(*outcomes: HostOutcome, **options: Any) -> Report:
    report = build_report(outcomes, run=run_info(), **options)
    jsonschema.validate(to_document(report), report_schema())
    return report


def test_items_in_the_same_trouble_are_one_finding() -> None:
    names = ["sshd", "cron", "a[b]c"]
    report = report_of(host("web1", *(failed("web1", name, f"unit {name} is dead") for name in names)))

    (finding,) = report.findings
    assert (finding.check, finding.items, finding.item_count) == ("unit", ("sshd", "cron", "a[b]c"), 3)
    assert (finding.hosts, finding.names) == ("web1", ("web1",))
    assert (finding.folded_by, finding.notes) == ("masked", ())
    assert "note: texts are of web1[sshd]; for the others numbers" in terminal_text(report)
    assert "3 items: sshd, cron, a[b]c" in terminal_text(report)
    assert report.totals.planned == 3


def test_one_item_is_called_as_ever_and_has_the_id_that_it_would_have_alone() -> None:
    alone = report_of(host("web1", failed("web1", "sshd"))).findings[0]
    beside = report_of(host("web1", failed("web1", "sshd"), failed("web1", "cron", "rc was 2", rc=2))).findings

    assert (alone.check, alone.items, alone.item_count) == ("unit[sshd]", (), 0)
    assert alone.id in {finding.id for finding in beside}


def test_the_report_does_not_grow_with_the_items() -> None:
    def size(count: int) -> int:
        pieces = [shown("web1", f"unit[{at}]", f"unit u{at} is dead") for at in range(count)]
        outcomes = [failed("web1", str(at), slices=[piece]) for at, piece in enumerate(pieces)]
        return len(json_text(report_of(host("web1", *outcomes))))

    assert size(2000) < size(400) * 1.05


def test_numbers_as_items_are_not_taken_for_other_numbers() -> None:
    outcomes = [failed("web1", str(at), "rc was 1, expected 0") for at in range(3)]

    assert len(report_of(host("web1", *outcomes)).findings) == 1


def test_short_words_as_items_are_not_looked_for() -> None:
    outcomes = [failed("web1", label, "a result is not a text") for label in ("a", "b", "c")]

    assert len(report_of(host("web1", *outcomes)).findings) == 1


def test_what_is_expected_of_an_item_may_name_it() -> None:
    def absent(label: str) -> CheckOutcome:
        why = reason(f"no line has {label}", "stdout", f"contains '{label}'", "no such line")
        return finished("web1", item(label), CRIT, why)

    (finding,) = report_of(host("web1", absent("alpha"), absent("beta"))).findings

    assert finding.items == ("alpha", "beta")
    assert finding.folded_by == "masked"


def test_parts_of_an_item_are_its_names_as_well() -> None:
    def down(name: str, port: int) -> CheckOutcome:
        planned = item(f"{name}:{port}", {"host": name, "ports": [port, "x"], "why": ""})
        return finished("web1", planned, CRIT, reason(f"cannot reach {name}"))

    assert len(report_of(host("web1", down("db1", 5432), down("cache1", 6379))).findings) == 1


def test_items_with_other_hosts_stay_apart() -> None:
    hosts = {"web1": ["a", "b", "c"], "web2": ["a", "b"], "web3": ["a", "b"]}
    report = report_of(*(host(name, *(failed(name, label) for label in those)) for name, those in hosts.items()))

    assert [(one.check, one.items, one.hosts) for one in report.findings] == [
        ("unit", ("a", "b"), "web[1-3]"),
        ("unit[c]", (), "web1"),
    ]
    assert len({one.id for one in report.findings}) == 2


def test_too_many_such_parts_are_one_that_says_so() -> None:
    # Each item fails on its own set of hosts.
    hosts = [host(f"web{at}", *(failed(f"web{at}", f"i{n}") for n in range(6) if n >= at)) for at in range(6)]
    report = report_of(*hosts, limits=ReportLimits(variants=2))

    assert [one.item_count for one in report.findings] == [4, 0, 0]
    assert "each of the hosts has some of these items, not all of them" in report.findings[0].notes


def test_outputs_of_items_that_differ_are_shown_up_to_a_limit() -> None:
    words = ["red", "green", "blue", "black", "white"]
    outcomes = [failed("web1", f"i{at}", slices=[shown("web1", "unit", word)]) for at, word in enumerate(words)]
    report = report_of(host("web1", *outcomes), limits=ReportLimits(item_variants=3, variants=1))

    assert sorted(one.item_count for one in report.findings) == [0, 0, 0, 2]
    assert report.omissions[0].what == "variant of the output"
    assert "2 different outputs are folded here; the one shown is of web1[i3]" in report.findings[0].notes


def test_names_of_items_that_find_no_room_are_counted() -> None:
    outcomes = [failed("web1", f"item{at:04}") for at in range(200)]
    report = report_of(host("web1", *outcomes), limits=ReportLimits(item_chars=100))

    (finding,) = report.findings
    assert (len(finding.items), finding.item_count) == (10, 200)
    assert [(one.what, one.count) for one in report.omissions] == [("item", 190)]
    assert "item0009, and 190 more" in terminal_text(report)


def test_what_follows_items_is_folded_and_names_their_loop() -> None:
    outcomes = [
        finished(
            "web1", item(label, key="log", follows=f"unit[{label}]"), OK, slices=[shown("web1", "log", "the same")]
        )
        for label in ("a", "b")
    ]
    (both,) = report_of(host("web1", *outcomes)).findings
    (one,) = report_of(host("web1", outcomes[0])).findings

    assert (both.check, both.items, both.because) == ("log", ("a", "b"), "unit")
    assert (one.check, one.because) == ("log[a]", "unit[a]")


def test_a_loop_in_what_follows_an_item_has_both_labels() -> None:
    inner = [replace(item(n, key="log[/var]", follows="disk[/var]"), loop="log[/var]") for n in ("1", "2")]
    (finding,) = report_of(host("web1", *(finished("web1", one, CRIT, reason()) for one in inner))).findings

    assert (finding.check, finding.items, finding.because) == ("log", ("/var, 1", "/var, 2"), "disk[/var]")


def test_ends_of_ranges_name_the_item() -> None:
    outcomes = [failed("web1", "a", elapsed_s=1.0), failed("web1", "b", elapsed_s=3.0)]
    (finding,) = report_of(host("web1", *outcomes)).findings

    assert finding.result["elapsed_s"] == NumberRange(minimum=1.0, median=2.0, maximum=3.0, max_host="web1[b]")


def measured(name: str, labels: Sequence[str]) -> HostOutcome:
    outcomes = [
        replace(finished(name, item(label), OK), values=(Value(name="used", value=float(at)),))
        for at, label in enumerate(labels)
    ]
    return host(name, *outcomes)


def test_values_of_a_short_loop_are_given_by_item_and_those_of_a_long_one_together() -> None:
    short = report_of(measured("web1", ["a", "b"])).metrics
    (long,) = report_of(*(measured(name, [f"i{at}" for at in range(50)]) for name in ("web1", "web2"))).metrics

    assert [entry.check for entry in short] == ["unit[a]", "unit[b]"]
    assert (long.check, long.items) == ("unit", 50)
    (value,) = long.values
    assert value.hosts == 2
    assert value.value == NumberRange(minimum=0.0, median=24.5, maximum=49.0, min_host="web1[i0]", max_host="web1[i49]")


def test_output_that_was_not_kept_is_told_once_for_a_loop() -> None:
    cut = output(state=CaptureState.TRUNCATED)
    outcomes = [finished("web1", item(label), OK, stdout=cut) for label in ("a", "b")]
    (omission,) = report_of(host("web1", *outcomes)).omissions

    assert (omission.count, omission.where) == (2, "unit (2 items) on web1")


@pytest.mark.parametrize(("titles", "shown_name"), [(["x", "x"], "x"), (["x", "y"], "Check {{ it }}")])
def test_a_name_is_shown_as_it_reads_where_it_reads_the_same(titles: list[str], shown_name: str) -> None:
    planned = PlannedCheck(key="disk", play="p", check=check("disk", name="Check {{ it }}", why=Template(text="w")))
    outcomes = [host(name, finished(name, planned, CRIT, reason())) for name in ("a", "b")]
    names = dict(zip(("a", "b"), titles, strict=True))

    report = report_of(*outcomes, titles=lambda outcome: names[outcome.host])

    assert report.findings[0].name == shown_name
