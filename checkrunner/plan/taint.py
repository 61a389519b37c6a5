"""Text that came from a host, in values of any shape: what is made of it is a host's text as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from checkrunner.plan.values import Lazy, Remote, RemoteBytes, RemoteText

__all__ = ["is_tainted", "taint", "untainted"]

_SHARED = 1
"""Texts of this length may be one object for all who have them, so being the same object says nothing."""


def is_tainted(value: object) -> bool:
    """Whether a text from a host is in a value, at any depth. What is made only when it is read is not looked into."""
    return any(isinstance(leaf, Remote) for leaf in _leaves(value))


def taint(result: Any, sources: Iterable[object]) -> Any:
    """`result`, its texts marked as a host's where one of its sources is: all but those that are, as they stand, a text
    of the sources that is nobody's but ours. The same object where nothing is to be marked."""
    if not isinstance(result, (str, bytes, list, tuple, Mapping, set, frozenset)) or isinstance(result, (Remote, Lazy)):
        return result
    given = list(sources)
    if not any(map(is_tainted, given)):
        return result
    ours = {id(leaf) for leaf in _leaves(given) if type(leaf) is str and len(leaf) > _SHARED}
    return _marked(result, ours)


def untainted(value: Any) -> Any:
    """A copy of the value in which no text is marked any more."""
    return _rebuilt(value, _bare)


def _marked(value: Any, ours: set[int]) -> Any:
    def mark(text: str | bytes) -> str | bytes:
        if isinstance(text, Remote) or id(text) in ours:
            return text
        return RemoteText(text) if isinstance(text, str) else RemoteBytes(text)

    return _rebuilt(value, mark)


def _bare(text: str | bytes) -> str | bytes:
    if not isinstance(text, Remote):
        return text
    return str.__str__(text) if isinstance(text, str) else bytes(memoryview(text))


def _rebuilt(value: Any, make: Callable[[str | bytes], str | bytes]) -> Any:
    if isinstance(value, (str, bytes)):
        return make(value)
    if isinstance(value, dict):
        return {_rebuilt(key, make): _rebuilt(item, make) for key, item in value.items()}
    if isinstance(value, list):
        return [_rebuilt(item, make) for item in value]
    if isinstance(value, tuple):
        items = [_rebuilt(item, make) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, (set, frozenset)):
        return type(value)(_rebuilt(item, make) for item in value)
    return value


def _leaves(value: object) -> Iterator[object]:
    rest = [value]
    while rest:
        item = rest.pop()
        if isinstance(item, (str, bytes)):
            yield item
        elif isinstance(item, Lazy):
            pass
        elif isinstance(item, Mapping):
            rest.extend((*item.keys(), *item.values()))
        elif isinstance(item, (list, tuple, set, frozenset)):
            rest.extend(item)
