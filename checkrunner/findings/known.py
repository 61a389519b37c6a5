"""Values that are known to be secret, found in text in any of their usual forms."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

from checkrunner.findings.secret_tags import GAP
from checkrunner.model.sources import Secret

__all__ = ["KnownValues", "Spot"]

_SHORT = 4
"""Known values shorter than this are masked only where they stand alone."""
_MANY = 200
"""More forms than this are looked up by their beginnings: an expression would try each of them at each place."""
_INSIDE = 9
"""Bytes from which a value is looked for within longer texts that are in base64."""


class Spot(NamedTuple):
    """A place in a text that is to be masked: from `start` to `end` there is a secret of the kind `rank`, which is the
    text there unless `value` says it."""

    start: int
    end: int
    rank: int
    value: str = ""


class KnownValues:
    """Finds `secrets`, line by line of each. Cost: about a microsecond for a short line; with a value of its own for
    each of thousands of hosts some ten."""

    def __init__(self, secrets: Iterable[Secret | str], rank: int = 0) -> None:
        self._rank = rank
        self._values: dict[str, str] = {}
        for secret in secrets:
            value = secret.reveal() if isinstance(secret, Secret) else secret
            for line in value.split("\n"):
                for form in _forms(line.strip("\r")):
                    self._values.setdefault(form, value)
        ordered = sorted(self._values, key=lambda form: (-len(form), form))
        self._heads: dict[str, list[str]] = {}
        for form in ordered:
            if len(form) >= _SHORT:
                self._heads.setdefault(form[:_SHORT], []).append(form)
        self._parts: dict[str, dict[str, None]] = {}
        self._many = len(ordered) > _MANY
        if self._many:
            ordered = [form for form in ordered if len(form) < _SHORT]
        texts = (_alone(form) if len(form) < _SHORT else re.escape(form) for form in ordered)
        self._pattern = re.compile("|".join(texts)) if ordered else None

    def spots(self, text: str) -> Iterator[Spot]:
        """Where they stand, and where a part of one stands before a `GAP`."""
        if not self._values:
            return
        if self._many:
            yield from self._by_beginnings(text)
        if self._pattern is not None:
            for match in self._pattern.finditer(text):
                yield Spot(match.start(), match.end(), self._rank, self._values[match.group()])
        at = text.find(GAP)
        while at >= 0:
            yield from self._cut(text, at)
            yield from self._rest(text, at + 1)
            at = text.find(GAP, at + 1)

    def _by_beginnings(self, text: str) -> Iterator[Spot]:
        at = 0
        while at <= len(text) - _SHORT:
            forms = self._heads.get(text[at : at + _SHORT], ())
            found = next((form for form in forms if text.startswith(form, at)), "")
            if found:
                yield Spot(at, at + len(found), self._rank, self._values[found])
            at += len(found) or 1

    def _cut(self, text: str, gap: int) -> Iterator[Spot]:
        """The longest end of the text before the gap with which a value begins."""
        longest = max(map(len, self._values))
        start = max(text.rfind("\n", 0, gap) + 1, gap - longest)
        for at in range(start, gap - _SHORT + 1):
            rest = text[at:gap]
            for form in self._heads.get(rest[:_SHORT], ()):
                if form.startswith(rest):
                    yield Spot(at, gap, self._rank, self._values[form])
                    return

    def _rest(self, text: str, start: int) -> Iterator[Spot]:
        """The longest beginning of the text after a gap with which a value ends."""
        found = Spot(start, start, self._rank)
        for form in self._with(text[start : start + _SHORT]):
            at = form.find(text[start : start + _SHORT], 1)
            while at > 0:
                if text.startswith(form[at:], start) and start + len(form) - at > found.end:
                    found = Spot(start, start + len(form) - at, self._rank, self._values[form])
                at = form.find(text[start : start + _SHORT], at + 1)
        if found.end > start:
            yield found

    def _with(self, part: str) -> Sequence[str]:
        """The forms that hold these few characters."""
        if len(part) < _SHORT or "\n" in part:
            return ()
        if not self._parts:
            for form in self._values:
                for at in range(1, len(form) - _SHORT + 1):
                    self._parts.setdefault(form[at : at + _SHORT], {})[form] = None
        return list(self._parts.get(part, ()))


def _forms(value: str) -> set[str]:
    """The value as programs print it: plain, escaped for JSON, HTML, a shell, SQL, URLs, in base64."""
    if not value.strip():
        return set()
    forms = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], html.escape(value)}
    if "'" in value:
        forms |= {value.replace("'", "''"), shlex.quote(value)[1:-1], value.replace("'", "'\\''")}
    if len(value) >= _SHORT:
        data = value.encode("utf-8", "surrogatepass")
        plain = base64.b64encode(data).decode().rstrip("=")
        forms |= {quote(data, safe=""), quote(data), plain, plain.replace("+", "-").replace("/", "_")}
        if len(data) >= _INSIDE:
            forms |= set(_within_base64(data))
    return forms


def _within_base64(data: bytes) -> Iterator[str]:
    """What of the value's base64 is the same whatever stands before and after it there."""
    for before in range(3):
        text = base64.b64encode(b"\0" * before + data).decode()
        first = -(-8 * before // 6)
        yield text[first : 8 * (before + len(data)) // 6]


def _alone(form: str) -> str:
    return rf"(?<!\w){re.escape(form)}(?!\w)"
