"""Values that are known to be secret, found in text in any of their usual forms."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote

from checkrunner.model.sources import Secret

__all__ = ["KnownValues"]

_SHORT = 4
"""Known values shorter than this are masked only where they stand alone."""
_MANY = 200
"""More forms than this are looked up by their beginnings: an expression would try each of them at each place."""


class KnownValues:
    """Masks `secrets`, line by line of each, by `mark`. Cost: about a microsecond for a short line; with a value of its
    own for each of thousands of hosts some ten."""

    def __init__(self, secrets: Iterable[Secret | str], mark: str) -> None:
        forms: set[str] = set()
        for secret in secrets:
            value = secret.reveal() if isinstance(secret, Secret) else secret
            for line in value.split("\n"):
                forms |= _forms(line.strip("\r"))
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._mark = mark
        self._by_head: dict[str, list[str]] = {}
        if len(ordered) > _MANY:
            for form in ordered:
                if len(form) >= _SHORT:
                    self._by_head.setdefault(form[:_SHORT], []).append(form)
            ordered = [form for form in ordered if len(form) < _SHORT]
        texts = (_alone(form) if len(form) < _SHORT else re.escape(form) for form in ordered)
        self._pattern = re.compile("|".join(texts)) if ordered else None

    def mask(self, text: str) -> str:
        """The text without them."""
        if not self._by_head and self._pattern is None:
            return text
        # A value that is part of the mark itself must not be looked for inside marks.
        text = self._mark.join(self._by_beginnings(part) for part in text.split(self._mark))
        if self._pattern is None:
            return text
        return self._mark.join(self._pattern.sub(self._mark, part) for part in text.split(self._mark))

    def _by_beginnings(self, text: str) -> str:
        if not self._by_head:
            return text
        out: list[str] = []
        done = at = 0
        while at <= len(text) - _SHORT:
            forms = self._by_head.get(text[at : at + _SHORT], ())
            found = next((form for form in forms if text.startswith(form, at)), "")
            if found:
                out.append(text[done:at] + self._mark)
                done = at = at + len(found)
            else:
                at += 1
        return "".join(out) + text[done:]


def _forms(value: str) -> set[str]:
    """The value as programs print it: plain, JSON-escaped, percent-encoded, in base64."""
    if not value.strip():
        return set()
    forms = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    if len(value) >= _SHORT:
        data = value.encode("utf-8", "surrogatepass")
        forms |= {quote(data, safe=""), quote(data), base64.b64encode(data).decode().rstrip("=")}
    return forms


def _alone(form: str) -> str:
    return rf"(?<!\w){re.escape(form)}(?!\w)"
