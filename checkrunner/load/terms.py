"""A pattern or limit as its terms, split where Ansible splits it. Knows nothing of inventories."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checkrunner.model.errors import NoHostsError, UsageError
from checkrunner.nodesets import PREFIX, NodeSetError, node_set

__all__ = ["Term", "is_name_with_colon", "join_patterns", "limit_terms", "pattern_terms", "split_pattern"]

_SUBSCRIPT = re.compile(r"(?P<base>.+)\[(?:(?P<index>-?[0-9]+)|(?P<start>[0-9]+)[:-](?P<end>[0-9]*))\]")
_GLOB = re.compile(r"[*?\[]")
_PORT = re.compile(r"((?:[^:\[\]]|\[[^\]]*\])*):[0-9]+")
_RANGE = re.compile(r"\[(?:[0-9]+:[0-9]+|[a-z]:[a-z])(?::[0-9]+)?\]", re.IGNORECASE)
_HEX_RANGE = re.compile(r"\[[0-9a-f]+:[0-9a-f]+(?::[0-9]+)?\]", re.IGNORECASE)
_HOST_NAME = re.compile(r"\w[\w-]*(?<![_-])(?:\.\w[\w-]*(?<![_-]))*")
_OPENING, _CLOSING = "({", ")}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One term. `sign` is ``""``, ``&`` or ``!``; `base` is what comes between sign and subscript.

    `subscript` is (first, last) with both included, last None for "to the end"; (i, i) is one position, which may be
    negative. `names` are the hosts of a node set, which is all there is then. `listed` says that the term stood between
    commas, where a colon separates nothing.
    """

    text: str
    sign: str = ""
    base: str = ""
    subscript: tuple[int, int | None] | None = None
    names: tuple[str, ...] = ()
    listed: bool = False

    @property
    def is_regex(self) -> bool:
        """Whether the base is a regular expression, after its ``~``."""
        return self.base.startswith("~")

    @property
    def is_glob(self) -> bool:
        """Whether the base may match several names, or none."""
        return self.is_regex or _GLOB.search(self.base) is not None


def pattern_terms(pattern: str) -> list[Term]:
    """The terms of a pattern, in its order. Raises UsageError for a text that is no pattern."""
    if pattern.strip().startswith(PREFIX):
        return [_node_set(pattern.strip())]
    listed = "," in pattern
    return [_term(piece, listed) for piece in split_pattern(pattern)]


def limit_terms(limit: str) -> list[Term]:
    """The same of a limit, with ``@file`` replaced by the patterns in the file's lines.

    Raises NoHostsError for a file that names nobody.
    """
    if limit.strip().startswith(PREFIX):
        return [_node_set(limit.strip())]
    terms: list[Term] = []
    listed = "," in limit
    whole = limit.strip()
    # The name of a file may hold spaces and colons, which would end it elsewhere.
    is_file = whole.startswith("@") and os.path.exists(os.path.expanduser(whole[1:]))
    for piece in [whole] if is_file else split_pattern(limit):
        terms += _file_terms(piece[1:]) if piece.startswith("@") else [_term(piece, listed)]
    return terms


def join_patterns(patterns: Sequence[str]) -> str:
    """A list of patterns as one. What is no pattern is left as it is: whoever reads the whole says so."""
    if len(patterns) == 1:
        return patterns[0]
    pieces: list[str] = []
    for pattern in patterns:
        try:
            text = pattern.strip()
            pieces += _node_set(text).names if text.startswith(PREFIX) else split_pattern(text)
        except UsageError:
            pieces.append(pattern)
    return ",".join(pieces)


def split_pattern(pattern: str) -> list[str]:
    """The texts of the terms.

    Where there is a comma, commas alone separate. Else colons and spaces do, unless the whole is the name of a host
    with colons in it: an IPv6 address, a range of positions, a port.
    """
    if "," in pattern:
        return list(_pieces(pattern, ","))
    if is_name_with_colon(pattern.strip()):
        return [pattern.strip()]
    return list(_pieces(pattern, ": \t\r\n\f\v"))


def is_name_with_colon(text: str) -> bool:
    """Whether the text is the name of one host, with its port or as an IPv6 address; names may hold ranges."""
    port = _PORT.fullmatch(text)
    bare = port[1] if port else text
    bracketed = re.fullmatch(r"\[(.+)\]", bare) if port else None
    bare = bracketed[1] if bracketed else bare
    return _HOST_NAME.fullmatch(_RANGE.sub("0", bare)) is not None or _is_ipv6(_HEX_RANGE.sub("0", bare))


def _is_ipv6(text: str) -> bool:
    if text.count(":") < 2 or "%" in text:
        return False
    import ipaddress

    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _pieces(text: str, separators: str) -> Iterator[str]:
    """Parts of a text. Separators in square brackets do not count, nor in a regex's parentheses and braces."""
    start = 0
    while start < len(text):
        end = _end_of_piece(text, start, separators)
        piece = text[start:end].strip()
        if piece:
            yield piece
        start = end + 1


def _end_of_piece(text: str, start: int, separators: str) -> int:
    is_regex = text[start:].lstrip(" &!").startswith("~")
    depth, bracket, first = 0, -1, -1
    at = start
    while at < len(text):
        char = text[at]
        if is_regex and char == "\\":
            at += 1
        elif bracket >= 0:
            bracket = -1 if char == "]" else bracket
        elif char == "[":
            bracket = at
        elif is_regex and char in _OPENING:
            depth += 1
        elif is_regex and char in _CLOSING:
            depth -= 1
        elif char in separators:
            if depth <= 0:
                return at
            first = at if first < 0 else first
        at += 1
    if bracket >= 0 and not is_regex:
        raise UsageError(f"pattern {text!r} has a bracket without its partner")
    return first if first >= 0 else len(text)  # a parenthesis that never closes holds nothing together


def _term(text: str, listed: bool) -> Term:
    sign = text[0] if text[0] in "&!" else ""
    base = text[len(sign) :]
    if not base.strip():
        raise UsageError(f"{text!r} in a pattern has no name after it")
    if base.startswith(PREFIX):
        hint = f"Begin the whole with it; node sets have signs of their own: {PREFIX}node[1-9]!node3."
        raise UsageError(f"{PREFIX!r} cannot follow {sign!r} or stand in a list of patterns", hint=hint)
    if listed and "," in base and not base.startswith("~"):
        hint = f"Node sets are written {PREFIX}node[1-3,5]; in a pattern a comma separates."
        raise UsageError(f"{text!r} in a pattern has a comma in its brackets", hint=hint)
    match = None if base.startswith("~") else _SUBSCRIPT.fullmatch(base)
    if match is None:
        return Term(text=text, sign=sign, base=base, listed=listed)
    if match["index"] is not None:
        first = last = int(match["index"])
        return Term(text=text, sign=sign, base=match["base"], subscript=(first, last), listed=listed)
    end = int(match["end"]) if match["end"] else None
    return Term(text=text, sign=sign, base=match["base"], subscript=(int(match["start"]), end), listed=listed)


def _node_set(text: str) -> Term:
    try:
        return Term(text=text, names=tuple(node_set(text.removeprefix(PREFIX))))
    except NodeSetError as exc:
        raise UsageError(exc.message, hint=exc.hint) from exc


def _file_terms(name: str) -> list[Term]:
    path = os.path.expanduser(name)
    try:
        with open(path, encoding="utf-8-sig") as file:
            lines = [line.strip() for line in file]
    except OSError as exc:
        raise UsageError(f"limit file {path!r} cannot be read: {exc.strerror or exc}") from exc
    except UnicodeDecodeError as exc:
        raise UsageError(f"limit file {path!r} is not UTF-8 text", hint="Save the file as UTF-8.") from exc
    terms = [term for line in lines if line and not line.startswith("#") for term in pattern_terms(line)]
    if not terms:
        raise NoHostsError(f"limit file {path!r} names no host")
    return terms
