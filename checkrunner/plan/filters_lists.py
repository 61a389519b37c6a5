"""Filters and tests over lists and mappings, as Ansible has them. What may grow beyond its inputs is counted first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from checkrunner.plan.bounds import MAX_TEXT, BoundError
from checkrunner.plan.merging import combine

__all__ = [
    "FILTERS",
    "TESTS",
    "combinations",
    "contains",
    "dict2items",
    "difference",
    "flatten",
    "intersect",
    "is_subset",
    "is_superset",
    "items2dict",
    "permutations",
    "product",
    "rekey_on_member",
    "subelements",
    "symmetric_difference",
    "union",
    "unique",
    "zip_longest",
    "zipped",
]


def _bounded(count: float) -> None:
    if count > MAX_TEXT:
        msg = f"the list would have more than {MAX_TEXT:,} entries"
        raise BoundError(msg)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def unique(items: Iterable[Any]) -> list[Any]:
    """Each once, in the order in which they come first; they need not be hashable."""
    given = list(items)
    try:
        return list(dict.fromkeys(given))
    except TypeError:
        _bounded(len(given) ** 2)
    found: list[Any] = []
    for item in given:
        if item not in found:
            found.append(item)
    return found


def _within(some: Iterable[Any], others: Iterable[Any], wanted: bool) -> list[Any]:
    """What of `some` is (or is not) in `others`, each once."""
    left, right = list(some), list(others)
    try:
        known: Any = set(right)
        return [item for item in dict.fromkeys(left) if (item in known) is wanted]
    except TypeError:
        _bounded(len(left) * len(right))
    return unique(item for item in left if (item in right) is wanted)


def intersect(some: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """What is in both lists, each once, in the order of the first."""
    return _within(some, others, True)


def difference(some: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """What is in the first list only, each once, in its order."""
    return _within(some, others, False)


def union(some: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """What is in any of both lists, each once."""
    left, right = list(some), list(others)
    try:
        return list(dict.fromkeys((*left, *right)))
    except TypeError:
        if not (_is_list(some) and _is_list(others)):
            raise
    return unique(left + right)


def symmetric_difference(some: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """What is in one of both lists only, each once."""
    common = intersect(some, others)
    return [item for item in union(some, others) if item not in common]


def product(*lists: Iterable[Any], repeat: int = 1) -> list[tuple[Any, ...]]:
    """Each entry of one list with each of the others."""
    given = [list(items) for items in lists]
    _bounded(len(given) * repeat)
    _bounded(math.prod(len(items) for items in given) ** repeat * max(len(given) * repeat, 1))
    return list(itertools.product(*given, repeat=repeat))


def permutations(items: Iterable[Any], r: int | None = None) -> list[tuple[Any, ...]]:
    """All orders of `r` entries of a list."""
    given = list(items)
    size = len(given) if r is None else r
    _bounded(min(size, len(given) + 1))
    _bounded(math.perm(len(given), size) * max(size, 1) if size >= 0 else 0)
    return list(itertools.permutations(given, r))


def combinations(items: Iterable[Any], r: int) -> list[tuple[Any, ...]]:
    """All choices of `r` entries of a list."""
    given = list(items)
    _bounded(math.comb(len(given), r) * max(r, 1) if r >= 0 else 0)
    return list(itertools.combinations(given, r))


def zipped(*lists: Iterable[Any], strict: bool = False) -> list[tuple[Any, ...]]:
    """The first entries of all lists, the second ones, ...: as long as the shortest."""
    return list(zip(*lists, strict=strict))


def zip_longest(*lists: Iterable[Any], fillvalue: Any = None) -> list[tuple[Any, ...]]:
    """As `zip`, as long as the longest; `fillvalue` stands for what is missing."""
    given = [list(items) for items in lists]
    _bounded(len(given) * max(map(len, given), default=0))
    return list(itertools.zip_longest(*given, fillvalue=fillvalue))


def flatten(items: Any, levels: int | None = None, skip_nulls: bool = True) -> list[Any]:
    """The list with lists in it replaced by their entries; `levels` deep, else all; without what is none."""
    found: list[Any] = []
    for item in items:
        if skip_nulls and (item is None or (isinstance(item, str) and item in ("None", "null"))):
            continue
        if _is_list(item) and (levels is None or levels >= 1):
            found += flatten(item, None if levels is None else int(levels) - 1, skip_nulls)
            _bounded(len(found))
        else:
            found.append(item)
    return found


def dict2items(value: Any, key_name: str = "key", value_name: str = "value") -> list[dict[str, Any]]:
    """A list of the entries of a mapping, each a mapping with ``key`` and ``value``."""
    if not isinstance(value, Mapping):
        msg = f"dict2items needs a mapping, not {type(value).__name__}"
        raise TypeError(msg)
    return [{key_name: key, value_name: value[key]} for key in value]


def items2dict(value: Any, key_name: str = "key", value_name: str = "value") -> dict[Any, Any]:
    """The mapping that such a list came from."""
    if not _is_list(value):
        msg = f"items2dict needs a list, not {type(value).__name__}"
        raise TypeError(msg)
    try:
        return {item[key_name]: item[value_name] for item in value}
    except KeyError as error:
        msg = f"items2dict needs mappings with {key_name!r} and {value_name!r}; one has no {error}"
        raise ValueError(msg) from error


def subelements(value: Any, path: Any, skip_missing: bool = False) -> list[tuple[Any, Any]]:
    """Each mapping of a list with each entry of a list in it; `path` leads there (``a.b``)."""
    if not isinstance(value, (Mapping, list)):
        msg = f"subelements needs a mapping or a list, not {type(value).__name__}"
        raise TypeError(msg)
    keys = path.split(".") if isinstance(path, str) else path
    if not isinstance(keys, list):
        msg = f"the path of subelements is a text or a list, not {type(path).__name__}"
        raise TypeError(msg)
    found: list[tuple[Any, Any]] = []
    for item in value.values() if isinstance(value, Mapping) else value:
        found += [(item, entry) for entry in _below(item, keys, skip_missing)]
        _bounded(len(found))
    return found


def _below(item: Any, keys: Sequence[Any], skip_missing: bool) -> list[Any]:
    for key in keys:
        try:
            item = item[key]
        except KeyError:
            if skip_missing:
                return []
            msg = f"subelements finds no {key!r}; skip_missing=true leaves such entries out"
            raise ValueError(msg) from None
    if not isinstance(item, list):
        msg = f"subelements needs a list at {keys[-1] if keys else ''!r}, not {type(item).__name__}"
        raise TypeError(msg)
    return item


def rekey_on_member(value: Any, key: Any, duplicates: str = "error") -> dict[Any, Any]:
    """A mapping of the mappings in a list (or mapping) by one of their entries; `duplicates` is error or overwrite."""
    if duplicates not in ("error", "overwrite"):
        msg = f"duplicates is 'error' or 'overwrite', not {duplicates!r}"
        raise ValueError(msg)
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        msg = f"rekey_on_member needs a list or a mapping, not {type(value).__name__}"
        raise TypeError(msg)
    found: dict[Any, Any] = {}
    for item in value.values() if isinstance(value, Mapping) else value:
        if not isinstance(item, Mapping) or key not in item:
            msg = f"rekey_on_member needs mappings with {key!r}"
            raise ValueError(msg)
        if item[key] in found and duplicates == "error":
            msg = f"{item[key]!r} is there twice; duplicates='overwrite' takes the last"
            raise ValueError(msg)
        found[item[key]] = item
    return found


def is_subset(some: Iterable[Any], others: Iterable[Any]) -> bool:
    """Whether all of a list is in another one."""
    return set(some) <= set(others)


def is_superset(some: Iterable[Any], others: Iterable[Any]) -> bool:
    """Whether all of another list is in this one."""
    return set(some) >= set(others)


def contains(items: Any, value: Any) -> bool:
    """Whether something is in a list, mapping or text: ``in`` the other way round."""
    return value in items


FILTERS: Mapping[str, Callable[..., Any]] = {
    "combinations": combinations,
    "combine": combine,
    "dict2items": dict2items,
    "difference": difference,
    "flatten": flatten,
    "intersect": intersect,
    "items2dict": items2dict,
    "permutations": permutations,
    "product": product,
    "rekey_on_member": rekey_on_member,
    "subelements": subelements,
    "symmetric_difference": symmetric_difference,
    "union": union,
    "zip": zipped,
    "zip_longest": zip_longest,
}

TESTS: Mapping[str, Callable[..., bool]] = {
    "all": all,
    "any": any,
    "contains": contains,
    "issubset": is_subset,
    "issuperset": is_superset,
    "subset": is_subset,
    "superset": is_superset,
}
