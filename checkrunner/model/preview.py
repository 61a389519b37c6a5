"""What a run would do, as far as that is known before it: for people and programs who look before they run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from checkrunner.model.results import Severity
from checkrunner.model.sources import NOWHERE, SourceRef

__all__ = ["CheckPreview", "ItemPreview", "PlayPreview", "Preview", "RunPreview", "Runs", "SharedPreview"]


class Runs(StrEnum):
    """Whether a check is run on a host: ``later`` is known only during the run."""

    YES = "yes"
    NO = "no"
    LATER = "later"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPreview:
    """An item of a loop. `reason` says why it is not run, or what that depends on."""

    label: str
    runs: Runs
    reason: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A check on a host. Two hosts on which it comes to the same have equal previews.

    Texts are filled in as far as that needs no result; what does stands as it was written, and `complete` is then
    False. `env` are names and values, secrets as ``********``. `become` is ``root by sudo``, `on` another host that it
    runs on. `items` are those of a loop, the first of `item_count`; `loop` is the loop as written where its items are
    known only during the run. `expects` are sentences, as are `levels`.
    """

    runs: Runs
    reason: str = ""
    command: str = ""
    complete: bool = True
    env: tuple[tuple[str, str], ...] = ()
    cwd: str = ""
    become: str = ""
    on: str = ""
    loop: str = ""
    items: tuple[ItemPreview, ...] = ()
    item_count: int = 0
    expects: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPreview:
    """Hosts on which a check comes to the same: folded, and how many."""

    hosts: str
    host_count: int
    preview: Preview


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPreview:
    """A check of a play. `waits_for` are the keys of checks whose outcome it needs first, `follows` the one whose
    trouble makes it run, `followed_by` those that its own trouble makes run. `values` are sentences, `conditions`
    those of `when` as written."""

    key: str
    name: str
    source: SourceRef = NOWHERE
    severity: Severity = Severity.CRITICAL
    tags: tuple[str, ...] = ()
    session: str = ""
    timeout_s: float = 0.0
    requires: tuple[str, ...] = ()
    once: bool = False
    pre_check: bool = False
    conditions: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()
    follows: str = ""
    followed_by: tuple[str, ...] = ()
    until: str = ""
    values: tuple[str, ...] = ()
    compared: str = ""
    changes_host: bool = False
    shared: tuple[SharedPreview, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayPreview:
    """A play: its hosts folded, in which order they are taken (a sentence, may be empty), and its checks."""

    name: str
    pattern: str
    hosts: str
    host_count: int
    source: SourceRef = NOWHERE
    order: str = ""
    checks: tuple[CheckPreview, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPreview:
    """A whole run. The counts are of pairs of host and check; items of loops do not count."""

    playbook: str
    inventory: tuple[str, ...]
    host_count: int
    check_count: int
    to_run: int
    skipped: int
    later: int
    plays: tuple[PlayPreview, ...] = ()
    warnings: tuple[str, ...] = ()
