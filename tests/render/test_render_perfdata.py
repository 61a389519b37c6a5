"""Values for other programs: performance data by the guidelines of Nagios plugins, metrics as JSON lines."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from checkrunner.model.inventory import Host
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.playbook import Check
from checkrunner.model.results import Execution, HostState, Result, Value, Verdict, VerdictState
from checkrunner.model.sources import Template
from checkrunner.render.perfdata import metric_texts, perfdata_texts

BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LABEL = r"'(?:[^'=]|'')+'"
NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
RANGE = rf"@?(?:~:|{NUMBER}:)?(?:{NUMBER})?"
METRIC = re.compile(rf"{LABEL}=(?:U|{NUMBER}(?:s|%|B|c)?)(?:;{RANGE}(?:;{RANGE})?)?")


def host(
    *values: Value, name: str = "web1", key: str = "disk", state: VerdictState = VerdictState.OK, **fields: Any
) -> HostOutcome:
    check = Check(id="disk", name="Disk", run=Template(text="true"))
    outcome = CheckOutcome(
        host=name,
        planned=PlannedCheck(key=key, play="p", check=check),
        verdict=Verdict(state=state),
        result=Result(seq=1, session="main", execution=Execution.DONE, rc=0, **fields),
        values=values,
    )
    return HostOutcome(host=Host(name=name, address=name), state=HostState.REACHED, checks=(outcome,))


def perfdata(*values: Value, **fields: Any) -> list[str]:
    return list(perfdata_texts([host(*values, **fields)]))


def test_a_line_for_each_host_and_check() -> None:
    used = Value(name="used", value=91.5, unit="%", warn="80", crit="95")
    free = Value(name="free", value=float(5 << 30), unit="B", warn="1073741824:")

    assert perfdata(used, free, state=VerdictState.WARN) == [
        "web1 disk WARNING | 'disk.used'=91.5%;80;95 'disk.free'=5368709120B;1073741824:"
    ]


def test_values_of_every_kind() -> None:
    assert perfdata(Value(name="v", value=None, error="not there")) == ["web1 disk OK | 'disk.v'=U"]
    assert perfdata(Value(name="v", value=True)) == ["web1 disk OK | 'disk.v'=1"]
    assert perfdata(Value(name="v", value=(1.0, 2.5), unit="s")) == ["web1 disk OK | 'disk.v[1]'=1s 'disk.v[2]'=2.5s"]
    assert perfdata(Value(name="v", value=65.0, unit="rpm")) == ["web1 disk OK | 'disk.v'=65"]
    assert perfdata(Value(name="v", value="a text")) == []
    assert perfdata() == []
    assert perfdata(Value(name="v", value=0.00001, crit="5")) == ["web1 disk OK | 'disk.v'=0.00001;;5"]


def test_labels_are_quoted() -> None:
    (line,) = perfdata(Value(name="v", value=1.0), key="disk[it's a=b|c]")

    assert line == "web1 disk[it's_a=b_c] OK | 'disk[it''s a_b_c].v'=1"


@given(
    st.text(min_size=1, max_size=20),
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=4),
    st.sampled_from(["", "s", "%", "B", "c", "rpm", "B/s"]),
)
def test_every_line_is_one_that_the_guidelines_know(key: str, numbers: list[float], unit: str) -> None:
    (line,) = perfdata(*(Value(name="v", value=float(n), unit=unit, warn="1:2") for n in numbers), key=key)

    head, _, data = line.partition(" | ")
    assert len(head.split(" ")) == 3
    assert "\n" not in line
    rest = data
    for _ in numbers:
        found = METRIC.match(rest)
        assert found is not None, rest
        rest = rest[found.end() :].removeprefix(" ")
    assert rest == ""


def test_metrics() -> None:
    values = (
        Value(name="used", value=91.5, unit="%", warn="80"),
        Value(name="os", value="debian"),
        Value(name="gone", value=None, error="not there"),
        Value(name="all", value=(1.0, 2.0)),
    )

    lines = [json.loads(line) for line in metric_texts([host(*values, state=VerdictState.WARN)], BEGAN)]

    same = {"host": "web1", "check": "disk", "verdict": "warn", "time": "2026-01-02T03:04:05.000000Z"}
    assert lines == [
        {**same, "name": "used", "value": 91.5, "unit": "%", "warn": "80"},
        {**same, "name": "os", "value": "debian", "unit": ""},
        {**same, "name": "gone", "value": None, "unit": "", "error": "not there"},
        {**same, "name": "all", "value": [1, 2], "unit": ""},
    ]


def test_the_time_is_when_the_command_was_started() -> None:
    started = datetime(2026, 5, 6, 7, 8, 9, 250_000, tzinfo=UTC)
    (line,) = metric_texts([host(Value(name="v", value=1.0), started_at=started)], BEGAN)

    assert json.loads(line)["time"] == "2026-05-06T07:08:09.250000Z"


def test_texts_of_hosts_are_masked() -> None:
    def mask(text: str) -> str:
        return text.replace("secret", "****")

    one = host(Value(name="v", value="a secret"), Value(name="n", value=1.0), key="c[secret]")

    assert "secret" not in "".join([*metric_texts([one], BEGAN, mask), *perfdata_texts([one], mask)])
