"""Reports read back: nothing is lost on the way, and what is no report is told from one."""

from __future__ import annotations

import io
import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_factory import reports

from checkrunner.findings.fold import fold, names_in
from checkrunner.load.report import read_report
from checkrunner.model.errors import LoadError
from checkrunner.model.report import REPORT_SCHEMA, NumberRange, Report
from checkrunner.model.results import SliceMode, Stream
from checkrunner.render import renderer
from checkrunner.render.document import to_document
from checkrunner.render.json import json_text

TESTS = Path(__file__).parents[1]
GOLDEN = sorted((TESTS / "golden").glob("*.json"))
TROUBLE = (TESTS / "golden" / "trouble.2.json").read_text(encoding="utf-8")


def read(text: str) -> Report:
    return read_report(text, "r.json", names_in=names_in)


def refused(text: str) -> str:
    with pytest.raises(LoadError) as caught:
        read(text)
    return str(caught.value)


def changed(path: str, value: Any) -> str:
    """The document with one field, a path such as ``findings.0.verdict``, set; ... takes it away."""
    document = json.loads(TROUBLE)
    *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
    at = document
    for step in steps:
        at = at[step]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return json.dumps(document)


@given(reports)
def test_a_report_comes_back_as_it_was_written(report: Report) -> None:
    text = json_text(report)

    assert to_document(read(text)) == json.loads(text)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_people_are_shown_what_the_run_showed(path: Path) -> None:
    out = io.StringIO()

    renderer("terminal", width=100, color=False).render(read(path.read_text(encoding="utf-8")), out)

    assert out.getvalue() == path.with_suffix(".terminal").read_text(encoding="utf-8")


def test_what_a_document_leaves_out_is_what_it_stands_for() -> None:
    report = read(TROUBLE)
    first = report.findings[0]

    assert (first.name, first.hosts, first.names, first.unnamed) == (
        "Space on local disks",
        "web[01-03]",
        ("web01", "web02", "web03"),
        0,
    )
    assert first.slices[0].stream is Stream.STDOUT
    assert first.slices[0].query.mode is SliceMode.LINES


def test_a_range_is_one_again() -> None:
    text = changed("findings.0.result.elapsed_s", {"min": 1, "median": 1.5, "max": None, "max_host": "web02"})

    found = read(text).findings[0].result["elapsed_s"]

    assert isinstance(found, NumberRange)
    assert (found.minimum, found.median, found.max_host) == (1, 1.5, "web02")
    assert math.isnan(found.maximum)


def test_the_largest_number_is_one() -> None:
    assert read(changed("findings.0.result.rc", sys.float_info.max)).findings[0].result["rc"] == sys.float_info.max


def test_the_host_whose_texts_are_shown_stands_first() -> None:
    text = changed("findings.0.slices.0.evidence", "web03/disk-space/stdout:1")

    assert read(text).findings[0].names == ("web03", "web01", "web02")


@given(st.lists(st.text(max_size=8) | st.from_regex(r"[a-c]{1,2}[0-9]{1,3}", fullmatch=True), min_size=1, max_size=9))
def test_names_are_found_in_what_fold_writes(names: list[str]) -> None:
    folded = fold(names)
    number = len(set(names))

    found = names_in(folded, number)

    assert set(found) in (set(names), set())
    if all(name.isalnum() and name.isascii() for name in names):
        assert set(found) == set(names)


@pytest.mark.parametrize(
    ("text", "number", "found"),
    [
        ("web[1-3]", 3, ("web1", "web2", "web3")),
        ("web[1-3],...", 90, ("web1", "web2", "web3")),
        ("web[1-3]", 4, ()),
        ("web[1-3],...", 3, ()),
        ("web[1-999999999]", 999_999_999, ()),
        ("web[1-99999],db[1-99999]", 5, ()),
        ("web[1-", 2, ()),
        ("web[3-1]", 3, ()),
        ("@all", 1, ("@all",)),
        ("a[1-2]!a2", 1, ()),
        ("xxxxxxxxxx... (90 characters more)", 7, ()),
        ("", 1, ()),
    ],
)
def test_names_are_those_that_are_told_and_as_many(text: str, number: int, found: tuple[str, ...]) -> None:
    assert names_in(text, number) == found


@given(st.text(alphabet='ab019[]-,"\\!&^/@*? .', max_size=30), st.integers(0, 50))
def test_folded_names_may_be_anything(text: str, number: int) -> None:
    assert len(names_in(text, number)) in range(number + 1)


def test_hosts_without_names_are_counted() -> None:
    text = changed("findings.0.hosts", "web[01-03],...").replace('"host_count": 3', '"host_count": 3000')

    first = read(text).findings[0]

    assert (len(first.names), first.unnamed, first.host_count) == (3, 2997, 3000)
    assert to_document(read(text))["findings"][0]["host_count"] == 3000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("CRITICAL  4 critical\nplaybook x\n", "is not JSON\n  hint: It looks like a report for people"),
        ("hello", "r.json:1:1: is not JSON: expecting value"),
        ("{'a': 1}", "is not JSON: expecting property name enclosed in double quotes"),
        ("[]", "it holds a list where a report is an object"),
        ("3", "it holds a single value"),
        ("{}", "it names no schema"),
        ('{"schema":7}', "it names no schema"),
        ('{"schema":"checkrunner/lint/1"}', 'is no report: its schema is "checkrunner/lint/1"'),
        ('{"schema":"checkrunner/report/1","run":{"version":"0.3"}}', 'the version that wrote it: checkrunner "0.3"'),
        ('{"schema":"checkrunner/report/9","run":[]}', "is a report of another version"),
        (TROUBLE + TROUBLE, "r.json:2:1: has more than one JSON document"),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"schema":NaN}', "NaN is no number in JSON"),
        ('{"a":' + "9" * 5000 + "}", "is no report"),
        (changed("schema", REPORT_SCHEMA + ".1"), "its schema is"),
        (changed("run.id", "\ud800"), "is no whole report: unexpected end of hex escape"),
        (changed("findings", ...), "is no whole report: findings is missing"),
        (changed("findings.0.verdict", "bad"), "findings[0].verdict is \"bad\", expected 'ok', 'warn'"),
        (
            changed("findings.0.verdikt", "ok"),
            "findings[0].verdikt is a field that reports do not have\n  hint: Did you",
        ),
        (changed("findings.0.slices.0.lines.0", [1]), "findings[0].slices[0].lines[0] is no line"),
        (changed("findings.0.slices.0.lines.0", [1, "x", 0, 0, 0]), "is no line"),
        (changed("findings.0.slices.0.lines.0", [True, "x"]), "is no line"),
        (changed("findings.0.result.rc", 10**400), "is a number of more digits than any value has"),
        (changed("findings.0.result.rc", {"min": 1, "median": "x", "max": 2, "max_host": "a"}), "is no range"),
        (changed("findings.0.result", [1]), "findings[0].result is no object"),
        (changed("findings.0.result.samples", {"failed": 1}), "has samples without their count"),
        (changed("findings.0.values", [{"name": "x", "value": {"a": 1}, "hosts": 1}]), "values[0].value is no value"),
        (changed("findings.0.values", [{"name": "x", "value": [[1]], "hosts": 1}]), "values[0].value is no value"),
        (changed("run.started_at", "yesterday"), "run.started_at is no time"),
        (changed("run.started_at", "2026-11-30T10:15:00"), "run.started_at is no time"),
        (changed("run.exit_code", -1), "run.exit_code is -1"),
        (changed("totals.hosts", "5"), 'totals.hosts is "5", expected'),
        (changed("totals.verdict", {"fine": 3}), "totals.verdict"),
        (changed("budget", {}), "budget.used is missing (and one more fault)"),
    ],
)
def test_what_is_no_report_is_said_to_be_none(text: str, said: str) -> None:
    assert said in refused(text)


@settings(deadline=None)
@given(st.integers(1, len(TROUBLE.strip()) - 1))
def test_a_report_that_was_cut_off_is_said_to_be(length: int) -> None:
    assert "ends in the middle of the report" in refused(TROUBLE[:length])


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["min", "max", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)
_PLACES = sorted(
    {
        "run.waits",
        "run.elapsed_s",
        "run.limit",
        "totals.hosts",
        "totals.verdict.ok",
        "findings.0",
        "findings.0.hosts",
        "findings.0.host_count",
        "findings.0.result",
        "findings.0.result.rc",
        "findings.0.reasons.0.message",
        "findings.0.slices.0.lines",
        "findings.0.slices.0.lines.0",
        "findings.0.values",
        "findings.0.seen",
        "incomplete",
        "metrics",
        "messages",
        "warnings",
        "omissions",
        "budget.limit",
        "redacted",
    }
)


@given(st.sampled_from(_PLACES), _ANY)
def test_whatever_a_file_holds_is_shown_or_refused(place: str, value: Any) -> None:
    try:
        report = read(changed(place, value))
    except LoadError:
        return
    renderer("terminal", width=80, color=False).render(report, io.StringIO())
    json_text(report)
