"""A draft to `model.Inventory`: depth of groups, precedence of variables, membership. Reads no files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from checkrunner.load.connection import build_host, shown_vars
from checkrunner.load.draft import Assigned, Draft, DraftGroup, VarsFolder
from checkrunner.model.errors import InventoryError
from checkrunner.model.inventory import Group, Host, Inventory
from checkrunner.model.sources import NOWHERE, SourceRef

__all__ = ["Merger"]

_NOTHING: Mapping[str, Assigned] = MappingProxyType({})


class Merger:
    """Answers which groups a host is in and which variables they give it, weakest first."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._settle()
        self._depth = self._depths()
        self._direct: dict[str, list[str]] = {name: [] for name in draft.hosts}
        for group in draft.groups.values():
            for host in group.hosts:
                self._direct[host].append(group.name)
        self._parents: dict[str, list[str]] = {name: [] for name in draft.groups}
        for group in draft.groups.values():
            for child in group.children:
                self._parents[child].append(group.name)
        self._merged: dict[tuple[str, ...], dict[str, Assigned]] = {}

    def inventory(self, sources: Sequence[str]) -> Inventory:
        """Merge everything. Raises InventoryError for connection settings that cannot be used."""
        draft = self._draft
        hosts = {}
        for name in self._in_order():
            host = draft.hosts[name]
            groups = self.groups_of(name)
            variables = {**self._group_vars(tuple(groups)), **host.vars}
            for folder in draft.folders:
                variables.update(folder.hosts.get(name, _NOTHING))
            names = sorted(group for group in groups if group != "all")
            hosts[name] = build_host(name, variables, names, host.source, draft.fail)
        groups_by_name = {name: self._group(group) for name, group in draft.groups.items()}
        return Inventory(
            hosts=MappingProxyType(hosts),
            groups=MappingProxyType(groups_by_name),
            sources=tuple(sources),
            localhost=self._localhost(),
            mentioned=tuple(draft.hosts),
        )

    def _localhost(self) -> Host | None:
        """This machine, for patterns that name it where no source does: as a host of `all` alone.

        None where that cannot be: what `all` says may be meant for hosts that all say otherwise.
        """
        variables = dict(self._group_vars(("all",)))
        variables["ansible_connection"] = Assigned("local", "local", NOWHERE)
        for folder in self._draft.folders:
            variables.update(folder.hosts.get("localhost", _NOTHING))
        try:
            return build_host("localhost", variables, (), NOWHERE, self._draft.fail)
        except InventoryError:
            return None

    def groups_of(self, host: str) -> list[str]:
        """Every group that a host is in, weakest first: by depth, then priority, then name."""
        found, todo = {"all"}, list(self._direct[host])
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo.extend(self._parents[name])
        groups = self._draft.groups
        return sorted(found, key=lambda name: (self._depth[name], groups[name].priority, name))

    def ways(self, host: str) -> Iterator[tuple[str, str | None, SourceRef]]:
        """How a host comes into each of its groups, strongest first: the group, the child of it that has the host (None
        where it is a member itself), and where that is said."""
        groups = self.groups_of(host)
        for name in reversed(groups):
            group = self._draft.groups[name]
            if host in group.host_places:
                yield name, None, group.host_places[host]
            for child in group.children:
                if name != "all" and child in groups and child in group.child_places:
                    yield name, child, group.child_places[child]

    def own_vars(self, host: str) -> Mapping[str, Any]:
        """What is said of the host itself, by sources and by files of host_vars/; nothing that groups say."""
        found = self._draft.hosts.get(host)
        variables = {} if found is None else dict(found.vars)
        for folder in self._draft.folders:
            variables.update(folder.hosts.get(host, _NOTHING))
        return shown_vars(variables)

    def priority(self, group: str) -> int:
        """The group's rank among those of its depth; 1 where nobody gave it one."""
        return self._draft.groups[group].priority

    def layers(self, host: str) -> Iterator[tuple[str, Mapping[str, Assigned]]]:
        """What each place gives the host, weakest first. Files of group_vars/ are stronger than the inventory's own
        group variables, whichever group, as in Ansible; what is said of the host itself is strongest."""
        yield from self._group_layers(self.groups_of(host))
        yield f"host {host}", self._draft.hosts[host].vars
        for folder in self._draft.folders:
            yield f"host {host} ({_beside(folder, 'host_vars')})", folder.hosts.get(host, _NOTHING)

    def _group_layers(self, groups: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Assigned]]]:
        for name in groups:
            yield f"group {name}", self._draft.groups[name].vars
        # Of all files, those of `all` are weakest; then the directories count, and within one the groups.
        for names in (["all"], [name for name in groups if name != "all"]):
            for folder in self._draft.folders:
                for name in names:
                    if name in folder.groups:
                        yield f"group {name} ({_beside(folder, 'group_vars')})", folder.groups[name]

    def _group_vars(self, groups: tuple[str, ...]) -> dict[str, Assigned]:
        merged = self._merged.get(groups)
        if merged is None:
            merged = self._merged[groups] = {}
            for _, layer in self._group_layers(groups):
                merged.update(layer)
        return merged

    def _group(self, group: DraftGroup) -> Group:
        variables = dict(group.vars)
        for folder in self._draft.folders:
            variables.update(folder.groups.get(group.name, _NOTHING))
        return Group(
            name=group.name,
            hosts=tuple(group.hosts),
            children=tuple(group.children),
            vars=MappingProxyType(shown_vars(variables)),
            source=group.source,
        )

    def _in_order(self) -> Iterator[str]:
        """The hosts as `all` lists them: level by level of its groups, in each group as written."""
        groups = self._draft.groups
        found: set[str] = set()
        seen = {"all"}
        level = ["all"]
        while level:
            for name in level:
                for host in groups[name].hosts:
                    if host not in found:
                        found.add(host)
                        yield host
            below = [child for name in level for child in groups[name].children]
            level = [child for child in dict.fromkeys(below) if child not in seen]
            seen.update(level)

    def _settle(self) -> None:
        """Who is in no group is ungrouped; groups without a parent are children of `all`."""
        draft, groups = self._draft, self._draft.groups
        children = {child for group in groups.values() for child in group.children}
        for name in groups:
            if name != "all" and name not in children:
                groups["all"].children[name] = None
        grouped = {host for name, group in groups.items() if name not in {"all", "ungrouped"} for host in group.hosts}
        ungrouped = groups["ungrouped"]
        for host in [name for name in ungrouped.hosts if name in grouped]:
            del ungrouped.hosts[host]
        for host in draft.hosts:
            if host not in grouped and host not in ungrouped.hosts:
                ungrouped.hosts[host] = None

    def _depths(self) -> dict[str, int]:
        """The longest way from `all` to each group; there are no cycles (see `Draft.add_child`)."""
        groups = self._draft.groups
        waiting = dict.fromkeys(groups, 0)
        for group in groups.values():
            for child in group.children:
                waiting[child] += 1
        depth = dict.fromkeys(groups, 0)
        ready = [name for name, count in waiting.items() if not count]
        while ready:
            name = ready.pop()
            for child in groups[name].children:
                depth[child] = max(depth[child], depth[name] + 1)
                waiting[child] -= 1
                if not waiting[child]:
                    ready.append(child)
        return depth


def _beside(folder: VarsFolder, name: str) -> str:
    return name if folder.beside == "inventory" else f"{name} beside the playbook"
