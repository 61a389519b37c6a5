"""What `-i` can name: a file, a directory of files, a program that prints an inventory, a list (``web1,web2,``), a
node set (``nodeset:web[1-3]``)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrunner.load.draft import Draft
from checkrunner.load.inventory_forms import read_inventory
from checkrunner.load.inventory_program import read_program
from checkrunner.load.programs import ProgramError
from checkrunner.load.veil import veiled
from checkrunner.model.errors import InventoryError, nearest
from checkrunner.model.sources import SourceRef
from checkrunner.nodesets import PREFIX, NodeSetError, node_set

__all__ = ["read_source"]

_IGNORED_NAMES = frozenset({"group_vars", "host_vars", "vars_plugins"})
# What Ansible leaves out: leftovers of editors and package managers, documents, its own configuration.
_IGNORED = re.compile(r"\..*|.*(~|\.(pyc|pyo|swp|bak|rpm|md|txt|rst|orig|cfg|retry))", re.DOTALL)


def read_source(source: str, draft: Draft) -> str | None:
    """Add what a source says to the draft. Gives the directory whose group_vars/ and host_vars/ belong to it, if any.

    Raises InventoryError at the place in a file, or for the source as a whole.
    """
    if source.startswith(PREFIX) and not os.path.exists(source):
        _read_node_set(source, draft)
        return None
    if "," in source and not os.path.exists(source):
        _read_list(source, draft)
        return None
    if os.path.isdir(source):
        if not _read_directory(source, draft, set()):
            left_out = ", ".join(sorted(os.listdir(source))[:10])
            hint = f"Left out by their names, as in Ansible: {left_out}." if left_out else ""
            raise InventoryError("the directory holds no inventory", source=SourceRef(path=source), hint=hint)
        return source
    if not os.path.exists(source):
        raise _missing(source)
    _read_path(source, draft)
    return os.path.dirname(source)


def _missing(source: str) -> InventoryError:
    """The error for a source that does not exist: a mistyped file, or names of hosts without a sign that they are."""
    if not source.strip():
        return InventoryError("an empty text is no inventory", source=SourceRef(path="-i"), hint="Name a file.")
    folder, name = os.path.split(source)
    try:
        close = nearest(name, os.listdir(folder or "."))
    except OSError:
        close = None
    if close is not None:
        hint = f"Did you mean {os.path.join(folder, close)!r}?"
    elif "[" in source:
        hint = f"A node set is written -i '{PREFIX}{source}'."
    else:
        hint = "" if folder else f"For a host of that name write -i {source}, (with the comma)."
    return InventoryError("there is no such inventory file", source=SourceRef(path=source), hint=hint)


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


def _read_node_set(source: str, draft: Draft) -> None:
    ref = SourceRef(path=f"-i {source}")
    try:
        names = node_set(source.removeprefix(PREFIX))
    except NodeSetError as exc:
        raise InventoryError(exc.message, source=ref, hint=exc.hint) from exc
    for name in names:
        draft.add_hosts(name, draft.groups["ungrouped"], ref)


def _read_directory(folder: str, draft: Draft, above: set[str]) -> int:
    """Read a directory in the order of names, others within it in their place. Gives how many files were read."""
    real = os.path.realpath(folder)
    if real in above:  # a link that leads back up
        return 0
    count = 0
    for path in _entries(folder):
        if os.path.isdir(path):
            count += _read_directory(path, draft, above | {real})
        elif os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited for without end
            raise InventoryError("is neither a file nor a directory", source=SourceRef(path=path))
        else:
            _read_path(path, draft)
            count += 1
    return count


def _entries(folder: str) -> Iterator[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as exc:
        raise InventoryError(f"cannot be read: {exc.strerror or exc}", source=SourceRef(path=folder)) from exc
    for name in names:
        if name not in _IGNORED_NAMES and not _IGNORED.fullmatch(name):
            yield os.path.join(folder, name)


def _read_path(path: str, draft: Draft) -> None:
    if os.path.isfile(path) and os.access(path, os.X_OK):
        try:
            read_program(path, draft)
        except ProgramError as exc:
            if not exc.cannot_start:
                raise InventoryError(f"the program {exc.message}", source=SourceRef(path=path), hint=exc.hint) from exc
        else:
            return
        # Some file systems call every file executable.
    text, encrypted = draft.secrets.read_text(path, InventoryError)
    if encrypted:
        with veiled(draft, path):
            read_inventory(text, path, draft)
        return
    try:
        read_inventory(text, path, draft)
    except InventoryError as exc:
        if text.startswith("#!"):
            exc.hint = "Is it a program? Then it needs `chmod +x`."
        raise
