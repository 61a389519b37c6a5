"""JUnit XML, the line of a monitoring plugin, and metrics: what of a run stands where."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import junitparser
import pytest
from prometheus_client.parser import text_string_to_metric_families

from checkrunner.model.history import Detail
from checkrunner.model.report import (
    CheckValues,
    Finding,
    Incomplete,
    NumberRange,
    Report,
    RunInfo,
    Silenced,
    Totals,
    ValueSummary,
)
from checkrunner.model.results import Execution, HostState, Reason, Severity, VerdictState
from checkrunner.render import renderer

BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SILENCED = Silenced(until=BEGAN + timedelta(days=2), why="a disk is on its way", by="anna")
DETAIL = Detail(
    hosts=("web1", "web2", "web3"),
    states=(HostState.REACHED, HostState.REACHED, HostState.UNREACHABLE),
    checks=("disk", "unit[a]", "smart"),
    names=("Disk", "Units", "Smart"),
    rows=("co.", "cws", "uu."),
)


def finding(check: str, verdict: VerdictState, *hosts: str, said: str = "no", **fields: Any) -> Finding:
    return Finding(
        id=f"{check}-{verdict}", check=check, name=check, play="p", severity=Severity.CRITICAL, verdict=verdict,
        execution=Execution.DONE, hosts=",".join(hosts), names=hosts, result={"elapsed_s": 1.5},
        reasons=(Reason(subject="rc", expected="0", actual="1", message=said),), **fields,
    )  # fmt: skip


DISK = finding("disk", VerdictState.CRIT, "web1", "web2", said="rc was 1 | <b>")
UNIT = finding("unit", VerdictState.WARN, "web2", items=("a",), item_count=2)
GONE = Incomplete(
    hosts="web3", names=("web3",), state=HostState.UNREACHABLE, phase="connect", reason="refused", hint="look"
)


def report(*findings: Finding, incomplete: tuple[Incomplete, ...] = (GONE,), code: int = 2, **fields: Any) -> Report:
    return Report(
        run=RunInfo(
            id="1", version="1.0", playbook="checks/web.yml", playbook_digest="", inventory=(), limit=None,
            elapsed_s=2.5, started_at=BEGAN, ended="normal", complete=False, exit_code=code,
        ),
        totals=Totals(
            hosts=3, planned=7, done=4, skipped=1, not_run=2, capture={}, execution={Execution.DONE: 4},
            verdict={VerdictState.OK: 1, VerdictState.CRIT: 2, VerdictState.WARN: 1, VerdictState.UNKNOWN: 2,
                     VerdictState.SKIPPED: 1},
            host={HostState.REACHED: 2, HostState.UNREACHABLE: 1},
        ),
        findings=findings, incomplete=incomplete, **fields,
    )  # fmt: skip


def told(name: str, made: Report, detail: Detail | None = None) -> str:
    out = io.StringIO()
    renderer(name).render(made, out, detail)
    return out.getvalue()


def cases_of(made: Report, detail: Detail | None) -> Mapping[str, Mapping[str, Any]]:
    """The result of each test ("" for none) by suite and name."""
    suites = junitparser.JUnitXml.fromstring(told("junit", made, detail).encode())
    for suite in suites:
        kinds = [type(case.result[0]).__name__ if case.result else "" for case in suite]
        assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (
            len(kinds), kinds.count("Failure"), kinds.count("Error"), kinds.count("Skipped"),
        )  # fmt: skip
    return {suite.name: {case.name: case.result[0] if case.result else "" for case in suite} for suite in suites}


def kinds(tests: Mapping[str, Any]) -> dict[str, str]:
    return {name: type(result).__name__ if result else "" for name, result in tests.items()}


def test_junit_has_a_suite_for_each_check_and_a_test_for_each_host() -> None:
    tests = cases_of(report(DISK, UNIT), DETAIL)

    assert {name: kinds(suite) for name, suite in tests.items()} == {
        "disk": {"web1": "Failure", "web2": "Failure", "web3": "Error"},
        "unit[a]": {"web1": "", "web2": "Failure", "web3": "Error"},
        "smart": {"web2": "Skipped"},
        "hosts": {"web1": "", "web2": "", "web3": "Error"},
        "run": {"ended normally": ""},
    }
    failure = tests["disk"]["web1"]
    assert (failure.type, failure.message) == ("crit", "rc was 1 | <b>")
    assert "on web1,web2 (2 hosts)" in failure.text
    assert tests["disk"]["web2"].text == "The same as on web1, where it is told"
    assert (tests["disk"]["web3"].type, tests["disk"]["web3"].message) == ("unknown", "unreachable: refused")


def test_junit_fails_nobody_for_what_is_silenced() -> None:
    tests = cases_of(
        report(replace(DISK, silenced=SILENCED), incomplete=(replace(GONE, silenced=SILENCED),), code=0), DETAIL
    )

    assert kinds(tests["disk"]) == {"web1": "Skipped", "web2": "Skipped", "web3": "Skipped"}
    assert tests["disk"]["web1"].message == (
        "crit, silenced until 2026-01-04 03:04 UTC by anna: a disk is on its way; rc was 1 | <b>"
    )
    assert kinds(tests["hosts"])["web3"] == "Skipped"


def test_junit_of_a_report_alone_has_what_that_names() -> None:
    tests = cases_of(report(DISK, UNIT), None)

    assert list(tests) == ["disk", "unit[a]", "hosts", "run"]
    assert kinds(tests["hosts"]) == {"web1": "", "web2": "", "web3": "Error"}


def test_a_run_that_failed_is_a_test_that_failed() -> None:
    made = report(incomplete=())
    failed = replace(made, run=replace(made.run, ended="error", error="disk full"))

    (result,) = cases_of(failed, None)["run"].values()

    assert (result.type, result.message) == ("error", "disk full")


@pytest.mark.parametrize(
    ("code", "word"), [(0, "OK"), (1, "WARNING"), (2, "CRITICAL"), (3, "UNKNOWN"), (64, "UNKNOWN")]
)
def test_the_plugin_says_what_the_exit_code_does(code: int, word: str) -> None:
    assert told("nagios", report(code=code)).startswith(
        f"CHECKRUNNER {word} - 3 hosts: 2 critical, 1 warning, 2 unknown, 1 ok"
    )


def test_the_plugin_tells_the_worst_first_and_no_bar_in_it() -> None:
    quiet = replace(finding("fan", VerdictState.CRIT, "web1"), silenced=SILENCED)

    line = told("nagios", report(UNIT, DISK, quiet))

    assert line.partition(" | ")[0] == (
        "CHECKRUNNER CRITICAL - 3 hosts: 2 critical, 1 warning, 2 unknown, 1 ok, 1 skipped; 1 of them silenced; "
        "disk on web1,web2: rc was 1 ¦ <b>; web3: unreachable: refused; unit on web2: no"
    )
    assert "'crit'=2;;;0 'warn'=1;;;0 'unknown'=2;;;0 'ok'=1;;;0" in line
    assert line.endswith(" 'hosts'=3;;;0 'hosts_not_reached'=1;;;0 'elapsed'=2.5s;;;0\n")


METRICS = (
    CheckValues(
        check="disk",
        values=(
            ValueSummary(
                name="used",
                value=NumberRange(minimum=12.0, median=40.0, maximum=97.5, max_host="web1"),
                unit="%",
                warn="80",
                crit="95",
                hosts=2,
                unread=1,
            ),
            ValueSummary(name="fs", value="ext4", hosts=2),
            ValueSummary(name="big", value=1e15, unit="B"),
        ),
    ),
)


def test_values_are_performance_data() -> None:
    data = told("nagios", report(metrics=METRICS))

    assert "'disk.used.min'=12%;80;95 'disk.used.max'=97.5%;80;95 'disk.big'=1000000000000000B\n" in data


def test_a_plugin_line_has_an_end() -> None:
    many = tuple(finding(f"c{at}", VerdictState.CRIT, f"host{at}" * 40) for at in range(500))
    values = tuple(replace(METRICS[0], check=f"check-{at}") for at in range(500))

    line = told("nagios", report(*many, metrics=values))

    assert len(line.encode()) <= 4096
    assert re.search(r"; and [0-9]{3} more \| 'crit'=", line)


def samples(made: Report, detail: Detail | None) -> dict[tuple[str, ...], float]:
    """Each sample by its name and the values of its labels but for that of the playbook, in order."""
    found: dict[tuple[str, ...], float] = {}
    for family in text_string_to_metric_families(told("prometheus", made, detail)):
        assert family.documentation
        assert family.type == "gauge"
        for sample in family.samples:
            labels = dict(sample.labels)
            assert labels.pop("playbook") == made.run.playbook
            key = (sample.name.removeprefix("checkrunner_"), *labels.values())
            assert key not in found
            found[key] = sample.value
    return found


def test_metrics_tell_the_run_its_counts_and_each_check_on_each_host() -> None:
    quiet = replace(UNIT, silenced=SILENCED)

    found = samples(report(DISK, quiet, metrics=METRICS), DETAIL)

    assert found["run_timestamp_seconds",] == BEGAN.timestamp()
    assert found["run_exit_code",] == 2
    assert found["run_complete",] == 0
    assert found["hosts", "unreachable"] == 1
    assert found["hosts", "lost"] == 0
    assert found["checks", "crit"] == 2
    assert found["findings", "warn"] == 0
    assert found["findings_silenced",] == 1
    assert {key[1:]: value for key, value in found.items() if key[0] == "check_status"} == {
        ("disk", "web1"): 2, ("disk", "web2"): 2, ("disk", "web3"): 3,
        ("unit[a]", "web1"): 0, ("unit[a]", "web2"): 1, ("unit[a]", "web3"): 3,
    }  # fmt: skip
    assert {key[1]: value for key, value in found.items() if key[0] == "host_reached"} == {
        "web1": 1, "web2": 1, "web3": 0,
    }  # fmt: skip
    assert found["check_silenced", "unit[a]", "web2"] == 1
    assert {key[4]: value for key, value in found.items() if key[:3] == ("value", "disk", "used")} == {
        "min": 12, "median": 40, "max": 97.5,
    }  # fmt: skip
    assert found["value_hosts_unread", "disk", "used"] == 1


def test_labels_are_escaped_and_runs_of_other_limits_told_apart() -> None:
    made = report(finding("a", VerdictState.CRIT, 'x"} 1\ny\\'))
    made = replace(made, run=replace(made.run, limit="web*"))

    found = samples(made, None)

    assert found["check_status", "web*", "a", 'x"} 1 y\\'] == 2
