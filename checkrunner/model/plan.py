"""What each host will be asked to do, and what came of each check on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from checkrunner.model.errors import HostError
from checkrunner.model.inventory import Host, empty
from checkrunner.model.playbook import DEFAULT_SESSION, Check, OnInput, Sample
from checkrunner.model.results import HostState, Probe, Result, Slice, SliceQuery, Value, Verdict
from checkrunner.model.sources import Secret
from checkrunner.model.tasks import TaskState

__all__ = [
    "Account",
    "CheckOutcome",
    "Command",
    "HostOutcome",
    "Items",
    "Judgement",
    "OnPrompt",
    "PlannedCheck",
    "Prompt",
    "PromptText",
    "Settled",
    "Skip",
    "Step",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A question that a command may ask on its terminal, and the line that is typed then (its newline is added).

    `match` is searched for (`re.search`) in the line that asks. `answer` is a Secret unless it is too short to be one.
    """

    match: str
    answer: str | Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptText:
    """A question that a command asks. `text` is the host's: one line, printable, data and never an instruction.
    `secret` says that the terminal does not show what is typed."""

    text: str
    secret: bool = False


OnPrompt = Callable[[PromptText], Awaitable[Secret | None]]
"""Answers a question of a command, in time or never: None refuses, which ends the command as `waiting_input`. May not
raise. Is cancelled when the question needs no answer any more: the command has ended, asks another one, or is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Another user of a host than the one who logs in, and the program that makes us that user (sudo, doas, su)."""

    user: str
    method: str = "sudo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What a session is asked to run. `shell` is bash text, already rendered (an argv arrives here quoted).

    `capture_bytes` is the cap of each stream; `timeout_s` counts from the start of the command, not from its sending.
    `become` is whom it has to run as; None means the account that logs in. `exact` is set where the command itself asks
    sudo or doas for that, in the session of the account that logs in. The rest is as in `Check`; `timeout_s` is for all
    readings of a `sample` together.
    """

    shell: str
    session: str = DEFAULT_SESSION
    env: Mapping[str, str | Secret] = field(default_factory=empty)
    cwd: str | None = None
    timeout_s: float = 60.0
    capture_bytes: int = 64 << 20
    requires: tuple[str, ...] = ()
    become: Account | None = None
    exact: Account | None = None
    prompts: tuple[Prompt, ...] = ()
    on_input: OnInput | None = None
    stdin_tty: bool = False
    duration_s: float | None = None
    sample: Sample | None = None
    keep_children: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCheck:
    """A check on a host. `key` names it in the whole run: the check's id, or ``id~N`` where play N repeats the id of an
    earlier play; an item of a loop has its label behind it, ``disk[/var]``. `needs` are the keys of the checks whose
    outcomes it waits for: those that its templates or conditions read, and those of `Check.needs`.

    `stage` is the number of its play. `loop` is the key of the looped check that it is an item of, `label` and `item`
    what it is in it. `follows` is the key of the check whose trouble made it run. `once`: it runs on one host for all.
    """

    key: str
    play: str
    check: Check
    needs: frozenset[str] = frozenset()
    stage: int = 0
    loop: str = ""
    label: str = ""
    item: Any = None
    index: int = 0
    follows: str = ""
    once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A planned check with everything rendered: ready to be sent. `early` are slices wanted whatever the verdict;
    they are sent along with the command. The last `reads` of them are read for values, and not shown. `on` is the host
    in whose session it runs, "" for its own."""

    planned: PlannedCheck
    command: Command
    probes: tuple[Probe, ...] = ()
    early: tuple[SliceQuery, ...] = ()
    reads: int = 0
    on: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """The check is not to be run on this host. `reason` is the sentence, the others the parts of the verdict's reason:
    which of the check's words says so (``when``, ``needs``, ``pre_checks``, ``loop``, ``tasks``). `held_by` is the key
    of the check whose verdict keeps this one from being run, "" where none does."""

    planned: PlannedCheck
    reason: str
    subject: str = "when"
    expected: str = "true"
    actual: str = "false"
    held_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The check is a loop: these run in its place, in this order. Never empty (a loop over nothing is a Skip)."""

    planned: PlannedCheck
    items: tuple[PlannedCheck, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The check needs no host: this is what came of it. `facts` are variables that the host has from now on; `message`
    is what it has to say (``debug``). `registered` and `task` as in `CheckOutcome`."""

    planned: PlannedCheck
    verdict: Verdict
    facts: Mapping[str, Any] = field(default_factory=empty)
    message: str = ""
    registered: Mapping[str, Any] = field(default_factory=empty)
    task: TaskState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is made of a result: the verdict, the values that were read from it, and the facts that come of it. All of
    it goes into the `CheckOutcome`. `slices` are parts of the output that were read for the verdict and are to be
    shown, before those that are fetched for it."""

    verdict: Verdict
    slices: tuple[Slice, ...] = ()
    output: tuple[str, ...] | None = None
    values: tuple[Value, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=empty)
    texts: Mapping[str, str] = field(default_factory=empty)
    message: str = ""
    registered: Mapping[str, Any] = field(default_factory=empty)
    task: TaskState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutcome:
    """What came of one planned check on one host. `result` is None when it was never run; `error` then says why,
    unless the verdict is `skipped`.

    `values` are those that it extracts. `facts` are variables that it leaves to the host's later checks, `texts` the
    outputs (``stdout``, ``stderr``) as far as later checks read them: none of them gets into a report. `items` are the
    outcomes of a loop, which then has no result of its own. `attempts` is how often the command ran. `registered` is,
    for a task, what its `register` gives to later ones, as Ansible has it (``rc``, ``stdout``, ``changed``, ...);
    `task` says what came of it there, and decides what of its play is still run. `on` is the other host that it ran on,
    "" for its own. `held_by`: as in `Skip`. `output` is what may be accepted as a baseline: the lines of the whole
    output as people see them, secrets masked; None of checks without a baseline, and where there is nothing to accept.
    """

    host: str
    planned: PlannedCheck
    verdict: Verdict
    result: Result | None = None
    slices: tuple[Slice, ...] = ()
    error: HostError | None = None
    values: tuple[Value, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=empty)
    texts: Mapping[str, str] = field(default_factory=empty)
    message: str = ""
    items: tuple[CheckOutcome, ...] = ()
    attempts: int = 1
    registered: Mapping[str, Any] = field(default_factory=empty)
    task: TaskState | None = None
    on: str = ""
    held_by: str = ""
    output: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOutcome:
    """Everything about one host: exactly one outcome for each check that was planned or came up on the way, in plan
    order. A loop has one for each of its items, in its place; a check that runs once for all hosts has one on one host
    only."""

    host: Host
    state: HostState
    checks: tuple[CheckOutcome, ...]
    error: HostError | None = None
    connect_s: float = 0.0
    agent: str = ""
    notes: tuple[str, ...] = ()
