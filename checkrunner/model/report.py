"""The findings report: its size follows the number of different findings, not the number of hosts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from checkrunner.model.drift import Drift
from checkrunner.model.folded import OnHosts
from checkrunner.model.results import (
    CaptureState,
    Execution,
    HostState,
    Reason,
    Severity,
    Slice,
    VerdictState,
)

__all__ = [
    "LEAST_BUDGET",
    "REPORT_SCHEMA",
    "Budget",
    "CheckValues",
    "Finding",
    "Incomplete",
    "Message",
    "NumberRange",
    "Omission",
    "Report",
    "RunInfo",
    "Silenced",
    "Stay",
    "Suppressed",
    "Totals",
    "ValueSummary",
    "Variant",
    "Wait",
]

REPORT_SCHEMA = "checkrunner/report/2"

LEAST_BUDGET = 500
"""No limit in tokens is lower: run, totals and what is left out need room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A place where hosts had to wait before they could be reached: a jump host, a server that drops connections.

    `hosts` had to wait for a noticeable time, the longest of them `longest_s`; somebody waited for `waited_s` in all.
    `waiting` is how many do so now, and `waiting_s` since when. `dropped` counts connections that the server dropped;
    `connections` those that were made to a jump host, and `channels` how many hosts each of them takes, 0 where no
    limit was met.
    """

    place: str
    hosts: int
    longest_s: float
    waited_s: float
    waiting: int = 0
    waiting_s: float = 0.0
    dropped: int = 0
    connections: int = 0
    channels: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """Outputs stay on the hosts until then. `directory` is where, with ``UID`` and ``HOST`` for what differs."""

    until: datetime
    directory: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """The run as a whole. `complete` is false when any planned check could not be looked at; `ended` is ``normal``,
    ``deadline``, ``interrupted`` or ``error`` (then `error` is the message)."""

    id: str
    version: str
    playbook: str
    playbook_digest: str
    inventory: tuple[str, ...]
    limit: str | None
    started_at: datetime
    elapsed_s: float
    ended: str
    complete: bool
    exit_code: int
    error: str = ""
    waits: tuple[Wait, ...] = ()
    stay: Stay | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts on all axes. They add up:

    - hosts = sum(host)
    - planned = done + skipped + not_run = sum(verdict) = sum(execution); a skipped check's execution is not_run
    - done = sum(capture): a check's capture is the worse of its two streams
    """

    hosts: int
    planned: int
    done: int
    skipped: int
    not_run: int
    verdict: Mapping[VerdictState, int]
    execution: Mapping[Execution, int]
    host: Mapping[HostState, int]
    capture: Mapping[CaptureState, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberRange:
    """A number over the hosts of a finding; `max_host` is the host that shows the largest, `min_host` the one with the
    smallest, where that is told."""

    minimum: float
    median: float
    maximum: float
    max_host: str
    min_host: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueSummary:
    """A value of a check over several hosts.

    `value` is what they agree on (a number, text, boolean, or the first entries of a list), a NumberRange over all
    numbers, or None where texts differ or nothing could be read. `hosts` is how many have it, `unread` on how many it
    could not be read, `different` how many different texts there are. `warn` and `crit` are the levels, as Nagios
    writes them and in `unit`; "" where they differ.
    """

    name: str
    value: object
    unit: str = ""
    warn: str = ""
    crit: str = ""
    hosts: int = 1
    unread: int = 0
    different: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckValues:
    """The values of a check over all hosts of the run, whatever their verdicts. `items` is of how many items of a loop
    they are, where they are spoken of together."""

    check: str
    values: tuple[ValueSummary, ...]
    items: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant(OnHosts):
    """Hosts of a finding whose evidence is nearly that of the others: what differs there. `slices` hold only lines that
    the finding's own do not."""

    slices: tuple[Slice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Silenced:
    """Until when nobody is to be told of a finding, why, and who said so ("" where that is not known)."""

    until: datetime
    why: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed(OnHosts):
    """A check that was not run on hosts, because it had done harm there `strikes` times (the most of any of them):
    it got stuck beyond what can be ended, or cost its session. `until` is the earliest time at which it is run
    again."""

    check: str
    until: datetime
    strikes: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(OnHosts):
    """Equal verdicts of one check, folded over hosts, and over the items of a loop.

    `id` is a digest of check, verdict and evidence: equal findings of two runs have equal ids. `result` holds metadata
    shared by all of them: a value where they agree, a NumberRange where they do not. `seen` is what a command that did
    not end was last seen doing: the parts of an `Observation` that are there (`pid` of a single host only, `since_s`
    perhaps as a NumberRange), and `prompt`. `because` is the key of the check whose trouble made this one run. `items`
    are the labels of the items of a loop that it is about, if there are several: then `check` is the loop, and each of
    them is so on each of `hosts` (unless a note says otherwise). `item_count` is how many there are; the list may be
    shorter.

    `since` is when the first of the runs began in which its hosts had this verdict without a break (the earliest of
    theirs), None where no earlier run is known; `changes` is how often the verdict of one of them changed in the last
    runs, where that is often enough to be called flapping (see `model.history`), else 0. `silenced` says that nobody
    wants to be told of it for now: such a finding stands behind the others, and the exit code does not count it.

    `folded_by` is what made the evidence of its hosts count as equal: ``equal`` (texts are the same), ``masked`` (but
    for numbers, times, ids and their own names), ``near`` (there are `variants`); "" for a single host. `explained_by`
    is the id of the finding that it follows from and right after which it stands; `novelty` is ``new`` or ``known``
    against the last run, "" where there is none.
    """

    id: str
    check: str
    name: str
    play: str
    severity: Severity
    verdict: VerdictState
    execution: Execution
    reasons: tuple[Reason, ...] = ()
    result: Mapping[str, object] = field(default_factory=dict)
    seen: Mapping[str, object] = field(default_factory=dict)
    values: tuple[ValueSummary, ...] = ()
    because: str = ""
    items: tuple[str, ...] = ()
    item_count: int = 0
    slices: tuple[Slice, ...] = ()
    variants: tuple[Variant, ...] = ()
    folded_by: str = ""
    explained_by: str = ""
    novelty: str = ""
    since: datetime | None = None
    changes: int = 0
    silenced: Silenced | None = None
    notes: tuple[str, ...] = ()
    why: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incomplete(OnHosts):
    """Hosts that could not be looked at (or not to the end), folded by state and reason. `since` is when the first of
    the runs began in which it was so without a break (the earliest of theirs), None where no earlier run is known.
    `silenced` is set where nobody wants to be told of these hosts at all: the exit code does not count them."""

    state: HostState
    phase: str
    reason: str
    hint: str = ""
    since: datetime | None = None
    silenced: Silenced | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """Something that a limit left out: nothing leaves a report silently. `where` names the finding or host. `tokens` is
    about what it would have taken, where the budget was the limit."""

    what: str
    count: int
    why: str
    where: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """`limit` None means that none was set; `used` is the size of the JSON report as `counter` counts it, this entry
    included. It never exceeds `limit`."""

    limit: int | None
    used: int
    counter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(OnHosts):
    """What a task had to say, on hosts where it said the same."""

    check: str
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The product of a run. Findings are ranked: the first is the most important. `drift` is what changed against the
    last run that it can be compared with, None where there is none; `suppressed` are checks that were not run because
    they do harm. `metrics` has an entry for each check that takes values from its output, `messages` what tasks had to
    say. `redacted` counts the different secrets that were masked, by kind (`findings.redact.RULES`)."""

    run: RunInfo
    totals: Totals
    findings: tuple[Finding, ...] = ()
    incomplete: tuple[Incomplete, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    drift: Drift | None = None
    metrics: tuple[CheckValues, ...] = ()
    messages: tuple[Message, ...] = ()
    warnings: tuple[str, ...] = ()
    omissions: tuple[Omission, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)
    budget: Budget = Budget(limit=None, used=0, counter="none")
    schema: str = REPORT_SCHEMA
