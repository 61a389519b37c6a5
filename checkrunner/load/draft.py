"""An inventory while it is being read: groups, hosts and variables of all sources, each with its place. Not merged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from checkrunner.load.quantities import NotationError
from checkrunner.load.ranges import host_names
from checkrunner.load.secrets import SecretReader
from checkrunner.model.errors import InventoryError
from checkrunner.model.sources import SourceRef

__all__ = ["Assigned", "Draft", "DraftGroup", "DraftHost", "VarsFolder"]

_OUTSIDE_PATTERNS = re.compile(r"[\s:,\[\]*?]|\A[!&~@]")


@dataclass(slots=True)
class Assigned:
    """A variable's value, the text it was written as, and the place of that."""

    value: Any
    text: str
    ref: SourceRef


@dataclass(slots=True)
class DraftHost:
    """A host and what inventory sources say of it."""

    name: str
    source: SourceRef
    vars: dict[str, Assigned] = field(default_factory=dict)


@dataclass(slots=True)
class DraftGroup:
    """`hosts` and `children` are ordered sets; the places are those where each was first named in the group."""

    name: str
    source: SourceRef
    hosts: dict[str, None] = field(default_factory=dict)
    children: dict[str, None] = field(default_factory=dict)
    vars: dict[str, Assigned] = field(default_factory=dict)
    priority: int = 1
    host_places: dict[str, SourceRef] = field(default_factory=dict)
    child_places: dict[str, SourceRef] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class VarsFolder:
    """What group_vars/ and host_vars/ of one directory say, by name. `beside` is ``inventory`` or ``playbook``."""

    beside: str
    groups: dict[str, dict[str, Assigned]] = field(default_factory=dict)
    hosts: dict[str, dict[str, Assigned]] = field(default_factory=dict)


class Draft:
    """What has been read so far. Every method that takes a place raises InventoryError there. `secrets` opens what
    stands for a secret in the sources."""

    def __init__(self, secrets: SecretReader | None = None) -> None:
        self.secrets = secrets or SecretReader()
        nowhere = SourceRef(path="<inventory>")
        self.hosts: dict[str, DraftHost] = {}
        self.groups = {name: DraftGroup(name, nowhere) for name in ("all", "ungrouped")}
        self.groups["all"].children["ungrouped"] = None
        self.folders: list[VarsFolder] = []  # the later is the stronger
        self.lines: dict[str, list[str]] = {}
        self.warnings: list[str] = []

    def fail(self, ref: SourceRef, message: str, hint: str = "") -> InventoryError:
        """An error at a place, with the line itself."""
        lines = self.lines.get(ref.path, [])
        text = lines[ref.line - 1].rstrip() if 0 < ref.line <= len(lines) else ""
        return InventoryError(message, source=ref, line_text=text, hint=hint)

    def warn(self, ref: SourceRef, message: str) -> None:
        """Something that is done, and is probably not what was meant."""
        self.warnings.append(f"{ref}: {message}")

    def group(self, name: str, ref: SourceRef) -> DraftGroup:
        """The group of that name, made if need be."""
        group = self.groups.get(name)
        if group is None:
            if not name:
                raise self.fail(ref, "the name of a group is empty")
            if _OUTSIDE_PATTERNS.search(name):
                self.warn(ref, f"no pattern can name the group {name!r}: give it letters, digits and '_' only")
            group = self.groups[name] = DraftGroup(name, ref)
        elif not group.source.line:
            group.source = ref
        return group

    def add_hosts(self, text: str, group: DraftGroup, ref: SourceRef) -> list[DraftHost]:
        """The hosts that an entry (a name, a range, host:port) stands for, as members of the group."""
        try:
            names, port = host_names(text)
        except NotationError as exc:
            at = SourceRef(path=ref.path, line=ref.line, column=ref.column + exc.offset)
            raise self.fail(at, exc.message, exc.hint) from exc
        found = []
        for name in names:
            host = self.hosts.get(name)
            if host is None:
                host = self.hosts[name] = DraftHost(name, ref)
                if port is not None:
                    host.vars["ansible_port"] = Assigned(port, str(port), ref)
            elif port is not None:
                self._warn_of_lost_port(host, port, ref)
            group.hosts[name] = None
            group.host_places.setdefault(name, ref)
            found.append(host)
        return found

    def _warn_of_lost_port(self, host: DraftHost, port: int, ref: SourceRef) -> None:
        before = host.vars.get("ansible_port")
        if before is None or before.value != port:
            message = (
                f"the port {port} is not used: only where a host is named first ({host.source}) does its port count"
            )
            self.warn(ref, message)

    def set_host_vars(self, hosts: Iterable[DraftHost], values: Mapping[str, Assigned]) -> None:
        """Set variables of hosts. As in Ansible, they go to a group that was read before and has the host's name.

        Each host has lists and mappings of its own: written as YAML, no host's are an alias of another's.
        """
        for number, host in enumerate(hosts):
            group = self.groups.get(host.name)
            if group is None:
                host.vars.update({name: _copied(value) for name, value in values.items()} if number else values)
                continue
            for name, value in values.items():
                message = f"{name!r} is set for the whole group {host.name!r}, because the host has the group's name"
                self.warn(value.ref, message)
                self.set_group_var(group, name, value)

    def add_child(self, parent: DraftGroup, child: DraftGroup, ref: SourceRef) -> None:
        """Make a group a child of another. A group that is its own ancestor is an error that names the way round."""
        if child.name in {"all", "ungrouped"} and parent.name != "all":
            message = f"the group {child.name!r} cannot be a child of another group, here {parent.name!r}"
            raise self.fail(ref, message, "It always exists, directly or as the child of `all`.")
        if parent.name == "ungrouped":
            # Ansible takes them, and then its hosts are in `ungrouped` or not by the order in which they were read.
            message = f"the group 'ungrouped' cannot have children, here {child.name!r}"
            raise self.fail(ref, message, "It is for the hosts that are in no group: give the children another parent.")
        way = self._way(child.name, parent.name)
        if way:
            message = f"group {parent.name!r} contains itself: {' > '.join([parent.name, *way])}"
            raise self.fail(ref, message, "Take one of these out of the other's children.")
        parent.children[child.name] = None
        parent.child_places.setdefault(child.name, ref)

    def _way(self, start: str, goal: str) -> list[str]:
        stack, seen = [[start]], {start}
        while stack:
            way = stack.pop()
            if way[-1] == goal:
                return way
            for name in self.groups[way[-1]].children:
                if name not in seen:
                    seen.add(name)
                    stack.append([*way, name])
        return []

    def set_group_var(self, group: DraftGroup, name: str, value: Assigned) -> None:
        """Set a variable of a group; its priority among groups of the same depth is none of its variables."""
        if name != "ansible_group_priority":
            group.vars[name] = value
            return
        try:
            group.priority = int(value.value)
        except (ValueError, TypeError, OverflowError) as exc:
            message = f"ansible_group_priority is a whole number, this is {value.text!r}"
            raise self.fail(
                value.ref, message, "Of groups of one depth, the higher wins; without it, it is 1."
            ) from exc


def _copied(assigned: Assigned) -> Assigned:
    if not isinstance(assigned.value, list | dict):
        return assigned
    return Assigned(_copy(assigned.value), assigned.text, assigned.ref)


def _copy(value: Any) -> Any:
    """Lists and mappings anew, with the same values in them: a secret is opened once for all who have it."""
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return {key: _copy(item) for key, item in value.items()} if isinstance(value, dict) else value
