"""Names of runs."""

from __future__ import annotations

import secrets
from datetime import datetime

__all__ = ["new_run_id"]


def new_run_id(now: datetime) -> str:
    """Sortable by time, unique enough for one site: ``20261130T101500Z-3f9a21``. `now` is UTC."""
    return f"{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
