"""Which hosts a pattern means: ``web:&prod:!web03``, globs, ``~regex``, ``db[0:2]``, node sets.

The meaning is Ansible's. What Ansible passes over in silence, a term that means nobody, is an error here.
"""

from __future__ import annotations

import fnmatch
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from checkrunner.load.near_misses import nobody, unknown_term, unlisted_nodes
from checkrunner.load.terms import Term, limit_terms, pattern_terms
from checkrunner.model.errors import NoHostsError, UsageError
from checkrunner.model.inventory import Host, Inventory

__all__ = ["Reason", "members", "reasons", "select"]

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a term selects a host: it names the host, or groups that the host is in. Both empty: as all hosts."""

    term: str
    groups: tuple[str, ...] = ()
    is_name: bool = False


def select(inventory: Inventory, pattern: str, limit: str | None = None) -> tuple[Host, ...]:
    """The hosts of a pattern, and of a limit if there is one, each once, in the order in which Ansible takes them.

    That is the order of the pattern's terms, within a group its own hosts before those of its children. Raises
    NoHostsError when nobody is left, and also when any single term names what does not exist: a typing error never
    ends as "no hosts, all fine". A `!` with a glob may match nothing.
    """
    selection = _Selection(inventory)
    chosen = selection.evaluate(pattern_terms(pattern), f"pattern {pattern!r}")
    if limit is not None:
        allowed = set(selection.evaluate(limit_terms(limit), f"limit {limit!r}"))
        both = [name for name in chosen if name in allowed]
        if not both:
            raise NoHostsError(f"no host of the pattern {pattern!r} is in the limit {limit!r}")
        chosen = both
    return tuple(selection.host(name) for name in chosen)


def reasons(inventory: Inventory, pattern: str, name: str, *, is_limit: bool = False) -> tuple[Reason, ...]:
    """The terms of a pattern or limit that a host is among, each with why. Raises as `select` does."""
    selection = _Selection(inventory)
    terms = limit_terms(pattern) if is_limit else pattern_terms(pattern)
    found = [] if any(not term.sign for term in terms) else [Reason(term="all")]
    for term in terms:
        if name not in selection.matches(term, f"pattern {pattern!r}"):
            continue
        groups = () if term.names else selection.groups_of_term(term)
        within = tuple(group for group in groups if name in selection.members(group))
        found.append(Reason(term=term.text, groups=within, is_name=not within or term.base == name))
    return tuple(found)


def members(inventory: Inventory, group: str) -> tuple[str, ...]:
    """The hosts of a group and its descendants: its own first, then those of its children, and so on downwards."""
    return tuple(_Selection(inventory).members(group))


class _Selection:
    """What terms mean in one inventory. Remembers what groups hold, and which host `localhost` turned out to be."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._members: dict[str, dict[str, None]] = {}
        self._mentioned = inventory.mentioned or tuple(inventory.hosts)
        named = next((name for name in self._mentioned if name in _LOCAL_NAMES), None)
        self._local = None if named is None else inventory.hosts[named]

    def host(self, name: str) -> Host:
        host = self._inventory.hosts.get(name)
        if host is not None:
            return host
        assert self._local is not None  # nothing else is selected without being in the inventory
        return self._local

    def evaluate(self, terms: list[Term], what: str) -> list[str]:
        """Names of hosts, in order. First all plain terms, then `&`, then `!`, wherever these stand."""
        if not terms:
            raise NoHostsError(f"the {what} is empty", hint="Write `all` for every host.")
        matches = [(term.sign, self.matches(term, what)) for term in terms]
        plain = [found for sign, found in matches if not sign]
        chosen = dict.fromkeys(name for found in plain for name in found) if plain else dict(self.members("all"))
        for sign, found in matches:
            if sign == "&":
                kept = set(found)
                chosen = {name: None for name in chosen if name in kept}
        for sign, found in matches:
            if sign == "!":
                for name in found:
                    chosen.pop(name, None)
        if not chosen:
            raise nobody(self._inventory, terms, what)
        return list(chosen)

    def matches(self, term: Term, what: str) -> list[str]:
        """The hosts that a term is about, whatever its sign. Raises NoHostsError where it means nothing."""
        if term.names:
            return self._nodes(term, what)
        if not term.sign and term.text in self._inventory.hosts:
            return [term.text]
        groups = self.groups_of_term(term)
        # With repetitions, which count for positions as they do in Ansible: a host of two groups has two.
        names = [name for group in groups for name in self.members(group)]
        if not groups or term.is_glob or "." in term.base:
            names += self._hosts_called(term)
        if not names and term.base in _LOCAL_NAMES:
            names = [self._localhost(term.base)]
        if not names and not groups:
            if term.sign == "!" and term.is_glob and term.subscript is None:
                return []
            raise unknown_term(self._inventory, term, what)
        return names if term.subscript is None else _at(term, names, what)

    def groups_of_term(self, term: Term) -> tuple[str, ...]:
        """The groups that a term names."""
        groups = self._inventory.groups
        if not term.sign and term.text in self._inventory.hosts:
            return ()
        if not term.is_glob:
            return (term.base,) if term.base in groups else ()
        return tuple(_matching(term, groups))

    def members(self, group: str) -> dict[str, None]:
        """The hosts of a group and its descendants, level by level."""
        found = self._members.get(group)
        if found is None:
            found = self._members[group] = {}
            level, seen = [group], {group}
            while level:
                for name in level:
                    found.update(dict.fromkeys(self._inventory.groups[name].hosts))
                below = dict.fromkeys(child for name in level for child in self._inventory.groups[name].children)
                level = [name for name in below if name not in seen]
                seen.update(level)
        return found

    def _hosts_called(self, term: Term) -> Iterator[str]:
        if term.is_glob:
            yield from _matching(term, self._mentioned)
        elif term.base in self._inventory.hosts:
            yield term.base

    def _nodes(self, term: Term, what: str) -> list[str]:
        missing = [name for name in term.names if name not in self._inventory.hosts]
        if missing:
            raise unlisted_nodes(self._inventory, term, missing, what)
        return list(term.names)

    def _localhost(self, name: str) -> str:
        """The name of this machine: the inventory's own entry for it, else one that is made when first asked for."""
        if self._local is None:
            local = self._inventory.localhost
            if local is None:
                everywhere = self._inventory.groups["all"].vars if "all" in self._inventory.groups else {}
                local = Host(name=name, address=name, transport="local", vars=everywhere)
            self._local = replace(local, name=name, address=name)
        return self._local.name


def _at(term: Term, names: list[str], what: str) -> list[str]:
    """The hosts at a term's positions."""
    assert term.subscript is not None
    first, last = term.subscript
    if last is not None and first == last:
        picked = names[first : first + 1 or None] if -len(names) <= first else []
    else:
        picked = names[first : None if last is None else last + 1]
    if last is not None and last < first:
        hint = f"Write {term.base}[{last}:{first}]."
        raise NoHostsError(f"{term.text!r} in the {what} picks nobody: it runs backwards", hint=hint)
    if not picked:
        some = "1 host" if len(names) == 1 else f"{len(names)} hosts"
        hint = "Positions count from 0; [0:2] are the first three."
        raise NoHostsError(f"{term.text!r} in the {what} picks nobody: {term.base!r} has {some}", hint=hint)
    return picked


def _matching(term: Term, names: Iterable[str]) -> list[str]:
    match = _matcher(term)
    return [name for name in names if match(name) is not None]


def _matcher(term: Term) -> Callable[[str], object]:
    if not term.is_regex:
        return re.compile(fnmatch.translate(term.base)).match
    try:
        with warnings.catch_warnings():  # of sets such as [a&&b], which mean what they always did
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(term.base[1:]).match
    except re.error as exc:
        raise UsageError(f"{term.text!r} in a pattern is not a regular expression: {exc.msg}") from exc
