"""The YAML form of an inventory: groups of hosts, children and vars. JSON files are the same."""

from __future__ import annotations

from checkrunner.load.documents import Document, parse
from checkrunner.load.draft import Assigned, Draft, DraftGroup
from checkrunner.load.nodes import Node, YamlList, YamlMap, YamlScalar, plain, raw_text
from checkrunner.model.errors import InventoryError, nearest

__all__ = ["assignments", "read_yaml"]

_PARTS = ("hosts", "children", "vars")


def read_yaml(text: str, path: str, draft: Draft) -> None:
    """Add what the text says to the draft. Raises InventoryError at the place."""
    document = parse(text, path, InventoryError)
    draft.lines[path] = document.lines
    root = document.root
    if _is_null(root):
        raise InventoryError("the inventory is empty", source=_start(document).ref)
    if not isinstance(root, YamlMap):
        hint = "Start with `all:`, below it `hosts:` with one `name:` a line."
        if isinstance(root, YamlList) and root and isinstance(root[0], YamlMap) and "hosts" in root[0]:
            hint = "This looks like a playbook."
        start = _start(document)
        raise document.fail(start, f"an inventory is a mapping of groups, this is {raw_text(start)}", hint)
    for name, node in root.items():
        key = root.keys_at[name]
        if name in _PARTS and "all" not in root:
            raise document.fail(key, f"{name!r} is not the name of a group", "Put `all:` above it and indent the rest.")
        if name in {"plugin", "_meta"}:
            hint = "Save its output with `ansible-inventory --list --yaml` and use that."
            raise document.fail(key, "this belongs to an inventory plugin or script, which are not supported", hint)
        _group(name, key, node, document, draft)


def assignments(node: YamlMap) -> dict[str, Assigned]:
    """The variables of a mapping."""
    return {
        name: Assigned(plain(value), value.raw if isinstance(value, YamlScalar) else "", value.ref)
        for name, value in node.items()
    }


def _is_null(node: Node | None) -> bool:
    return node is None or (isinstance(node, YamlScalar) and node.value is None)


def _start(document: Document) -> Node:
    return document.root or YamlMap(document.path, 0, 0)


def _group(name: str, key: YamlScalar, node: Node, document: Document, draft: Draft) -> None:
    group = draft.group(name, key.ref)
    if _is_null(node):
        return
    if not isinstance(node, YamlMap):
        raise document.fail(node, f"group {name!r} is a mapping with hosts, children, vars; this is {raw_text(node)}")
    for part in node:
        if part not in _PARTS:
            close = nearest(part, _PARTS)
            hint = f"Did you mean {close!r}?" if close else "Hosts belong under `hosts:`, groups under `children:`."
            raise document.fail(node.keys_at[part], f"unknown key {part!r} in group {name!r}", hint)
    for variable, value in assignments(_mapping(node, "vars", name, document)).items():
        draft.set_group_var(group, variable, value)
    children = _mapping(node, "children", name, document)
    for child, below in children.items():
        at = children.keys_at[child]
        draft.add_child(group, draft.group(child, at.ref), at.ref)
        _group(child, at, below, document, draft)
    hosts = _mapping(node, "hosts", name, document)
    for entry, values in hosts.items():
        _hosts(entry, hosts.keys_at[entry], values, group, document, draft)


def _mapping(node: YamlMap, part: str, group: str, document: Document) -> YamlMap:
    value: Node | None = node.get(part)
    if isinstance(value, YamlMap):
        return value
    empty = YamlMap(document.path, node.line, node.column)
    if value is None or _is_null(value):
        return empty
    if isinstance(value, YamlScalar) and part != "vars":  # a lone name may stand without its colon
        empty[value.raw] = YamlScalar(value.path, "", None, "", value.line, value.column, 1)
        empty.keys_at[value.raw] = value
        return empty
    hint = "Write each as `name:`, without a dash." if isinstance(value, YamlList) else ""
    raise document.fail(value, f"{part!r} of group {group!r} is a mapping, this is {raw_text(value)}", hint)


def _hosts(entry: str, key: YamlScalar, values: Node, group: DraftGroup, document: Document, draft: Draft) -> None:
    hosts = draft.add_hosts(entry, group, key.ref)
    if _is_null(values):
        return
    if not isinstance(values, YamlMap):
        message = f"the variables of host {entry!r} are a mapping, this is {raw_text(values)}"
        raise document.fail(values, message, "Write `name: value` below the host.")
    for name, value in assignments(values).items():
        for host in hosts:
            host.vars[name] = value
