"""Tests of registered results, of checks and of tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from checkrunner.plan.values import Registered

__all__ = [
    "TESTS",
    "is_changed",
    "is_ended",
    "is_failed",
    "is_reachable",
    "is_skipped",
    "is_succeeded",
    "is_timedout",
    "is_unreachable",
]


def _read(value: object, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    if isinstance(value, Registered):
        return getattr(value, name, None)
    msg = "this test is for a registered result"
    raise TypeError(msg)


def is_failed(value: object) -> bool:
    """Whether the verdict of the registered check was warn or crit, or the registered task failed."""
    return bool(_read(value, "failed"))


def is_succeeded(value: object) -> bool:
    """Whether the verdict of the registered check was ok, or the registered task did not fail."""
    if isinstance(value, Registered) and not isinstance(value, Mapping):
        return bool(value.ok)
    return not is_failed(value)


def is_skipped(value: object) -> bool:
    """Whether the registered check or task was not run."""
    return bool(_read(value, "skipped"))


def is_changed(value: object) -> bool:
    """Whether the registered task changed something; of a loop, whether one of its items did."""
    changed = _read(value, "changed")
    if changed is not None:
        return bool(changed)
    results = _read(value, "results")
    return isinstance(results, (list, tuple)) and any(bool(_read(item, "changed")) for item in results)


def is_unreachable(value: object) -> bool:
    """Whether the host could not be reached."""
    return bool(_read(value, "unreachable"))


def is_reachable(value: object) -> bool:
    """Whether the host could be reached."""
    return not is_unreachable(value)


def is_timedout(value: object) -> bool:
    """Whether the command was ended by its time limit."""
    limit = _read(value, "timedout")
    if isinstance(limit, Mapping):
        return bool(limit.get("period"))
    return str(_read(value, "execution")) == "timed_out"


def is_ended(value: object) -> bool:
    """True of every result: nothing runs on in the background here."""
    _read(value, "failed")
    return True


TESTS: Mapping[str, Callable[..., bool]] = {
    "change": is_changed,
    "changed": is_changed,
    "failed": is_failed,
    "failure": is_failed,
    "finished": is_ended,
    "reachable": is_reachable,
    "skip": is_skipped,
    "skipped": is_skipped,
    "started": is_ended,
    "succeeded": is_succeeded,
    "success": is_succeeded,
    "successful": is_succeeded,
    "timedout": is_timedout,
    "unreachable": is_unreachable,
}
