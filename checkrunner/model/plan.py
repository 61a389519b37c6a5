"""What each host will be asked to do, and what came of each check on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from checkrunner.model.errors import HostError
from checkrunner.model.inventory import Host, empty
from checkrunner.model.playbook import DEFAULT_SESSION, Check
from checkrunner.model.results import HostState, Probe, Result, Slice, SliceQuery, Verdict
from checkrunner.model.sources import Secret

__all__ = ["CheckOutcome", "Command", "HostOutcome", "PlannedCheck", "Skip", "Step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What a session is asked to run. `shell` is bash text, already rendered (an argv arrives here quoted).

    `capture_bytes` is the cap of each stream; `timeout_s` counts from the start of the command, not from its sending.
    `become` is the user that it has to run as; None means the account that logs in.
    """

    shell: str
    session: str = DEFAULT_SESSION
    env: Mapping[str, str | Secret] = field(default_factory=empty)
    cwd: str | None = None
    timeout_s: float = 60.0
    capture_bytes: int = 64 << 20
    requires: tuple[str, ...] = ()
    become: str | None = None


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
