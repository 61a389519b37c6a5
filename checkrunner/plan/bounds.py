"""Bounds of template evaluation: steps, sizes of texts, lists and numbers. Knows nothing of the template engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from checkrunner.plan.values import Lazy

__all__ = [
    "MAX_BUILT",
    "MAX_INDENT",
    "MAX_STEPS",
    "MAX_TEXT",
    "BoundError",
    "Steps",
    "guard_call",
    "guard_operator",
    "guard_size",
]

MAX_TEXT = 1 << 20
"""Longest text or list that a template may build."""

MAX_STEPS = 200_000
"""Calls and loop rounds of one rendering."""

MAX_BUILT = 16 << 20
"""Characters and list items that one rendering may build altogether."""

MAX_INDENT = 16
"""Characters before a line, for each level of what it is in."""

_MAX_BITS = 8192


class BoundError(Exception):
    """A template went beyond what one may cost."""


class Steps:
    """Counts the steps of one rendering; nested renderings of variables count towards the outermost."""

    __slots__ = ("built", "depth", "left")

    def __init__(self) -> None:
        self.depth = 0
        self.left = MAX_STEPS
        self.built = 0

    def __enter__(self) -> None:
        if self.depth == 0:
            self.left = MAX_STEPS
            self.built = 0
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1

    def take(self, made: object = None) -> None:
        """One step more, and what it has made."""
        self.left -= 1
        if self.left < 0:
            msg = f"the template takes more than {MAX_STEPS:,} steps"
            raise BoundError(msg)
        self.built += _size(made)
        if self.built > MAX_BUILT:
            _too_big("everything")

    def count(self, items: Iterable[Any]) -> Iterator[Any]:
        """`items`, each of them a step."""
        for item in items:
            self.take()
            yield item


def guard_operator(operator: str, left: Any, right: Any) -> None:
    """Raise BoundError where ``left operator right`` would be larger than a template may build."""
    if operator == "*":
        _guard_product(left, right)
    elif operator == "**":
        if isinstance(left, int) and isinstance(right, int) and left.bit_length() * abs(right) > _MAX_BITS:
            _too_big("the number")
    elif operator == "%" and isinstance(left, (str, bytes)):
        _guard_format(left)
        _check(len(left) + _size(right))
    elif operator == "+":
        _check(_size(left) + _size(right))


def _guard_product(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        if left.bit_length() + right.bit_length() > _MAX_BITS:
            _too_big("the number")
        return
    for items, times in ((left, right), (right, left)):
        if isinstance(times, int) and isinstance(items, (str, bytes, list, tuple)):
            _check(_size(items) * times)


def _guard_format(text: str | bytes) -> None:
    source = text.decode("latin-1") if isinstance(text, bytes) else text
    if re.search(r"%[^a-zA-Z%]*(\*|\d{5})", source) or re.search(r"\{[^{}]*\d{5}", source):
        _too_big("a padded text")


def guard_call(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise BoundError for text functions whose result grows with their arguments (the text itself is ``args[0]``)."""
    check = _GROWING.get(name)
    if check is not None:
        check((*args, *kwargs.values()))


def _guard_width(args: tuple[Any, ...]) -> None:
    _check(max([abs(arg) for arg in args[1:] if isinstance(arg, int)], default=0) * max(_breaks(args), 1))


def _breaks(args: tuple[Any, ...]) -> int:
    return args[0].count("\n") + args[0].count("\t") if args and isinstance(args[0], str) else 1


def _guard_replace(args: tuple[Any, ...]) -> None:
    text, old, new = (*args[:3], "", "", "")[:3]
    if isinstance(text, str) and isinstance(old, str):
        places = text.count(old) if old else len(text) + 1
        _check(len(text) + places * len(str(new)))


def _guard_pattern(args: tuple[Any, ...]) -> None:
    text, _, new = (*args[:3], "", "", "")[:3]
    _check((_size(text) + 1) * max(_size(new), 1))


def _guard_join(args: tuple[Any, ...]) -> None:
    lists = [arg for arg in args if isinstance(arg, (list, tuple))]
    glue = max([len(arg) for arg in args if isinstance(arg, str)], default=0)
    for items in lists:
        _check(sum(_size(item) + glue for item in items))


def _guard_formatted(args: tuple[Any, ...]) -> None:
    if args and isinstance(args[0], str):
        _guard_format(args[0])
    _check(sum(_size(arg) for arg in args))


def _guard_time(args: tuple[Any, ...]) -> None:
    for arg in args:
        if isinstance(arg, str):
            _guard_format(arg)
            _check(64 * len(arg))


def _guard_indent(args: tuple[Any, ...]) -> None:
    for arg in args[1:]:
        if (isinstance(arg, str) and len(arg) > MAX_INDENT) or (
            isinstance(arg, int) and not isinstance(arg, bool) and arg > MAX_INDENT
        ):
            _too_big("the indentation")


def _guard_comment(args: tuple[Any, ...]) -> None:
    times = max([abs(arg) for arg in args if isinstance(arg, int)], default=1)
    lines = args[0].count("\n") + 1 if args and isinstance(args[0], str) else 1
    _check(max(times, lines) * (sum(_size(arg) for arg in args[1:]) + 4) + _size(args[:1]))


_GROWING: Mapping[str, Callable[[tuple[Any, ...]], None]] = {
    "center": _guard_width,
    "ljust": _guard_width,
    "rjust": _guard_width,
    "zfill": _guard_width,
    "expandtabs": _guard_width,
    "indent": _guard_width,
    "batch": _guard_width,
    "slice": _guard_width,
    "round": _guard_width,
    "comment": _guard_comment,
    "strftime": _guard_time,
    "tojson": _guard_indent,
    "replace": _guard_replace,
    "regex_replace": _guard_pattern,
    "join": _guard_join,
    "format": _guard_formatted,
    "format_map": _guard_formatted,
}


def guard_size(value: Any) -> None:
    """Raise BoundError where the text of `value` would be larger than a template may build."""
    _check(_size(value))


def _size(value: Any) -> int:
    """About how long the text of a value is; counting ends a little beyond the bound."""
    if isinstance(value, (str, bytes)):
        return len(value)
    size = 0
    rest = [value]
    while rest and size <= MAX_TEXT:
        item = rest.pop()
        if isinstance(item, (str, bytes)):
            size += len(item)
        elif isinstance(item, Lazy):
            size += 1
        elif isinstance(item, Mapping):
            size += 2 * len(item)
            rest.extend((*item.keys(), *item.values()) if size <= MAX_TEXT else ())
        elif isinstance(item, (list, tuple, set, frozenset)):
            size += len(item)
            rest.extend(item if size <= MAX_TEXT else ())
    return size


def _check(size: int) -> None:
    if size > MAX_TEXT:
        _too_big("the text or list")


def _too_big(what: str) -> None:
    msg = f"{what} that it builds is too large"
    raise BoundError(msg)
