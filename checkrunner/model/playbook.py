"""Playbook > play > check, as written: templates are not rendered here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from checkrunner.model.inventory import empty
from checkrunner.model.results import Severity, SliceMode, Stream
from checkrunner.model.sources import NOWHERE, Secret, SourceRef, Template

__all__ = [
    "DEFAULT_SESSION",
    "Become",
    "Check",
    "Expectation",
    "OnInput",
    "Play",
    "Playbook",
    "PromptRule",
    "Sample",
    "SliceRule",
    "SliceWhen",
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
    why: Template | None = None
    fix: Template | None = None
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """Checks for the hosts that `hosts` selects. `tags` apply to each check as well. `hosts_source` is the place of the
    pattern."""

    name: str
    hosts: str
    checks: tuple[Check, ...]
    vars: Mapping[str, Any] = field(default_factory=empty)
    tags: tuple[str, ...] = ()
    timeout_s: float | None = None
    become: Become = Become()
    source: SourceRef = NOWHERE
    hosts_source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Playbook:
    """A file of plays. `digest` is the SHA-256 (hex) of its bytes: history tells versions apart by it. `lines` is the
    text of the file, for what is said of a place in it."""

    path: str
    plays: tuple[Play, ...]
    digest: str = ""
    lines: tuple[str, ...] = field(default=(), repr=False, compare=False)
