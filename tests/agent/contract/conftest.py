"""The contestants as fixtures; each must leave no directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from contestants import Pool, close
from contract_agents import AGENTS, Contestant, start_contestant


@pytest.fixture(scope="session")
def contestants_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp() / "contestants"


@pytest.fixture(scope="session")
def pool(contestants_folder: Path) -> Iterator[Pool]:
    made = Pool(contestants_folder)
    yield made
    made.close()


@pytest.fixture(params=AGENTS)
def kind(request: pytest.FixtureRequest) -> str:
    word: str = request.param
    return word


@pytest.fixture
def start(kind: str, contestants_folder: Path) -> Iterator[Callable[..., Contestant]]:
    """Starts agents of one kind, for what an agent has only one of: its first words, its end, its limits."""
    started: list[Contestant] = []

    def start(**options: Any) -> Contestant:
        agent = start_contestant(kind, contestants_folder, **options)
        started.append(agent)
        return agent

    yield start
    for agent in started:
        close(agent)


@pytest.fixture
def agent(kind: str, pool: Pool, request: pytest.FixtureRequest) -> Iterator[Contestant]:
    """One that others have used before, in other sessions."""
    before = request.session.testsfailed
    yield pool.take(kind)
    pool.give_back(kind, failed=request.session.testsfailed != before)
