"""Characters that a terminal or a reader would not show as what they are, and texts without them."""

from __future__ import annotations

import unicodedata

__all__ = ["MOST_TYPED_BYTES", "is_hidden", "one_line", "untypeable"]

MOST_TYPED_BYTES = 4000
"""Of one line: a terminal keeps no more than 4,095."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def is_hidden(char: str) -> bool:
    """Whether the character has no shape of its own: controls, bidi marks, zero widths, tags, variation selectors of
    the supplement, line and paragraph separators, lone surrogates."""
    return unicodedata.category(char) in _HIDDEN or 0xE0100 <= ord(char) <= 0xE01EF


def one_line(text: str, most: int) -> str:
    """A foreign text for the inside of a message: white space folded, what cannot be printed as ``?``, at most `most`
    characters."""
    text = "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
    return text if len(text) <= most else text[: most - 3] + "..."


def untypeable(text: str) -> str:
    """Why a text cannot be typed as one line at a terminal; "" when it can. There a control character is a key: one
    ends the line, others the input or the program."""
    if "\n" in text or "\r" in text:
        return "it has more than one line"
    if any((char < " " and char != "\t") or char == "\x7f" for char in text):
        return "it has a control character"
    size = len(text.encode("utf-8", "surrogateescape"))
    return f"it has {size:,} bytes, a terminal takes {MOST_TYPED_BYTES:,}" if size > MOST_TYPED_BYTES else ""
