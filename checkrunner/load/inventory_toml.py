"""The TOML form of an inventory: tables of groups, with `hosts` and `vars` as tables and `children` as a list."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from checkrunner.load.draft import Assigned, Draft, DraftGroup
from checkrunner.load.nodes import is_too_deep
from checkrunner.model.errors import InventoryError, nearest
from checkrunner.model.sources import SourceRef

__all__ = ["read_toml"]

_PARTS = ("hosts", "children", "vars")
_AT = re.compile(r"\s*\(at line (\d+), column (\d+)\)|\s*\(at end of document\)")


def read_toml(text: str, path: str, draft: Draft) -> None:
    """Add what the text says to the draft. Raises InventoryError at the line, as far as it can be told."""
    draft.lines[path] = text.splitlines()
    try:
        data = _parsed(text)
    except tomllib.TOMLDecodeError as exc:
        raise _broken(str(exc), path, draft) from exc
    except RecursionError as exc:
        raise InventoryError("TOML: is nested too deeply", source=SourceRef(path=path)) from exc
    except ValueError as exc:  # the one thing that TOML allows and Python does not
        hint = "Put quotes around it to make it a text."
        raise InventoryError("TOML: a number has too many digits", source=SourceRef(path=path), hint=hint) from exc
    if not data:
        raise InventoryError("the inventory is empty", source=SourceRef(path=path))
    reader = _Reader(path, draft)
    if "plugin" in data:
        hint = "Save its output with `ansible-inventory --list --yaml` and use that."
        raise draft.fail(reader.at("plugin"), "this belongs to an inventory plugin, which is not supported", hint)
    for name, table in data.items():
        reader.group(name, table)


def _parsed(text: str) -> dict[str, Any]:
    data = tomllib.loads(text)
    if is_too_deep(data):
        raise RecursionError
    str(data)  # a ValueError for 0xff... of more digits than Python writes as a decimal number
    return data


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
        self.places: dict[tuple[str, ...], tuple[int, int]] = {}
        self.latest: dict[tuple[str, ...], tuple[int, int]] = {}  # by table: the place of what was asked for last

    def at(self, *names: str) -> SourceRef:
        """Where names stand that follow each other from the start of the file on. TOML's own reader keeps no places,
        so this is where they are first seen in that order; the last one that is found where one is not."""
        line, column = self._place(names)
        return SourceRef(path=self.path, line=line, column=column)

    def _place(self, names: tuple[str, ...]) -> tuple[int, int]:
        if not names:
            return 0, 0
        if names not in self.places:
            above = self._place(names[:-1])
            word = re.compile(rf"(?<![\w-]){re.escape(names[-1])}(?![\w-])")
            # What has the same table stands behind what was asked for before: searches do not start over each time.
            found = self._search(word, self.latest.get(names[:-1], above)) or self._search(word, above) or above
            self.places[names] = self.latest[names[:-1]] = found
        return self.places[names]

    def _search(self, word: re.Pattern[str], after: tuple[int, int]) -> tuple[int, int] | None:
        for number in range(max(after[0], 1), len(self.lines) + 1):
            found = word.search(self.lines[number - 1].partition("#")[0], after[1] if number == after[0] else 0)
            if found:
                return number, found.start() + 1
        return None

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
