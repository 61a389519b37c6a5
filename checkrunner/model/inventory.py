"""Hosts, groups, inventory: already merged, no look-up magic later. Pattern selection lives in `load/patterns`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from checkrunner.model.sources import NOWHERE, Secret, SourceRef

__all__ = ["Group", "Host", "Inventory", "Setting", "empty"]

_EMPTY: Mapping[str, Any] = MappingProxyType({})


def empty() -> Mapping[str, Any]:
    """The one empty mapping that nobody can change: the default of mapping fields."""
    return _EMPTY


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A connection setting as written, whose value is not known while the inventory is read: it is a template, or a
    secret that is opened late, or a list with such words. `name` is the variable that holds it."""

    name: str
    value: str | Secret | tuple[Any, ...]
    source: SourceRef = NOWHERE
    line_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One host as the inventory names it, its variables merged from all of its groups.

    `vars` holds every variable as written (with the ``ansible_`` prefix where it was written so); the fields beside it
    are the connection settings read out of them. `options` are the remaining connection settings by their name
    without prefix (``ssh_common_args``, ``host_key_checking``, ...), for the transport to read.

    `unsettled` are the settings whose value is not known yet, by the name of the field or option. Until they are
    settled, which is done for the hosts of a run only, a field has the text as written (a port: None).
    """

    name: str
    address: str
    transport: str = "ssh"
    port: int | None = None
    user: str | None = None
    private_key_file: str | None = None
    password: Secret | None = None
    groups: tuple[str, ...] = ()
    vars: Mapping[str, Any] = field(default_factory=empty)
    options: Mapping[str, Any] = field(default_factory=empty)
    unsettled: Mapping[str, Setting] = field(default_factory=empty)
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group: `hosts` are its direct members in file order, `children` its direct sub-groups."""

    name: str
    hosts: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    vars: Mapping[str, Any] = field(default_factory=empty)
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """All hosts in inventory order, and all groups; ``all`` and ``ungrouped`` are always among the groups.

    `localhost` is this machine as `localhost` names it where no source does: with the variables of ``all``. It is not
    among the hosts. `mentioned` has the hosts in the order in which the sources first name them, in which globs find
    them; empty means the order of `hosts`.
    """

    hosts: Mapping[str, Host]
    groups: Mapping[str, Group]
    sources: tuple[str, ...] = ()
    localhost: Host | None = None
    mentioned: tuple[str, ...] = ()
