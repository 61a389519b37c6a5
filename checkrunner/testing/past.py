"""A past that is written down, for the seam `Past`, and the check of its contract."""

from __future__ import annotations

from collections.abc import Container, Mapping

from checkrunner.model.seams import Past

__all__ = ["MemoryPast", "check_past"]


class MemoryPast:
    """A past with these findings, and these shapes of lines by host and check."""

    def __init__(
        self,
        findings: Container[str] | None = None,
        shapes: Mapping[tuple[str, str], Container[str]] | None = None,
    ) -> None:
        self._findings = findings
        self._shapes = dict(shapes or {})

    def findings(self) -> Container[str] | None:
        """See the seam."""
        return self._findings

    def shapes(self, host: str, check: str) -> Container[str] | None:
        """See the seam."""
        return self._shapes.get((host, check))


def check_past(past: Past) -> None:
    """The contract of `Past`: it answers for whatever name, and twice the same."""
    first, second = past.findings(), past.findings()
    assert (first is None) == (second is None), "what the last run showed does not change while it is asked"
    if first is not None and second is not None:
        assert ("no such finding" in first) == ("no such finding" in second)
    for host, check in (("web1", "disk"), ("", ""), ("web1", "disk[/var]")):
        shapes = past.shapes(host, check)
        assert shapes is None or isinstance("a line" in shapes, bool), "shapes can be asked for"
