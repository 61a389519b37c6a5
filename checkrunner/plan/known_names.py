"""What can be read of registered results, by the check that registers them."""

from __future__ import annotations

from checkrunner.model.metadata import REGISTERED_NAMES
from checkrunner.model.playbook import Check

__all__ = ["registered_names"]

_OF_LOOP = frozenset({"results"})


def registered_names(check: Check) -> frozenset[str] | None:
    """The names that the result of the check has; None where that is known only during the run (tasks)."""
    if check.task is not None:
        return None
    names = frozenset(REGISTERED_NAMES)
    return names | _OF_LOOP if check.loop is not None else names
