"""Names of runs and of who is here."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from datetime import datetime

__all__ = ["new_run_id", "user_of"]


def new_run_id(now: datetime) -> str:
    """Sortable by time, unique enough for one site: ``20261130T101500Z-3f9a21``. `now` is UTC."""
    return f"{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def user_of(environment: Mapping[str, str]) -> str:
    """The person at the keyboard, as far as it can be known: whoever called sudo rather than root."""
    import pwd

    if name := environment.get("SUDO_USER", ""):
        return name
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
