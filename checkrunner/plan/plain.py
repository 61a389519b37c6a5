"""Values as data that can be written down: what templates have, with nothing left that is made only when it is read."""

from __future__ import annotations

import datetime as dt
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from checkrunner.plan.bounds import MAX_TEXT, BoundError
from checkrunner.plan.taint import untainted
from checkrunner.plan.values import Hidden

__all__ = ["plain"]

_PLAIN = (str, int, float, type(None))
_VIEWS = (KeysView, ValuesView, ItemsView)
_MAX_DEPTH = 200


def plain(value: Any) -> Any:
    """A copy of mappings, lists, texts, numbers and booleans alone. Times become texts.

    Raises what turning a value into a text raises (of a secret, of what is undefined), BoundError for what is too
    large, and TypeError for what is no data.
    """
    return untainted(_plain(value, 0, [MAX_TEXT]))


def _plain(value: Any, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0 or depth > _MAX_DEPTH:
        msg = "the value is too large to be written down"
        raise BoundError(msg)
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        return {_key(key): _plain(value[key], depth + 1, left) for key in value}
    if isinstance(value, (list, tuple, set, frozenset, Iterator, range, *_VIEWS)):
        return [_plain(item, depth + 1, left) for item in value]
    if isinstance(value, dt.datetime | dt.date):
        return value.isoformat()
    if isinstance(value, Hidden):
        return str(value)
    as_data = getattr(value, "as_data", None)
    if as_data is not None:
        return _plain(as_data(), depth + 1, left)
    str(value)  # raises for what is undefined
    msg = f"{type(value).__name__} is no data"
    raise TypeError(msg)


def _key(key: Any) -> Any:
    return key if isinstance(key, _PLAIN) else str(key)
