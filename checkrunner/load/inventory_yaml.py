"""The YAML and JSON forms of an inventory: groups of hosts, children and vars."""

from __future__ import annotations

import json
import re
from typing import Any

from checkrunner.load.documents import Document, parse
from checkrunner.load.draft import Assigned, Draft, DraftGroup
from checkrunner.load.nodes import Node, YamlList, YamlMap, YamlScalar, plain, raw_text
from checkrunner.load.secrets import SecretReader
from checkrunner.model.errors import InventoryError, nearest

__all__ = ["assignments", "parse_data", "read_groups", "read_yaml"]

_PARTS = ("hosts", "children", "vars")
_SURROGATES = re.compile(r"(?<!\\)((?:\\\\)*)\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)


def read_yaml(text: str, path: str, draft: Draft) -> None:
    """Add what the text says to the draft. Raises InventoryError at the place."""
    document = parse_data(text, path, draft.secrets)
    draft.lines[path] = document.lines
    root = document.root
    if root is None or _is_null(root):
        raise InventoryError("the inventory is empty", source=_start(document).ref)
    if not isinstance(root, YamlMap):
        hint = "Start with `all:`, below it `hosts:` with one `name:` a line."
        if isinstance(root, YamlList) and root and isinstance(root[0], YamlMap) and "hosts" in root[0]:
            hint = "This looks like a playbook."
        start = _start(document)
        raise document.fail(start, f"an inventory is a mapping of groups, this is {raw_text(start)}", hint)
    for name in root:
        key = root.keys_at[name]
        if name in _PARTS and "all" not in root:
            raise document.fail(key, f"{name!r} is not the name of a group", "Put `all:` above it and indent the rest.")
        if name in {"plugin", "_meta"}:
            hint = "Save its output with `ansible-inventory --list --yaml` and use that."
            raise document.fail(key, "this belongs to an inventory plugin or script, which are not supported", hint)
    read_groups(document, root, draft)


def read_groups(document: Document, root: YamlMap, draft: Draft) -> None:
    """Add groups by their names, with all that is below them."""
    for name, node in root.items():
        _group(name, root.keys_at[name], node, document, draft)


def parse_data(text: str, path: str, secrets: SecretReader | None = None) -> Document:
    """Parse YAML, or JSON by its own rules where the text is JSON: ``1e3`` is a number there, and a text in YAML."""
    value: Any = None
    if text.lstrip()[:1] in {"{", "["}:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):  # what is wrong with it is said below, at its place
            value = None
    if value is None:
        return parse(text, path, InventoryError, secrets)
    document = parse(_SURROGATES.sub(_joined, text), path, InventoryError, secrets)
    if document.root is not None:
        _retype(document.root, value)
    return document


def _joined(match: re.Match[str]) -> str:
    """The character that JSON writes as two escapes, which YAML does not know."""
    return match[1] + chr(0x10000 + ((int(match[2], 16) - 0xD800) << 10) + int(match[3], 16) - 0xDC00)


def _retype(node: Node, value: Any) -> None:
    """Give scalars the values that JSON gives them; both saw the same lists and mappings."""
    if isinstance(node, YamlScalar):
        node.value = value
    elif isinstance(node, YamlList):
        for item, below in zip(node, value, strict=True):
            _retype(item, below)
    else:
        for name, below in value.items():
            if name in node:
                node.keys_at[name].value = name
                _retype(node[name], below)


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


def _group(name: str, key: YamlScalar, node: Node, document: Document, draft: Draft) -> DraftGroup:
    _check_text(key, "group", document)
    group = draft.group(name, key.ref)
    if _is_null(node):
        return group
    if not isinstance(node, YamlMap):
        raise document.fail(node, f"group {name!r} is a mapping with hosts, children, vars; this is {raw_text(node)}")
    # In the order in which they are written: where a host's variable is set twice, the later wins.
    for part in node:
        if part == "vars":
            for variable, value in assignments(_mapping(node, part, name, document)).items():
                draft.set_group_var(group, variable, value)
        elif part == "children":
            children = _mapping(node, part, name, document)
            for child, below in children.items():
                at = children.keys_at[child]
                draft.add_child(group, _group(child, at, below, document, draft), at.ref)
        elif part == "hosts":
            hosts = _mapping(node, part, name, document)
            for entry, values in hosts.items():
                _hosts(entry, hosts.keys_at[entry], values, group, document, draft)
        else:
            close = nearest(part, _PARTS)
            hint = f"Did you mean {close!r}?" if close else "Hosts belong under `hosts:`, groups under `children:`."
            raise document.fail(node.keys_at[part], f"unknown key {part!r} in group {name!r}", hint)
    return group


def _check_text(key: YamlScalar, what: str, document: Document) -> None:
    """A number or boolean is no name: YAML would have changed it (``010`` is 8, ``on`` is true)."""
    if not isinstance(key.value, str):
        message = f"the name of a {what} is a text; {key.raw} is read as {key.value!r} here"
        raise document.fail(key, message, f'Put it in quotes: "{key.raw}".')


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
    _check_text(key, "host", document)
    hosts = draft.add_hosts(entry, group, key.ref)
    if _is_null(values) or (isinstance(values, YamlList) and not values):
        return
    if not isinstance(values, YamlMap):
        message = f"the variables of host {entry!r} are a mapping, this is {raw_text(values)}"
        raise document.fail(values, message, "Write `name: value` below the host.")
    if values:
        draft.set_host_vars(hosts, assignments(values))
