"""Names that every host has and nobody sets: who it is, who else there is, where the run came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checkrunner.model.inventory import Host, Inventory, empty
from checkrunner.plan.texts import Templates
from checkrunner.plan.values import Lazy
from checkrunner.plan.variables import Variables, host_variables

__all__ = ["ANSIBLE_VERSION", "Magic", "Surroundings"]

ANSIBLE_VERSION: Mapping[str, Any] = {"full": "2.19.0", "string": "2.19.0", "major": 2, "minor": 19, "revision": 0}
"""The version of Ansible whose language this is, for conditions on it."""


def _nowhere(_host: Host) -> Mapping[str, Any]:
    return empty()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a plan's texts may read beside variables. `constants` are the same for all hosts (`playbook_dir`); `places`
    are a host's own (`inventory_dir`, `inventory_file`)."""

    inventory: Inventory = field(default_factory=lambda: Inventory(hosts=empty(), groups=empty()))
    constants: Mapping[str, Any] = field(default_factory=empty)
    places: Callable[[Host], Mapping[str, Any]] = _nowhere


class _Made(dict[str, Any], Lazy):
    """Finished as it is."""


class _Names(list[str], Lazy):
    """Names, finished as they are."""


class _HostVars(Lazy, Mapping[str, Any]):
    """The variables of hosts by name, made when they are asked for."""

    __slots__ = ("_hidden", "_hosts", "_made", "_make")

    def __init__(
        self, hosts: Mapping[str, Host], hidden: Mapping[str, Host], make: Callable[[Host], Variables]
    ) -> None:
        self._hosts, self._hidden, self._make = hosts, hidden, make
        self._made: dict[str, Variables] = {}

    def __getitem__(self, name: str) -> Variables:
        found = self._made.get(name)
        if found is None:
            host = self._hosts[name] if name in self._hosts else self._hidden[name]
            found = self._made[name] = self._make(host)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._hosts or name in self._hidden

    def __iter__(self) -> Iterator[str]:
        return iter(self._hosts)

    def __len__(self) -> int:
        return len(self._hosts)

    def __repr__(self) -> str:
        return f"<variables of {len(self)} hosts>"


class Magic:
    """Makes these names, those that hosts share only once. `plays` are names and hosts of the plays."""

    def __init__(
        self,
        surroundings: Surroundings,
        plays: Sequence[tuple[str, Sequence[Host]]],
        *,
        extra_vars: Mapping[str, Any],
        templates: Templates,
    ) -> None:
        self._surroundings = surroundings
        self._plays = plays
        self._extra_vars, self._templates = extra_vars, templates
        self._everywhere: Mapping[str, Any] | None = None
        self._of_play: dict[int, Mapping[str, Any]] = {}

    def layers(self, host: Host, play_index: int | None = None) -> tuple[Mapping[str, Any], ...]:
        """The names of a host; in a play, those about it as well."""
        own = {
            "inventory_hostname_short": host.name.split(".")[0],
            "inventory_dir": None,
            "inventory_file": None,
            **self._surroundings.places(host),
        }
        return (own, self._shared()) if play_index is None else (own, self._in_play(play_index), self._shared())

    def _in_play(self, index: int) -> Mapping[str, Any]:
        found = self._of_play.get(index)
        if found is None:
            name, hosts = self._plays[index]
            names = _Names(host.name for host in hosts)
            words = ("ansible_play_hosts", "ansible_play_hosts_all", "ansible_play_batch", "play_hosts")
            found = self._of_play[index] = {"ansible_play_name": name, **dict.fromkeys(words, names)}
        return found

    def _shared(self) -> Mapping[str, Any]:
        if self._everywhere is None:
            inventory = self._surroundings.inventory
            hosts = {host.name: host for _, hosts in self._plays for host in hosts if host.name not in inventory.hosts}
            local = inventory.localhost
            hidden = {local.name: local} if local is not None else {}
            known = {**inventory.hosts, **{name: host for name, host in hosts.items() if name not in hidden}}
            self._everywhere = {
                "ansible_check_mode": False,
                "ansible_diff_mode": False,
                "ansible_verbosity": 0,
                "ansible_version": _Made(ANSIBLE_VERSION),
                **self._surroundings.constants,
                "groups": _Made(_members(inventory, known)),
                "hostvars": _HostVars(known, hidden, self._variables),
            }
        return self._everywhere

    def _variables(self, host: Host) -> Variables:
        return host_variables(host, empty(), self._extra_vars, self._templates, self.layers(host))


def _members(inventory: Inventory, hosts: Mapping[str, Host]) -> dict[str, list[str]]:
    """The hosts of each group, also those of groups within it, in the inventory's order."""
    members: dict[str, list[str]] = {name: _Names() for name in ("all", *inventory.groups)}
    for host in hosts.values():
        for group in ("all", *(group for group in host.groups if group != "all")):
            members.setdefault(group, _Names()).append(host.name)
    return members
