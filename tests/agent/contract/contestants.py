"""Agents that many tests use one after another, and tests that run with several agents at once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from contract_agents import Contestant, start_contestant

__all__ = ["Pool", "at_once", "close"]

# Of how many tests one agent has the sessions, before it has to end.
_MOST_TESTS = 25


class Pool:
    """Agents that tests use one after another, one of each kind. To start one and to end it takes longer than most tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._agents: dict[str, Contestant] = {}
        self._tests: dict[str, int] = {}

    def take(self, kind: str) -> Contestant:
        """The agent, with names of sessions that nobody has used."""
        if kind not in self._agents:
            self._agents[kind] = start_contestant(kind, self.folder, hello="v=1 nonce=n0 max_sessions=1000")
            self._tests[kind] = 0
        self._tests[kind] += 1
        agent = self._agents[kind]
        agent.named = f"t{self._tests[kind]}."
        return agent

    def give_back(self, kind: str, *, failed: bool) -> None:
        """What a test has done with one that failed, nobody knows."""
        if failed or self._tests[kind] >= _MOST_TESTS:
            close(self._agents.pop(kind))

    def close(self) -> None:
        while self._agents:
            close(self._agents.popitem()[1])


def close(agent: Contestant) -> None:
    agent.close()
    if agent.hello:
        assert not agent.directory.exists()


def at_once(kinds: Sequence[str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes one test of a test that takes a `kind`: with all of them at the same time, since it mostly waits."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def together(**fixtures: object) -> None:
            with ThreadPoolExecutor(len(kinds)) as threads:
                running = {kind: threads.submit(test, kind=kind, **fixtures) for kind in kinds}
            failed = {kind: one.exception() for kind, one in running.items() if one.exception()}
            for kind, error in failed.items():
                raise AssertionError(f"with {', '.join(failed)}; first: {kind}") from error

        parameters = inspect.signature(test).parameters
        wanted = [parameter for name, parameter in parameters.items() if name != "kind"]
        together.__signature__ = inspect.Signature(wanted)  # type: ignore[attr-defined]  # what pytest reads
        return together

    return decorate
