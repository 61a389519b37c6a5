"""Inventory sources to `model.Inventory`: all of them read, the variables beside them added, everything merged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import MappingProxyType

from checkrunner.load.ansible_names import warn_of_idle_settings
from checkrunner.load.draft import Assigned, Draft, DraftHost
from checkrunner.load.merge import Merger
from checkrunner.load.origins import InventoryOrigins
from checkrunner.load.secrets import SecretReader
from checkrunner.load.sources import read_source
from checkrunner.load.vars_files import read_vars_files
from checkrunner.model.inventory import Group, Host, Inventory
from checkrunner.model.sources import NOWHERE

__all__ = ["load_inventory", "load_inventory_with_origins", "localhost"]


def load_inventory(
    sources: Sequence[str], *, secrets: SecretReader | None = None, playbook_dir: str | None = None
) -> Inventory:
    """Read and merge inventories; where two say the same, the later wins. Raises InventoryError."""
    return load_inventory_with_origins(sources, secrets=secrets, playbook_dir=playbook_dir)[0]


def load_inventory_with_origins(
    sources: Sequence[str], *, secrets: SecretReader | None = None, playbook_dir: str | None = None
) -> tuple[Inventory, InventoryOrigins]:
    """The same, and where everything comes from (see `origins.explain`). Without sources it is this machine.

    Variables beside the playbook are those below `playbook_dir`. `secrets` opens encrypted files and values.
    """
    draft = Draft(secrets)
    folders: dict[str, None] = {}
    for source in sources:
        folder = read_source(source, draft)
        if folder is not None:
            folders.pop(folder, None)  # what is named again is read again in Ansible: the last place counts
            folders[folder] = None
    if not sources:
        _add_this_machine(draft)
    for folder in folders:
        read_vars_files(folder, draft)
    if playbook_dir is not None and not _same(playbook_dir, list(folders)[-1:]):
        read_vars_files(playbook_dir, draft, beside="playbook")
    _warn_of_shared_names(draft)
    warn_of_idle_settings(draft)
    merger = Merger(draft)
    return merger.inventory(sources), InventoryOrigins(merger, tuple(draft.warnings))


def _same(folder: str, others: Sequence[str]) -> bool:
    return any(os.path.realpath(folder) == os.path.realpath(other) for other in others)


def _add_this_machine(draft: Draft) -> None:
    host = draft.hosts["localhost"] = DraftHost("localhost", NOWHERE)
    host.vars["ansible_connection"] = Assigned("local", "local", NOWHERE)
    draft.groups["ungrouped"].hosts["localhost"] = None


def localhost() -> Inventory:
    """The inventory of a run without one: this machine, over the local transport."""
    host = Host(name="localhost", address="localhost", transport="local", groups=("ungrouped",))
    groups = {
        "all": Group(name="all", children=("ungrouped",)),
        "ungrouped": Group(name="ungrouped", hosts=("localhost",)),
    }
    return Inventory(hosts=MappingProxyType({"localhost": host}), groups=MappingProxyType(groups))


def _warn_of_shared_names(draft: Draft) -> None:
    for name in draft.groups:
        if name in draft.hosts:
            message = f"{name!r} is a group and a host; in patterns it means the host, after & and ! the group"
            draft.warn(draft.hosts[name].source, message)
