"""What the terminal shows of a report, and what it leaves to the JSON."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from checkrunner.findings.totals import count
from checkrunner.model.report import Finding, NumberRange, Report, RunInfo, Silenced, Totals, Wait
from checkrunner.model.results import Execution, HostState, Reason, Severity, VerdictState
from checkrunner.render.choice import telling_reasons
from checkrunner.render.terminal import TerminalRenderer


def finding(check: str = "disk", *reasons: Reason, **fields: Any) -> Finding:
    given: dict[str, Any] = {
        "id": "1", "name": check, "play": "one", "severity": Severity.CRITICAL, "verdict": VerdictState.CRIT,
        "execution": Execution.DONE, "hosts": "a", "names": ("a",),
    }  # fmt: skip
    return Finding(check=check, reasons=reasons, **{**given, **fields})


def reason(subject: str, actual: str = "", message: str = "no") -> Reason:
    return Reason(subject=subject, expected="", actual=actual, message=message)


def shown(
    *findings: Finding, totals: Totals | None = None, width: int | None = None, waits: tuple[Wait, ...] = ()
) -> str:
    run = RunInfo(
        id="1", version="1", playbook="p.yml", playbook_digest="", inventory=(), limit=None, elapsed_s=1.0,
        started_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), ended="normal", complete=True, exit_code=0, waits=waits,
    )  # fmt: skip
    out = io.StringIO()
    TerminalRenderer(width=width).render(Report(run=run, totals=totals or count([]), findings=findings), out)
    return out.getvalue()


def test_nothing_is_wrapped_where_there_is_no_terminal() -> None:
    long = "word " * 100 + "end"

    assert long in shown(finding("disk", reason("rc", message=long)))
    assert long not in shown(finding("disk", reason("rc", message=long)), width=100)


def test_what_was_waited_for_is_said_in_a_line() -> None:
    wait = Wait(place="jump host b", hosts=100, longest_s=11.5, waited_s=12.3, dropped=6, connections=50, channels=2)

    text = shown(waits=(wait, replace(wait, place="web\x1b[2J", hosts=0, dropped=0, connections=1, channels=0)))

    facts = "100 hosts, it dropped 6 connections, 2 hosts a connection, 50 connections"
    assert f"\nwaited 12 s for jump host b ({facts})\n" in text
    assert "\nwaited 12 s for web<U+001B>[2J\n" in text


def test_the_play_is_named_where_there_are_several() -> None:
    one, two = finding("a"), finding("a~2", play="two", name="a")

    assert "(play" not in shown(one)
    assert "a (play one)" in shown(one, two)
    assert "a~2 (play two)" in shown(one, two)


def test_a_range_that_rounds_to_one_value_is_one_value() -> None:
    near = NumberRange(minimum=2.01, median=2.02, maximum=2.03, max_host="a")
    far = NumberRange(minimum=2.0, median=3.0, maximum=4.0, max_host="a")

    assert "took 2.0 s\n" in shown(finding(result={"elapsed_s": near}))
    assert "took 2.0 s to 4.0 s (median 3.0 s, most on a)" in shown(finding(result={"elapsed_s": far}))


def test_processes_that_are_left_running_are_named() -> None:
    some = finding(result={"rc": 1, "leftover_processes": 7, "leftover_pids": (11, 12)})

    assert "rc 1, 7 processes left running (pid 11, 12)\n" in shown(some)
    assert "1 process left running\n" in shown(finding(result={"leftover_processes": 1}))


def test_what_was_run_and_did_not_end_is_counted_in_words() -> None:
    totals = Totals(
        hosts=1, planned=9, done=9, skipped=0, not_run=0, verdict={VerdictState.OK: 7, VerdictState.UNKNOWN: 2},
        execution={Execution.DONE: 6, Execution.TIMED_OUT: 1, Execution.LOST: 2}, host={HostState.LOST: 1}, capture={},
    )  # fmt: skip

    assert "9 checks planned = 9 run (of these 1 timed out, 2 lost) + 0 skipped + 0 not run;" in shown(totals=totals)


@pytest.mark.parametrize(
    ("other", "warning", "hidden"),
    [
        (reason("stdout"), reason("warn_if", "stdout_lines = 3"), True),
        (reason("crit_if", "used = 97"), reason("warn_if", "used = 97"), True),
        (reason("stdout"), reason("warn_if", "load = 3"), False),
        (reason("crit_if", "used = 97"), reason("warn_if", "used = 97, inodes = 88"), False),
        (reason("stdout"), reason("warn_if", "true"), False),
    ],
)
def test_a_warning_that_adds_nothing_to_what_is_critical_is_hidden(
    other: Reason, warning: Reason, hidden: bool
) -> None:
    assert list(telling_reasons(finding("x", other, warning))) == ([other] if hidden else [other, warning])


def test_warnings_alone_stay() -> None:
    both = (reason("warn_if", "a = 1"), reason("warn_if", "a = 1"))

    assert tuple(telling_reasons(finding("x", *both, verdict=VerdictState.WARN))) == both
    assert tuple(telling_reasons(finding("x", *both))) == both


def test_since_when_and_how_restless_it_is_is_told() -> None:
    began = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    text = shown(finding(since=began - timedelta(days=3), changes=5))

    assert "\n      on a, since 2025-12-30 03:04 UTC (3 days)\n" in text
    assert "\n      flapping: 5 changes in the last 10 runs\n" in text
    assert "since" not in shown(finding(since=began))


def test_other_evidence_of_what_was_in_trouble_is_not_called_new() -> None:
    began = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    assert " (new)\n" in shown(finding(since=began, novelty="new"))
    assert " (new)\n" in shown(finding(novelty="new"))
    assert " (changed)\n" in shown(finding(since=began - timedelta(seconds=1), novelty="new"))
    assert "(" not in shown(finding(since=began, novelty="known")).partition("CRIT")[2].partition("\n")[0]


def test_what_is_silenced_is_a_line_below_the_rest() -> None:
    silenced = Silenced(until=datetime(2026, 1, 4, 8, tzinfo=UTC), why="known\x1b[2J", by="anna")

    text = shown(finding("a", reason("rc"), silenced=silenced), finding("b", reason("rc")))

    assert text.index("CRIT  b") < text.index(
        "\nSilenced\n  - CRIT a on a: silenced until 2026-01-04 08:00 UTC by anna: known"
    )
    assert "\x1b" not in text


def test_a_long_report_ends_with_its_findings_in_short() -> None:
    many = [finding(f"c{at}", reason("rc", message="far " * 50)) for at in range(20)]

    text = shown(*many, width=80)

    short = text.partition("\nIn short\n")[2].splitlines()
    assert short[0].startswith("  CRIT  c0 on a: far far")
    assert short[0].endswith("...")
    assert max(map(len, short)) <= 80
    assert short[15] == "        5 more"
    assert "In short" not in shown(*many[:5], width=80)
