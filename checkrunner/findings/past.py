"""What is known of earlier runs where nothing is kept of them."""

from __future__ import annotations

from collections.abc import Container

from checkrunner.model.history import Baseline, RunView, Silence, Suppression

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

    def view(self) -> RunView | None:
        """None: there was no last run."""
        return None

    def baseline(self, host: str, check: str) -> Baseline | None:
        """None, whatever the host and the check."""
        del host, check
        return None

    def silence(self, host: str, check: str) -> Silence | None:
        """None, whatever the host and the check."""
        del host, check
        return None

    def was_silenced(self, host: str, check: str) -> bool:
        """False, whatever the host and the check."""
        del host, check
        return False

    def suppression(self, host: str, check: str) -> Suppression | None:
        """None, whatever the host and the check."""
        del host, check
        return None
