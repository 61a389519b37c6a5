"""The TOML form of an inventory: tables of groups, with `hosts` and `vars` as tables and `children` as a list."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from checkrunner.load.draft import Assigned, Draft, DraftGroup
from checkrunner.model.errors import InventoryError, nearest
from checkrunner.model.sources import SourceRef

__all__ = ["read_toml"]

_PARTS = ("hosts", "children", "vars")
_AT = re.compile(r"\s*\(at line (\d+), column (\d+)\)|\s*\(at end of document\)")


def read_toml(text: str, path: str, draft: Draft) -> None:
    """Add what the text says to the draft. Raises InventoryError at the line, as far as it can be told."""
    draft.lines[path] = text.splitlines()
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise _broken(str(exc), path, draft) from exc
    if not data:
        raise InventoryError("the inventory is empty", source=SourceRef(path=path))
    reader = _Reader(path, draft)
    if "plugin" in data:
        hint = "Save its output with `ansible-inventory --list --yaml` and use that."
        raise draft.fail(reader.at("plugin"), "this belongs to an inventory plugin, which is not supported", hint)
    for name, table in data.items():
        reader.group(name, table)


def _broken(problem: str, path: str, draft: Draft) -> InventoryError:
    lines = draft.lines[path]
    found = _AT.search(problem)
    line, column = (int(found[1]), int(found[2])) if found and found[1] else (len(lines), 0)
    message = problem[: found.start()] if found else problem
    hint = "In TOML a name is there once, texts are in quotes, lists in [ ], and a table is name = { } or [name]."
    return draft.fail(SourceRef(path=path, line=line, column=column), f"TOML: {message[:1].lower()}{message[1:]}", hint)


class _Reader:
    def __init__(self, path: str, draft: Draft) -> None:
        self.path, self.draft, self.lines = path, draft, draft.lines[path]

    def at(self, *names: str) -> SourceRef:
        """Where names stand that follow each other from the start of the file on. TOML's own reader keeps no places,
        so this is where they are first seen in that order; the file as a whole where they are not."""
        line, column = 0, 0
        for name in names:
            word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
            for number in range(max(line - 1, 0), len(self.lines)):
                text = self.lines[number].partition("#")[0]
                found = word.search(text, column if number == line - 1 else 0)
                if found:
                    line, column = number + 1, found.start() + 1
                    break
        return SourceRef(path=self.path, line=line, column=column)

    def group(self, name: str, table: Any) -> DraftGroup:
        if not isinstance(table, dict):
            hint = "Groups are tables: [name.hosts], [name.vars]."
            raise self.draft.fail(self.at(name), f"group {name!r} is a table, this is {table!r}", hint)
        group = self.draft.group(name, self.at(name))
        for part, below in table.items():
            if part not in _PARTS:
                close = nearest(part, _PARTS)
                hint = f"Did you mean {close!r}?" if close else "Hosts belong into [group.hosts]."
                raise self.draft.fail(self.at(name, part), f"unknown key {part!r} in group {name!r}", hint)
            if part == "children":
                self.children(group, below)
                continue
            if not isinstance(below, dict):
                message = f"{part!r} of group {name!r} is a table, this is {below!r}"
                raise self.draft.fail(self.at(name, part), message, f"Write [{name}.{part}].")
            if part == "hosts":
                self.hosts(group, below)
            else:
                for variable, value in self.assignments(below, name, part).items():
                    self.draft.set_group_var(group, variable, value)
        return group

    def children(self, group: DraftGroup, names: Any) -> None:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            message = f"'children' of group {group.name!r} is a list of names, this is {names!r}"
            raise self.draft.fail(self.at(group.name, "children"), message, 'Write children = ["web", "db"].')
        for name in names:
            at = self.at(group.name, "children", name)
            self.draft.add_child(group, self.draft.group(name, at), at)

    def hosts(self, group: DraftGroup, entries: dict[str, Any]) -> None:
        for entry, values in entries.items():
            at = self.at(group.name, "hosts", entry)
            hosts = self.draft.add_hosts(entry, group, at)
            if not isinstance(values, dict):
                message = f"the variables of host {entry!r} are a table, this is {values!r}"
                raise self.draft.fail(at, message, f"Write {entry} = {{}} or {entry} = {{ name = value }}.")
            self.draft.set_host_vars(hosts, self.assignments(values, group.name, "hosts", entry))

    def assignments(self, values: dict[str, Any], *way: str) -> dict[str, Assigned]:
        return {
            name: Assigned(value, value if isinstance(value, str) else str(value), self.at(*way, name))
            for name, value in values.items()
        }
