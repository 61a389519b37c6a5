"""What each host will be asked to do, and what came of each check on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from checkrunner.model.errors import HostError
from checkrunner.model.inventory import Host, empty
from checkrunner.model.playbook import DEFAULT_SESSION, Check, OnInput, Sample
from checkrunner.model.results import HostState, Probe, Result, Slice, SliceQuery, Verdict
from checkrunner.model.sources import Secret

__all__ = [
    "Account",
    "CheckOutcome",
    "Command",
    "HostOutcome",
    "OnPrompt",
    "PlannedCheck",
    "Prompt",
    "PromptText",
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
    earlier play. `needs` are the keys of the checks whose results its templates or conditions read."""

    key: str
    play: str
    check: Check
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A planned check with everything rendered: ready to be sent. `early` are slices wanted whatever the verdict;
    they are sent along with the command."""

    planned: PlannedCheck
    command: Command
    probes: tuple[Probe, ...] = ()
    early: tuple[SliceQuery, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """The check is not to be run on this host, because its condition is false."""

    planned: PlannedCheck
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutcome:
    """What came of one planned check on one host. `result` is None when it was never run; `error` then says why,
    unless the verdict is `skipped`."""

    host: str
    planned: PlannedCheck
    verdict: Verdict
    result: Result | None = None
    slices: tuple[Slice, ...] = ()
    error: HostError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOutcome:
    """Everything about one host: exactly one outcome for each planned check, in plan order."""

    host: Host
    state: HostState
    checks: tuple[CheckOutcome, ...]
    error: HostError | None = None
    connect_s: float = 0.0
    agent: str = ""
    notes: tuple[str, ...] = ()
