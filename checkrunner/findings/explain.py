"""Which findings follow from others. Said only where it can be shown: nothing is guessed from times or likeness.

A finding follows from another that is in trouble on all of its hosts where

- the other's trouble made its check run (``on_fail``), or its check says that it needs the other (``needs``);
- both name the same disk, service or mount point on each of them, where the output is that of the trouble itself, and
  the other is the graver one. What many findings name explains none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from checkrunner.findings.grouping import Group
from checkrunner.findings.items import trunk
from checkrunner.findings.near import is_chosen
from checkrunner.model.plan import CheckOutcome
from checkrunner.model.results import VerdictState

__all__ = ["explained", "things_named"]

_TROUBLE = (VerdictState.CRIT, VerdictState.UNKNOWN, VerdictState.WARN)
_GRAVE = (VerdictState.CRIT, VerdictState.UNKNOWN)
_MOST_NAMED = 4
"""What more findings name than this says nothing about any of them."""
_TEXT_CHARS = 400
_LAST = 1 << 30
_DISK = re.compile(
    r"(?<![\w.-])(?:/dev/)?(sd[a-z]{1,2}|vd[a-z]|xvd[a-z]|nvme\d{1,3}n\d{1,3}|md\d{1,3}|dm-\d{1,3})(?:p?\d{1,3})?(?![\w-])"
)
_SERVICE = re.compile(r"(?<![\w@.-])([\w@-][\w@.-]{0,60}\.(?:service|socket|mount))(?![\w-])")
# Places where file systems are mounted, and nothing else is kept.
_MOUNT = re.compile(
    r"(?<![\w.-])(/(?:mnt|media|export|net|nfs|vol|volumes|gpfs|lustre|scratch)/[\w.-]{1,60}|/(?:data|backup|storage)\d{0,3})(?![\w-])"
)


def explained(groups: Sequence[Group]) -> dict[int, int]:
    """For places in `groups`, which are ranked, the place of the group that each follows from; never a circle. Groups
    that follow from none are not in it."""
    hosts: dict[int, frozenset[str]] = {}
    troubled = [at for at, entry in enumerate(groups) if entry.first.verdict.state in _TROUBLE]
    by_check = _by_check(groups, troubled)
    by_thing = _by_thing(groups, troubled)

    def covers(parent: int, child: int) -> bool:
        free = parent != child and not _leads_to(parent, child, found)
        return free and _hosts(groups, child, hosts) <= _hosts(groups, parent, hosts)

    found: dict[int, int] = {}
    for at in troubled:
        declared = (one for one in _declared(groups[at], by_check) if covers(one, at))
        named = (one for one in by_thing.get(at, ()) if covers(one, at) and _on_each(groups[one], groups[at]))
        parent = next(chain(declared, named), None)
        if parent is not None:
            found[at] = parent
    return found


def _leads_to(start: int, end: int, found: Mapping[int, int]) -> bool:
    while start in found and start != end:
        start = found[start]
    return start == end


def _hosts(groups: Sequence[Group], at: int, known: dict[int, frozenset[str]]) -> frozenset[str]:
    if at not in known:
        known[at] = frozenset(outcome.host for outcome in groups[at].outcomes)
    return known[at]


def _by_check(groups: Sequence[Group], troubled: Sequence[int]) -> dict[tuple[str, str], list[int]]:
    """The places of the groups of each check that another one names, on each host: there may be thousands of groups."""
    wanted = {key for at in troubled for key in _named_checks(groups[at])}
    found: dict[tuple[str, str], list[int]] = {}
    for at in troubled if wanted else ():
        planned = groups[at].first.planned
        for key in wanted & {planned.key, trunk(planned), planned.check.id}:
            for host in {outcome.host for outcome in groups[at].outcomes}:
                found.setdefault((key, host), []).append(at)
    return found


def _named_checks(entry: Group) -> Iterator[str]:
    planned = entry.first.planned
    return filter(None, (planned.follows, *planned.check.needs))


def _declared(entry: Group, by_check: Mapping[tuple[str, str], Sequence[int]]) -> Iterator[int]:
    """Those that its check names, on the first of its hosts."""
    for key in _named_checks(entry):
        yield from by_check.get((key, entry.first.host), ())


def _by_thing(groups: Sequence[Group], troubled: Iterable[int]) -> dict[int, list[int]]:
    """For each place those before it that are grave and name the same things; things that too many name left out."""
    named = {at: things_named(groups[at].first) for at in troubled}
    users: dict[str, list[int]] = {}
    for at, things in named.items():
        for thing in things:
            users.setdefault(thing, []).append(at)
    found: dict[int, list[int]] = {}
    for some in users.values():
        if 1 < len(some) <= _MOST_NAMED and groups[some[0]].first.verdict.state in _GRAVE:
            for at in some[1:]:
                if groups[at].first.planned.key != groups[some[0]].first.planned.key:
                    found.setdefault(at, []).append(some[0])
    return {at: sorted(set(some)) for at, some in found.items()}


def _on_each(parent: Group, child: Group) -> bool:
    """Whether both name the same thing on each of the child's hosts: the exemplars speak for their own hosts alone."""
    wanted = {outcome.host for outcome in child.outcomes}
    there: dict[str, frozenset[str]] = {}
    for outcome in parent.outcomes:
        if outcome.host in wanted:
            there[outcome.host] = there.get(outcome.host, frozenset()) | things_named(outcome)
    return all(there[outcome.host] & things_named(outcome) for outcome in child.outcomes)


def things_named(outcome: CheckOutcome) -> frozenset[str]:
    """The disks, services and mount points that its reasons, its state and its most telling lines name."""
    found: set[str] = set()
    for text in _texts(outcome):
        text = text[:_TEXT_CHARS]
        found |= {f"disk {name}" for name in _DISK.findall(text)}
        found |= {f"service {name}" for name in _SERVICE.findall(text)}
        found |= {f"mount {name}" for name in _MOUNT.findall(text)}
    return frozenset(found)


def _texts(outcome: CheckOutcome) -> Iterator[str]:
    for reason in outcome.verdict.reasons:
        yield reason.message
        yield reason.actual
    if outcome.result is not None and outcome.result.seen is not None:
        yield outcome.result.seen.on
    for piece in outcome.slices:
        if is_chosen(piece) or len(piece.lines) == 1:
            yield min(piece.lines, key=lambda line: line.rank or _LAST).text
