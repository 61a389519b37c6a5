"""The texts of a task beside those that every check has: what they read must be known before it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from checkrunner.model.sources import Template
from checkrunner.model.tasks import Task

__all__ = ["OWN_RESULT", "task_parts"]

OWN_RESULT = frozenset({"failed_when", "changed_when", "until"})
"""The keys whose texts can read the task's own result, under the name of its `register`."""

_ELSEWHERE = frozenset({"cmd", "argv", "text", "file"})
_EXPRESSIONS = frozenset({"that", "var"})


def task_parts(task: Task) -> Iterator[tuple[str, Template, bool, bool]]:
    """Each text: its key, the text, whether it is an expression, whether it can read a check's result by parts."""
    for name, value in task.args.items():
        if name not in _ELSEWHERE:
            yield from ((name, text, name in _EXPRESSIONS, False) for text in _texts(value))
    for key, conditions in (("failed_when", task.failed_when), ("changed_when", task.changed_when)):
        yield from ((key, condition, True, False) for condition in conditions or ())
    yield from (("environment", expression, True, False) for expression in task.environment)
    if isinstance(task.ignore_errors, Template):
        yield "ignore_errors", task.ignore_errors, True, False


def _texts(value: Any) -> Iterator[Template]:
    if isinstance(value, Template):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
