"""The contestants as fixtures; each must leave no directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from contract_agents import AGENTS, Contestant, start_contestant


@pytest.fixture(params=AGENTS)
def start(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Contestant]]:
    """Starts agents of one kind."""
    folder: Path = tmp_path_factory.getbasetemp() / "contestants"
    started: list[Contestant] = []

    def start(**options: Any) -> Contestant:
        agent = start_contestant(request.param, folder, **options)
        started.append(agent)
        return agent

    yield start
    for agent in started:
        agent.close()
        if agent.hello:
            assert not agent.directory.exists()


@pytest.fixture
def agent(start: Callable[..., Contestant]) -> Contestant:
    return start()
