"""What tells one version of a check from another: digests of what it runs and of what it expects."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from checkrunner.model.history import CheckVersion
from checkrunner.model.playbook import Check
from checkrunner.model.sources import Secret, Template
from checkrunner.plan.build import Plan
from checkrunner.plan.shape import Part, Shape

__all__ = ["check_versions", "digest_of"]

_DIGEST = 12
_HIDDEN = "<hidden>"
_COMMAND = ("run", "argv", "env", "cwd", "delegate_to", "sample", "duration_s", "stdin_tty")
_RULES = (
    *("expect", "warn_if", "crit_if", "severity", "parse", "extracts", "levels", "consensus", "quorum", "until"),
    *("baseline", "when", "requires", "needs"),
)
_TASK_COMMAND = ("module", "args", "environment")
_TASK_RULES = ("failed_when", "changed_when", "ignore_errors")
_RULE_PARTS = frozenset(
    {"warn_if", "crit_if", "until", "levels", "when", "parse", "extract", "expect", "baseline", *_TASK_RULES, "that"}
)
_UNTOLD = frozenset({"why", "fix", "slice", "loop"})
"""Parts that are neither. Which items a loop has makes it no other check: each of them has a past of its own."""
_PLACES = frozenset({"source", "literal"})


def check_versions(plan: Plan, *, is_secret: Callable[[str], bool]) -> dict[str, CheckVersion]:
    """The checks that are selected, by key, in the playbook's order. A digest counts the texts as written, with the
    values that the playbook and the command line give to the variables in them; `is_secret` says by its name which of
    these is not counted."""
    return {key: _version(key, shape, plan, is_secret) for key, shape in plan.shapes.items() if key in plan.selected}


def digest_of(value: object) -> str:
    """Twelve hexadecimal digits that are the same for equal values; secrets count as secrets only."""
    text = json.dumps(_plain(value), ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]


def _version(key: str, shape: Shape, plan: Plan, is_secret: Callable[[str], bool]) -> CheckVersion:
    check = shape.check
    judging = [part for part in shape.parts if _kind(part) in _RULE_PARTS]
    running = [part for part in shape.parts if _kind(part) not in _RULE_PARTS | _UNTOLD]

    def values(parts: Iterable[Part]) -> dict[str, object]:
        layers = (plan.setup.extra_vars, check.vars, shape.play.vars, shape.defaults)
        names = shape.read_by(name for part in parts for name in part.free)
        found = {name: next((layer[name] for layer in layers if name in layer), None) for name in names}
        return {name: _HIDDEN if is_secret(name) else value for name, value in found.items() if value is not None}

    become = {field.name: _own(check.become, shape.play.become, field.name) for field in fields(check.become)}
    prompts = [prompt.match for prompt in check.prompts]
    return CheckVersion(
        key=key,
        name=check.name,
        play=shape.play.name,
        command=digest_of([_fields(check, _COMMAND, _TASK_COMMAND), become, prompts, values(running)]),
        rules=digest_of([_fields(check, _RULES, _TASK_RULES), values(judging)]),
        follows=shape.follows,
        once=check.run_once,
    )


def _kind(part: Part) -> str:
    return part.where.partition(".")[0]


def _own(own: object, around: object, name: str) -> object:
    value = getattr(own, name)
    return getattr(around, name) if value is None else value


def _fields(check: Check, names: Iterable[str], of_task: Iterable[str]) -> list[object]:
    found = [getattr(check, name) for name in names]
    return found if check.task is None else [*found, *(getattr(check.task, name) for name in of_task)]


def _plain(value: object) -> Any:
    """What JSON has for it, without the places where it was written."""
    if isinstance(value, Secret):
        return _HIDDEN
    if isinstance(value, Template):
        return [value.text, value.raw]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value) if field.name not in _PLACES}
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, (set, frozenset)):
        return sorted(json.dumps(_plain(part), sort_keys=True) for part in value)
    if isinstance(value, str):
        return str.__str__(value)
    return value if value is None or isinstance(value, bool | int | float) else repr(value)
