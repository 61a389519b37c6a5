"""The store of runs that is set, opened."""

from __future__ import annotations

from checkrunner.history.store import Store
from checkrunner.model.errors import HistoryError
from checkrunner.settings import Settings

__all__ = ["open_store"]


def open_store(settings: Settings, *, create: bool = False) -> Store:
    """The store that is set, for a verb that is about it. Raises HistoryError where there is none."""
    path = settings.history
    if path is None:
        raise HistoryError("no history of runs is kept", "none", hint=f"It is so by {settings.origins['history']}")
    return Store.open(path, options=settings.history_options(), create=create)
