"""Text from hosts and files made harmless for a terminal or a log.

Slices arrive clean (`findings.textview`); names, reasons and messages may hold anything.
"""

from __future__ import annotations

import unicodedata
from typing import TextIO

from checkrunner.model.characters import is_hidden

__all__ = ["cut_to", "for_stream", "safe", "safe_json", "text_width"]


def safe(text: str) -> str:
    """One line without control or invisible characters: newlines and tabs become spaces, others ``<U+001B>``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def safe_json(text: str) -> str:
    """Without what no UTF-8 text can hold: a lone surrogate becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def text_width(text: str) -> int:
    """The terminal columns that a `safe` text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def cut_to(text: str, columns: int) -> str:
    """A `safe` text in at most so many columns, at least three; where it is cut, it ends in three points."""
    # No character takes less than one column but those that combine with the one before.
    if text_width(text) <= columns:
        return text
    taken, end = 0, 0
    for end, char in enumerate(text):  # noqa: B007 - it is where the text is cut
        taken += _columns(char)
        if taken > columns - 3:
            break
    return text[:end] + "..."


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _shown(char: str) -> str:
    if char in "\n\r\t":
        return " "
    return f"<U+{ord(char):04X}>" if is_hidden(char) else char


def for_stream(text: str, out: TextIO) -> str:
    """`text` with ``?`` for what the stream's encoding does not have."""
    encoding = getattr(out, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)
