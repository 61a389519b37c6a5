"""Hosts and groups that the texts of a playbook call by name, and that the inventory does not have."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from checkrunner.model.errors import nearest
from checkrunner.model.inventory import Inventory
from checkrunner.model.problems import Level, Problem
from checkrunner.model.sources import Template
from checkrunner.plan.build import Plan
from checkrunner.plan.faults import place
from checkrunner.plan.shape import Part

__all__ = ["unknown_names"]

_QUOTED = r"(?P<quote>['\"])(?P<name>[^'\"]+)(?P=quote)"
_GROUPS = (
    re.compile(rf"\bgroups\s*\[\s*{_QUOTED}\s*\]"),
    re.compile(r"\bgroups\s*\.(?!get\b|keys\b|items\b|values\b)(?P<name>[A-Za-z_]\w*)"),
    re.compile(rf"{_QUOTED}\s+(?:not\s+)?in\s+group_names\b"),
)
_HOSTS = (
    re.compile(rf"\bhostvars\s*\[\s*{_QUOTED}\s*\]"),
    re.compile(rf"\binventory_hostname\s*[!=]=\s*{_QUOTED}"),
    re.compile(rf"{_QUOTED}\s*[!=]=\s*inventory_hostname\b(?!\w)"),
)
_ALWAYS = frozenset({"all", "ungrouped", "localhost", "127.0.0.1", "::1"})


def unknown_names(plan: Plan, inventory: Inventory) -> Iterator[Problem]:
    """A problem for each name in a template or expression of a check that is no host or group of the inventory.

    Only names that are written out are looked at, in the forms that playbooks use.
    """
    hosts, groups = inventory.hosts.keys(), inventory.groups.keys()
    for shape in plan.shapes.values():
        for part in shape.parts:
            if (
                "group" not in part.template.text
                and "inventory_hostname" not in part.template.text
                and ("hostvars" not in part.template.text)
            ):
                continue
            yield from _unknown(part, "group", _GROUPS, groups)
            yield from _unknown(part, "host", _HOSTS, hosts)


def _unknown(part: Part, what: str, patterns: tuple[re.Pattern[str], ...], known: Collection[str]) -> Iterator[Problem]:
    text: Template = part.template
    if text.raw:
        return
    for pattern in patterns:
        for match in pattern.finditer(text.text):
            name = match["name"]
            if name in known or name in _ALWAYS or not _in_code(part, match.start()):
                continue
            close = nearest(name, known)
            source, line_text = place(text, match.start("name"))
            yield Problem(
                level=Level.WARNING,
                rule="unknown-host",
                message=f"the inventory has no {what} {name!r}",
                source=source,
                line_text=line_text,
                hint=f"Did you mean {close!r}?" if close else "",
            )


def _in_code(part: Part, offset: int) -> bool:
    """Whether a place is code, not text around it."""
    if part.expression:
        return True
    before = part.template.text[:offset]
    return max(before.rfind("{{"), before.rfind("{%")) > max(before.rfind("}}"), before.rfind("%}"))
