"""docs/verdicts.md against the code: each row of its tables is judged here."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from judge_factory import FAILED, TRUNCATED, expected, judged, make_check, reasons, that

from checkrunner.judge.expectations import EXPECTATIONS
from checkrunner.model.observation import Activity, Observation
from checkrunner.model.results import Execution, Severity, VerdictState

DISK = Observation(kind=Activity.IO_WAIT, pid=4242, name="df", since_s=42.0)
PAGE = (Path(__file__).parents[2] / "docs" / "verdicts.md").read_text()


def table(name: str) -> list[list[str]]:
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", PAGE, re.DOTALL)
    assert found, f"the page has no part {name!r}"
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in found[1].strip().splitlines()[2:]]


def expectation(written: str) -> Any:
    """An `expect` as the page writes it."""
    read = yaml.safe_load(written)
    if isinstance(read, str):
        return that(read)
    ((subject, value),) = read.items()
    ((op, inner),) = value.items() if isinstance(value, dict) else [("number", value)]
    return expected(subject, op, inner)


@pytest.mark.parametrize("row", table("partial"), ids=lambda row: f"{row[0]} {row[1]}")
def test_partial_output(row: list[str]) -> None:
    written, kept, *states = row
    seen = [
        str(judged(make_check(expectation(written)), stdout=f"{kept}\n", out=extra).state)
        for extra in (TRUNCATED, FAILED, {"binary": True})
    ]
    assert seen == states


def test_executions() -> None:
    assert [row[0] for row in table("executions")] == [str(execution) for execution in Execution]
    for execution, state, message in table("executions")[1:]:
        verdict = judged(make_check(), rc=None, execution=Execution(execution), elapsed_s=60.0)
        assert (str(verdict.state), reasons(verdict)) == (state, [message])


def test_words() -> None:
    assert all(f"| `{state}` |" in PAGE for state in VerdictState)
    assert all(f"| `{severity}`" in PAGE for severity in Severity)
    kinds = {"number", "that", *re.findall(r"std(?:out|err): \{(\w+):", PAGE)}
    assert kinds == set(EXPECTATIONS)


@pytest.mark.parametrize(
    ("check", "result", "message"),
    [
        (make_check(), {"rc": 2}, "rc was 2, expected 0 (the default)"),
        (
            make_check(expected("stdout", "contains", "ready")),
            {"stdout": "x\n" * 120},
            "stdout: 'ready' not found in 120 lines",
        ),
        (
            make_check(expected("stdout", "not_matches", "ERROR")),
            {"stdout": "x\n" * 13 + "ERROR\n" * 3},
            "stdout line 14 matches 'ERROR' (3 lines do)",
        ),
        (
            make_check(expected("elapsed_s", "number", "< 0.5")),
            {"elapsed_s": 2.5},
            "elapsed_s was 2.5 s, expected < 0.5 s",
        ),
        (make_check(crit_if=["free_pct < 5"]), {"names": {"free_pct": 3}}, "crit_if: free_pct < 5 (free_pct = 3)"),
        (
            make_check(),
            {
                "execution": Execution.TIMED_OUT,
                "elapsed_s": 60.0,
                "seen": replace(DISK, name="smartctl", wchan="blk_mq_get_tag", syscall="ioctl", fd=3, on="/dev/sdb"),
            },
            (
                "was ended by its timeout of 60 s after 60.0 s; last seen: smartctl (pid 4242) io_wait for 42.0 s,"
                " wchan blk_mq_get_tag, in ioctl of fd 3, /dev/sdb"
            ),
        ),
        (
            make_check(),
            {
                "execution": Execution.STUCK,
                "elapsed_s": 63.0,
                "seen": replace(DISK, wchan="rpc_wait_bit_killable", syscall="statfs", on="/mnt/nfs", since_s=60.0),
            },
            (
                "could not be ended after 63.0 s; last seen: df (pid 4242) io_wait for 60.0 s,"
                " wchan rpc_wait_bit_killable, in statfs, /mnt/nfs"
            ),
        ),
        (
            make_check(),
            {
                "execution": Execution.WAITING_INPUT,
                "prompt": "Password:",
                "seen": Observation(
                    kind=Activity.WAITING_INPUT, pid=4242, name="su", on="/dev/pts/3", echo=False, since_s=2.0
                ),
            },
            (
                "waits for input that nobody gives; last seen: su (pid 4242) waiting_input for"
                " 2.0 s, /dev/pts/3, the terminal does not show what is typed; it asks: Password:"
            ),
        ),
        (
            make_check(),
            {"execution": Execution.NOT_RUN, "missing": ("smartctl",)},
            "needs smartctl, which is not on this host",
        ),
    ],
)
def test_reasons(check: Any, result: dict[str, Any], message: str) -> None:
    assert reasons(judged(check, **result)) == [message]
    assert f"| `{message}` |" in PAGE
