"""What a running run looks like from outside: counts, and what runs where since when. Shared by the progress views.

Costs a few microseconds an event; holds one entry for each check that is under way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from checkrunner.model.observation import Observation
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.report import Wait
from checkrunner.model.results import Execution, HostState, VerdictState

__all__ = ["Clock", "Running", "Watch"]

Clock = Callable[[], float]
"""Seconds of a clock that never goes back."""


@dataclass(frozen=True, slots=True)
class Running:
    """Something under way: a check, or a connection being made (then `check` is empty). `seen` is what the check's
    command was last seen doing."""

    host: str
    check: str
    since: float
    seen: Observation | None = None


@dataclass(slots=True)
class Watch:
    """The state of a run so far. Fed by an Observer's events; `now` is the clock's time of the event.

    Commands of one named session run one after another although they are sent together, so only the first of them
    counts as running, from the moment when the one before it ended.
    """

    hosts: int = 0
    checks: int = 0
    started: float = 0.0
    hosts_done: int = 0
    checks_done: int = 0
    connecting: int = 0
    not_run: int = 0
    waits: Sequence[Wait] = ()
    verdicts: dict[VerdictState, int] = field(default_factory=dict)
    troubles: dict[HostState, int] = field(default_factory=dict)
    _waiting: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)
    _running: dict[tuple[str, str], Running] = field(default_factory=dict)
    _connected: set[str] = field(default_factory=set)
    _findings: set[tuple[str, VerdictState]] = field(default_factory=set)

    @property
    def connected(self) -> int:
        """Hosts whose connection stands."""
        return len(self._connected)

    @property
    def skipped(self) -> int:
        """Checks that were not to be run."""
        return self.verdicts.get(VerdictState.SKIPPED, 0)

    @property
    def unanswered(self) -> int:
        """Checks that were run and could not be looked at."""
        return self.verdicts.get(VerdictState.UNKNOWN, 0) - self.not_run

    @property
    def looked_at(self) -> int:
        """Checks that have a verdict for what was seen."""
        return self.checks_done - self.skipped - self.verdicts.get(VerdictState.UNKNOWN, 0)

    @property
    def findings(self) -> int:
        """Different (check, verdict) pairs that are not ok so far: about the number of findings to come."""
        return len(self._findings)

    def oldest(self, number: int) -> list[Running]:
        """What has been under way for longest, the longest first."""
        # Entries are made with the time of their event, so the dict is ordered by it.
        return list(islice(self._running.values(), number))

    @property
    def under_way(self) -> int:
        """How many commands and connections are under way."""
        return len(self._running)

    def run_started(self, hosts: int, checks: int, now: float) -> None:
        """There is so much to do."""
        self.hosts, self.checks, self.started = hosts, checks, now

    def checks_added(self, more: int) -> None:
        """There is more to do than was known."""
        self.checks += more

    def host_connecting(self, host: str, now: float) -> None:
        """A connection is being made."""
        if (host, "") not in self._running:
            self.connecting += 1
        self._running[host, ""] = Running(host, "", now)

    def host_connected(self, host: str) -> None:
        """Its connection stands."""
        self._stop_connecting(host)
        self._connected.add(host)

    def check_started(self, host: str, planned: PlannedCheck, now: float) -> None:
        """The check was sent."""
        lane = (host, f"s:{planned.check.session}")
        waiting = self._waiting.setdefault(lane, {})
        waiting[planned.key] = None
        if len(waiting) == 1:
            self._running[lane] = Running(host, planned.key, now)

    def check_state(self, host: str, planned: PlannedCheck, observation: Observation) -> None:
        """The check's command was seen doing something. Says nothing of one whose turn in its session has not come."""
        lane = (host, f"s:{planned.check.session}")
        running = self._running.get(lane)
        if running is not None and running.check == planned.key:
            # The same key keeps its place: the order is that of the times.
            self._running[lane] = replace(running, seen=observation)

    def check_finished(self, outcome: CheckOutcome, now: float) -> None:
        """The check has its outcome; the next of its session runs now."""
        self.checks_done += 1
        state = outcome.verdict.state
        self.verdicts[state] = self.verdicts.get(state, 0) + 1
        if state is VerdictState.UNKNOWN and (outcome.result is None or outcome.result.execution is Execution.NOT_RUN):
            self.not_run += 1
        if state is VerdictState.WARN or state is VerdictState.CRIT or state is VerdictState.UNKNOWN:
            self._findings.add((outcome.planned.key, state))
        lane = (outcome.host, f"s:{outcome.planned.check.session}")
        waiting = self._waiting.get(lane)
        if waiting is None or outcome.planned.key not in waiting:
            return
        del waiting[outcome.planned.key]
        running = self._running.get(lane)
        if running is not None and running.check == outcome.planned.key:
            del self._running[lane]
            if waiting:
                self._running[lane] = Running(outcome.host, next(iter(waiting)), now)
        if not waiting:
            del self._waiting[lane]

    def host_finished(self, outcome: HostOutcome) -> None:
        """Nothing of the host is under way any more."""
        self.hosts_done += 1
        host = outcome.host.name
        self._stop_connecting(host)
        self._connected.discard(host)
        if outcome.state is not HostState.REACHED:
            self.troubles[outcome.state] = self.troubles.get(outcome.state, 0) + 1

    def _stop_connecting(self, host: str) -> None:
        if self._running.pop((host, ""), None) is not None:
            self.connecting -= 1
