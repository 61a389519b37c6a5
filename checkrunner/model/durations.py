"""The one notation of durations, in playbooks, settings and flags alike."""

from __future__ import annotations

import re

__all__ = ["seconds_of"]

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(rf"([0-9]+(?:\.[0-9]+)?)\s*({'|'.join(_UNITS)})?")


def seconds_of(text: str) -> float | None:
    """Seconds of ``90``, ``30s``, ``1.5h``, ``200 ms``; None for a text of another form. Bounds are the caller's."""
    match = _DURATION.fullmatch(text.strip())
    return float(match[1]) * _UNITS[match[2] or "s"] if match else None
