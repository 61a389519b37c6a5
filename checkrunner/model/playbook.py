"""Playbook > play > check, as written: templates are not rendered here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from checkrunner.model.inventory import empty
from checkrunner.model.results import Severity, SliceMode, Stream
from checkrunner.model.sources import NOWHERE, Secret, SourceRef, Template
from checkrunner.model.tasks import Task
from checkrunner.model.values import Consensus, Extract, Levels, Parse, Quorum

__all__ = [
    "DEFAULT_SESSION",
    "BaselineRule",
    "Become",
    "Check",
    "Expectation",
    "Loop",
    "OnInput",
    "Param",
    "ParamType",
    "Play",
    "Playbook",
    "PromptRule",
    "Sample",
    "Share",
    "SliceRule",
    "SliceWhen",
    "Until",
]

DEFAULT_SESSION = "main"


class SliceWhen(StrEnum):
    """When a declared slice is fetched."""

    FAIL = "fail"
    ALWAYS = "always"


class OnInput(StrEnum):
    """What becomes of a question that the playbook has no answer to: the command is ended, or whoever drives the run is
    asked."""

    FAIL = "fail"
    ASK = "ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRule:
    """An answer that a check has to a question on its terminal: `match` is a regular expression that is searched for in
    the question's line."""

    match: Template
    answer: Template | Secret
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A command that is run `count` times, with `every_s` seconds from start to start: each time is a reading."""

    every_s: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A check that runs once for each item, in order. `items` is a list (texts in it may be templates), or a Template
    with an expression that comes to one (a mapping counts as its ``{key, value}`` pairs only through ``dict2items``).

    In the check's texts `variable` is the item, `index_variable` its number from 0, and ``ansible_loop`` what Ansible
    has. `label` names an item in reports; the item itself, shortened, without one.
    """

    items: Any
    variable: str = "item"
    index_variable: str | None = None
    label: Template | None = None
    pause_s: float = 0.0
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRule:
    """The output has to be the one that a person accepted for this host. Lines in which one of `ignore` (regular
    expressions) is found do not count; unless `ordered`, neither does where a line stands."""

    ignore: tuple[Template, ...] = ()
    ordered: bool = True
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Until:
    """Run the command again, `delay_s` after its end and `retries` times at most, until all conditions hold. The last
    run is the one that counts."""

    conditions: tuple[Template, ...]
    retries: int = 3
    delay_s: float = 5.0
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A number of hosts: `count` of them, or `fraction` (0 to 1) of those that there are. One of the two is set. With
    `beyond` it is the first number that is more than that."""

    count: int | None = None
    fraction: float | None = None
    beyond: bool = False

    def of(self, hosts: int) -> int:
        """How many hosts that is, rounded down, and at least one."""
        number = self.count if self.count is not None else int(hosts * (self.fraction or 0.0))
        return max(1, number + self.beyond)


class ParamType(StrEnum):
    """What a playbook's parameter may be."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DURATION = "duration"
    SIZE = "size"
    PERCENT = "percent"
    LIST = "list"


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """A variable of a playbook that is meant to be set with ``-e``: typed, with a default unless it is `required`.

    `default` is a finished value of the type: seconds of a duration, bytes of a size, a number of a percentage.
    """

    name: str
    type: ParamType = ParamType.STRING
    default: Any = None
    required: bool = False
    choices: tuple[Any, ...] = ()
    help: str = ""
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One thing expected of a result.

    `subject` is ``rc``, ``stdout_lines``, ``stderr_lines``, ``elapsed_s``, ``stdout``, ``stderr`` or ``that``; `op` is
    a key of `judge.expectations.EXPECTATIONS` (``number``, ``contains``, ``matches``, ``not_matches``, ``equals``,
    ``empty``, ``that``). `value` is what was written: a number, list of numbers or comparison such as ``>= 3`` for
    ``number``; a Template for texts; a bool for ``empty``; a Template holding an expression for ``that``.
    """

    subject: str
    op: str
    value: Any
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRule:
    """A declared slice: one query, and when to ask it. `pattern` is a Template since it may hold variables."""

    mode: SliceMode
    stream: Stream = Stream.STDOUT
    first: int = 0
    last: int = 0
    pattern: Template | None = None
    context: int = 0
    max_lines: int = 20
    max_bytes: int = 4096
    when: SliceWhen = SliceWhen.FAIL
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Become:
    """Privileges asked for by a play, a check or the run; None means "not said here". With `exact`, which comes with
    `become` alone, only the command itself runs with them."""

    become: bool | None = None
    exact: bool = False
    user: str | None = None
    method: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One command and what is expected of it. Exactly one of `run` (shell text) and `argv` is set.

    `requires` names tools (looked up in PATH) and absolute paths; where one is missing the check is skipped with that
    reason. `expect` is empty when nothing was written: the default expectation is then ``rc == 0`` (see `judge`).
    `timeout_s` None means the play's, then the run's default.

    `vars` are of the blocks and inclusions around it, the inner ones first, and hold for its texts alone. `needs` are
    the ids of checks that must have come to ok or warn; else this one is skipped. `on_fail` are run where this one
    comes to warn, crit or unknown. `run_once`: on one host of the play, for all of them. `delegate_to`: in a session of
    that host, on behalf of this one. `task` is set for what was written as a task of Ansible's, which has no command of
    its own kind where the module needs none.

    `on_input` None means "not said here": `fail`, or `ask` where the run has somebody to ask. `stdin_tty` makes the
    session's terminal the command's standard input, as `prompts` and `on_input` ask do too. `duration_s` ends the
    command after that time and counts that as success. `keep_children` leaves alone what the command leaves running.
    """

    id: str
    name: str
    run: Template | None = None
    argv: tuple[Template, ...] = ()
    expect: tuple[Expectation, ...] = ()
    warn_if: tuple[Template, ...] = ()
    crit_if: tuple[Template, ...] = ()
    severity: Severity = Severity.CRITICAL
    slices: tuple[SliceRule, ...] = ()
    when: tuple[Template, ...] = ()
    register: str | None = None
    requires: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    env: Mapping[str, Template | Secret] = field(default_factory=empty)
    cwd: Template | None = None
    timeout_s: float | None = None
    session: str = DEFAULT_SESSION
    prompts: tuple[PromptRule, ...] = ()
    on_input: OnInput | None = None
    stdin_tty: bool = False
    duration_s: float | None = None
    sample: Sample | None = None
    keep_children: bool = False
    become: Become = Become()
    vars: Mapping[str, Any] = field(default_factory=empty)
    loop: Loop | None = None
    until: Until | None = None
    needs: tuple[str, ...] = ()
    on_fail: tuple[Check, ...] = ()
    run_once: bool = False
    delegate_to: Template | None = None
    parse: Parse | None = None
    extracts: tuple[Extract, ...] = ()
    levels: tuple[Levels, ...] = ()
    consensus: Consensus | None = None
    quorum: Quorum | None = None
    baseline: BaselineRule | None = None
    changes_host: bool = False
    task: Task | None = None
    why: Template | None = None
    fix: Template | None = None
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """Checks for the hosts that `hosts` selects. `tags` apply to each check as well. `hosts_source` is the place of the
    pattern.

    `pre_checks` run first; where one comes to crit or unknown, the host's other checks of the play are skipped.
    `serial` are sizes of batches of hosts, the last one repeated; none means all hosts at once. `forks` None means the
    run's. With `max_fail`, no further host of the play is begun once so many have a check that is crit or could not be
    looked at. `params` are set from outside. `tasks` says that the play was written in Ansible's words: its checks run
    one after another, and one that fails ends the host's play. `facts` are gathered first where a text reads them.
    """

    name: str
    hosts: str
    checks: tuple[Check, ...]
    vars: Mapping[str, Any] = field(default_factory=empty)
    tags: tuple[str, ...] = ()
    timeout_s: float | None = None
    become: Become = Become()
    pre_checks: tuple[Check, ...] = ()
    serial: tuple[Share, ...] = ()
    forks: int | None = None
    max_fail: Share | None = None
    params: tuple[Param, ...] = ()
    tasks: bool = False
    facts: bool = False
    source: SourceRef = NOWHERE
    hosts_source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Playbook:
    """A file of plays. `digest` is the SHA-256 (hex) of its bytes, and of those that it includes: history tells
    versions apart by it. `lines` is the text of the file, `included` that of each further file by its path, for what is
    said of a place in them."""

    path: str
    plays: tuple[Play, ...]
    digest: str = ""
    lines: tuple[str, ...] = field(default=(), repr=False, compare=False)
    included: Mapping[str, tuple[str, ...]] = field(default_factory=empty, repr=False, compare=False)
