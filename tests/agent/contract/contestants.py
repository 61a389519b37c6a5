"""Agents that many tests use one after another."""

from __future__ import annotations

from pathlib import Path

from contract_agents import Contestant, start_contestant

__all__ = ["Pool", "close"]

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
