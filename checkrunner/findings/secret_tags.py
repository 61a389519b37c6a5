"""What stands where a secret was: ``<secret:k3f9>``, the same in one run for the same secret, and nothing of it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes

__all__ = ["GAP", "MARK", "TAG", "Tags", "canonical", "is_spent", "outside_tags", "tag_places"]

MARK = "<secret>"
"""The tag of a redactor that has no key: it tells no two secrets apart."""

GAP = "\0"
"""Stands in a text where a part of a line was left out, so that what is cut there is known to be cut."""

_OPEN, _CLOSE = r"(?:<|%3[Cc]|\\+u003[Cc]|&lt;)", r"(?:>|%3[Ee]|\\+u003[Ee]|&gt;)"
TAG = re.compile(rf"{_OPEN}secret(?:(?::|%3[Aa])(?:[0-9a-z]{{12}}|[0-9a-z]{{4}}))?{_CLOSE}")
"""A tag, also as URLs, JSON and HTML write it."""

_ALSO_CUT = re.compile(rf"{TAG.pattern}|<secret(?::[0-9a-z]{{0,12}})?(?=\.\.\.|\u2026|\0|[ \t]*$)", re.MULTILINE)
"""A tag, or what clipping leaves of one."""

_ALPHABET = str.maketrans("abcdefghijklmnopqrstuvwxyz234567", "0123456789abcdefghjkmnpqrstvwxyz")
_SHORT, _LONG = 4, 12
_KEY_BODY = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{1,15}={1,2}")
_PUNCTUATION = " \t\"'`,;:.)}]>\\\0\u2026"
_LONGEST_ENCODED = 4096
_LONGEST_TAG = 40


def is_spent(text: str) -> bool:
    """Whether there is nothing in `text` but tags, whole or cut, and what closes them."""
    rest = _ALSO_CUT.sub("", text) if "secret" in text else text
    return not rest.strip(_PUNCTUATION)


def tag_places(text: str) -> list[tuple[int, int]]:
    """Where tags are, and beginnings of tags."""
    return [tag.span() for tag in _ALSO_CUT.finditer(text)] if "secret" in text else []


def outside_tags(text: str, at: int, *, after: bool = False) -> int:
    """The place nearest to `at`, before it or `after` it, where `text` may be cut without halving a tag."""
    for tag in TAG.finditer(text, max(0, at - _LONGEST_TAG), at + _LONGEST_TAG):
        if tag.start() < at < tag.end():
            return tag.end() if after else tag.start()
    return at


class Tags:
    """The tags of a run: a digest of the secret under `key`, which is random and of this run alone, cut to four
    characters. Where two secrets would have the same one, the later has a longer one. So neither the order in which
    secrets turn up nor the number of hosts matters, and only the first `most` different ones are remembered (as
    digests), and counted. An empty `key` gives all of them the tag `MARK`. May be used by several threads."""

    def __init__(self, key: bytes, *, most: int = 10_000) -> None:
        self._key = hashlib.sha256(key).digest() if key else b""
        self._most = most
        self._ranks: dict[bytes, int] = {}
        self._owners: dict[str, bytes] = {}
        self.uncounted = 0
        """How often a secret was masked that could not be remembered any more."""

    def tag(self, secret: str, rank: int) -> str:
        """The tag of the secret; `rank` is the number of its kind, of which the lowest one counts."""
        data = canonical(secret).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(data, key=self._key, digest_size=16).digest()
        text = base64.b32encode(digest).decode().lower().translate(_ALPHABET)
        # Whoever comes first has the place: one step each, so that threads need not wait for each other.
        if digest in self._ranks or len(self._ranks) < self._most:
            if rank < self._ranks.setdefault(digest, rank):
                self._ranks[digest] = rank
            self._owners.setdefault(text[:_SHORT], digest)
        else:
            self.uncounted += 1
        if not self._key:
            return MARK
        short = self._owners.get(text[:_SHORT]) == digest
        return f"<secret:{text[: _SHORT if short else _LONG]}>"

    def counts(self) -> Mapping[int, int]:
        """How many different secrets there were, by the number of their kind."""
        return Counter(list(self._ranks.values()))


def canonical(secret: str) -> str:
    """The secret itself, whatever it is encoded in: percent, JSON, HTML and base64 forms of it are the same secret, and
    so is a private key on one line and on many."""
    text = secret.strip()
    if "PRIVATE KEY" in text:
        return "".join(_KEY_BODY.findall(text.replace("\\n", "\n"))) or text
    if len(text) > _LONGEST_ENCODED:
        return text
    for _ in range(3):
        plain = _decoded(text)
        if plain == text:
            break
        text = plain
    return text


def _decoded(text: str) -> str:
    """Without one layer of encoding."""
    if "\\" in text:
        try:
            return str(json.loads(f'"{text}"'))
        except ValueError:
            return text
    if "%" in text and re.search(r"%[0-9A-Fa-f]{2}", text):
        return _text(unquote_to_bytes(text)) or text
    if "&" in text and ";" in text:
        return html.unescape(text)
    if len(text) >= 8 and re.fullmatch(r"[A-Za-z0-9+/_-]+={0,2}", text):
        bare = text.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            plain = _text(base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)).rstrip("\n")
        except binascii.Error:
            return text
        return plain if len(plain) >= 4 and plain.isprintable() else text
    return text


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""
