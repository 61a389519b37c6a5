"""A command's two outputs, and questions about them that the host answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Probe", "ProbeKind", "ProbeResult", "Stream"]


class Stream(StrEnum):
    """One of a command's two outputs."""

    STDOUT = "stdout"
    STDERR = "stderr"


class ProbeKind(StrEnum):
    """A question that the host answers about a stream, so that its text need not travel."""

    CONTAINS = "contains"
    """How many lines hold the text, which is the first (a text with newlines: the line where it starts)."""
    MATCHES = "matches"
    """How many lines the regular expression is found in (`re.search`, line by line), which is the first."""
    EQUALS = "equals"
    """1 when the stream is the text, a final newline on either side not counting; else 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question; `name` is unique within its step and comes back with the answer."""

    name: str
    kind: ProbeKind
    stream: Stream
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """`count` as the probe's kind defines it; `first_line` is 1-based, 0 for none; `error` when not answered."""

    name: str
    count: int = 0
    first_line: int = 0
    error: str = ""
