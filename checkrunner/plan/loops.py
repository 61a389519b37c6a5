"""Loops: their items, what each is called, and what they come to as a whole."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from checkrunner.model.characters import one_line
from checkrunner.model.errors import TemplateError
from checkrunner.model.inventory import empty
from checkrunner.model.plan import CheckOutcome, PlannedCheck
from checkrunner.model.playbook import Loop
from checkrunner.model.results import Verdict, VerdictState
from checkrunner.model.sources import Template
from checkrunner.model.tasks import TaskState
from checkrunner.plan.faults import fault_at
from checkrunner.plan.task_results import loop_result, registered_task
from checkrunner.plan.texts import Templates
from checkrunner.plan.values import Hidden
from checkrunner.plan.variables import expand

__all__ = ["MOST_ITEMS", "MOST_LABEL", "item_names", "items_of", "labels", "whole_of"]

MOST_ITEMS = 10_000
"""Of one loop."""

MOST_LABEL = 60
"""Characters."""

_WORST = (VerdictState.CRIT, VerdictState.UNKNOWN, VerdictState.WARN, VerdictState.OK, VerdictState.SKIPPED)
_TASK_WORST = (TaskState.FAILED, TaskState.RESCUED, TaskState.IGNORED, TaskState.CHANGED, TaskState.OK)


def items_of(loop: Loop, names: Mapping[str, Any], templates: Templates) -> list[Any]:
    """The items of a loop. Raises TemplateError where they cannot be had, or are no list."""
    written = loop.items
    if isinstance(written, Template):
        # An expression; one in braces is the same.
        value = templates.evaluate(written, names) if written.is_static else templates.value_of(written, names, "loop")
    else:
        value = expand(written, names, templates, "loop")
    if isinstance(value, (list, tuple, range)):
        if len(value) > MOST_ITEMS:
            raise _fault(loop, f"the loop has {len(value):,} items, and {MOST_ITEMS:,} at most", "")
        return list(value)
    what = {dict: "a mapping", bool: "a boolean", type(None): "nothing"}.get(type(value))
    what = what or (
        "a text" if isinstance(value, str) else "a number" if isinstance(value, (int, float)) else "no list"
    )
    hint = "Add `| dict2items`: its items have `key` and `value`" if isinstance(value, Mapping) else ""
    hint = hint or ("Split it: `.split()`, or write a list" if isinstance(value, str) else "")
    raise _fault(loop, f"a loop needs a list, and this is {what}", hint)


def _fault(loop: Loop, message: str, hint: str) -> TemplateError:
    if isinstance(loop.items, Template):
        return fault_at(loop.items, 0, message, hint)
    return TemplateError(message, source=loop.source, hint=hint)


def item_names(loop: Loop, items: Sequence[Any], index: int) -> Mapping[str, Any]:
    """The variables that the texts of an item can read beside all others."""
    last = len(items) - 1
    about = {
        "index": index + 1,
        "index0": index,
        "revindex": last - index + 1,
        "revindex0": last - index,
        "first": index == 0,
        "last": index == last,
        "length": len(items),
        "allitems": items,
    }
    if index:
        about["previtem"] = items[index - 1]
    if index < last:
        about["nextitem"] = items[index + 1]
    names = {loop.variable: items[index], "ansible_loop": about}
    if loop.index_variable:
        names[loop.index_variable] = index
    return names


def labels(written: Sequence[Any], mask: Callable[[str], str] = str) -> list[str]:
    """A label for each item, of what it is or is called: one line of at most `MOST_LABEL` characters, no two alike.
    `mask` takes secrets out of a text.

    An item that is called like no other keeps its name whatever else there is; of those that are called alike the
    later ones get a number: ``a``, ``a~2``, ``a~3``.
    """
    plain = [_label(value, mask) for value in written]
    taken = set(plain)
    seen: Counter[str] = Counter()
    return [_numbered(label, seen, taken) for label in plain]


def _numbered(label: str, seen: Counter[str], taken: set[str]) -> str:
    seen[label] += 1
    if seen[label] == 1:
        return label
    while True:
        mark = f"~{seen[label]}"
        numbered = label[: MOST_LABEL - len(mark)] + mark
        if numbered not in taken:
            taken.add(numbered)
            return numbered
        seen[label] += 1


def _label(value: Any, mask: Callable[[str], str]) -> str:
    text = one_line(mask(_shown(value)), MOST_LABEL)
    return text or "(empty)"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Hidden):
        return str(value.secret())
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_shown(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(item) for item in value)
    return str(value)


def whole_of(planned: PlannedCheck, items: Sequence[CheckOutcome]) -> CheckOutcome:
    """The outcome of a loop: as bad as its worst item, skipped where all of them are."""
    states = {item.verdict.state for item in items}
    tasks = {item.task for item in items}
    return CheckOutcome(
        host=items[0].host,
        planned=planned,
        verdict=Verdict(state=next(state for state in _WORST if state in states)),
        facts=dict(_facts(items)),
        items=tuple(items),
        attempts=max(item.attempts for item in items),
        task=next((state for state in _TASK_WORST if state in tasks), None),
        registered=loop_result([registered_task(item) for item in items])
        if planned.check.task is not None
        else empty(),
    )


def _facts(items: Sequence[CheckOutcome]) -> Iterator[tuple[str, Any]]:
    for item in items:
        yield from item.facts.items()
