"""Lines of a given width, and quantities in words."""

from __future__ import annotations

from collections.abc import Iterator

from checkrunner.render.safe import safe, text_width

__all__ = ["count_of", "duration", "wrapped"]


def wrapped(text: str, width: int, *, first: str = "", rest: str = "") -> Iterator[str]:
    """The words of `text` in lines of at most `width` columns, each after its indentation. A word that is longer than
    a line stays whole, so that it can be copied."""
    line, used, empty = first, text_width(first), True
    for word in safe(text).split():
        size = text_width(word)
        if not empty and used + 1 + size > width:
            yield line
            line, used, empty = rest, text_width(rest), True
        line += word if empty else f" {word}"
        used += size if empty else size + 1
        empty = False
    if not empty:
        yield line


def count_of(number: int, noun: str, plural: str = "") -> str:
    """``1 host``, ``2 hosts``, ``10,000 hosts``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """``0.4 s``, ``12 s``, ``3 min 05 s``, ``2 h 07 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
