"""The order of findings: how bad, what is new, how many hosts; what follows from another stands right under it;
silenced ones last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checkrunner.findings.explain import explained
from checkrunner.findings.grouping import Group
from checkrunner.model.seams import Past

__all__ = ["ranked"]


def ranked(groups: Sequence[Group], past: Past) -> list[Group]:
    """The groups in their order, each with its novelty and the group that it follows from. Those that nobody wants to
    be told of come behind all others, and explain none of them."""
    known = past.findings()
    for entry in groups:
        entry.novelty = "" if known is None else "known" if entry.id in known else "new"
    told = [entry for entry in groups if entry.silence is None]
    return [*_ordered(told), *_ordered(entry for entry in groups if entry.silence is not None)]


def _ordered(groups: Iterable[Group]) -> list[Group]:
    order = sorted(groups, key=_place)
    parents = explained(order)
    children: dict[int, list[int]] = {}
    for at, parent in parents.items():
        order[at].cause = order[parent].id
        children.setdefault(parent, []).append(at)
    out: list[Group] = []
    waiting = [at for at in range(len(order) - 1, -1, -1) if at not in parents]
    while waiting:
        at = waiting.pop()
        out.append(order[at])
        waiting += sorted(children.get(at, ()), reverse=True)
    return out


def _place(entry: Group) -> tuple[int, bool, int, int]:
    verdict, hosts, order = entry.rank
    return verdict, entry.novelty == "known", hosts, order
