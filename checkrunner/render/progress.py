"""Progress for people who wait: a live view on a terminal, plain lines elsewhere, or nothing. Always on stderr.

All are Observers, and context managers: leaving the context ends the view and leaves the terminal as it was, however
the run ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from checkrunner.model.observation import Observation
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.report import Wait
from checkrunner.model.results import HostState, VerdictState
from checkrunner.render.layout import count_of, duration
from checkrunner.render.safe import safe
from checkrunner.render.watch import Clock, Running, Watch

if TYPE_CHECKING:
    from checkrunner.render.live import LiveProgress

__all__ = ["LineProgress", "SilentProgress", "describe", "describe_wait", "heartbeat", "line_progress", "live_progress"]

_MOST_HOST_LINES = 50
_MOST_TROUBLE_LINES = 100


def live_progress(
    stream: TextIO,
    *,
    clock: Clock = time.monotonic,
    longest: int = 5,
    refreshes_per_s: float = 5.0,
    mask: Callable[[str], str] = str,
) -> LiveProgress:
    """A view that is redrawn in place: for a terminal. Imports rich. `longest` is how many running checks it names;
    `mask` takes secrets out of what hosts said."""
    from checkrunner.render.live import LiveProgress

    return LiveProgress(stream, clock=clock, longest=longest, refreshes_per_s=refreshes_per_s, mask=mask)


def line_progress(
    stream: TextIO,
    *,
    clock: Clock = time.monotonic,
    every_s: float = 10.0,
    each_check: bool = False,
    mask: Callable[[str], str] = str,
) -> LineProgress:
    """Lines: for logs and pipes. `every_s` is the longest silence, as long as `tick` or events come; `each_check` adds
    a line per check; `mask` takes secrets out of what hosts said."""
    return LineProgress(stream, clock=clock, every_s=every_s, each_check=each_check, mask=mask)


class SilentProgress:
    """Shows nothing. The other views build on its being a context manager."""

    def run_started(self, hosts: int, checks: int) -> None:
        """Nothing."""

    def checks_added(self, host: str, more: int) -> None:
        """Nothing."""

    def host_connecting(self, host: str) -> None:
        """Nothing."""

    def hosts_waiting(self, waits: Sequence[Wait]) -> None:
        """Nothing."""

    def host_connected(self, host: str) -> None:
        """Nothing."""

    def check_started(self, host: str, planned: PlannedCheck) -> None:
        """Nothing."""

    def check_state(self, host: str, planned: PlannedCheck, observation: Observation) -> None:
        """Nothing."""

    def check_finished(self, outcome: CheckOutcome) -> None:
        """Nothing."""

    def host_finished(self, outcome: HostOutcome) -> None:
        """Nothing."""

    def run_finished(self) -> None:
        """Nothing."""

    def tick(self) -> None:
        """Call it about once a second while nothing happens, so that a view can say what is being waited for."""

    def pause(self) -> None:
        """Leave the terminal to somebody who is asked something; idempotent."""

    def resume(self) -> None:
        """Show again what is going on; idempotent."""

    def close(self) -> None:
        """End the view; idempotent."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class LineProgress(SilentProgress):
    """A line at the start, one for each host that ended (only for those in trouble when there are many), and a
    heartbeat that names what has been running for longest."""

    def __init__(
        self, stream: TextIO, *, clock: Clock, every_s: float, each_check: bool, mask: Callable[[str], str]
    ) -> None:
        self._mask = mask
        self._write = _writer(stream)
        self._clock = clock
        self._every_s = every_s
        self._each_check = each_check
        self._watch = Watch()
        self._spoke = 0.0
        self._trouble_lines = 0
        self._held: list[str] | None = None

    def run_started(self, hosts: int, checks: int) -> None:
        """Say how much there is to do."""
        self._watch.run_started(hosts, checks, self._clock())
        self._say(f"checking {count_of(hosts, 'host')}, {count_of(checks, 'check')}")

    def checks_added(self, host: str, more: int) -> None:  # noqa: ARG002 - the seam's
        """There is more to do."""
        self._watch.checks_added(more)

    def host_connecting(self, host: str) -> None:
        """Remember since when."""
        self._watch.host_connecting(host, self._clock())

    def hosts_waiting(self, waits: Sequence[Wait]) -> None:
        """Remember it for the next heartbeat."""
        self._watch.waits = waits

    def host_connected(self, host: str) -> None:
        """Count it."""
        self._watch.host_connected(host)

    def check_started(self, host: str, planned: PlannedCheck) -> None:
        """Remember since when."""
        self._watch.check_started(host, planned, self._clock())

    def check_state(self, host: str, planned: PlannedCheck, observation: Observation) -> None:
        """Remember it for the next heartbeat."""
        self._watch.check_state(host, planned, observation)

    def check_finished(self, outcome: CheckOutcome) -> None:
        """A line if each check was asked for, else perhaps a heartbeat."""
        self._watch.check_finished(outcome, self._clock())
        if self._each_check:
            took = f" in {duration(outcome.result.elapsed_s)}" if outcome.result else ""
            self._say(f"{outcome.host}: {outcome.planned.key}: {outcome.verdict.state}{took}")
        else:
            self.tick()

    def host_finished(self, outcome: HostOutcome) -> None:
        """A line where there are few hosts or this one is in trouble."""
        self._watch.host_finished(outcome)
        if outcome.state is not HostState.REACHED:
            self._trouble(outcome)
        elif self._watch.hosts <= _MOST_HOST_LINES:
            self._say(f"{outcome.host.name}: {_verdicts(outcome)}{self._remote_side(outcome)}")
        else:
            self.tick()

    def run_finished(self) -> None:
        """Say that it is over, and how long it took."""
        watch = self._watch
        took = duration(self._clock() - watch.started)
        kinds = {"skipped": watch.skipped, "not run": watch.not_run, "without an answer": watch.unanswered}
        others = "".join(f", {number:,} {kind}" for kind, number in kinds.items() if number)
        self._say(f"finished in {took}: {watch.looked_at:,} of {count_of(watch.checks, 'check')} looked at{others}")

    def pause(self) -> None:
        """Keep what there is to say."""
        self._held = [] if self._held is None else self._held

    def resume(self) -> None:
        """Say it."""
        held, self._held = self._held, None
        for line in held or ():
            self._write(line)

    def tick(self) -> None:
        """A heartbeat when nothing was said for `every_s`."""
        if self._held is None and self._clock() - self._spoke >= self._every_s:
            self._say(heartbeat(self._watch, self._clock(), longest=3, mask=self._mask))

    def _remote_side(self, outcome: HostOutcome) -> str:
        """What the host was looked at with, for those who want to know everything."""
        if not self._each_check or not outcome.agent:
            return ""
        return f" ({self._mask(outcome.agent)}; connected in {duration(outcome.connect_s)})"

    def _trouble(self, outcome: HostOutcome) -> None:
        self._trouble_lines += 1
        if self._trouble_lines <= _MOST_TROUBLE_LINES:
            name = outcome.host.name
            message = outcome.error.message.removeprefix(f"{name}: ") if outcome.error else ""
            reason = f": {self._mask(message)}" if message else ""
            self._say(f"{name}: {str(outcome.state).replace('_', ' ')}{reason}")
        elif self._trouble_lines == _MOST_TROUBLE_LINES + 1:
            self._say("more hosts are in trouble: from here on they are only counted")
        else:
            self.tick()

    def _say(self, line: str) -> None:
        self._spoke = self._clock()
        if self._held is None:
            self._write(safe(line) + "\n")
        else:
            self._held.append(safe(line) + "\n")


def heartbeat(watch: Watch, now: float, *, longest: int, mask: Callable[[str], str]) -> str:
    """Where the run stands, in one line."""
    parts = [
        f"{watch.hosts_done:,}/{count_of(watch.hosts, 'host')}",
        f"{watch.checks_done:,}/{count_of(watch.checks, 'check')}",
    ]
    parts.append(count_of(watch.findings, "finding"))
    if watch.troubles:
        parts.append(f"{count_of(sum(watch.troubles.values()), 'host')} in trouble")
    parts += [describe_wait(wait, mask) for wait in watch.waits[:longest]]
    running = [describe(item, now, mask) for item in watch.oldest(longest)]
    more = watch.under_way - len(running)
    if running:
        parts.append("running: " + "; ".join(running) + (f"; {more:,} more" if more > 0 else ""))
    return ", ".join(parts)


def describe(item: Running, now: float, mask: Callable[[str], str]) -> str:
    """``gpu07 smart-scan 42 s io_wait blk_mq_get_tag /dev/sdb (smartctl)``; `mask` takes secrets out of its end."""
    text = f"{item.host} {item.check or 'connecting'} {duration(max(0.0, now - item.since))}"
    return f"{text} {mask(item.seen.brief)}" if item.seen else text


def describe_wait(wait: Wait, mask: Callable[[str], str]) -> str:
    """``42 hosts wait for jump host ops@bastion (8 s, it dropped 12 connections)``."""
    verb = "waits" if wait.waiting == 1 else "wait"
    dropped = f", it dropped {count_of(wait.dropped, 'connection')}" if wait.dropped else ""
    return f"{count_of(wait.waiting, 'host')} {verb} for {mask(wait.place)} ({duration(wait.waiting_s)}{dropped})"


def _verdicts(outcome: HostOutcome) -> str:
    counts: dict[VerdictState, int] = {}
    for check in outcome.checks:
        counts[check.verdict.state] = counts.get(check.verdict.state, 0) + 1
    return ", ".join(f"{number} {state}" for state, number in counts.items()) or "no checks"


def _writer(stream: TextIO) -> Callable[[str], None]:
    """Observers may not raise: a closed or broken stderr only ends the progress."""

    def write(text: str) -> None:
        try:
            encoding = getattr(stream, "encoding", None) or "utf-8"
            stream.write(text.encode(encoding, "replace").decode(encoding))
            stream.flush()
        except (OSError, ValueError):
            return

    return write
