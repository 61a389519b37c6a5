"""What is known of earlier runs where nothing is kept of them."""

from __future__ import annotations

from collections.abc import Container

__all__ = ["NoPast"]


class NoPast:
    """A `Past` that knows nothing: no finding is called new or known, and no line was seen before."""

    def findings(self) -> Container[str] | None:
        """None: there was no last run."""
        return None

    def shapes(self, host: str, check: str) -> Container[str] | None:
        """None, whatever the host and the check."""
        del host, check
        return None
