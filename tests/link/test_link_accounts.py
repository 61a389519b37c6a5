"""Another account's agent that hangs: what it costs, and what it does not. Both accounts are this machine's own user."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import signal
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest
from async_helpers import run_async
from slowness import allowed

from checkrunner.link.accounts import Accounts
from checkrunner.link.session import FramedSession, open_session
from checkrunner.link.transports.local import LocalTransport
from checkrunner.link.transports.process import ProcessChannel
from checkrunner.model.errors import BecomeError, BecomeFailure
from checkrunner.model.inventory import Host
from checkrunner.model.options import LocalOptions, SessionOptions
from checkrunner.model.plan import Account, Command, PlannedCheck, Step
from checkrunner.model.playbook import Check
from checkrunner.model.results import Execution, SliceMode, SliceQuery
from checkrunner.model.sources import Template

HOST = Host(name="here", address="127.0.0.1", transport="local")
THEM = Account(user=pwd.getpwuid(os.getuid()).pw_name, method="sudo")
TAIL = SliceQuery(mode=SliceMode.TAIL, max_lines=3)
GRACE_S = 0.5


def step(shell: str, account: Account | None = None, *early: SliceQuery) -> Step:
    check = Check(id="c", name="c", run=Template(text=shell))
    command = Command(shell=shell, session="main", timeout_s=1.0, become=account)
    return Step(planned=PlannedCheck(key="c", play="p", check=check), command=command, early=early)


@dataclass
class Both:
    sessions: Accounts
    agents: list[int]

    def stop(self) -> None:
        """The other account's agent does nothing any more."""
        os.kill(self.agents[-1], signal.SIGSTOP)


@asynccontextmanager
async def both(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Both]:
    monkeypatch.setattr("checkrunner.link.accounts._ANSWER_GRACE_S", GRACE_S)
    monkeypatch.setattr("checkrunner.link.accounts._FETCH_S", GRACE_S)
    transport = LocalTransport(LocalOptions())

    async def start() -> FramedSession:
        return await open_session(transport, HOST, options=SessionOptions(), timeout_s=5)

    login = await start()
    await login.ready()
    login.user, login.uid = "me", -1  # as if it were another one than the agent's own
    made = Both(Accounts(HOST, login, lambda *_: start()), [])
    try:
        result, (shown,) = await made.sessions.run(step("echo $PPID", THEM, TAIL))
        assert shown is not None
        made.agents.append(int(shown.lines[0].data))
        assert result.execution is Execution.DONE
        yield made
    finally:
        for pid in made.agents:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        await made.sessions.aclose()
        await transport.aclose()


async def lost(call: Awaitable[object]) -> str:
    with pytest.raises(BecomeError) as caught:
        await call
    assert caught.value.kind is BecomeFailure.LOST
    return str(caught.value)


def test_an_agent_that_hangs_costs_what_was_sent_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with both(monkeypatch) as made:
            made.stop()
            began = time.monotonic()
            said = await asyncio.gather(*(lost(made.sessions.run(step("true", THEM))) for _ in range(3)))

            assert set(said) == {f"become_lost: what ran as {THEM.user}: it stopped answering"}
            # One time and one grace; then the end of who does not listen.
            assert 1.0 + GRACE_S <= time.monotonic() - began < allowed(1.0 + GRACE_S + 5)
            with pytest.raises(BecomeError, match="was lost before: it stopped answering"):
                await made.sessions.run(step("true", THEM))
            result, _ = await made.sessions.run(step("true"))
            assert result.execution is Execution.DONE

    run_async(main())


def test_a_slice_that_does_not_come_costs_the_account(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with both(monkeypatch) as made:
            result, _ = await made.sessions.run(step("echo here", THEM))
            made.stop()
            assert "stopped answering" in await lost(made.sessions.fetch(result, TAIL))
            result, _ = await made.sessions.run(step("true"))
            assert result.execution is Execution.DONE

    run_async(main())


def test_commands_have_their_time_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with both(monkeypatch) as made:
            results = await asyncio.gather(*(made.sessions.run(step("sleep 0.7", THEM)) for _ in range(4)))
            assert [result.execution for result, _ in results] == [Execution.DONE] * 4

    run_async(main())


class _Silent(LocalTransport):
    """Starts what says nothing, as a sudo does that waits for somebody's password."""

    def __init__(self) -> None:
        super().__init__(LocalOptions())
        self.opened = asyncio.Event()

    async def open(self, host: Host, command: str, *, timeout_s: float) -> ProcessChannel:
        self.opened.set()
        return await super().open(host, "exec sleep 60", timeout_s=timeout_s)


def test_a_cancel_does_not_wait_for_an_account_that_has_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkrunner.link.accounts._BEGIN_S", 0.2)

    async def check() -> None:
        real, silent = LocalTransport(LocalOptions()), _Silent()

        async def start(transport: LocalTransport) -> FramedSession:
            return await open_session(transport, HOST, options=SessionOptions(hello_timeout_s=60), timeout_s=5)

        login = await start(real)
        await login.ready()
        login.user, login.uid = "me", -1
        sessions = Accounts(HOST, login, lambda *_: start(silent))
        try:
            waiting = asyncio.ensure_future(sessions.run(step("true", THEM, TAIL)))
            beside = step("true")
            await silent.opened.wait()
            await sessions.run(replace(beside, command=replace(beside.command, session="beside")))
            async with asyncio.timeout(30):
                await sessions.cancel()
                result, early = await waiting
            assert (result.execution, result.notes, early) == (Execution.NOT_RUN, ("cancelled",), [None])
        finally:
            await sessions.aclose()
            await real.aclose()
            await silent.aclose()

    run_async(check())
