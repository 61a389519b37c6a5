"""An inventory as `ansible-inventory` prints it: for every host what it would have, or as it can be read again."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checkrunner.app.prepare import read_inventory
from checkrunner.load.documents import dump
from checkrunner.load.extra_vars import parse_extra_vars
from checkrunner.load.origins import InventoryOrigins
from checkrunner.load.patterns import select
from checkrunner.load.secrets import SecretReader
from checkrunner.model.characters import is_hidden
from checkrunner.model.errors import NoHostsError, UnknownNameError, UsageError
from checkrunner.model.inventory import Group, Host, Inventory, empty
from checkrunner.model.sources import Secret, Template
from checkrunner.render.safe import safe

__all__ = ["Wanted", "inventory_text"]

_PROFILE = "inventory_legacy"
"""What Ansible's own readers of this JSON expect to find in it."""

_OF_ANSIBLE = frozenset(
    {
        "ansible_async_path",
        "ansible_collection_name",
        "ansible_config_file",
        "ansible_dependent_role_names",
        "ansible_diff_mode",
        "ansible_facts",
        "ansible_forks",
        "ansible_inventory_sources",
        "ansible_limit",
        "ansible_play_batch",
        "ansible_play_hosts",
        "ansible_play_hosts_all",
        "ansible_play_role_names",
        "ansible_playbook_python",
        "ansible_role_name",
        "ansible_role_names",
        "ansible_run_tags",
        "ansible_skip_tags",
        "ansible_verbosity",
        "ansible_version",
        "group_names",
        "groups",
        "hostvars",
        "inventory_dir",
        "inventory_file",
        "inventory_hostname",
        "inventory_hostname_short",
        "play_hosts",
        "playbook_dir",
        "role_name",
        "role_names",
        "role_path",
        "role_uuid",
    }
)
"""Names that Ansible gives values of its own: it leaves them out, wherever they come from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to print. `action` is ``list``, ``host`` or ``graph``; `start` is the host's pattern or the tree's group.

    `limit` is for ``list``, `with_vars` for ``graph``; `extra_vars` are as after ``-e``.
    """

    sources: Sequence[str]
    action: str
    start: str = "all"
    limit: str | None = None
    as_yaml: bool = False
    with_vars: bool = False
    export: bool = False
    extra_vars: Sequence[str] = ()
    playbook_dir: str | None = None
    allow_empty: bool = False


def inventory_text(wanted: Wanted, secrets: SecretReader) -> tuple[str, tuple[str, ...]]:
    """What `ansible-inventory` would print, and warnings.

    Raises InventoryError, NoHostsError for a limit that selects nobody, UnknownNameError and UsageError.
    """
    inventory, origins = read_inventory(wanted.sources, secrets=secrets, playbook_dir=wanted.playbook_dir)
    view = _View(
        inventory=inventory,
        origins=origins,
        hosts=_shown_hosts(inventory, wanted),
        export=wanted.export,
        extra_vars=parse_extra_vars(wanted.extra_vars, secrets),
    )
    if wanted.action == "graph":
        text = "\n".join(safe(line) for line in _graph(view, wanted.start, wanted.with_vars))
    else:
        document = _host_document(view, wanted.start) if wanted.action == "host" else _list_document(view, wanted)
        text = dump(document) if wanted.as_yaml else _json_text(document)
    return text, origins.warnings


def _shown_hosts(inventory: Inventory, wanted: Wanted) -> frozenset[str]:
    if wanted.action != "list" or wanted.limit is None:
        return frozenset(inventory.hosts)
    try:
        return frozenset(host.name for host in select(inventory, "all", wanted.limit))
    except NoHostsError:
        if wanted.allow_empty:
            return frozenset()
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """An inventory, and how to show it.

    `hosts` are those that are shown. With `export` a host has its own variables only, and groups have theirs: what can
    be read again. Without it, a host has everything, `extra_vars` above all.
    """

    inventory: Inventory
    origins: InventoryOrigins
    hosts: frozenset[str]
    export: bool = False
    extra_vars: Mapping[str, Any] = field(default_factory=empty)

    def host_vars(self, host: Host) -> dict[str, Any]:
        """The variables to show of a host."""
        if self.export:
            return _without_magic(self.origins.own_vars(host))
        return _without_magic({**host.vars, **self.extra_vars})

    def group_vars(self, group: Group) -> dict[str, Any]:
        """The variables of a group alone, with its priority if it has one."""
        priority = self.origins.priority(group.name)
        extra = {"ansible_group_priority": priority} if priority != 1 else {}
        return _without_magic({**group.vars, **extra})

    def members(self, group: Group) -> list[str]:
        """The group's own hosts that are shown; those of `all` are shown in `ungrouped`."""
        return [] if group.name == "all" else [name for name in group.hosts if name in self.hosts]


def _host_document(view: _View, pattern: str) -> dict[str, Any]:
    """The variables of the one host that a pattern names. Raises UsageError where it is not one."""
    hosts = select(view.inventory, pattern)
    if len(hosts) > 1:
        names = ", ".join(host.name for host in hosts[:20]) + (", ..." if len(hosts) > 20 else "")
        raise UsageError(f"{pattern!r} is not one host, but {len(hosts)}", hint=f"Its hosts: {names}")
    return view.host_vars(hosts[0])


def _list_document(view: _View, wanted: Wanted) -> dict[str, Any]:
    """Groups by name, and the variables of all hosts below ``_meta``; as YAML, groups within groups."""
    if wanted.as_yaml:
        return _yaml_group(view, view.inventory.groups["all"], set(), set())
    document: dict[str, Any] = {}
    for group in _below(view.inventory, "all"):
        entry: dict[str, Any] = {"hosts": view.members(group), "children": list(group.children)}
        if view.export:
            entry["vars"] = view.group_vars(group)
        entry = {key: value for key, value in entry.items() if value}
        if entry:
            document[group.name] = entry
    variables = {name: view.host_vars(host) for name, host in view.inventory.hosts.items() if name in view.hosts}
    hostvars = {name: values for name, values in variables.items() if values}
    return {**document, "_meta": {"hostvars": hostvars, "profile": _PROFILE}}


def _yaml_group(view: _View, group: Group, seen_groups: set[str], seen_hosts: set[str]) -> dict[str, Any]:
    """What occurs again has its variables at the first place only."""
    children: dict[str, Any] = {}
    for name in group.children:
        if name in seen_groups:
            children[name] = {}
        else:
            children.update(_yaml_group(view, view.inventory.groups[name], seen_groups, seen_hosts))
            seen_groups.add(name)
    hosts: dict[str, Any] = {}
    for name in view.members(group):
        hosts[name] = {} if name in seen_hosts else view.host_vars(view.inventory.hosts[name])
        seen_hosts.add(name)
    entry = {"children": children, "hosts": hosts, "vars": view.group_vars(group) if view.export else {}}
    entry = {key: value for key, value in entry.items() if value}
    return {group.name: entry} if entry else {}


def _graph(view: _View, start: str, with_vars: bool) -> Iterator[str]:
    """The tree below a group, line by line. Raises UnknownNameError."""
    if start not in view.inventory.groups:
        raise UnknownNameError("group", start, view.inventory.groups)
    return _graph_group(view, view.inventory.groups[start], 0, with_vars)


def _graph_group(view: _View, group: Group, depth: int, with_vars: bool) -> Iterator[str]:
    yield _branch(f"@{group.name}:", depth)
    for child in group.children:
        yield from _graph_group(view, view.inventory.groups[child], depth + 1, with_vars)
    for name in view.members(group):
        yield _branch(name, depth + 1)
        if with_vars:
            yield from _graph_vars(view.host_vars(view.inventory.hosts[name]), depth + 2)
    if with_vars:
        yield from _graph_vars(view.group_vars(group), depth + 1)


def _graph_vars(variables: Mapping[str, Any], depth: int) -> Iterator[str]:
    for name, value in sorted(variables.items()):
        yield _branch(f"{{{name} = {_masked(value)}}}", depth)


def _masked(value: Any) -> Any:
    """The value with masks for secrets, which look like other texts then, inside of lists and mappings too."""
    if isinstance(value, dict):
        return {key: _masked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item) for item in value]
    return str(value) if isinstance(value, Secret) else value


def _branch(text: str, depth: int) -> str:
    return f"{'  |' * depth}--{text}" if depth else text


def _json_text(document: Mapping[str, Any]) -> str:
    """The document in the layout of `ansible-inventory`: keys sorted, four spaces."""
    text = json.dumps(_jsonable(document), sort_keys=True, indent=4, ensure_ascii=False)
    if text.isascii():
        return text
    # What a terminal would act on can be written as an escape, and means the same.
    return "".join(json.dumps(char)[1:-1] if char > "\x7f" and is_hidden(char) else char for char in text)


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_key(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value) if isinstance(value, Secret) else value


def _key(key: Any) -> str:
    """A key as JSON writes it, so that keys of several types can be sorted."""
    if key is None or isinstance(key, bool | int | float):
        return json.dumps(key)
    return key.isoformat() if isinstance(key, dt.date | dt.time) else str(key)


def _below(inventory: Inventory, start: str) -> Iterator[Group]:
    """A group and its descendants, each once."""
    todo, seen = [start], {start}
    while todo:
        group = inventory.groups[todo.pop()]
        yield group
        todo += [child for child in group.children if child not in seen]
        seen.update(group.children)


def _without_magic(variables: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _unmarked(value) for name, value in variables.items() if name not in _OF_ANSIBLE}


def _unmarked(value: Any) -> Any:
    """Texts that are marked as no templates are shown like any other. What holds none is the same object: in YAML, one
    that occurs again is an alias."""
    if isinstance(value, Template):
        return value.text
    if isinstance(value, dict):
        items = {key: _unmarked(item) for key, item in value.items()}
        return items if any(items[key] is not value[key] for key in items) else value
    if isinstance(value, list):
        members = [_unmarked(item) for item in value]
        return members if any(a is not b for a, b in zip(members, value, strict=True)) else value
    return value
