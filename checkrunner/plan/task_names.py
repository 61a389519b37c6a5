"""The variables that tasks leave to those after them: results and facts, whichever was set last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checkrunner.model.plan import CheckOutcome
from checkrunner.model.results import VerdictState
from checkrunner.model.tasks import TaskState
from checkrunner.plan.task_results import registered_task
from checkrunner.plan.values import Registered

__all__ = ["found_by_tasks", "registered_of"]

_FAILED = (TaskState.FAILED, TaskState.RESCUED)


def registered_of(outcome: CheckOutcome) -> Any:
    """What a later text reads under the name that an outcome is registered as: of a task Ansible's result, of a check
    a `Registered`."""
    return registered_task(outcome) if outcome.planned.check.task is not None else Registered(outcome)


def found_by_tasks(outcomes: Mapping[str, CheckOutcome]) -> dict[str, Any]:
    """The names and values, `outcomes` in the order in which they came about. In a rescue, ``ansible_failed_task`` and
    ``ansible_failed_result`` are those of the failure."""
    found: dict[str, Any] = {}
    for outcome in outcomes.values():
        found.update(outcome.facts)
        planned = outcome.planned
        if planned.check.register and not planned.loop and not _not_reached(outcome):
            found[planned.check.register] = registered_of(outcome)
        if outcome.task in _FAILED and planned.check.task is not None:
            found["ansible_failed_task"] = {"name": planned.check.name, "action": str(planned.check.task.module)}
            found["ansible_failed_result"] = registered_task(outcome)
    return found


def _not_reached(outcome: CheckOutcome) -> bool:
    """Whether a task was left out because of what came of others: it has registered nothing then."""
    reasons = outcome.verdict.reasons
    return outcome.verdict.state is VerdictState.SKIPPED and bool(reasons) and reasons[0].subject == "tasks"
