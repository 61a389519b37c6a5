"""Mappings put together as Ansible's ``combine`` does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["combine"]

_LISTS = ("replace", "keep", "append", "prepend", "append_rp", "prepend_rp")


def combine(*given: Any, recursive: bool = False, list_merge: str = "replace") -> Any:
    """One mapping of several, the later ones before the earlier ones. `recursive` does the same with mappings in them;
    `list_merge` says what becomes of lists that both have."""
    mappings: list[Any] = []
    for item in given:
        mappings += item if isinstance(item, (list, tuple)) else [item]
    mappings = [item for item in mappings if item is not None]
    if len(mappings) == 1:
        return mappings[0]
    if list_merge not in _LISTS:
        msg = f"list_merge is one of {', '.join(_LISTS)}, not {list_merge!r}"
        raise ValueError(msg)
    merged: Any = {}
    for number, mapping in enumerate(reversed(mappings)):
        if not isinstance(mapping, Mapping):
            msg = f"combine needs mappings, not {type(mapping).__name__}"
            raise TypeError(msg)
        merged = dict(mapping) if number == 0 else _merged(mapping, merged, recursive, list_merge)
    return merged


def _merged(low: Mapping[Any, Any], high: Mapping[Any, Any], recursive: bool, lists: str) -> dict[Any, Any]:
    if low == high:
        return dict(high)  # and lists that are equal are not put together
    made = dict(low)
    for key, value in high.items():
        made[key] = _value(made[key], value, recursive, lists) if key in made else value
    return made


def _value(low: Any, high: Any, recursive: bool, lists: str) -> Any:
    if isinstance(low, Mapping) and isinstance(high, Mapping):
        return _merged(low, high, recursive, lists) if recursive else high
    if isinstance(low, list) and isinstance(high, list):
        return _lists(low, high, lists)
    return high


def _lists(low: list[Any], high: list[Any], how: str) -> list[Any]:
    if how == "keep":
        return low
    if how == "append":
        return low + high
    if how == "prepend":
        return high + low
    if how == "append_rp":
        return [item for item in low if item not in high] + high
    if how == "prepend_rp":
        return high + [item for item in low if item not in high]
    return high
