"""What can be listed without connecting: hosts, one host's variables, a playbook's checks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from checkrunner.app.prepare import read_inventory
from checkrunner.load.origins import explain
from checkrunner.load.patterns import reasons, select
from checkrunner.load.playbook import find_playbook, load_playbook
from checkrunner.load.secrets import SecretReader
from checkrunner.model.errors import NoHostsError
from checkrunner.model.inventory import Host, Inventory
from checkrunner.model.playbook import Check, Playbook
from checkrunner.model.sources import NOWHERE, Secret, SourceRef, Template
from checkrunner.plan.secret_needs import secrets_in
from checkrunner.plan.tags import check_tags, selected, verify_tags

__all__ = ["explain_host", "list_checks", "list_hosts"]

_NAMED = {True: "its name", False: "every host"}


def list_hosts(
    sources: Sequence[str],
    pattern: str,
    limit: str | None,
    *,
    allow_empty: bool,
    secrets: SecretReader | None = None,
    playbook_dir: str | None = None,
) -> list[str]:
    """The names that a pattern selects, in Ansible's order. Raises InventoryError and NoHostsError."""
    inventory, _ = read_inventory(sources, secrets=secrets, playbook_dir=playbook_dir)
    try:
        return [host.name for host in select(inventory, pattern, limit)]
    except NoHostsError:
        if allow_empty:
            return []
        raise


def explain_host(
    sources: Sequence[str],
    name: str,
    *,
    pattern: str | None = None,
    limit: str | None = None,
    secrets: SecretReader | None = None,
    playbook_dir: str | None = None,
) -> list[str]:
    """A host as lines: where it was named, how it is reached, its groups, and each variable with its origin.

    Of a pattern and a limit, the terms that it is among. Raises InventoryError, UnknownNameError, NoHostsError.
    """
    inventory, origins = read_inventory(sources, secrets=secrets, playbook_dir=playbook_dir)
    found = explain(inventory, origins, name)
    host = found.host
    lines = [
        f"{host.name}  ({_place(host.source)})",
        f"  reached by {_reached(host)}",
        *_selected_by(inventory, host.name, pattern, limit),
        f"  groups, weakest first: {', '.join(found.groups) or 'none'}",
        *(f"    in {group}{f' through {child}' if child else ''} ({_place(ref)})" for group, child, ref in found.ways),
        "  variables:" if found.variables else "  no variables",
    ]
    for variable in found.variables:
        lines.append(
            f"    {variable.name} = {_value(variable.value)}  from {variable.origin} ({_place(variable.source)})"
        )
        lines += [f"      overrides {where} ({_place(ref)})" for where, ref in variable.overridden]
    return lines


def _reached(host: Host) -> str:
    """How a host is reached, without what is secret of it: settings may be encrypted like other values."""
    hidden = {secret.reveal() for secret in secrets_in(host.vars) if secret.is_open}

    def shown(field: str) -> str:
        setting = host.unsettled.get(field)
        value = setting.value if setting else getattr(host, field)
        return "********" if str(value) in hidden else str(value or "")

    port = f" port {shown('port')}" if shown("port") else ""
    user = f" as {shown('user')}" if shown("user") else ""
    return f"{shown('transport')} at {shown('address')}{port}{user}"


def _selected_by(inventory: Inventory, name: str, pattern: str | None, limit: str | None) -> Iterator[str]:
    for what, text in (("pattern", pattern), ("limit", limit)):
        if text is None:
            continue
        chosen = select(inventory, text) if what == "pattern" else select(inventory, "all", text)
        is_in = any(host.name == name for host in chosen)
        yield f"  {'selected' if is_in else 'not selected'} by the {what} {text!r}"
        for reason in reasons(inventory, text, name, is_limit=what == "limit"):
            why = (
                f"group {', '.join(reason.groups)}" if reason.groups else "its name" if reason.is_name else "every host"
            )
            yield f"    {reason.term}: {why}"


def list_checks(playbook: str, tags: Sequence[str], skip_tags: Sequence[str]) -> Iterator[str]:
    """A playbook's plays and the checks that the tags select, as lines. Raises PlaybookError, UnknownNameError."""
    book = load_playbook(find_playbook(playbook))
    verify_tags(book, tags, skip_tags)
    return _check_lines(book, tags, skip_tags)


def _check_lines(book: Playbook, tags: Sequence[str], skip_tags: Sequence[str]) -> Iterator[str]:
    for play in book.plays:
        written = (*play.pre_checks, *play.checks)
        checks = [check for check in written if selected(check_tags(play, check), tags, skip_tags)]
        labels = f"  [{', '.join(play.tags)}]" if play.tags else ""
        yield f"{play.name}  (hosts: {play.hosts}, {len(checks)} of {len(written)} checks){labels}"
        first = {check.id for check in play.pre_checks}
        rows = [row for check in checks for row in _tree(check, "pre-check" if check.id in first else "")]
        width = max((len(name) for name, _, _ in rows), default=0)
        for name, check, what in rows:
            yield f"  {name:<{width}}  {check.severity:<8}  {_about(check, what)}".rstrip()
            if check.why:
                yield f"  {'':<{width}}  {'':<8}  {' '.join(check.why.text.split())}"


def _tree(check: Check, what: str, depth: int = 0) -> Iterator[tuple[str, Check, str]]:
    """A check, and those that run where it is not ok below it: indented id, check, what is to be said of it first."""
    yield "  " * depth + check.id, check, what
    for follower in check.on_fail:
        yield from _tree(follower, f"where {check.id} is not ok", depth + 1)


def _about(check: Check, what: str) -> str:
    parts = [f"({what})" if what else "", check.name if check.name != check.id else ""]
    if check.tags:
        parts.append(f"[{', '.join(check.tags)}]")
    if check.loop:
        parts.append("for each item of a loop")
    if check.requires or check.needs:
        parts.append(f"needs {', '.join((*check.requires, *check.needs))}")
    return "  ".join(part for part in parts if part)


def _place(source: SourceRef) -> str:
    return "built in" if source is NOWHERE else str(source)


def _value(value: object) -> str:
    return str(value) if isinstance(value, Secret) else json.dumps(value, ensure_ascii=False, default=_text)


def _text(value: object) -> str:
    return value.text if isinstance(value, Template) else str(value)
