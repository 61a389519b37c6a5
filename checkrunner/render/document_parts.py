"""What all parts of a document are made of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from checkrunner.model.folded import OnHosts
from checkrunner.render.safe import safe_json

__all__ = ["filled", "hosts_of", "time_of"]


def filled(**values: Any) -> dict[str, Any]:
    """Those of the values that are not empty; texts fit for JSON."""
    return {name: safe_json(value) if isinstance(value, str) else value for name, value in values.items() if value}


def hosts_of(entry: OnHosts) -> dict[str, Any]:
    """The folded names, and how many they are where that cannot be seen."""
    return {"hosts": safe_json(entry.hosts), **filled(host_count=entry.host_count if entry.host_count != 1 else 0)}


def time_of(moment: datetime | None) -> str:
    """ISO 8601 in UTC with seconds; "" where there is none."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else ""
