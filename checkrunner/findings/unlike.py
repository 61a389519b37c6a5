"""In what two runs cannot be compared, a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkrunner.findings.pairing import Pairing, trunk_of
from checkrunner.findings.portions import few_hosts
from checkrunner.model.folded import OnHosts
from checkrunner.model.history import RunView
from checkrunner.model.results import HostState, VerdictState

__all__ = ["ended_early", "unlike"]

_MOST_NAMED = 5
_HOST_CHARS = 80
_ENDED = {
    "deadline": "ended at its deadline",
    "interrupted": "was interrupted",
    "error": "ended with an error",
}


_GOT_TO = frozenset({HostState.REACHED, HostState.NOT_TRIED})


def ended_early(view: RunView) -> list[tuple[str, str]]:
    """The cells that nobody looked at because the run was over, and not because of their host or another check."""
    blind = [at for at, cell in view.cells.items() if cell.blind and cell.verdict is VerdictState.UNKNOWN]
    return [at for at in blind if view.hosts[at[0]].state in _GOT_TO and not _is_lost_item(view, *at)]


def _is_lost_item(view: RunView, host: str, key: str) -> bool:
    """Whether it is an item of a loop that could be looked at, only not into its items."""
    loop = view.cells.get((host, trunk_of(key))) if "[" in key else None
    return loop is not None and not loop.blind


def unlike(before: RunView, after: RunView, pairing: Pairing) -> Iterator[str]:
    """The sentences, what matters most first."""
    if before.playbook != after.playbook:
        yield f"the runs are of two playbooks, {before.playbook} and {after.playbook}: what both have is compared"
    yield from _selections(before, after)
    yield from _versions(before, after, pairing)
    yield from _hosts(before, after)
    yield from _ended("earlier", before)
    yield from _ended("later", after)


def _selections(before: RunView, after: RunView) -> Iterator[str]:
    earlier, later = before.selection, after.selection
    if earlier.inventory != later.inventory:
        names = " and ".join(", ".join(one.inventory) or "none" for one in (earlier, later))
        yield f"the runs are of two inventories, {names}: hosts of one name may be two"
    if earlier.limit != later.limit:
        yield f"the earlier run was of {_limit(earlier.limit)}, the later one of {_limit(later.limit)}"
    for what, old, new in (
        ("tags", earlier.tags, later.tags),
        ("tags to skip", earlier.skip_tags, later.skip_tags),
    ):
        if old != new:
            yield f"{what}: {_listed(old) or 'none'} in the earlier run, {_listed(new) or 'none'} in the later one"
    if earlier.params != later.params:
        yield "the two runs were given other variables (-e)"


def _limit(limit: str) -> str:
    return f"the hosts {limit}" if limit else "all hosts"


def _versions(before: RunView, after: RunView, pairing: Pairing) -> Iterator[str]:
    alike = before.selection == after.selection
    if before.playbook != after.playbook:
        return
    parts = [
        f"{_counted(keys)} {word}" for keys, word in ((pairing.new, "new"), (pairing.gone, "gone")) if keys and alike
    ]
    different = {key: pairing.difference(key) for key in dict.fromkeys(map(trunk_of, after.checks))}
    for at, one, many in ((0, "runs", "run"), (1, "expects", "expect")):
        if keys := tuple(key for key, found in different.items() if found[at]):
            parts.append(f"{_listed(keys)} {one if len(keys) == 1 else many} something else")
    renamed = list(pairing.earlier.items())
    parts += [f"{earlier} is called {later} now" for later, earlier in renamed[:_MOST_NAMED]]
    if more := renamed[_MOST_NAMED:]:
        parts.append(f"{len(more):,} more have other names")
    if parts:
        yield f"the playbook was changed: {', '.join(parts)}"
    elif before.playbook_digest != after.playbook_digest:
        yield "the playbook was changed, but none of these checks"


def _hosts(before: RunView, after: RunView) -> Iterator[str]:
    new = [host for host in after.hosts if host not in before.hosts]
    gone = [host for host in before.hosts if host not in after.hosts]
    if before.selection == after.selection and before.playbook == after.playbook:
        parts = [f"{_named_hosts(hosts)} {word}" for hosts, word in ((new, "new"), (gone, "gone")) if hosts]
        if parts:
            yield f"other hosts: {', '.join(parts)}"
    elif new or gone:
        both = len(after.hosts) - len(new)
        compared = f"the {both:,} in both are compared" if both > 1 else "the one in both is compared"
        numbers = f"of {len(before.hosts):,} and {len(after.hosts):,} hosts"
        yield f"{numbers}, {compared if both else 'none is in both'}"


def _ended(which: str, view: RunView) -> Iterator[str]:
    cells = ended_early(view)
    count = ""
    if cells:
        count = f"{_number(len(cells), 'check')} on {_number(len({host for host, _ in cells}), 'host')}"
        count += " was not looked at" if len(cells) == 1 else " were not looked at"
    if ended := "" if view.ended == "normal" else _ENDED.get(view.ended, view.ended):
        yield f"the {which} run {ended}" + (f": {count}" if count else "")
    elif count:
        yield f"in the {which} run {count}"


def _counted(keys: Sequence[str]) -> str:
    """``3 checks (a, b, c) are``."""
    return f"{_number(len(keys), 'check')} ({_listed(keys)}) {'is' if len(keys) == 1 else 'are'}"


def _named_hosts(hosts: Sequence[str]) -> str:
    names = few_hosts(OnHosts(hosts="", names=tuple(hosts)), _HOST_CHARS)
    return f"{_number(len(hosts), 'host')} ({names}) {'is' if len(hosts) == 1 else 'are'}"


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:_MOST_NAMED])
    if left := len(names) - len(shown):
        return f"{', '.join(shown)} and {left:,} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"
