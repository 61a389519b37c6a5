"""Values of many hosts in one: their size follows the number of values, not that of hosts."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st
from outcome_factory import finished, host, planned, reason, run_info

from checkrunner.findings.build import ReportLimits, build_report
from checkrunner.findings.redact import PatternRedactor
from checkrunner.findings.values import shared_values
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.report import NumberRange, Report, ValueSummary
from checkrunner.model.results import Value, VerdictState
from checkrunner.render.document import to_document
from checkrunner.render.json import json_text
from checkrunner.render.schema import report_schema


def number(value: Any, name: str = "used", **fields: Any) -> Value:
    return Value(name=name, value=value, **fields)


def outcome(name: str, *values: Value, key: str = "disk", state: VerdictState = VerdictState.OK) -> CheckOutcome:
    reasons = () if state is VerdictState.OK else (reason("used was high", subject="values.used"),)
    return replace(finished(name, planned(key), state, *reasons), values=values)


def report_of(*outcomes: CheckOutcome, **fields: Any) -> Report:
    hosts: dict[str, list[CheckOutcome]] = {}
    for one in outcomes:
        hosts.setdefault(one.host, []).append(one)
    made: list[HostOutcome] = [host(name, *some) for name, some in hosts.items()]
    report = build_report(made, run=run_info(), **fields)
    jsonschema.validate(to_document(report), report_schema())
    return report


def only(*values: Value) -> ValueSummary:
    (summary,) = shared_values([outcome(f"h{at}", value) for at, value in enumerate(values)])
    return summary


def test_one_number_and_a_range_with_both_ends() -> None:
    assert only(number(5.0, unit="%", warn="80")) == ValueSummary(name="used", value=5.0, unit="%", warn="80")
    assert only(number(5.0), number(1.0), number(9.0)).value == NumberRange(
        minimum=1.0, median=5.0, maximum=9.0, max_host="h2", min_host="h1"
    )


def test_lists_count_by_their_entries() -> None:
    summary = only(number((1.0, 7.0)), number(()), number((3.0,)))

    assert summary.value == NumberRange(minimum=1.0, median=3.0, maximum=7.0, max_host="h0", min_host="h0")
    assert summary.hosts == 3


def test_texts_and_booleans() -> None:
    assert only(number("5.2"), number("5.2")).value == "5.2"
    assert (only(number("a"), number("b"), number("b")).value, only(number("a"), number("b")).different) == (None, 2)
    assert only(number(True), number(True)).value is True


def test_what_could_not_be_read_is_counted() -> None:
    summary = only(number(None, error="not there"), number(3.0), number(None, error="not there"))

    assert (summary.value, summary.hosts, summary.unread) == (3.0, 1, 2)


def test_levels_that_differ_are_not_told() -> None:
    assert only(number(1.0, crit="5"), number(2.0, crit="6")).crit == ""
    assert only(number(1.0, crit="5"), number(2.0, crit="5")).crit == "5"


def test_findings_have_the_values_of_their_hosts_and_metrics_those_of_all() -> None:
    report = report_of(
        outcome("a", number(95.0), state=VerdictState.CRIT), outcome("b", number(97.0), state=VerdictState.CRIT),
        outcome("c", number(10.0)),
    )  # fmt: skip

    (finding,) = report.findings
    assert finding.values[0].value == NumberRange(minimum=95.0, median=96.0, maximum=97.0, max_host="b", min_host="a")
    (entry,) = to_document(report)["metrics"]
    assert entry == {
        "check": "disk",
        "values": [
            {
                "name": "used",
                "value": {"min": 10, "median": 95, "max": 97, "min_host": "c", "max_host": "b"},
                "hosts": 3,
            }
        ],
    }


def test_a_text_is_masked_and_cut() -> None:
    mask = PatternRedactor(["hunter2"])
    report = report_of(outcome("a", number("the hunter2 " + "x" * 500)), redactor=mask)
    shown = report.metrics[0].values[0].value

    assert isinstance(shown, str)
    assert shown.startswith("the <secret> x")
    assert len(shown) < 120


def test_a_healthy_fleet_without_values_has_no_such_part() -> None:
    report = report_of(*(outcome(f"h{at}", key=f"c{check}") for at in range(50) for check in range(8)))

    assert "metrics" not in to_document(report)


def test_the_size_follows_the_values_not_the_hosts() -> None:
    def size(hosts: int) -> int:
        checks = [
            outcome(f"h{at:05d}", number(float(at), unit="%"), key=f"c{n}") for at in range(hosts) for n in range(8)
        ]
        by_host = [host(f"h{at:05d}", *checks[at * 8 : at * 8 + 8]) for at in range(hosts)]
        began = time.process_time()
        text = json_text(build_report(by_host, run=run_info()))
        assert time.process_time() - began < 20e-6 * hosts * 8 + 1
        return len(text)

    assert size(5000) < size(10) + 200


def test_more_values_than_fit_are_named() -> None:
    report = report_of(
        *(outcome("a", number(1.0), number(2.0, name="free"), key=f"c{at}") for at in range(4)),
        limits=ReportLimits(metrics=5),
    )

    assert sum(len(entry.values) for entry in report.metrics) == 5
    assert [(omission.what, omission.count) for omission in report.omissions] == [("value", 3)]


numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(min_value=-(10**12), max_value=10**12)
plain = numbers | st.booleans() | st.text(max_size=5)
values = st.builds(number, plain | st.lists(plain, max_size=3).map(tuple)) | st.just(number(None, error="why"))


@settings(max_examples=40)
@given(st.lists(values, min_size=1, max_size=8))
def test_any_values_make_a_valid_report(some: list[Value]) -> None:
    report = report_of(*(outcome(f"h{at}", value) for at, value in enumerate(some)))

    json.loads(json_text(report))
    summary = report.metrics[0].values[0]
    assert summary.hosts + summary.unread == len(some)
