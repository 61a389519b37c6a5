"""Tasks as Ansible writes them: what a check keeps of one beside its command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from checkrunner.model.inventory import empty
from checkrunner.model.sources import NOWHERE, SourceRef, Template

__all__ = ["COMMANDS", "ON_HOST", "BlockPart", "BlockPlace", "Module", "Task", "TaskState"]


class Module(StrEnum):
    """The modules that are understood."""

    SHELL = "shell"
    COMMAND = "command"
    RAW = "raw"
    SCRIPT = "script"
    ASSERT = "assert"
    DEBUG = "debug"
    FAIL = "fail"
    SET_FACT = "set_fact"
    INCLUDE_TASKS = "include_tasks"
    META = "meta"
    SETUP = "setup"


COMMANDS = frozenset({Module.SHELL, Module.COMMAND, Module.RAW, Module.SCRIPT})
"""Those whose command the playbook gives."""

ON_HOST = frozenset({*COMMANDS, Module.SETUP})
"""Those that run something on the host; the others are answered here."""


class TaskState(StrEnum):
    """What came of a task, in Ansible's words. One that was skipped, or not got to, has none."""

    OK = "ok"
    CHANGED = "changed"
    FAILED = "failed"
    """It ends the host's play."""
    IGNORED = "ignored"
    """It failed, and the play goes on (``ignore_errors``)."""
    RESCUED = "rescued"
    """It failed, which ends its block; the block's rescue is run."""


class BlockPart(StrEnum):
    """The three parts of a block."""

    BLOCK = "block"
    RESCUE = "rescue"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlace:
    """A block around a task, and the part of it that the task is in. `block` is unique in the play."""

    block: str
    part: BlockPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """`args` are the module's arguments, texts in them as templates. `blocks` are those around it, the outermost first.

    `failed_when` and `changed_when` None mean that nothing was said; an empty tuple never is. `ignore_errors` is a
    template where it was one. `no_log` keeps the command, its output and its values out of the report. `environment`
    are expressions that come to mappings: they go before `Check.env`, the later of them first.

    `includes` are the ids of the `include_tasks` around it, the outermost first: it runs only where each of them was
    run. `notified_by` is set for a handler: it runs only where one of these tasks, by id, has changed something.
    """

    module: Module
    args: Mapping[str, Any] = field(default_factory=empty)
    blocks: tuple[BlockPlace, ...] = ()
    failed_when: tuple[Template, ...] | None = None
    changed_when: tuple[Template, ...] | None = None
    ignore_errors: bool | Template = False
    no_log: bool = False
    environment: tuple[Template, ...] = ()
    includes: tuple[str, ...] = ()
    notified_by: tuple[str, ...] | None = None
    source: SourceRef = NOWHERE
