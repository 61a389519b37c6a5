"""The form of a rule of redaction: what it looks for, and which part of that is the secret."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["Find", "Rule", "rule", "value", "whole"]

_SPACE = "\u2423"

Find = Callable[[re.Match[str]], Iterator[tuple[int, int]]]
"""Where in the text of a match secrets stand: start and end of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A kind of secret. `hints` are lower-case texts of which a line must hold one before `pattern` is tried on it.
    `guards` are looked for before the hints, and one of them must be there too: where they are not given, short texts
    that many hints have in common. `near` is a cheaper pattern that has to be found in the line in lower case.

    `token`: it is a long word. Then a hint is what the word begins with, or with a dot at its end what stands before
    it; a guard is enough without a hint. `across`: the pattern is tried on several lines; what it finds is on one of
    them. `description` and `example` are for the documentation."""

    name: str
    description: str
    example: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    find: Find
    across: bool = False
    token: bool = False
    guards: tuple[str, ...] = ()
    near: re.Pattern[str] | None = None


def whole(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """All of the match."""
    yield match.span()


def value(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """The groups whose names begin with `value`."""
    for name in match.re.groupindex:
        if name.startswith("value") and match[name]:
            yield match.span(name)


def rule(
    name: str,
    description: str,
    example: str,
    hints: str,
    pattern: str | re.Pattern[str],
    find: Find | None = None,
    *,
    across: bool = False,
    token: bool = False,
    guards: str = "",
    near: str = "",
) -> Rule:
    """A rule; `hints` are separated by spaces, and ``_SPACE`` in one is a space. Of a pattern with groups `value...`
    these are the secret, else all."""
    compiled = re.compile(pattern, re.MULTILINE if across else 0) if isinstance(pattern, str) else pattern
    valued = any(group.startswith("value") for group in compiled.groupindex)
    return Rule(
        name=name,
        description=description,
        example=example,
        hints=_texts(hints),
        pattern=compiled,
        find=find or (value if valued else whole),
        across=across,
        token=token,
        guards=_texts(guards),
        near=re.compile(near) if near else None,
    )


def _texts(words: str) -> tuple[str, ...]:
    return tuple(word.replace(_SPACE, " ") for word in words.split())
