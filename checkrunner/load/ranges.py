"""Host names as inventories write them: ``web[01:10]``, ``host:port``, ``[ipv6]:port``."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from checkrunner.load.quantities import NotationError

__all__ = ["MAX_HOSTS", "expand_range", "host_names", "split_port"]

MAX_HOSTS = 100_000
"""How many names one entry may stand for: more is a typing error."""

_MOST_DIGITS = 1000  # a number of some thousand digits is one that Python does not read
_TOO_MANY = "Is there a digit too many? So many hosts are written as several ranges."
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_WHOLE_RANGE = re.compile(r"\[([0-9]+:[0-9]+|[A-Za-z]:[A-Za-z])(:[0-9]+)?\]")
_LABEL = r"(?:\w[\w-]*)?[^\W_]"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_BAD_CHARACTER = re.compile(r"[\s/,@\[\]\x00-\x1f\x7f]")
_LETTERS = string.ascii_letters  # a-z, then A-Z: `[x:C]` goes over the edge


def host_names(text: str) -> tuple[list[str], int | None]:
    """The names that an entry stands for, and the port it gives all of them. Raises NotationError."""
    if not text:
        raise NotationError("the name of a host is empty")
    if text.count("[") != text.count("]"):
        _check_brackets(text)
    pattern, port = split_port(text)
    names = expand_range(pattern)
    for name in names[:1]:
        bad = _BAD_CHARACTER.search(name)
        if bad:
            hint = "The user is the variable `ansible_user`." if bad.group() == "@" else ""
            raise NotationError(f"a host name cannot hold {bad.group()!r}", hint, max(text.find(bad.group()), 0))
    return names, port


def split_port(text: str) -> tuple[str, int | None]:
    """Take a port off the end. IPv6 addresses stay whole, with a port they are in brackets; a name may be in brackets
    too. Raises NotationError, also for what Ansible would take for a name with a colon in it."""
    bracketed = re.fullmatch(r"\[(.+)\](?::([^\[\]]*))?", text)
    if bracketed and _is_ipv6(bracketed[1]):
        port = bracketed[2]
        return bracketed[1], None if port is None else _port(port, text, len(text) - len(port))
    if bracketed and bracketed[2] is not None:
        if not _is_name(bracketed[1]):
            hint = "A range with a port needs a letter or digit beside it: web[1:3]:22."
            raise NotationError(f"{text!r} is neither a host nor a range of hosts with a port", hint)
        return bracketed[1], _port(bracketed[2], text, len(text) - len(bracketed[2]))
    outside = _BRACKETS.sub(lambda match: "1" * len(match.group()), text)
    colons = outside.count(":")
    if not colons:
        return text, None
    if colons == 1:
        at = outside.index(":")
        if not at:
            raise NotationError(f"{text!r} has a port and no host")
        port_number = _port(text[at + 1 :], text, at + 1)
        if not _is_name(text[:at]):
            hint = f"Set the variable ansible_port={port_number} instead."
            raise NotationError(f"{text[:at]!r} cannot be written with a port", hint)
        return text[:at], port_number
    if not _is_ipv6(text):
        raise NotationError(
            f"{text!r} is neither host:port nor an IPv6 address", "An IPv6 address with a port: [fe80::1]:22."
        )
    return text, None


def _port(text: str, whole: str, offset: int) -> int:
    if not (_digits(text) and 0 < int(text) < 65536):
        hint = "A host may end in :PORT, a number from 1 to 65535."
        raise NotationError(f"{text!r} is not a port" if text else f"{whole!r} ends in ':'", hint, offset)
    return int(text)


def _is_name(text: str) -> bool:
    """Whether it is a host name or IPv4 address, with whole ranges or without, that Ansible takes a port off."""
    return _NAME.fullmatch(_WHOLE_RANGE.sub("1", text)) is not None


def _is_ipv6(text: str) -> bool:
    text = _BRACKETS.sub("1", text)
    if text.count(":") < 2:
        return False
    import ipaddress

    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def expand_range(pattern: str) -> list[str]:
    """All names of a pattern, the last range varying fastest. Raises NotationError for a range that is not one.

    ``[01:10]`` keeps the zeros, ``[a:f]`` takes letters (a-z, then A-Z), ``[1:10:2]`` steps, ``[:5]`` starts at 0.
    """
    _check_brackets(pattern)
    names = [""]
    end = 0
    for match in _BRACKETS.finditer(pattern):
        items = _items(match[1], match.group(), match.start())
        if len(names) * len(items) > MAX_HOSTS:
            raise NotationError(f"{pattern!r} stands for more than {MAX_HOSTS} hosts", _TOO_MANY, match.start())
        fixed = pattern[end : match.start()]
        names = [f"{name}{fixed}{item}" for name in names for item in items]
        end = match.end()
    rest = pattern[end:]
    return [name + rest for name in names] if rest else names


def _check_brackets(pattern: str) -> None:
    unmatched = re.search(r"[\[\]]", _BRACKETS.sub(lambda match: " " * len(match.group()), pattern))
    if unmatched:
        hint = "Ranges are written [1:10], [01:10:2] or [a:f]; a section of a file is [group]."
        raise NotationError(f"{pattern!r} has a bracket without its partner", hint, unmatched.start())


def _items(inner: str, shown: str, offset: int) -> Sequence[str]:
    bounds = inner.split(":")
    if len(bounds) not in {2, 3}:
        hint = f"Did you mean [{inner.replace('-', ':', 1)}]?" if re.fullmatch(r"\w+-\w+", inner) else ""
        raise NotationError(f"{shown} is not a range", hint or "Ranges are written [1:10], [01:10:2] or [a:f].", offset)
    first, last = bounds[0] or "0", bounds[1]
    if not last:
        raise NotationError(f"{shown} has no end", "Ranges are written [1:10], [01:10:2] or [a:f].", offset)
    step = _step(bounds[2], shown, offset) if len(bounds) == 3 else 1
    if _digits(first) and _digits(last):
        return _numbers(first, last, step, shown, offset)
    if len(first) == len(last) == 1 and first in _LETTERS and last in _LETTERS:
        low, high = _LETTERS.index(first), _LETTERS.index(last)
        _ordered(low, high, first, last, shown, offset)
        return _LETTERS[low : high + 1 : step]
    raise NotationError(
        f"{shown} is not a range", "Both ends are whole numbers, or both are one letter a-z or A-Z.", offset
    )


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def _step(text: str, shown: str, offset: int) -> int:
    if not _digits(text) or int(text) == 0:
        raise NotationError(f"{shown} has the step {text!r}", "A step is a whole number from 1.", offset)
    return int(text)


def _numbers(first: str, last: str, step: int, shown: str, offset: int) -> Sequence[str]:
    padded = (len(first) > 1 and first[0] == "0") or (len(last) > 1 and last[0] == "0")
    if padded and len(first) != len(last):
        width = max(len(first), len(last))
        hint = f"With leading zeros both ends have the same length: [{first.zfill(width)}:{last.zfill(width)}]."
        raise NotationError(f"{shown} has ends of different length", hint, offset)
    low, high = int(first), int(last)
    _ordered(low, high, first, last, shown, offset)
    if (high - low) // step >= MAX_HOSTS:
        raise NotationError(f"{shown} stands for more than {MAX_HOSTS} hosts", _TOO_MANY, offset)
    width = len(first) if padded else 0
    return [str(number).zfill(width) for number in range(low, high + 1, step)]


def _ordered(low: int, high: int, first: str, last: str, shown: str, offset: int) -> None:
    if low > high:
        raise NotationError(
            f"{shown} is empty: it runs from {first} down to {last}", f"Write [{last}:{first}].", offset
        )
