"""The hosts of a run by stage and batch, and what they have to tell each other on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from checkrunner.model.plan import CheckOutcome, PlannedCheck
from checkrunner.model.playbook import Check, Play, Share
from checkrunner.model.results import VerdictState
from checkrunner.model.seams import Script
from checkrunner.model.tasks import ON_HOST
from checkrunner.run.once import Once
from checkrunner.run.stages import Stage, batches, stages

__all__ = ["Batch", "Failures", "Part", "Schedule"]

_FAILED = frozenset({VerdictState.CRIT, VerdictState.UNKNOWN})


class Failures:
    """Counts the hosts of a play that failed. `why` says that there are too many, once there are; "" until then."""

    def __init__(self, limit: Share | None, hosts: int) -> None:
        self.why = ""
        self._most = limit.of(hosts) if limit else 0
        self._hosts = hosts
        self._failed: set[str] = set()

    def count(self, outcome: CheckOutcome) -> None:
        """A check of the play has its outcome."""
        if not self._most or self.why or outcome.verdict.state not in _FAILED:
            return
        self._failed.add(outcome.host)
        if len(self._failed) >= self._most:
            self.why = f"max_fail: {len(self._failed)} of {self._hosts} hosts failed"


@dataclass(frozen=True, slots=True)
class Part:
    """One host's part of a stage. `last`: no later stage needs the host. `connects`: some check needs its session."""

    index: int
    checks: Sequence[PlannedCheck]
    last: bool
    connects: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """Hosts that go through a stage together, at most `forks` at a time."""

    parts: Sequence[Part]
    forks: int | None
    failures: Failures


@dataclass(slots=True)
class _Track:
    """What hosts with the same checks have in common: those of each stage, and the keys of those that run once."""

    by_stage: dict[int, list[PlannedCheck]] = field(default_factory=dict)
    once: dict[int, list[str]] = field(default_factory=dict)
    connects: set[int] = field(default_factory=set)


class Schedule:
    """Who does what when. `batches` run one after another; `once` are, for each host, the checks that run once, by
    key; `total` is how
    many outcomes there will be, as far as that is known."""

    def __init__(self, scripts: Sequence[Script], plays: Sequence[Play]) -> None:
        self.batches: list[Batch] = []
        self.once: dict[int, dict[str, Once]] = {}
        self.total = sum(len(script.checks) for script in scripts)
        self._names = [script.host.name for script in scripts]
        self._failures: dict[int, Failures] = {}
        found = stages(plays)
        of_play = {play: number for number, stage in enumerate(found) for play in range(stage.first, stage.end)}
        tracks: dict[int, _Track] = {}
        for script in scripts:
            if id(script.checks) not in tracks:
                tracks[id(script.checks)] = _track(script.checks, of_play)
        mine = [tracks[id(script.checks)] for script in scripts]
        for number, stage in enumerate(found):
            self._add_stage(number, stage, mine)

    def counting(self, told: Callable[[CheckOutcome], None]) -> Callable[[CheckOutcome], None]:
        """`told`, and before it whoever counts the failures of a play."""
        if not self._failures:
            return told

        def count(outcome: CheckOutcome) -> None:
            failures = self._failures.get(outcome.planned.stage)
            if failures is not None:
                failures.count(outcome)
            told(outcome)

        return count

    def _add_stage(self, number: int, stage: Stage, tracks: Sequence[_Track]) -> None:
        members = [index for index, track in enumerate(tracks) if number in track.by_stage]
        failures = Failures(stage.max_fail, len(members))
        if stage.max_fail is not None:
            self._failures[stage.first] = failures
        for batch in batches(len(members), stage.serial):
            some = [members[at] for at in batch]
            self._add_once(number, some, tracks)
            parts = [_part(index, tracks[index], number) for index in some]
            self.batches.append(Batch(parts, stage.forks, failures))

    def _add_once(self, number: int, members: Sequence[int], tracks: Sequence[_Track]) -> None:
        hosts: dict[str, list[int]] = {}
        for index in members:
            for key in tracks[index].once.get(number, ()):
                hosts.setdefault(key, []).append(index)
        for key, some in hosts.items():
            once = Once(self._names[index] for index in some)
            for index in some:
                self.once.setdefault(index, {})[key] = once
            self.total -= len(some) - 1


def _part(index: int, track: _Track, number: int) -> Part:
    return Part(index, track.by_stage[number], number == max(track.by_stage), number in track.connects)


def _needs_host(check: Check) -> bool:
    """Whether the check is run on its own host, as far as that can be told before."""
    return check.delegate_to is None and (check.task is None or check.task.module in ON_HOST)


def _track(checks: Sequence[PlannedCheck], of_play: Mapping[int, int]) -> _Track:
    track = _Track()
    for planned in checks:
        number = of_play.get(planned.stage, 0)
        track.by_stage.setdefault(number, []).append(planned)
        if planned.once:
            track.once.setdefault(number, []).append(planned.key)
        if number not in track.connects and _needs_host(planned.check):
            track.connects.add(number)
    if not track.by_stage:
        track.by_stage[0] = []
    return track
