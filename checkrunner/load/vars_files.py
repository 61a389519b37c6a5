"""group_vars/ and host_vars/ beside an inventory: files and directories named after groups and hosts."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator

from checkrunner.load.draft import Assigned, Draft, VarsFolder
from checkrunner.load.inventory_yaml import assignments, parse_data
from checkrunner.load.nodes import YamlMap, YamlScalar, raw_text
from checkrunner.load.secrets import unreadable
from checkrunner.load.veil import cover
from checkrunner.model.errors import InventoryError, nearest
from checkrunner.model.sources import SourceRef

__all__ = ["read_vars_files"]

_SUFFIXES = (".yml", ".yaml", ".json")


def read_vars_files(folder: str, draft: Draft, *, beside: str = "inventory") -> None:
    """Add what the two directories below `folder` say of groups and hosts that the draft knows.

    Beside a playbook may be files for hosts of other inventories: those go without a warning.
    """
    found = VarsFolder(beside=beside)
    _collect(os.path.join(folder, "group_vars"), "group", draft.groups, found.groups, draft, beside)
    hosts = {*draft.hosts, "localhost"}  # which is there even if no source names it
    _collect(os.path.join(folder, "host_vars"), "host", hosts, found.hosts, draft, beside)
    if found.groups or found.hosts:
        draft.folders.append(found)


def _collect(
    folder: str, kind: str, known: Collection[str], found: dict[str, dict[str, Assigned]], draft: Draft, beside: str
) -> None:
    for name, path in _entries(folder, known, draft):
        if name in known:
            found.setdefault(name, {}).update(_read(path, draft))
        elif beside == "inventory":
            draft.warn(SourceRef(path=path), _unread(kind, name, known))


def _unread(kind: str, name: str, known: Iterable[str]) -> str:
    close = nearest(name, known)
    return f"is not read: the inventory has no {kind} {name!r}" + (f". Did you mean {close!r}?" if close else "")


def _entries(folder: str, known: Collection[str], draft: Draft) -> Iterator[tuple[str, str]]:
    """(name, file) pairs. For one name only the first counts of: a file or directory so called, .yml, .yaml, .json."""
    names = _names_in(folder)
    taken: dict[str, str] = {}
    for suffix in ("", *_SUFFIXES):
        for name in (name for name in names if name.endswith(suffix)):
            path, stem = os.path.join(folder, name), name.removesuffix(suffix)
            if not suffix and name.endswith(_SUFFIXES) and name not in known:
                continue
            if stem in taken:
                draft.warn(SourceRef(path=path), f"is not read, because {taken[stem]} is there too")
                continue
            taken[stem] = path
            yield from ((stem, file) for file in (_files_below(path) if os.path.isdir(path) else [path]))


def _files_below(folder: str, seen: set[str] | None = None) -> Iterator[str]:
    """The files of a directory tree. Links are followed, but no directory is read twice: one may lead back up."""
    seen = set() if seen is None else seen
    real = os.path.realpath(folder)
    if real in seen:
        return
    seen.add(real)
    for name in _names_in(folder):
        path = os.path.join(folder, name)
        suffix = os.path.splitext(name)[1]
        if os.path.isdir(path):
            if not suffix:
                yield from _files_below(path, seen)
        elif not suffix or suffix in _SUFFIXES:
            yield path


def _names_in(folder: str) -> list[str]:
    """The names in a directory that count, none where there is no such directory. Raises InventoryError for one that
    cannot be read: its variables would be missing in silence."""
    try:
        return [name for name in sorted(os.listdir(folder)) if not _ignored(name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as exc:
        raise InventoryError(f"cannot be read: {exc.strerror or exc}", source=SourceRef(path=folder)) from exc


def _ignored(name: str) -> bool:
    return name.startswith(".") or name.endswith("~")


def _read(path: str, draft: Draft) -> dict[str, Assigned]:
    text, encrypted = draft.secrets.read_text(path, InventoryError)
    try:
        found = _parsed(text, path, draft)
    except InventoryError as exc:
        if encrypted:
            raise unreadable(exc, InventoryError) from None
        raise
    if encrypted:
        draft.lines.pop(path, None)
        cover(found)
    return found


def _parsed(text: str, path: str, draft: Draft) -> dict[str, Assigned]:
    document = parse_data(text, path, draft.secrets)
    draft.lines[path] = document.lines
    root = document.root
    if root is None or (isinstance(root, YamlScalar) and root.value is None):
        return {}
    if not isinstance(root, YamlMap):
        raise document.fail(root, f"a file of variables is a mapping (name: value), this is {raw_text(root)}")
    return assignments(root)
