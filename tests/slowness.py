"""How long things may take on a machine that has other things to do."""

from __future__ import annotations

import os

__all__ = ["allowed"]


def allowed(seconds: float) -> float:
    """What `seconds` on an idle machine may be on this one now: twice that for each process that waits for a core."""
    return seconds * (1 + os.getloadavg()[0] / len(os.sched_getaffinity(0)))
