"""What is kept of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from checkrunner.model.probes import Stream
from checkrunner.model.report import Report
from checkrunner.model.results import Execution, HostState, Reason, Slice, VerdictState

__all__ = [
    "CELL_LETTERS",
    "FLAP_CALM",
    "FLAP_CHANGES",
    "FLAP_RUNS",
    "NOTED_LETTER",
    "NOT_PLANNED_LETTER",
    "Baseline",
    "Cell",
    "CheckVersion",
    "Detail",
    "Evidence",
    "HostCell",
    "KeptOutput",
    "RunRecord",
    "RunSummary",
    "RunView",
    "Selection",
    "Silence",
    "StoredResult",
    "Suppression",
    "Trailed",
    "check_fits",
    "name_fits",
]

CELL_LETTERS: Mapping[VerdictState, str] = MappingProxyType(
    {
        VerdictState.OK: "o",
        VerdictState.WARN: "w",
        VerdictState.CRIT: "c",
        VerdictState.UNKNOWN: "u",
        VerdictState.SKIPPED: "s",
    }
)
"""A verdict in a row of a `Detail`; what is ok but noted, and what was not planned on a host, have letters of their
own."""

NOTED_LETTER = "n"
NOT_PLANNED_LETTER = "."

FLAP_RUNS = 10
FLAP_CHANGES = 4
FLAP_CALM = 2
"""What changed at least `FLAP_CHANGES` times in `FLAP_RUNS` runs is flapping, until it changes fewer than `FLAP_CALM`
times in so many: half of the time or so begins it, as monitoring systems draw the line, and only calm ends it."""

_TRAIL_BITS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckVersion:
    """A check as it was in a run. `command` is a digest of what it runs and as whom, `rules` one of what it expects: so
    a renamed check is known by its command, and a changed threshold by its rules. Both are those of the playbook, and
    the same on all hosts and for all items of a loop.

    `follows` is the key of the check whose trouble makes it run: it comes and goes with that. `once`: it runs on one
    host for all, which may be another one each time.
    """

    key: str
    name: str
    play: str
    command: str
    rules: str
    follows: str = ""
    once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trailed:
    """Something that is looked at again and again. `since` is when the first of the runs began in which it has been so
    without a break. `trail` has a bit for each of the last 32 runs, the lowest for this one: 1 where it differs from
    the run before."""

    since: datetime | None = None
    trail: int = 0

    @property
    def changes(self) -> int:
        """How often it changed in the last `FLAP_RUNS` runs."""
        return (self.trail & ((1 << FLAP_RUNS) - 1)).bit_count()

    @property
    def is_flapping(self) -> bool:
        """Whether it changes so often that a single change means nothing."""
        if self.trail.bit_count() < FLAP_CHANGES:
            return False
        flapping = False
        for runs_ago in range(_TRAIL_BITS - FLAP_RUNS, -1, -1):
            changes = ((self.trail >> runs_ago) & ((1 << FLAP_RUNS) - 1)).bit_count()
            flapping = changes >= FLAP_CHANGES or (flapping and changes >= FLAP_CALM)
        return flapping


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCell(Trailed):
    """How far a run got with a host."""

    state: HostState


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell(Trailed):
    """What came of a check on a host in a run. `since` goes by the verdict alone; in the `trail` it differs from the
    run before also where the reasons of one that is not ok do, and never where the check itself was changed.

    `reasons` is a digest of the verdict's reasons, with numbers, times and ids masked; "" when ok or skipped. `finding`
    is the id of the finding that it is part of, "" for none.

    A cell is `blind` when nobody looked, for a reason that is not the check's own: its host was not reached, the run
    ended before, or the check that it needs is in trouble. Then `was` is its verdict when it was last looked at (None:
    never), and `reasons`, `since` and `trail` are of that time. So what was known survives until somebody looks again.
    """

    verdict: VerdictState
    execution: Execution = Execution.DONE
    reasons: str = ""
    finding: str = ""
    blind: bool = False
    was: VerdictState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What part of a playbook was run, and with what. Runs of the same playbook with the same selection are a series:
    they can be compared. `params` is a digest of the extra variables, "" for none. `inventory` is where the hosts are
    from, files with their absolute paths: in another one the same name may be another host."""

    limit: str = ""
    tags: tuple[str, ...] = ()
    skip_tags: tuple[str, ...] = ()
    params: str = ""
    inventory: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run as far as others are compared with it: each host, each check and each cell (by host and key of the check).
    `checks` are all that were selected and the items of their loops, in the playbook's order.

    `number` counts the runs of a store from 1; 0 for a run that is not stored (yet). `playbook` is the file's absolute
    path, or the name of a shipped one. `ended` is as in `RunInfo`.
    """

    id: str
    number: int = 0
    started_at: datetime
    playbook: str
    playbook_digest: str
    selection: Selection = Selection()
    ended: str = "normal"
    complete: bool = True
    exit_code: int = 0
    hosts: Mapping[str, HostCell] = field(default_factory=dict)
    checks: Mapping[str, CheckVersion] = field(default_factory=dict)
    cells: Mapping[tuple[str, str], Cell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Why a cell is not ok: reasons and slices, as the report shows them (masked)."""

    reasons: tuple[Reason, ...] = ()
    slices: tuple[Slice, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOutput:
    """An output that was fetched after the verdict, as text: UTF-8, as a terminal would have left its lines, secrets
    masked. `data` is its beginning, and `tail` its end where the middle was left out: whole lines, of which the last is
    the line `total_lines`. `total_bytes` and `total_lines` are what the host captured. `note` says why nothing could be
    kept, or less than there was room for; "" else.
    """

    host: str
    check: str
    stream: Stream
    data: bytes
    total_bytes: int
    total_lines: int
    tail: bytes = b""
    truncated: bool = False
    """Whether the capture itself is not all that the command wrote."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """An output that a person accepted as how it should be. `lines` is its text view, masked. `run` is the id of the
    run that it is from, `playbook` what that run was of."""

    host: str
    check: str
    lines: tuple[str, ...]
    run: str
    accepted_at: datetime
    by: str = ""
    why: str = ""
    playbook: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Somebody does not want to be told of a check on hosts until a time. `host` and `check` are names or patterns with
    ``*``. Nothing is deleted by it: what is silenced stays in reports, and says so. `ended_at` is when it was taken
    back."""

    number: int
    host: str
    check: str
    until: datetime
    why: str
    by: str
    made_at: datetime
    ended_at: datetime | None = None

    def covers(self, host: str, check: str) -> bool:
        """Whether it is about the check on the host. What it says of a loop goes for its items: ``disk`` covers
        ``disk[/var]``. With the check "" the question is whether it is about the host itself: all of its checks."""
        return name_fits(self.host, host) and check_fits(self.check, check)

    def holds_at(self, now: datetime) -> bool:
        """Whether it counts at that time."""
        return self.ended_at is None and now < self.until

    def held_at(self, then: datetime) -> bool:
        """Whether it counted at a time that is over, whatever became of it since."""
        return self.made_at <= then < min(self.until, self.ended_at or self.until)


def check_fits(pattern: str, key: str) -> bool:
    """Whether a name or pattern (see `name_fits`) is of that check, or of the loop that it is an item of."""
    return name_fits(pattern, key) or name_fits(pattern, key.partition("[")[0])


def name_fits(pattern: str, name: str) -> bool:
    """Whether a name, or a pattern in which ``*`` is any text, is of that name. Linear but for the number of stars."""
    first, *parts = pattern.split("*")
    if not parts:
        return pattern == name
    if not name.startswith(first):
        return False
    at = len(first)
    for part in parts[:-1]:
        found = name.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(name) - len(parts[-1]) >= at and name.endswith(parts[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """A check that is not run on a host for a while, because it has done harm there: it got stuck beyond what can be
    ended, or cost its session, `strikes` times in a row. `reason` is what happened the last time, `playbook` what the
    check is of."""

    host: str
    check: str
    since: datetime
    until: datetime
    strikes: int
    reason: str
    playbook: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run as it is put into the store.

    `report_text` is the report as JSON. `evidence` is by host and check: an entry for each cell that is not ok.
    `harmed` are the cells in which a check got stuck unkillably or cost a session, with what happened. `shapes` are
    those of lines of outputs that were ok and were seen whole or grouped, by host and check. `baselined` are the
    outputs (text view) of checks that are compared with a baseline: what `baseline accept` accepts.
    """

    report: Report
    report_text: str
    view: RunView
    kind: str = "run"
    evidence: Mapping[tuple[str, str], Evidence] = field(default_factory=dict)
    harmed: Mapping[tuple[str, str], str] = field(default_factory=dict)
    shapes: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    baselined: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    kept: Sequence[KeptOutput] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run as a list of runs tells it. `verdicts` counts checks on hosts by verdict, as the run's report does, `hosts`
    the hosts. `drift` is what became of things since the run that it was compared with: ``worse``, ``better``,
    ``same``, or "" where there was nothing to compare it with; `worse` counts what got worse."""

    number: int
    id: str
    kind: str
    started_at: datetime
    elapsed_s: float
    playbook: str
    selection: Selection
    ended: str
    complete: bool
    exit_code: int
    hosts: int
    verdicts: Mapping[VerdictState, int]
    drift: str = ""
    worse: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult:
    """What the store has of one check on one host in a run. `state` is the host's; `kept` are the outputs of which
    something was kept."""

    host: str
    check: str
    name: str
    play: str
    state: HostState
    cell: Cell
    evidence: Evidence = Evidence()
    kept: tuple[Stream, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """What came of each check on each host: what a report does not hold, since its size would follow the number of
    hosts. For renderers that draw or list all of it.

    `rows` has a text for each of `hosts`, with a letter for each of `checks` (their keys; of a loop those of its
    items): ``o`` ok, ``n`` ok but noted, ``w`` warn, ``c`` crit, ``u`` unknown, ``s`` skipped, ``.`` not planned there.
    `names` are what the checks are called.
    """

    hosts: tuple[str, ...]
    states: tuple[HostState, ...]
    checks: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[str, ...]
