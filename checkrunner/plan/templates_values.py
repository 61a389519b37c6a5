"""Values on their way out of a template: as they are, or as a text."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, ValuesView
from datetime import date
from typing import Any

from jinja2.runtime import Undefined

from checkrunner.model.sources import Secret
from checkrunner.plan.bounds import guard_size
from checkrunner.plan.taint import is_tainted
from checkrunner.plan.values import (
    OMIT,
    Hidden,
    Lazy,
    OmittedError,
    Registered,
    Remote,
    RemotePieces,
    RemoteText,
    SecretInTextError,
)

__all__ = ["VIEWS", "finished", "for_text", "put_together", "text_of"]

_SCALARS = (str, bytes, int, float, type(None), date)
VIEWS = (KeysView, ValuesView, ItemsView)


def text_of(value: object) -> str:
    """The text of a value, marked where a host's is in it."""
    if isinstance(value, str):
        return value
    text = str(value)
    return RemoteText(text) if is_tainted(value) else text


def put_together(parts: Iterable[Any]) -> str:
    """One text of several values, of which it is known what a host wrote."""
    items = ["" if part is None else text_of(part) for part in parts]
    return RemotePieces.of(items) if any(isinstance(item, Remote) for item in items) else "".join(items)


def finished(value: Any) -> Any:
    """A value as it leaves a template: lists for all that is a row of things, without what is omitted. The same object
    where there is nothing to do. Raises for what is undefined in it."""
    if isinstance(value, (*_SCALARS, Lazy, Hidden, Registered)) or value is OMIT:
        return value
    if isinstance(value, dict):
        made = {key: finished(item) for key, item in value.items() if item is not OMIT}
        return value if len(made) == len(value) and all(made[key] is value[key] for key in made) else made
    if isinstance(value, (list, tuple, set, frozenset, range, Iterator, *VIEWS)):
        items = [finished(item) for item in value if item is not OMIT]
        same = isinstance(value, list) and len(items) == len(value)
        return value if same and all(a is b for a, b in zip(items, value, strict=True)) else items
    if isinstance(value, Undefined):
        str(value)  # raises where it is strict, and is not for an `if` without an `else`
        msg = "it comes to nothing: an `if` within `{{ }}` needs an `else`"
        raise TypeError(msg)
    if callable(value):
        msg = "a function is no value: call it, with ()"
        raise TypeError(msg)
    return value


def for_text(value: Any) -> Any:
    """A value as it is put into a text."""
    if value is None:
        return ""
    if value is OMIT:
        raise OmittedError
    if isinstance(value, Registered):
        msg = "a result is not a text: name what you want of it, such as .rc"
        raise TypeError(msg)
    if isinstance(value, Secret):
        name = "a variable"
        raise SecretInTextError(name)
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, Undefined):
        return str(value)  # nothing, of an `if` without an `else`; raises of all others
    value = finished(value)
    if isinstance(value, (list, dict)):
        guard_size(value)
        return text_of(value)
    return value
