"""Host patterns: ``web:&prod:!web03``, globs, ``~regex``, ``db[0:2]``. A term that means nobody is always an error."""

from __future__ import annotations

import fnmatch
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checkrunner.load.quantities import NotationError
from checkrunner.load.ranges import expand_range
from checkrunner.model.errors import NoHostsError, UsageError, nearest
from checkrunner.model.inventory import Host, Inventory

__all__ = ["select"]

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_SUBSCRIPT = re.compile(r"(?P<base>.+)\[(?:(?P<index>-?[0-9]+)|(?P<start>[0-9]+):(?P<end>-?[0-9]*))\]")
_DASHED = re.compile(r"(?P<base>.+)\[(?P<start>[0-9]+)-(?P<end>[0-9]+)\]")
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class _Term:
    """One term. `sign` is ``""``, ``&`` or ``!``; `subscript` has both ends included, None is the last host."""

    text: str
    sign: str
    base: str
    subscript: tuple[int, int | None] | None

    @property
    def is_glob(self) -> bool:
        return self.base.startswith("~") or _GLOB.search(self.base) is not None


def select(inventory: Inventory, pattern: str, limit: str | None = None) -> tuple[Host, ...]:
    """The hosts of a pattern, and of a limit if there is one, each once, in inventory order.

    Raises NoHostsError when nobody is left, and also when any single term names what does not exist: a typing error
    never ends as "no hosts, all fine". A `!` with a glob may match nothing.
    """
    known = dict(inventory.hosts)
    chosen = _evaluate(inventory, list(_split(pattern)), known, f"pattern {pattern!r}")
    if limit is not None:
        allowed = _evaluate(inventory, list(_limit_terms(limit)), known, f"limit {limit!r}")
        both = chosen & allowed
        if chosen and allowed and not both:
            raise NoHostsError(f"no host of the pattern {pattern!r} is in the limit {limit!r}")
        chosen = both
    return tuple(host for name, host in known.items() if name in chosen)


def _evaluate(inventory: Inventory, pieces: list[str], known: dict[str, Host], what: str) -> set[str]:
    terms = [_term(piece) for piece in pieces]
    if not terms:
        raise NoHostsError(f"the {what} is empty", hint="Write `all` for every host.")
    matches = [(term, _matches(inventory, term, known, what)) for term in terms]
    plain = [found for term, found in matches if not term.sign]
    chosen = set().union(*plain) if plain else set(inventory.hosts)
    for term, found in matches:
        if term.sign == "&":
            chosen &= set(found)
    for term, found in matches:
        if term.sign == "!":
            chosen -= set(found)
    if not chosen:
        raise _nobody(inventory, terms, what)
    return chosen


def _nobody(inventory: Inventory, terms: list[_Term], what: str) -> NoHostsError:
    if not inventory.hosts:
        return NoHostsError(f"the {what} selects no host: the inventory has none")
    if len(terms) == 1 and terms[0].base in inventory.groups and not terms[0].sign:
        return NoHostsError(f"the {what} selects no host: the group has none")
    hint = "Its & and ! terms leave nobody." if any(term.sign for term in terms) else ""
    return NoHostsError(f"the {what} selects no host", hint=hint)


def _split(pattern: str) -> Iterator[str]:
    """Terms of a pattern, separated by commas and colons. An address between commas keeps its colons."""
    for part in _pieces(pattern, ","):
        if _is_address(part):
            yield part
        else:
            yield from _pieces(part, ":")


def _pieces(text: str, separator: str) -> Iterator[str]:
    """Parts of a text; separators in brackets do not count, nor in a regex's parentheses and braces."""
    piece, depth = "", 0
    for char in text:
        if char in separator and depth == 0:
            if piece.strip():
                yield piece.strip()
            piece = ""
            continue
        is_regex = piece.lstrip(" &!").startswith("~")
        escaped = is_regex and piece.endswith("\\")
        if not escaped and char in ("([{" if is_regex else "["):
            depth += 1
        elif not escaped and char in (")]}" if is_regex else "]"):
            depth = max(depth - 1, 0)
        piece += char
    if depth and not piece.lstrip(" &!").startswith("~"):
        raise UsageError(f"pattern {text!r} has a bracket without its partner")
    if piece.strip():
        yield piece.strip()


def _is_address(text: str) -> bool:
    bare = text.lstrip("&!")
    if bare.count(":") < 2 or "[" in bare:
        return False
    import ipaddress

    try:
        ipaddress.IPv6Address(bare)
    except ValueError:
        return False
    return True


def _limit_terms(limit: str) -> Iterator[str]:
    """Terms of a limit, with ``@file`` replaced by the lines of the file."""
    for name in _pieces(limit, ","):
        if not name.startswith("@"):
            yield from _split(name)
            continue
        path = os.path.expanduser(name[1:])
        try:
            with open(path, encoding="utf-8") as file:
                lines = [line.strip() for line in file]
        except (OSError, UnicodeDecodeError) as exc:
            raise UsageError(f"limit file {path!r} cannot be read: {getattr(exc, 'strerror', None) or exc}") from exc
        terms = [term for line in lines if line and not line.startswith("#") for term in _split(line)]
        if not terms:
            raise NoHostsError(f"limit file {path!r} names no host")
        yield from terms


def _term(text: str) -> _Term:
    sign = text[0] if text[0] in "&!" else ""
    base = text[len(sign) :]
    if not base:
        raise UsageError(f"{text!r} in a pattern has no name after it")
    match = None if base.startswith("~") else _SUBSCRIPT.fullmatch(base)
    if match is None:
        return _Term(text, sign, base, None)
    if match["index"] is not None:
        index = int(match["index"])
        return _Term(text, sign, match["base"], (index, index))
    return _Term(text, sign, match["base"], (int(match["start"]), int(match["end"]) if match["end"] else None))


def _matches(inventory: Inventory, term: _Term, known: dict[str, Host], what: str) -> list[str]:
    found, exists = _named(inventory, term, known)
    if not exists:
        if term.sign == "!" and term.is_glob:
            return []
        raise _unknown(inventory, term, what)
    if term.subscript is None:
        return found
    start, end = term.subscript
    if end is not None and start == end:
        picked = found[start : start + 1 or None]
    else:
        stop = len(found) if end is None or end == -1 else end + 1
        picked = found[start:stop]
    if not picked:
        some = "1 host" if len(found) == 1 else f"{len(found)} hosts"
        hint = "Positions count from 0; [0:2] are the first three."
        raise NoHostsError(f"{term.text!r} in the {what} picks nobody: {term.base!r} has {some}", hint=hint)
    return picked


def _named(inventory: Inventory, term: _Term, known: dict[str, Host]) -> tuple[list[str], bool]:
    """Host names that a term's base means, in the order of its groups, and whether it means anything at all."""
    base = term.base
    if not term.is_glob:
        if base in inventory.groups:
            return _members(inventory, base), True
        if base in inventory.hosts:
            return [base], True
        if base in _LOCAL_NAMES:
            _add_localhost(inventory, base, known)
            return [base], True
        return [], False
    span = _DASHED.fullmatch(base)
    if span and span["base"] in inventory.groups:
        hint = f"Positions in a group: {span['base']}[{span['start']}:{span['end']}]."
        raise UsageError(f"{base!r} in a pattern could be a glob of names or positions in the group", hint=hint)
    is_match = _matcher(base, term.text)
    groups = [name for name in inventory.groups if is_match(name)]
    names = dict.fromkeys(host for group in groups for host in _members(inventory, group))
    names.update(dict.fromkeys(name for name in inventory.hosts if is_match(name)))
    return list(names), bool(groups or names)


class _Matcher:
    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern

    def __call__(self, name: str) -> bool:
        return self._pattern.match(name) is not None


def _matcher(base: str, text: str) -> _Matcher:
    if not base.startswith("~"):
        return _Matcher(re.compile(fnmatch.translate(base)))
    try:
        with warnings.catch_warnings():  # of sets such as [a&&b], which mean what they always did
            warnings.simplefilter("ignore", FutureWarning)
            return _Matcher(re.compile(base[1:]))
    except re.error as exc:
        raise UsageError(f"{text!r} in a pattern is not a regular expression: {exc.msg}") from exc


def _members(inventory: Inventory, group: str) -> list[str]:
    """Hosts of a group and its descendants, in the order of the inventory for `all`, else of the groups."""
    if group == "all":
        return list(inventory.hosts)
    names: dict[str, None] = {}
    todo, seen = [group], {group}
    while todo:
        current = inventory.groups[todo.pop(0)]
        names.update(dict.fromkeys(current.hosts))
        for child in current.children:
            if child not in seen:
                seen.add(child)
                todo.append(child)
    return list(names)


def _add_localhost(inventory: Inventory, name: str, known: dict[str, Host]) -> None:
    everywhere = inventory.groups["all"].vars if "all" in inventory.groups else {}
    known[name] = Host(name=name, address=name, transport="local", vars=everywhere)


def _unknown(inventory: Inventory, term: _Term, what: str) -> NoHostsError:
    names = [*inventory.groups, *inventory.hosts]
    why = f"{term.base!r} matches none" if term.is_glob else f"nothing in the inventory is called {term.base!r}"
    message = f"the {what} selects no host: {why}" if repr(term.text) in what else f"in the {what}: {why}"
    return NoHostsError(message, hint=_range_hint(inventory, term) or _near_hint(term, names))


def _near_hint(term: _Term, names: Sequence[str]) -> str:
    if term.is_glob:
        return "List the hosts with `checkrunner hosts all`."
    words = term.base.split()
    if len(words) > 1 and all(word in names for word in words):
        return f"Separate them by commas: {','.join(words)}."
    close = nearest(term.base, names)
    if close and close.startswith(f"{term.base}:"):
        return f"An IPv6 address stays whole between commas: {close},..."
    if close:
        return f"Did you mean {close!r}?"
    known = [name for name in names if name not in {"all", "ungrouped"}]
    return f"Known: {', '.join(known[:20])}{', ...' if len(known) > 20 else ''}." if known else ""


def _range_hint(inventory: Inventory, term: _Term) -> str:
    """``host-[10:15]`` picks by position; whoever wrote it meant host-10 to host-15."""
    if term.subscript is None:
        return ""
    text = term.text[len(term.sign) :]
    try:
        names = [name for name in expand_range(text) if name in inventory.hosts]
    except NotationError:
        names = []
    if not names:
        return f"[...] after a group picks hosts by position. {_near_hint(term, [*inventory.groups, *inventory.hosts])}"
    shown = ",".join(names[:6]) + (",..." if len(names) > 6 else "")
    return f"[...] picks hosts by position, it is not a range of names. Write {shown} or a glob."
