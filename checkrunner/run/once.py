"""Checks that one host runs for many: whose turn it is, and what came of it for the others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from checkrunner.model.plan import CheckOutcome

__all__ = ["Once"]


class Once:
    """One check that one of these hosts runs for all of them: the first, in their order, that can.

    A host waits for those before it alone, so hosts that are begun in this order never wait for one that is not.
    """

    def __init__(self, hosts: Iterable[str]) -> None:
        self._left = dict.fromkeys(hosts)
        self._outcome: CheckOutcome | None = None
        self._changed = asyncio.Event()

    def is_decided(self, host: str) -> bool:
        """Whether it is known whose turn it is, this host's or another's that has run it."""
        return self._outcome is not None or next(iter(self._left), host) == host

    async def wait(self, host: str) -> CheckOutcome | None:
        """What came of the check elsewhere; None when this host is to run it."""
        while not self.is_decided(host):
            await self._changed.wait()
        return self._outcome

    @property
    def outcome(self) -> CheckOutcome | None:
        """What came of it; None as long as nobody has run it."""
        return self._outcome

    def ran(self, outcome: CheckOutcome) -> None:
        """It has been run, or settled. What a host says of it that has left it to others does not count."""
        if self._outcome is None and outcome.host in self._left:
            self._outcome = outcome
            self._wake()

    def leave(self, host: str) -> bool:
        """The host will not run it. True where nobody else will: the host then has to say what came of it."""
        was_last = len(self._left) == 1 and host in self._left
        self._left.pop(host, None)
        self._wake()
        return was_last and self._outcome is None

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
