"""A session that gets over the loss of its link, with the agent of this machine and links that a test can cut."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import replace

import pytest
from async_helpers import run_async

from checkrunner.link.resuming import STATE_LOST, Comeback, token_of
from checkrunner.link.session import FramedSession, open_session
from checkrunner.link.transports.local import LocalTransport
from checkrunner.link.transports.process import ProcessChannel
from checkrunner.model.errors import AgentError, AuthenticationError, ConnectError, SessionLostError, UnreachableError
from checkrunner.model.inventory import Host
from checkrunner.model.options import LocalOptions, SessionOptions
from checkrunner.model.plan import Command, PlannedCheck, Step
from checkrunner.model.playbook import Check
from checkrunner.model.results import LINK_LOST, Execution, Result, SliceMode, SliceQuery
from checkrunner.model.sources import Template

# As if it were far away: a local host's agent does not wait.
HOST = Host(name="far", address="127.0.0.1")
OPTIONS = SessionOptions(reconnect_s=8)
TAIL = SliceQuery(mode=SliceMode.TAIL, max_lines=3)


class Cuttable(LocalTransport):
    """This machine, over channels that can be cut. `fails` says of each further `open` whether it goes wrong."""

    def __init__(self, *fails: ConnectError) -> None:
        super().__init__(LocalOptions())
        self.opened: list[ProcessChannel] = []
        self.fails = list(fails)

    async def open(self, host: Host, command: str, *, timeout_s: float) -> ProcessChannel:
        if self.opened and self.fails:
            raise self.fails.pop(0)
        channel = await super().open(host, command, timeout_s=timeout_s)
        self.opened.append(channel)
        return channel

    async def cut(self) -> None:
        await self.opened[-1].aclose()


def step(shell: str, session: str = "main", **changes: object) -> Step:
    check = Check(id="c", name="c", run=Template(text=shell))
    command = replace(Command(shell=shell, session=session, timeout_s=30), **changes)  # type: ignore[arg-type]  # by name
    return Step(planned=PlannedCheck(key="c", play="p", check=check), command=command)


async def lasting(transport: Cuttable, options: SessionOptions = OPTIONS) -> FramedSession:
    """A session whose agent knows how to wait."""
    session = await open_session(transport, HOST, options=options, timeout_s=5)
    await session.ready()
    await asyncio.sleep(0.7)
    await session.run(step("true"))  # its answer comes after that of the part
    return session


def test_a_token_comes_from_an_agents_directory_alone() -> None:
    assert token_of("/dev/shm/checkrunner-0-17-abc") == "0-17-abc"
    for wrong in (
        "",
        "/tmp/other",
        "/dev/shm/checkrunner-",
        "/x/checkrunner-0 linger=9",
        "/x/checkrunner-a\nb",
        "/x/checkrunner-é",
    ):
        assert token_of(wrong) == ""


def test_calls_in_flight_go_on_but_for_the_one_that_ran() -> None:
    async def main() -> None:
        transport = Cuttable()
        session = await lasting(transport)
        done, _ = await session.run(step("cd /usr; x=1; seq 100"))
        ran = asyncio.ensure_future(session.run(replace(step("echo a; echo b; sleep 60"), early=(TAIL,))))
        waits = asyncio.ensure_future(session.run(replace(step('echo "$x $PWD"'), early=(TAIL,))))
        beside = asyncio.ensure_future(session.run(step("echo other", session="other")))
        await beside
        await asyncio.sleep(0.3)

        await transport.cut()
        asked = await session.fetch(done, TAIL)  # asked for while there is no link
        lost, partial = await ran
        result, (text,) = await waits

        assert [line.data for line in asked.lines] == [b"98", b"99", b"100"]
        assert (lost.execution, lost.notes) == (Execution.LOST, (LINK_LOST,))
        assert "the link ended" in lost.state
        assert lost.stdout.lines == 2
        assert lost.elapsed_s >= 0.3
        assert partial[0] is not None
        assert [line.data for line in partial[0].lines] == [b"a", b"b"]
        assert (result.execution, result.rc, result.notes) == (Execution.DONE, 0, ())
        assert text is not None
        assert [line.data for line in text.lines] == [b"1 /usr"]
        assert [note.split(" after ")[0] for note in session.notes] == ["reconnected"]
        assert len(transport.opened) == 2
        await session.aclose()
        await transport.aclose()

    run_async(main())


def test_what_a_killed_agent_had_is_gone_and_said_to_be() -> None:
    async def main() -> None:
        transport = Cuttable()
        session = await lasting(transport)
        done, _ = await session.run(step("x=1; seq 100"))
        ran = [asyncio.ensure_future(session.run(step("sleep 60", session=name))) for name in ("main", "other")]
        waits = [asyncio.ensure_future(session.run(step("echo ${x-none}", session=name))) for name in ("main", "other")]
        await asyncio.sleep(0.3)

        os.killpg(transport.opened[0].pid, signal.SIGKILL)
        lost = [(await one)[0] for one in ran]
        results = [(await one)[0] for one in waits]
        again, _ = await session.run(step("true"))

        assert [(one.execution, one.notes) for one in lost] == [(Execution.LOST, (LINK_LOST,))] * 2
        assert all(0.2 < one.elapsed_s < 5 for one in lost)
        assert [(one.rc, one.notes) for one in results] == [(0, (STATE_LOST,))] * 2
        assert again.notes == ()
        with pytest.raises(AgentError):
            await session.fetch(done, TAIL)
        assert any(note.startswith("state_lost: ") for note in session.notes)
        await session.aclose()
        await transport.aclose()

    run_async(main())


def test_a_command_that_had_ended_before_has_lost_nothing() -> None:
    """Only its slice is still waited for when the link goes: a pattern that takes seconds."""

    async def main() -> None:
        transport = Cuttable()
        session = await lasting(transport)
        slow = SliceQuery(mode=SliceMode.MATCH, pattern="(a+)+b")
        before = asyncio.ensure_future(session.run(replace(step(f"x=1; echo {'a' * 60}"), early=(slow,))))
        ran = asyncio.ensure_future(session.run(step("echo begun >&2; sleep 60", session="other")))
        await asyncio.sleep(0.7)
        assert not before.done()

        os.killpg(transport.opened[0].pid, signal.SIGKILL)
        ended, slices = await before
        assert (ended.execution, ended.rc, ended.notes) == (Execution.DONE, 0, ())
        assert [piece and (piece.lines, bool(piece.error)) for piece in slices] == [((), True)]
        assert (await ran)[0].execution is Execution.LOST
        assert (await session.run(step("echo ${x-none}")))[0].notes == (STATE_LOST,)
        await session.aclose()
        await transport.aclose()

    run_async(main())


def test_tries_go_on_while_there_is_time() -> None:
    async def main() -> None:
        transport = Cuttable(UnreachableError("no route"), UnreachableError("no route"))
        session = await lasting(transport)
        await transport.cut()
        result, _ = await session.run(step("echo"))
        assert result.rc == 0
        assert transport.fails == []
        await session.aclose()
        await transport.aclose()

    run_async(main())


@pytest.mark.parametrize(
    ("options", "fails", "words"),
    [
        (replace(OPTIONS, reconnect_s=1), [UnreachableError("no route")] * 20, "no way back within 1 s: no route"),
        (OPTIONS, [AuthenticationError("refused")], "no way back: refused"),
        (replace(OPTIONS, reconnect_s=0), [], "the link ended"),
    ],
)
def test_a_host_that_is_lost_for_good(options: SessionOptions, fails: list[ConnectError], words: str) -> None:
    async def main() -> None:
        transport = Cuttable(*fails)
        session = await lasting(transport, options)
        ran = asyncio.ensure_future(session.run(step("sleep 60")))
        await asyncio.sleep(0.1)
        await transport.cut()
        with pytest.raises(SessionLostError, match=words):
            await ran
        await session.aclose()
        for channel in transport.opened:  # agents that wait for nobody
            with contextlib.suppress(ProcessLookupError):
                os.killpg(channel.pid, signal.SIGTERM)
        await transport.aclose()

    run_async(main())


def test_closing_and_cancelling_on_the_way_back_wait_for_nothing() -> None:
    async def main() -> None:
        transport = Cuttable(*[UnreachableError("no route")] * 50)
        session = await lasting(transport)
        ran = asyncio.ensure_future(session.run(step("sleep 60")))
        await asyncio.sleep(0.1)
        await transport.cut()
        await asyncio.sleep(0.1)
        async with asyncio.timeout(0.5):
            with pytest.raises(SessionLostError):
                await session.cancel()
            await session.aclose()
            with pytest.raises(SessionLostError):
                await ran
        os.killpg(transport.opened[0].pid, signal.SIGTERM)
        await transport.aclose()

    run_async(main())


def test_only_what_the_link_took_is_explained_by_it() -> None:
    back = Comeback(1.0, why="cut", stateless={"main"})
    lost = Result(seq=1, session="main", execution=Execution.LOST, notes=(LINK_LOST,))
    broken = Result(seq=2, session="main", execution=Execution.LOST, state="its own")
    done = Result(seq=3, session="main", execution=Execution.DONE, rc=0)

    assert back.told(lost).state == "cut"
    assert back.told(broken) == broken
    assert back.told(done).notes == (STATE_LOST,)
    assert back.told(done) == done
