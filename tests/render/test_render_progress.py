from __future__ import annotations

import io
import os
import pty
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from checkrunner.model.errors import UnreachableError
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Activity, Observation
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.playbook import Check
from checkrunner.model.report import Wait
from checkrunner.model.results import Execution, HostState, Result, Verdict, VerdictState
from checkrunner.model.seams import Observer
from checkrunner.model.sources import Template
from checkrunner.render.progress import SilentProgress, line_progress, live_progress
from checkrunner.render.watch import Running, Watch
from checkrunner.testing import check_observer


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def planned(key: str, session: str = "main") -> PlannedCheck:
    return PlannedCheck(key=key, play="p", check=Check(id=key, name=key, run=Template(text="true"), session=session))


def done(name: str, what: PlannedCheck, state: VerdictState = VerdictState.OK) -> CheckOutcome:
    result = Result(seq=1, session="main", execution=Execution.DONE, rc=0, elapsed_s=0.5)
    return CheckOutcome(host=name, planned=what, verdict=Verdict(state=state), result=result)


def ended(name: str, *checks: CheckOutcome, state: HostState = HostState.REACHED, message: str = "") -> HostOutcome:
    error = UnreachableError(message) if message else None
    return HostOutcome(host=Host(name=name, address=name), state=state, checks=checks, error=error)


def test_what_a_host_said_is_masked_in_lines_too() -> None:
    out = io.StringIO()
    progress = line_progress(out, mask=lambda text: text.replace("hunter2", "***"))
    progress.run_started(1, 0)

    progress.host_finished(ended("a", state=HostState.NO_SHELL, message="it printed: pass=hunter2"))

    assert "a: no shell: it printed: pass=***\n" in out.getvalue()


def test_of_commands_sent_together_only_the_first_of_a_session_runs() -> None:
    watch = Watch()
    one, two, other = planned("one"), planned("two"), planned("other", "side")
    watch.run_started(1, 3, 0.0)
    watch.host_connecting("a", 1.0)
    assert (watch.connecting, watch.oldest(5)) == (1, [Running("a", "", 1.0)])
    watch.host_connected("a")
    assert (watch.connecting, watch.connected) == (0, 1)
    for what in (one, two, other):
        watch.check_started("a", what, 2.0)
    assert watch.oldest(5) == [Running("a", "one", 2.0), Running("a", "other", 2.0)]

    watch.check_finished(done("a", one, VerdictState.CRIT), 7.0)

    assert watch.oldest(5) == [Running("a", "other", 2.0), Running("a", "two", 7.0)]
    assert (watch.findings, watch.checks_done) == (1, 1)
    watch.check_finished(done("a", two), 8.0)
    watch.check_finished(done("a", other, VerdictState.UNKNOWN), 9.0)
    watch.host_finished(ended("a", state=HostState.LOST, message="gone"))
    assert (watch.under_way, watch.connected, watch.findings, watch.troubles) == (0, 0, 2, {HostState.LOST: 1})


def test_an_answer_out_of_order_leaves_the_running_one() -> None:
    watch = Watch()
    one, two = planned("one"), planned("two")
    watch.check_started("a", one, 1.0)
    watch.check_started("a", two, 1.0)

    watch.check_finished(done("a", two), 2.0)
    watch.check_finished(done("a", planned("never sent")), 2.0)

    assert watch.oldest(5) == [Running("a", "one", 1.0)]


def test_lines_for_a_few_hosts() -> None:
    out, clock = io.StringIO(), Clock()
    with line_progress(out, clock=clock, every_s=10) as progress:
        progress.run_started(2, 2)
        progress.host_connecting("a")
        progress.host_connected("a")
        disk = planned("disk")
        progress.check_started("a", disk)
        clock.now += 9
        progress.tick()
        clock.now += 3
        progress.tick()
        progress.tick()
        progress.check_finished(done("a", disk, VerdictState.WARN))
        progress.host_finished(ended("a", done("a", disk, VerdictState.WARN)))
        progress.host_connecting("b\x1b[31m")
        progress.host_finished(ended("b\x1b[31m", state=HostState.UNREACHABLE, message="refused"))
        progress.run_finished()

    assert out.getvalue().splitlines() == [
        "checking 2 hosts, 2 checks",
        "0/2 hosts, 0/2 checks, 0 findings, running: a disk 12 s",
        "a: 1 warn",
        "b<U+001B>[31m: unreachable: refused",
        "finished in 12 s: 1 of 2 checks looked at",
    ]


def test_what_was_not_looked_at_is_not_said_to_be_finished() -> None:
    out, clock = io.StringIO(), Clock()
    progress = line_progress(out, clock=clock)
    progress.run_started(1, 4)
    unknown = Verdict(state=VerdictState.UNKNOWN)
    progress.check_finished(CheckOutcome(host="a", planned=planned("x"), verdict=unknown))
    progress.check_finished(done("a", planned("y"), VerdictState.UNKNOWN))
    progress.check_finished(done("a", planned("z"), VerdictState.SKIPPED))
    progress.check_finished(done("a", planned("w"), VerdictState.CRIT))
    progress.host_finished(ended("a", state=HostState.LOST, message="a: the link ended"))
    progress.run_finished()

    assert out.getvalue().splitlines()[1:] == [
        "a: lost: the link ended",
        "finished in 0.0 s: 1 of 4 checks looked at, 1 skipped, 1 not run, 1 without an answer",
    ]


def test_lines_for_many_hosts_are_only_about_trouble_and_not_endless() -> None:
    out, clock = io.StringIO(), Clock()
    progress = line_progress(out, clock=clock)
    progress.run_started(1000, 0)
    for at in range(500):
        progress.host_finished(ended(f"ok{at}"))
        progress.host_finished(ended(f"bad{at}", state=HostState.UNREACHABLE, message="refused"))

    lines = out.getvalue().splitlines()
    assert len(lines) == 102
    assert lines[1] == "bad0: unreachable: refused"
    assert lines[-1] == "more hosts are in trouble: from here on they are only counted"


def test_a_line_per_check_on_demand() -> None:
    out = io.StringIO()
    progress = line_progress(out, clock=Clock(), each_check=True)
    progress.check_finished(done("a", planned("disk"), VerdictState.CRIT))

    assert out.getvalue() == "a: disk: crit in 0.5 s\n"


def test_a_broken_stderr_only_ends_the_progress() -> None:
    out = io.StringIO()
    out.close()
    progress = line_progress(out, clock=Clock())
    progress.run_started(1, 1)
    progress.run_finished()


@pytest.mark.parametrize(
    "make",
    [
        SilentProgress,
        lambda: line_progress(io.StringIO(), each_check=True),
        lambda: line_progress(io.StringIO(), every_s=0.0),
        lambda: line_progress(closed_stream()),
        lambda: live_progress(io.StringIO()),
    ],
    ids=["silent", "each check", "heartbeats", "closed stream", "live"],
)
def test_every_view_keeps_the_contract(make: Callable[[], Observer]) -> None:
    check_observer(make)


def closed_stream() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


def test_the_live_view_names_what_runs_where_and_escapes_it() -> None:
    from rich.console import Console

    clock = Clock()
    progress = live_progress(io.StringIO(), clock=clock, longest=2)
    watch = progress._watch
    watch.run_started(3, 9, clock())
    for at, name in enumerate(["[bold]a[/bold]", "b\x1b]0;x\x07", "c"]):
        watch.host_connecting(name, clock())
        watch.host_connected(name)
        watch.check_started(name, planned(f"check{at}"), clock() + at)
    watch.check_finished(done("c", planned("x"), VerdictState.CRIT), clock())
    clock.now += 75
    console = Console(file=io.StringIO(), width=100, markup=False, highlight=False)

    console.print(progress.view())

    text = console.file.getvalue()  # type: ignore[attr-defined]  # the StringIO from above
    assert "[bold]a[/bold] check0 1 min 15 s" in text
    assert "b<U+001B>]0;x<U+0007> check1 1 min 14 s" in text
    assert "and 1 more" in text
    assert "0 connecting, 3 connected   1 finding so far  1 crit" in text
    assert "1/9 checks" in text


SCAN = Observation(
    kind=Activity.IO_WAIT, name="smartctl", wchan="blk_mq_get_tag", syscall="ioctl", on="/dev/sdb", since_s=40.0
)


def test_what_a_command_waits_for_is_in_the_heartbeat_and_masked() -> None:
    out, clock = io.StringIO(), Clock()
    progress = line_progress(out, clock=clock, mask=lambda text: text.replace("sdb", "***"))
    progress.run_started(1, 2)
    scan, queued = planned("smart-scan"), planned("queued")
    for what in (scan, queued):
        progress.check_started("gpu07", what)
    clock.now += 42
    progress.check_state("gpu07", scan, SCAN)
    progress.check_state("gpu07", queued, SCAN)
    progress.check_state("elsewhere", scan, SCAN)
    progress.tick()
    progress.check_finished(done("gpu07", scan))
    clock.now += 12
    progress.tick()

    assert out.getvalue().splitlines()[1:] == [
        "0/1 host, 0/2 checks, 0 findings, running: gpu07 smart-scan 42 s io_wait blk_mq_get_tag /dev/*** (smartctl)",
        "0/1 host, 1/2 checks, 0 findings, running: gpu07 queued 12 s",
    ]


BASTION = Wait(
    place="jump host ops@bastion", hosts=42, longest_s=8.0, waited_s=8.0, waiting=42, waiting_s=8.0, dropped=12
)


def test_what_hosts_wait_for_before_they_can_be_reached_is_in_the_heartbeat() -> None:
    out, clock = io.StringIO(), Clock()
    progress = line_progress(out, clock=clock, mask=lambda text: text.replace("ops", "***"))
    progress.run_started(42, 42)
    progress.hosts_waiting([BASTION, replace(BASTION, place="web1 port 22", waiting=1, dropped=0)])
    clock.now += 12
    progress.tick()
    progress.hosts_waiting(())
    clock.now += 12
    progress.tick()

    counts = "0/42 hosts, 0/42 checks, 0 findings"
    bastion = "42 hosts wait for jump host ***@bastion (8.0 s, it dropped 12 connections)"
    assert out.getvalue().splitlines()[1:] == [f"{counts}, {bastion}, 1 host waits for web1 port 22 (8.0 s)", counts]


def test_what_hosts_wait_for_is_in_the_live_view() -> None:
    from rich.console import Console

    progress = live_progress(io.StringIO(), clock=Clock())
    progress._watch.run_started(42, 42, 0.0)
    progress.hosts_waiting([replace(BASTION, place="jump host [b]\x1b]0;x")])
    console = Console(file=io.StringIO(), width=100, markup=False, highlight=False)
    console.print(progress.view())

    text = console.file.getvalue()  # type: ignore[attr-defined]  # the StringIO from above
    assert "42 hosts wait for jump host [b]<U+001B>]0;x (8.0 s" in text


def test_the_live_view_shows_the_state_and_escapes_it() -> None:
    from rich.console import Console

    clock = Clock()
    progress = live_progress(io.StringIO(), clock=clock, mask=lambda text: text.replace("hunter2", "***"))
    what = planned("smart-scan")
    progress._watch.check_started("gpu07", what, clock())
    progress.check_state("gpu07", what, replace(SCAN, name="\x1b[2J[bold]x hunter2"))
    clock.now += 42
    console = Console(file=io.StringIO(), width=120, markup=False, highlight=False)

    console.print(progress.view())

    text = console.file.getvalue()  # type: ignore[attr-defined]  # the StringIO from above
    assert "gpu07 smart-scan 42 s io_wait blk_mq_get_tag /dev/sdb (<U+001B>[2J[bold]x ***)" in text


@pytest.mark.parametrize(
    ("seen", "brief"),
    [
        (Observation(kind=Activity.RUNNING, name="dd", wchan="0"), "running (dd)"),
        (Observation(kind=Activity.IDLE, wchan="wait_woken", syscall="recvfrom", on="10.0.0.7:443"), "idle recvfrom 10.0.0.7:443"),
        (Observation(kind=Activity.IDLE, wchan="do_wait"), "idle do_wait"),
        (Observation(kind=Activity.WAITING_INPUT, wchan="wait_woken", on="/dev/pts/0", name="su"), "waiting_input /dev/pts/0 (su)"),
        (Observation(kind=Activity.UNKNOWN), "unknown"),
    ],
)  # fmt: skip
def test_a_state_in_a_few_words(seen: Observation, brief: str) -> None:
    assert seen.brief == brief


@pytest.mark.parametrize("kind", ["live", "line"])
def test_events_are_cheap_with_ten_thousand_hosts(kind: str) -> None:
    out = io.StringIO()
    progress: Any = live_progress(out) if kind == "live" else line_progress(out)
    checks = [planned(f"c{at}") for at in range(4)]
    hosts = [f"host{at}" for at in range(10_000)]
    outcomes = [[done(name, what) for what in checks] for name in hosts]
    finals = [ended(name) for name in hosts]
    progress.run_started(10_000, 40_000)
    start = time.process_time()
    for name in hosts:
        progress.host_connecting(name)
        progress.host_connected(name)
        for what in checks:
            progress.check_started(name, what)
    for made, final in zip(outcomes, finals, strict=True):
        for outcome in made:
            progress.check_finished(outcome)
        progress.host_finished(final)
    spent = time.process_time() - start
    progress.close()

    assert spent / (11 * 10_000) < 100e-6  # twenty microseconds are the aim; a busy machine gets five times as many


LIVE = """
import signal, sys, time
from checkrunner.render.progress import live_progress
with live_progress(sys.stderr) as progress:
    progress.run_started(1, 1)
    progress.host_connecting("web01")
    print("ready", flush=True)
    {end}
"""


@pytest.mark.parametrize(
    ("end", "code"), [("time.sleep(60)", -signal.SIGINT), ("progress.run_finished()", 0), ("raise SystemExit(5)", 5)]
)
def test_the_live_view_leaves_the_terminal_clean(end: str, code: int) -> None:
    ours, theirs = pty.openpty()
    script = LIVE.format(end=end)
    env = {"PATH": "/usr/bin:/bin", "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, stderr=theirs, env=env, cwd=os.getcwd()
    ) as process:
        os.close(theirs)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        seen = b""
        while end.startswith("time") and b"web01 connecting" not in seen:
            seen += os.read(ours, 65536)
        if end.startswith("time"):
            process.send_signal(signal.SIGINT)
        seen += _rest(ours)
        assert process.wait(20) == code
    os.close(ours)

    assert b"web01 connecting" in seen
    before_traceback = seen.split(b"Traceback")[0]
    assert before_traceback.count(b"\x1b[?25l") == before_traceback.count(b"\x1b[?25h") == 1
    tail = before_traceback[before_traceback.rindex(b"\x1b[?25h") :]
    cleared = before_traceback.count(b"\x1b[2K")
    assert cleared >= 2
    assert re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]", b"", tail) == b""


def _rest(descriptor: int) -> bytes:
    """Everything until the other side has closed the terminal."""
    out = b""
    while True:
        try:
            data = os.read(descriptor, 65536)
        except OSError:
            return out
        if not data:
            return out
        out += data


def test_lines_wait_while_somebody_is_asked() -> None:
    out, clock = io.StringIO(), Clock()
    progress = line_progress(out, clock=clock, each_check=True)
    progress.run_started(1, 2)
    progress.pause()
    before = out.getvalue()
    progress.check_finished(done("h1", planned("a")))
    clock.now += 100
    progress.tick()
    assert out.getvalue() == before

    progress.resume()
    progress.resume()

    assert out.getvalue().removeprefix(before).splitlines() == ["h1: a: ok in 0.5 s"]


def test_the_live_view_goes_and_comes_back() -> None:
    progress = live_progress(io.StringIO())
    progress.run_started(1, 1)
    for _ in range(2):
        progress.pause()
        progress.pause()
        assert progress._live is None
        progress.resume()
        progress.resume()
        assert progress._live is not None
    progress.run_finished()
    progress.resume()

    assert progress._live is None, "a view that is over stays away"
