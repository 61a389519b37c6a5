"""Host names to ranges and back: ``web[01-03],db1``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checkrunner.nodesets import NodeSetError, expand_node_set, fold_names, node_set

__all__ = ["CUT", "fold", "names_in", "unfold"]

CUT = ",..."
"""What stands behind folded names where it is not all of them."""

# ClusterShell reads these as names with numbers in them and nothing else. Longer runs of digits are left out: they are
# identifiers, not counters, and Python refuses to turn thousands of digits into a number.
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+\Z")
_LONG_NUMBER = re.compile(r"[0-9]{16}")
_DIGIT = re.compile(r"[0-9]")
_NEEDS_QUOTES = re.compile(r'[\[\],"\\\s]')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|(?:\[[^\]]*\]|[^,\[])+', re.DOTALL)


def fold(names: Iterable[str]) -> str:
    """The names as one text, each name once; `unfold` gives back the same set of names.

    Names that differ in one number or more are folded into ranges, padding kept (``n[1-3,01,001]``). Names with other
    characters (IPv6, unicode, spaces) are listed as they are after the ranges; where such a name would be read as
    something else it stands in double quotes, with a backslash before quotes and backslashes.
    """
    unique = list(dict.fromkeys(names))
    if len(unique) == 1:
        return _listed(unique[0])
    counted: list[str] = []
    others: list[str] = []
    for name in unique:
        (counted if _can_fold(name) else others).append(name)
    parts = [fold_names(counted)] if len(counted) > 1 else counted
    return ",".join(parts + [_listed(name) for name in others])


def unfold(text: str) -> tuple[str, ...]:
    """The names in a folded text, one by one, in the text's order. Reads only what `fold` writes."""
    out: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token.startswith('"'):
            out.append(re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL))
        elif "[" in token:
            out.extend(expand_node_set(token))
        else:
            out.append(token)
    return tuple(out)


def names_in(text: str, number: int) -> tuple[str, ...]:
    """The names in a folded text that stands for `number` hosts, and that anybody may have written: those that are
    there, or none where they are not as many as the text says. Cost: never more than for some 100,000 names."""
    known = text.removesuffix(CUT)
    out: list[str] = []
    for match in _TOKEN.finditer(known):
        token = match.group()
        try:
            out += node_set(token) if "[" in token and not token.startswith('"') else unfold(token)
        except NodeSetError:
            return ()
        if len(out) > number:
            return ()
    fits = len(out) < number if known != text else len(out) == number
    return tuple(out) if fits and fold(out) == known else ()


def _can_fold(name: str) -> bool:
    return _PLAIN.match(name) is not None and _DIGIT.search(name) is not None and _LONG_NUMBER.search(name) is None


def _listed(name: str) -> str:
    if name and _NEEDS_QUOTES.search(name) is None:
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
