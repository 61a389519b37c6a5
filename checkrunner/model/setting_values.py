"""Values of settings, from texts and from what TOML holds. Each reader raises ValueError with what is expected."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from checkrunner.model.durations import seconds_of
from checkrunner.model.report import LEAST_BUDGET
from checkrunner.model.sources import Secret

__all__ = [
    "budget",
    "choice",
    "count",
    "listed",
    "parse_seconds",
    "paths",
    "positive_seconds",
    "secret",
    "size",
    "size_or_none",
    "sources",
    "text_of",
    "vocabulary",
]

_LEAST_FACTOR, _MOST_FACTOR = 0.1, 10.0
_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_MOST_BUDGET = 100_000_000


def parse_seconds(value: object) -> float:
    """Seconds from a number or a text such as ``90``, ``30s``, ``5m``, ``1.5h``, ``200ms``.

    Raises ValueError with a sentence part that says what is expected.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    seconds = float(str(value)) if number else seconds_of(str(value))
    if seconds is None:
        raise ValueError("expected a time such as 30, 30s, 5m or 1h")
    if not 0 <= seconds <= 10 * 365 * 86400:  # nan, which TOML can write, is in no order
        raise ValueError("expected a time between 0 and 10 years")
    return seconds


def positive_seconds(value: object) -> float:
    """A time above 0, as `parse_seconds` reads it."""
    seconds = parse_seconds(value)
    if seconds == 0:
        raise ValueError("expected a time above 0")
    return seconds


def size(value: object) -> int:
    """Bytes: 4096 or more."""
    if isinstance(value, int) and not isinstance(value, bool):
        size = value
    else:
        match = re.fullmatch(r"\s*(\d+)\s*([kmg]?)(?:i?b)?\s*", str(value).lower())
        if match is None:
            raise ValueError("expected a size such as 1048576, 64M or 1GiB")
        size = int(match[1]) * _SIZES[match[2]]
    if size < 4096:
        raise ValueError("expected at least 4096 bytes")
    return size


def size_or_none(value: object) -> int:
    """Bytes as `size` reads them, or 0."""
    return 0 if str(value).strip() == "0" else size(value)


def count(value: object) -> int:
    """A whole number from 1 on."""
    try:
        count = int(str(value))
    except ValueError:
        raise ValueError("expected a whole number") from None
    if not 1 <= count <= 100_000:
        raise ValueError("expected a number from 1 to 100000")
    return count


def text_of(value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ValueError("expected a text")  # noqa: TRY004 - one error class for all readers
    return value


def secret(value: object) -> Secret:
    """A text that is shown nowhere."""
    return Secret(str(value))


def paths(value: object) -> tuple[str, ...]:
    """Paths: a list, or a text in which they are separated as in PATH."""
    if isinstance(value, str):
        return tuple(part for part in value.split(os.pathsep) if part)
    if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise ValueError("expected a path or a list of paths")


def sources(value: object) -> tuple[str, ...]:
    """Inventory sources. They may hold commas and colons (host lists), so a text is one source."""
    return (value,) if isinstance(value, str) else paths(value)


def listed(value: object) -> tuple[str, ...]:
    """Words: a list, or a text in which they are separated by commas."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return paths(value)


def choice(*choices: str) -> Callable[[object], str]:
    """Reads one of these words; true and false are yes and no where these are among them."""

    def read(value: object) -> str:
        text = {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value).lower()
        text = {"true": "yes", "false": "no", "1": "yes", "0": "no"}.get(text, text) if "yes" in choices else text
        if text not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return text

    return read


def budget(value: object) -> int:
    """A number of tokens, 0 for no limit."""
    try:
        tokens = int(str(value))
    except ValueError:
        raise ValueError("expected a whole number") from None
    if tokens and not LEAST_BUDGET <= tokens <= _MOST_BUDGET:
        raise ValueError(f"expected 0 for no limit, or a number from {LEAST_BUDGET} to {_MOST_BUDGET}")
    return tokens


def vocabulary(value: object) -> str:
    """The name of a vocabulary, or tokens for each one of the default vocabulary: as a text. Which names there are is
    known to who counts."""
    text = value.strip() if isinstance(value, str) else str(value)
    try:
        factor = float(text)
    except ValueError:
        return text_of(value).strip()
    if isinstance(value, bool) or not _LEAST_FACTOR <= factor <= _MOST_FACTOR:
        raise ValueError(f"expected the name of a vocabulary, or a number from {_LEAST_FACTOR:g} to {_MOST_FACTOR:g}")
    return text
