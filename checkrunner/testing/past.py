"""A past that is written down, for the seam `Past`, and the check of its contract."""

from __future__ import annotations

from collections.abc import Container, Mapping

from checkrunner.model.history import Baseline, RunView, Silence, Suppression
from checkrunner.model.seams import Past

__all__ = ["MemoryPast", "check_past"]


class MemoryPast:
    """A past with these findings and this last run; the rest is by host and check."""

    def __init__(
        self,
        findings: Container[str] | None = None,
        shapes: Mapping[tuple[str, str], Container[str]] | None = None,
        *,
        view: RunView | None = None,
        baselines: Mapping[tuple[str, str], Baseline] | None = None,
        silences: Mapping[tuple[str, str], Silence] | None = None,
        suppressions: Mapping[tuple[str, str], Suppression] | None = None,
    ) -> None:
        self._findings = findings
        self._shapes = dict(shapes or {})
        self._view = view
        self._baselines = dict(baselines or {})
        self._silences = dict(silences or {})
        self._suppressions = dict(suppressions or {})

    def findings(self) -> Container[str] | None:
        """See the seam."""
        return self._findings

    def shapes(self, host: str, check: str) -> Container[str] | None:
        """See the seam."""
        return self._shapes.get((host, check))

    def view(self) -> RunView | None:
        """See the seam."""
        return self._view

    def baseline(self, host: str, check: str) -> Baseline | None:
        """See the seam."""
        return self._baselines.get((host, check))

    def silence(self, host: str, check: str) -> Silence | None:
        """See the seam."""
        return self._silences.get((host, check))

    def was_silenced(self, host: str, check: str) -> bool:
        """See the seam."""
        silence = self._silences.get((host, check))
        return silence is not None and self._view is not None and silence.held_at(self._view.started_at)

    def suppression(self, host: str, check: str) -> Suppression | None:
        """See the seam."""
        return self._suppressions.get((host, check))


def check_past(past: Past) -> None:
    """The contract of `Past`: it answers for whatever name, and twice the same."""
    first, second = past.findings(), past.findings()
    assert (first is None) == (second is None), "what the last run showed does not change while it is asked"
    if first is not None and second is not None:
        assert ("no such finding" in first) == ("no such finding" in second)
    for host, check in (("web1", "disk"), ("", ""), ("web1", "disk[/var]")):
        shapes = past.shapes(host, check)
        assert shapes is None or isinstance("a line" in shapes, bool), "shapes can be asked for"
        assert past.baseline(host, check) == past.baseline(host, check), "a baseline does not change while it is asked"
        assert past.silence(host, check) == past.silence(host, check), "nor does a silence"
        assert past.was_silenced(host, check) == past.was_silenced(host, check), "nor whether there was one"
        assert past.suppression(host, check) == past.suppression(host, check), "nor does a suppression"
    assert past.view() is past.view(), "the last run is read once"
