"""Filters and tests with regular expressions, as Ansible has them. A pattern that finds no end is given up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from checkrunner.patience import patiently

__all__ = [
    "FILTERS",
    "TESTS",
    "is_match",
    "is_regex",
    "is_search",
    "regex_escape",
    "regex_findall",
    "regex_replace",
    "regex_search",
]

_GROUP_NAME = re.compile(r"\\g<(\S+)>")
_GROUP_NUMBER = re.compile(r"\\(\d+)")
_BASIC = re.compile(r"([].[^$*\\])")


def _text(value: object) -> str:
    return str(value)


def _compiled(pattern: object, ignorecase: bool, multiline: bool) -> re.Pattern[str]:
    flags = (re.IGNORECASE if ignorecase else 0) | (re.MULTILINE if multiline else 0)
    try:
        return re.compile(pattern, flags)  # type: ignore[call-overload,no-any-return]  # what is no text is an error
    except re.error as error:
        msg = f"not a valid regular expression: {error.msg} ({pattern!r})"
        raise ValueError(msg) from error


def regex_replace(
    value: object = "",
    pattern: str = "",
    replacement: str = "",
    ignorecase: bool = False,
    multiline: bool = False,
    count: int = 0,
    mandatory_count: int = 0,
) -> str:
    """The text with each place where the pattern is found replaced: `count` of them, 0 means all."""
    text, compiled = _text(value), _compiled(pattern, ignorecase, multiline)
    made, places = patiently(compiled, len(text), lambda: compiled.subn(replacement, text, count=count))
    if mandatory_count and mandatory_count != places:
        msg = f"{pattern!r} was to be found {mandatory_count} times, and is found {places} times"
        raise ValueError(msg)
    return made


def regex_findall(value: object, pattern: str, multiline: bool = False, ignorecase: bool = False) -> list[Any]:
    """All places where the pattern is found: texts, or tuples where it has several groups."""
    text, compiled = _text(value), _compiled(pattern, ignorecase, multiline)
    return patiently(compiled, len(text), lambda: compiled.findall(text))


def regex_search(
    value: object, pattern: str, *groups: str, ignorecase: bool = False, multiline: bool = False
) -> str | list[str | None] | None:
    r"""The first place where the pattern is found, or none. With groups (``'\\1'``, ``'\\g<name>'``): a list of what
    those matched."""
    text, compiled = _text(value), _compiled(pattern, ignorecase, multiline)
    wanted = [_group(group) for group in groups]
    found = patiently(compiled, len(text), lambda: compiled.search(text))
    if found is None:
        return None
    return [found.group(group) for group in wanted] if wanted else found.group()


def _group(text: str) -> str | int:
    if found := _GROUP_NAME.match(text):
        return found[1]
    if found := _GROUP_NUMBER.match(text):
        return int(found[1])
    msg = rf"a group is written '\\1' or '\\g<name>', not {text!r}"
    raise ValueError(msg)


def regex_escape(value: object, re_type: str = "python") -> str:
    """The text as a pattern that finds just this text; `re_type` is ``python`` or ``posix_basic``."""
    text = _text(value)
    if re_type == "python":
        return re.escape(text)
    if re_type == "posix_basic":
        return _BASIC.sub(r"\\\1", text)
    msg = f"re_type is 'python' or 'posix_basic', not {re_type!r}"
    raise ValueError(msg)


def is_regex(
    value: object = "",
    pattern: str = "",
    ignorecase: bool = False,
    multiline: bool = False,
    match_type: str = "search",
) -> bool:
    """Whether the pattern is found in the text; `match_type` is ``search``, ``match`` or ``fullmatch``."""
    text, compiled = _text(value), _compiled(pattern, ignorecase, multiline)
    if match_type not in ("search", "match", "fullmatch"):
        msg = f"match_type is 'search', 'match' or 'fullmatch', not {match_type!r}"
        raise ValueError(msg)
    find: Callable[[str], object] = getattr(compiled, match_type)
    return patiently(compiled, len(text), lambda: find(text)) is not None


def is_match(value: object, pattern: str = "", ignorecase: bool = False, multiline: bool = False) -> bool:
    """Whether the pattern fits at the start of the text."""
    return is_regex(value, pattern, ignorecase, multiline, "match")


def is_search(value: object, pattern: str = "", ignorecase: bool = False, multiline: bool = False) -> bool:
    """Whether the pattern is found anywhere in the text."""
    return is_regex(value, pattern, ignorecase, multiline, "search")


FILTERS: Mapping[str, Callable[..., Any]] = {
    "regex_escape": regex_escape,
    "regex_findall": regex_findall,
    "regex_replace": regex_replace,
    "regex_search": regex_search,
}

TESTS: Mapping[str, Callable[..., bool]] = {
    "match": is_match,
    "regex": is_regex,
    "search": is_search,
}
