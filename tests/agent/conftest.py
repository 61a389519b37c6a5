"""Fixtures of the agent's tests: the agent as a process, on this and on every other interpreter."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from agent_process import SOON, AgentProcess, few_interpreters, interpreters


@pytest.fixture
def start_agent() -> Iterator[Callable[..., AgentProcess]]:
    """Starts agents; each is ended, and must leave no directory."""
    started: list[AgentProcess] = []

    def start(**options: Any) -> AgentProcess:
        agent = AgentProcess(**options)
        started.append(agent)
        return agent

    yield start
    for agent in started:
        agent.close()
        if agent.hello.get("dir") and agent.process.returncode != -signal.SIGKILL:
            assert not agent.directory.exists()


@pytest.fixture
def agent(start_agent: Callable[..., AgentProcess]) -> AgentProcess:
    return start_agent()


@pytest.fixture
def soon_agent(start_agent: Callable[..., AgentProcess]) -> AgentProcess:
    """One that looks sooner at what lasts."""
    return start_agent(times=SOON)


@pytest.fixture(params=few_interpreters())
def few_agent(request: pytest.FixtureRequest, start_agent: Callable[..., AgentProcess]) -> AgentProcess:
    """An agent on the oldest interpreter, the floor of the package, and the newest."""
    return start_agent(python=request.param)


@pytest.fixture(params=interpreters())
def any_agent(request: pytest.FixtureRequest, start_agent: Callable[..., AgentProcess]) -> AgentProcess:
    """An agent on each interpreter."""
    return start_agent(python=request.param)
