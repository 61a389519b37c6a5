"""Where a host and each of its variables come from: what `hosts --explain` tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from checkrunner.load.connection import shown_vars
from checkrunner.load.draft import Assigned
from checkrunner.load.merge import Merger
from checkrunner.load.patterns import select
from checkrunner.model.errors import NoHostsError, UnknownNameError, UsageError
from checkrunner.model.inventory import Host, Inventory
from checkrunner.model.sources import SourceRef

__all__ = ["Explanation", "InventoryOrigins", "Variable", "explain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable of a host. `origin` names what gave it (``group web``); `overridden` what lost, strongest first."""

    name: str
    value: Any
    origin: str
    source: SourceRef
    overridden: tuple[tuple[str, SourceRef], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A host, the groups it is in (strongest last) and its variables by name.

    `ways` say how it comes into groups: the group, the child of it that has the host (None where it is a member
    itself), and where that is said.
    """

    host: Host
    groups: tuple[str, ...]
    ways: tuple[tuple[str, str | None, SourceRef], ...]
    variables: tuple[Variable, ...]


class InventoryOrigins:
    """What merging forgets. `warnings` are what the inventory says and probably does not mean."""

    def __init__(self, merger: Merger | None = None, warnings: tuple[str, ...] = ()) -> None:
        self._merger = merger
        self.warnings = warnings

    def groups(self, host: Host) -> tuple[str, ...]:
        """The host's groups in the order in which their variables override each other."""
        return tuple(self._merger.groups_of(host.name)) if self._merger else host.groups

    def ways(self, host: Host) -> tuple[tuple[str, str | None, SourceRef], ...]:
        """See `Explanation`."""
        return tuple(self._merger.ways(host.name)) if self._merger else ()

    def own_vars(self, host: Host) -> Mapping[str, Any]:
        """The variables that are said of the host itself, not of its groups."""
        return self._merger.own_vars(host.name) if self._merger else host.vars

    def priority(self, group: str) -> int:
        """The rank of a group among those of its depth (``ansible_group_priority``)."""
        return self._merger.priority(group) if self._merger else 1

    def variables(self, host: Host) -> tuple[Variable, ...]:
        """The host's variables by name, each with where it was set."""
        given: dict[str, list[tuple[str, Assigned]]] = {}
        for origin, layer in self._merger.layers(host.name) if self._merger else ():
            for name, assigned in layer.items():
                given.setdefault(name, []).append((origin, assigned))
        return tuple(_variable(name, given[name]) for name in sorted(given))


def explain(inventory: Inventory, origins: InventoryOrigins, name: str) -> Explanation:
    """Everything about one host. Raises UnknownNameError with the nearest name."""
    host = inventory.hosts.get(name)
    if host is None and name in inventory.groups:
        raise UsageError(f"{name!r} is a group, not a host", hint=_members(inventory, name))
    if host is None:
        raise UnknownNameError("host", name, inventory.hosts)
    return Explanation(
        host=host, groups=origins.groups(host), ways=origins.ways(host), variables=origins.variables(host)
    )


def _members(inventory: Inventory, group: str) -> str:
    try:
        names = [host.name for host in select(inventory, group)]
    except NoHostsError:
        return "It has no hosts."
    return f"Its hosts: {', '.join(names[:20])}{', ...' if len(names) > 20 else ''}"


def _variable(name: str, given: list[tuple[str, Assigned]]) -> Variable:
    origin, assigned = given[-1]
    return Variable(
        name=name,
        value=shown_vars({name: assigned})[name],
        origin=origin,
        source=assigned.ref,
        overridden=tuple((where, lost.ref) for where, lost in reversed(given[:-1])),
    )
