"""Inventory sources to `model.Inventory`: files in YAML, JSON or INI form, and lists such as ``web1,web2,``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import MappingProxyType

from checkrunner.load.ansible_names import warn_of_idle_settings
from checkrunner.load.draft import Draft
from checkrunner.load.files import read_file
from checkrunner.load.inventory_forms import read_inventory
from checkrunner.load.merge import Merger
from checkrunner.load.origins import InventoryOrigins
from checkrunner.load.vars_files import read_vars_files, reject_vault
from checkrunner.model.errors import InventoryError
from checkrunner.model.inventory import Group, Host, Inventory
from checkrunner.model.sources import SourceRef

__all__ = ["load_inventory", "load_inventory_with_origins", "localhost"]


def load_inventory(sources: Sequence[str]) -> Inventory:
    """Read and merge inventories; where two say the same, the later wins. Raises InventoryError."""
    return load_inventory_with_origins(sources)[0]


def load_inventory_with_origins(sources: Sequence[str]) -> tuple[Inventory, InventoryOrigins]:
    """The same, and where everything comes from (see `origins.explain`)."""
    draft = Draft()
    folders: dict[str, None] = {}
    for source in sources:
        if "," in source and not os.path.exists(source):
            _read_list(source, draft)
        else:
            _read_source(source, draft)
            folders[os.path.dirname(source)] = None
    for folder in folders:
        read_vars_files(folder, draft)
    _warn_of_shared_names(draft)
    warn_of_idle_settings(draft)
    merger = Merger(draft)
    return merger.inventory(sources), InventoryOrigins(merger, tuple(draft.warnings))


def localhost() -> Inventory:
    """The inventory of a run without one: this machine, over the local transport."""
    host = Host(name="localhost", address="localhost", transport="local", groups=("ungrouped",))
    groups = {
        "all": Group(name="all", children=("ungrouped",)),
        "ungrouped": Group(name="ungrouped", hosts=("localhost",)),
    }
    return Inventory(hosts=MappingProxyType({"localhost": host}), groups=MappingProxyType(groups))


def _read_list(source: str, draft: Draft) -> None:
    ref = SourceRef(path=f"-i {source}")
    entries = [entry.strip() for entry in source.split(",") if entry.strip()]
    if not entries:
        raise InventoryError("the list of hosts is empty", source=ref, hint="Write -i host1,host2,")
    for entry in entries:
        user, at, bare = entry.rpartition("@")
        if at:
            hint = f"Write -i {bare}, and the user as `-u {user}`, or as `ansible_user` in an inventory file."
            raise InventoryError(f"{entry!r} is not the name of a host: it has a user in it", source=ref, hint=hint)
        draft.add_hosts(entry, draft.groups["ungrouped"], ref)


def _read_source(source: str, draft: Draft) -> None:
    ref = SourceRef(path=source)
    if os.path.isdir(source):
        hint = "Give each of its files with an -i of its own."
        raise InventoryError("is a directory; directories of inventories are not supported", source=ref, hint=hint)
    if not os.path.exists(source):
        hint = f"For a host of that name write -i {source}, (with the comma)." if "/" not in source else ""
        raise InventoryError("there is no such inventory file", source=ref, hint=hint)
    text = read_file(source, InventoryError)
    reject_vault(text, source)
    if text.startswith("#!") and os.access(source, os.X_OK):
        hint = "Run it with `ansible-inventory -i SCRIPT --list --yaml`, save the output and use that."
        raise InventoryError("is a program; inventory scripts are not supported", source=ref, hint=hint)
    read_inventory(text, source, draft)


def _warn_of_shared_names(draft: Draft) -> None:
    for name in draft.groups:
        if name in draft.hosts:
            message = f"{name!r} is a group and a host; in patterns it means the group"
            draft.warn(draft.hosts[name].source, message)
