"""Node sets (``node[001-128],db1``): many names as one text. The only door to ClusterShell, imported on first need."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["PREFIX", "NodeSetError", "expand_node_set", "fold_names", "node_set"]

PREFIX = "nodeset:"
"""What a text starts with, where it could be read as something else, to be a node set as a whole."""

_MAX_NAMES = 100_000
_HINT = "Node sets are written node[001-128],db[1,3]."
_SPAN = re.compile(r"([0-9]+)-([0-9]+)")
_OPERATORS = re.compile(r"[,!&^]")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")


class NodeSetError(ValueError):
    """A text is no node set. `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


def fold_names(names: Iterable[str]) -> str:
    """The names as one node set. Each must consist of letters, digits, ``_``, ``.`` and ``-``."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet  # lazy: 15 ms that one host need not pay

    return str(NodeSet.fromlist(list(names), resolver=RESOLVER_NOGROUP))


def expand_node_set(text: str) -> list[str]:
    """The names of a node set that `fold_names` made, in its order."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    return [str(name) for name in NodeSet(text, resolver=RESOLVER_NOGROUP)]


def node_set(text: str) -> list[str]:
    """The names of a node set that a person wrote, in its order: ``a[1-3]!a2``, ``n[01-10/2]``, ``a&b``, ``a^b``.

    Raises NodeSetError for what is none, for groups (``@name``), and for more names than anyone has hosts.
    """
    from ClusterShell.NodeSet import NodeSetException

    if "@" in text:
        raise NodeSetError(f"{_short(text)} names a group (@), and there is no file of these here", "Write its names.")
    if "*" in text or "?" in text:
        raise NodeSetError(f"{_short(text)} has a wildcard: it is no node set", f"Leave out {PREFIX!r} for patterns.")
    _refuse_crowds(text)
    try:
        names = expand_node_set(text)
    except NodeSetException as exc:
        reason = " ".join(str(exc).split()).rstrip(".")
        raise NodeSetError(
            f"{_short(text)} is no node set: {reason}", "Node sets are written node[001-128],db[1,3]."
        ) from exc
    if not names:
        raise NodeSetError(f"the node set {_short(text)} is empty", _HINT)
    return names


def _refuse_crowds(text: str) -> None:
    """Before anything is expanded: a zero too many would fill the memory."""
    inside = _BRACKETS.sub(lambda match: match.group().replace(",", "+"), text)
    if sum(_size(part) for part in _OPERATORS.split(inside)) > _MAX_NAMES:
        raise NodeSetError(f"{_short(text)} stands for more than {_MAX_NAMES} names")


def _size(part: str) -> int:
    """How many names one term stands for at most; never more than some beyond what is allowed."""
    total = 1
    for brackets in _BRACKETS.findall(part):
        spans = brackets.split("+")
        total *= min(sum(_span(span) for span in spans), _MAX_NAMES + 1)
    return min(total, _MAX_NAMES + 1)


def _span(text: str) -> int:
    match = _SPAN.match(text)
    if match is None:
        return 1
    if max(len(match[1]), len(match[2])) > 9:
        return _MAX_NAMES + 1
    return max(int(match[2]) - int(match[1]), 0) + 1


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
