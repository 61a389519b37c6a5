"""What the store knows before a run: read at one time, so that nothing changes while the run lasts."""

from __future__ import annotations

from collections.abc import Container
from datetime import datetime
from typing import Any

from checkrunner.history.blobs import unpacked_json
from checkrunner.history.people import baseline_from
from checkrunner.history.store import Store
from checkrunner.model.errors import HistoryError
from checkrunner.model.history import Baseline, RunView, Selection, Silence, Suppression

__all__ = ["StoredPast"]

_Key = tuple[str, str]


class StoredPast:
    """Implements `model.seams.Past`. Lines and shapes are unpacked when they are asked for."""

    def __init__(self, store: Store, playbook: str, selection: Selection, now: datetime) -> None:
        self._path = store.path
        with store.reading():
            last = store.last(playbook, selection)
            self._view = None if last is None else store.view(last)
            every = store.silences()
            self._silences = [one for one in every if one.holds_at(now)]
            view = self._view
            self._silences_then = [one for one in every if one.held_at(view.started_at)] if view else []
            self._suppressions = {(one.host, one.check): one for one in store.suppressions(now, playbook)}
            self._baseline_rows: dict[_Key, Any] = {(row[1], row[2]): row for row in store.baseline_rows(playbook)}
            self._shape_data: dict[_Key, bytes] = {(host, key): data for host, key, data in store.shape_rows(playbook)}
        cells = self._view.cells.values() if self._view else ()
        self._findings = None if self._view is None else frozenset({cell.finding for cell in cells} - {""})
        self._baselines: dict[_Key, Baseline] = {}
        self._shapes: dict[_Key, frozenset[str]] = {}
        self._silenced: dict[_Key, Silence | None] = {}

    def findings(self) -> Container[str] | None:
        """See the seam."""
        return self._findings

    def shapes(self, host: str, check: str) -> Container[str] | None:
        """See the seam."""
        at = (host, check)
        if at not in self._shapes and at in self._shape_data:
            try:
                self._shapes[at] = frozenset(unpacked_json(self._shape_data.pop(at), self._path))
            except HistoryError:
                return None  # which lines are new is then not known; no verdict hangs on it
        return self._shapes.get(at)

    def view(self) -> RunView | None:
        """See the seam."""
        return self._view

    def baseline(self, host: str, check: str) -> Baseline | None:
        """See the seam."""
        at = (host, check)
        if at not in self._baselines and at in self._baseline_rows:
            self._baselines[at] = baseline_from(self._baseline_rows[at], self._path)
        return self._baselines.get(at)

    def silence(self, host: str, check: str) -> Silence | None:
        """See the seam."""
        if not self._silences:
            return None
        at = (host, check)
        if at not in self._silenced:
            covering = [one for one in self._silences if one.covers(host, check)]
            self._silenced[at] = max(covering, key=lambda one: one.until, default=None)
        return self._silenced[at]

    def was_silenced(self, host: str, check: str) -> bool:
        """See the seam."""
        return any(one.covers(host, check) for one in self._silences_then)

    def suppression(self, host: str, check: str) -> Suppression | None:
        """See the seam."""
        return self._suppressions.get((host, check))
