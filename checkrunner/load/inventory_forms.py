"""Which form an inventory file has, and its reader: YAML or JSON, INI, TOML."""

from __future__ import annotations

import os
import re

from checkrunner.load.draft import Draft
from checkrunner.load.inventory_ini import read_ini
from checkrunner.load.inventory_yaml import read_yaml
from checkrunner.model.sources import SourceRef

__all__ = ["read_inventory"]

_YAML_SUFFIXES = frozenset({"", ".yml", ".yaml", ".json"})
_INI_SECTION = re.compile(r"\[[^\[\]{},\"']+\]\s*(#.*)?")
_YAML_START = re.compile(r"""(---.*|-\s.*|%YAML.*|\{.*|"[^"]*"\s*:.*|'[^']*'\s*:.*|[^\s\[=#;][^=#]*:(\s+.*)?)""")


def read_inventory(text: str, path: str, draft: Draft) -> None:
    """Add what a file says to the draft, in the form that Ansible would take it for: the suffix says TOML; with none,
    or one of YAML's, the content decides between YAML and INI; else it is INI. Raises InventoryError at the place."""
    suffix = os.path.splitext(path)[1]
    first = _first_line(text)
    if suffix == ".toml":
        from checkrunner.load.inventory_toml import read_toml  # few have one: the parser is not loaded for all

        read_toml(text, path, draft)
    elif first is None:
        draft.warn(SourceRef(path=path), "is empty: it names no hosts")
    elif suffix in _YAML_SUFFIXES and _is_yaml(first, text, suffix):
        read_yaml(text, path, draft)
    else:
        read_ini(text, path, draft)


def _first_line(text: str) -> str | None:
    """The first line that is no comment of either form."""
    for line in text.splitlines():
        bare = line.strip()
        if bare and bare[0] not in "#;":
            return bare
    return None


def _is_yaml(first: str, text: str, suffix: str) -> bool:
    if _INI_SECTION.fullmatch(first):
        return False
    if _YAML_START.fullmatch(first):
        return True
    return bool(suffix) and "=" not in first and not _is_plain_text(text)


def _is_plain_text(text: str) -> bool:
    """Whether YAML would see one text in it: names of hosts, one a line."""
    return not any(mark in text for mark in ":[]{}#=&*!|>'\"%@`")
