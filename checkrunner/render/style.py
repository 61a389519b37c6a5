"""Colour as plain escape sequences: a report needs seven of them, and no library that costs start-up time."""

from __future__ import annotations

__all__ = ["Style"]

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "1;31",
    "green": "32",
    "yellow": "33",
    "magenta": "35",
    "cyan": "36",
}


class Style:
    """Wraps a text in a style's escape sequences, or in nothing when colour is off. Expects safe text."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled

    def __call__(self, name: str, text: str) -> str:
        """`text` in the style `name`."""
        return f"\x1b[{_CODES[name]}m{text}\x1b[0m" if self.enabled and text else text
