"""Patterns that select nobody: what is wrong with them, and what was probably meant."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

from checkrunner.load.quantities import NotationError
from checkrunner.load.ranges import expand_range
from checkrunner.load.terms import Term, is_name_with_colon
from checkrunner.model.errors import NoHostsError, nearest
from checkrunner.model.inventory import Inventory

__all__ = ["nobody", "unknown_term", "unlisted_nodes"]

_MANY = 5000
"""Of more names than these, the nearest is not looked for among all: it would take seconds."""


def nobody(inventory: Inventory, terms: Sequence[Term], what: str) -> NoHostsError:
    """The error for terms that all mean something and together leave no host."""
    if not inventory.hosts:
        return NoHostsError(f"the {what} selects no host: the inventory has none")
    if len(terms) == 1 and terms[0].base in inventory.groups and not terms[0].sign:
        return NoHostsError(f"the {what} selects no host: the group has none")
    hint = "Its & and ! terms leave nobody." if any(term.sign for term in terms) else ""
    return NoHostsError(f"the {what} selects no host", hint=hint)


def unknown_term(inventory: Inventory, term: Term, what: str) -> NoHostsError:
    """The error for a term that names nothing in the inventory."""
    why = f"{term.base!r} matches none" if term.is_glob else f"nothing in the inventory is called {term.base!r}"
    message = f"the {what} selects no host: {why}" if repr(term.text) in what else f"in the {what}: {why}"
    return NoHostsError(message, hint=_position_hint(inventory, term) or _near_hint(inventory, term))


def unlisted_nodes(inventory: Inventory, term: Term, missing: Sequence[str], what: str) -> NoHostsError:
    """The error for a node set of which some names are not in the inventory."""
    shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
    some = f"{len(missing)} of its {len(term.names)} names are" if len(term.names) > 1 else "its name is"
    hint = _nearest(missing[0], inventory)
    return NoHostsError(
        f"in the {what}: {some} not in the inventory: {shown}", hint=f"Did you mean {hint!r}?" if hint else ""
    )


def _near_hint(inventory: Inventory, term: Term) -> str:
    colons = _colon_hint(inventory, term)
    if colons or term.is_glob:
        return colons or "List the hosts with `checkrunner hosts all`."
    words = term.base.split()
    if len(words) > 1 and all(_is_known(inventory, word) for word in words):
        return f"Separate them by commas: {','.join(words)}."
    close = _nearest(term.base, inventory)
    if close and close.startswith(f"{term.base}:"):
        return f"An IPv6 address stays whole between commas: {close},..."
    if close:
        return f"Did you mean {close!r}?"
    known = [name for name in (*inventory.groups, *inventory.hosts) if name not in {"all", "ungrouped"}]
    return f"Known: {', '.join(known[:20])}{', ...' if len(known) > 20 else ''}." if known else ""


def _colon_hint(inventory: Inventory, term: Term) -> str:
    """A colon separates only in a pattern without commas, and not where it could be an address or a port."""
    parts = [part for part in term.base.split(":") if part]
    if term.is_regex or len(parts) < 2 or not any(_is_known(inventory, part.lstrip("&!")) for part in parts):
        return ""
    whole = ",".join([term.sign + parts[0], *parts[1:]])
    if term.listed:
        return f"In a list with commas a colon does not separate: write {whole}."
    return f"It is read as an address or a port: write {whole}." if is_name_with_colon(term.base) else ""


def _position_hint(inventory: Inventory, term: Term) -> str:
    """``host-[10:15]`` picks by position; whoever wrote it meant host-10 to host-15. So does ``web0[12]``."""
    text = term.text[len(term.sign) :]
    if term.subscript is None:
        if re.search(r"\[[0-9]+:-[0-9]+\]$", text):
            return f"Only one position may count from the end; up to the last: {text[: text.rindex(':') + 1]}]."
        return ""
    names = _range_names(inventory, text)
    if names:
        shown = ",".join(names[:6]) + (",..." if len(names) > 6 else "")
        return f"[...] picks hosts by position, it is not a range of names. Write {shown} or a glob."
    glob = [name for name in inventory.hosts if fnmatch.fnmatchcase(name, text)]
    if glob:
        regex = f"~{re.escape(term.base)}{text[text.rindex('[') :]}$"
        return f"[...] at the end picks hosts by position. As a set of characters: '{term.sign}{regex}'."
    return f"[...] after a group picks hosts by position. {_near_hint(inventory, term)}"


def _range_names(inventory: Inventory, text: str) -> list[str]:
    start = text.rindex("[")
    try:
        names = expand_range(text[:start] + text[start:].replace("-", ":"))
    except NotationError:
        return []
    return [name for name in names if name in inventory.hosts]


def _is_known(inventory: Inventory, name: str) -> bool:
    return name in inventory.groups or name in inventory.hosts


def _nearest(word: str, inventory: Inventory) -> str | None:
    """The nearest name. Among those that begin like the word first: of numbered hosts, nearly all look alike."""
    names = [*inventory.groups, *inventory.hosts]
    alike = [_common(word, name) for name in names]
    most = max(alike, default=0)
    if most >= max(3, len(word) // 2):
        close = nearest(word, [name for name, length in zip(names, alike, strict=True) if length == most][:_MANY])
        if close is not None:
            return close
    if len(names) > _MANY:  # too many to compare with all: those that begin like it as far as any does
        near = [name for name, length in zip(names, alike, strict=True) if most and length == most]
        names = [*inventory.groups, *near][:_MANY]
    # Names are written in one case each, mostly: `WEB` is not far from `web`.
    return nearest(word, names) or next((name for name in names if name.casefold() == word.casefold()), None)


def _common(one: str, other: str) -> int:
    """How many characters the two begin alike with."""
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return length
