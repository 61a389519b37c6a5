"""Characters that a terminal or a reader would not show as what they are, and texts without them."""

from __future__ import annotations

import unicodedata

__all__ = ["is_hidden", "one_line"]

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
