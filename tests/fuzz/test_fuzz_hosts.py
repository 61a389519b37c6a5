"""A hostile host among others, over real transports: one clear error for it, bounded memory, and the others go on."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from async_helpers import run_async
from hostile import HOSTILE, hostile_payload
from sshd import SshdFixture

from checkrunner.link.session import open_session
from checkrunner.link.transports.local import LocalTransport
from checkrunner.link.transports.ssh import SshTransport
from checkrunner.model.errors import AgentError, HostError
from checkrunner.model.inventory import Host
from checkrunner.model.options import LocalOptions, RunOptions, SessionOptions
from checkrunner.model.plan import CheckOutcome, Command, HostOutcome, Judgement, PlannedCheck, Skip, Step
from checkrunner.model.playbook import Check
from checkrunner.model.results import (
    Execution,
    HostState,
    RawSlice,
    Result,
    Slice,
    SliceMode,
    SliceQuery,
    Stream,
    Verdict,
    VerdictState,
)
from checkrunner.model.seams import Session, Transport
from checkrunner.render.progress import SilentProgress
from checkrunner.run import turns
from checkrunner.run.engine import Engine
from checkrunner.run.stop import Stop

HEAD = SliceQuery(mode=SliceMode.HEAD)


@dataclass
class ThreeChecks:
    """A script that runs `echo` three times and looks at what it prints."""

    host: Host
    checks: Sequence[PlannedCheck] = tuple(
        PlannedCheck(key=f"c{n}", play="p", check=Check(id=f"c{n}", name=f"c{n}")) for n in range(3)
    )

    def resolve(self, planned: PlannedCheck, outcomes: object) -> Step | Skip:
        return Step(planned=planned, command=Command(shell="echo hello", timeout_s=1.0), early=(HEAD,))

    def judge(self, step: Step, result: Result, outcomes: object, reads: object = (), attempt: int = 1) -> Judgement:
        fine = result.execution is Execution.DONE and result.rc == 0
        return Judgement(verdict=Verdict(state=VerdictState.OK if fine else VerdictState.UNKNOWN))

    def again(self, step: Step, result: Result, judgement: Judgement, attempt: int) -> float | None:
        return None

    def whole(self, planned: PlannedCheck, items: Sequence[CheckOutcome]) -> CheckOutcome:
        raise AssertionError("there are no loops")

    def follow(self, outcome: CheckOutcome) -> Sequence[PlannedCheck]:
        return ()

    def ask(self, step: Step, result: Result, verdict: Verdict) -> Sequence[SliceQuery]:
        return ()

    def keep(self, step: Step, result: Result, verdict: Verdict) -> Sequence[SliceQuery]:
        return ()

    def kept(self, step: Step, result: Result, parts: Sequence[RawSlice]) -> None:
        return None

    def show(self, step: Step, raw: RawSlice) -> Slice:
        return Slice(stream=Stream.STDOUT, query=raw.query, lines=(), total_lines=raw.total_lines)


async def outcomes_of(transport: Transport, hosts: Sequence[Host], what: str) -> list[HostOutcome]:
    """One run; the first host is the hostile one."""

    async def opened(host: Host) -> Session:
        payload = hostile_payload(what) if host is hosts[0] else None
        options = SessionOptions(hello_timeout_s=30)
        return await open_session(transport, host, options=options, timeout_s=10, payload=payload)

    engine = Engine(opened, options=RunOptions(), observer=SilentProgress())
    async with asyncio.timeout(40):
        return await engine.run([ThreeChecks(host) for host in hosts], Stop())


def check_outcomes(outcomes: Sequence[HostOutcome], what: str) -> None:
    evil, *others = outcomes
    for other in others:
        assert other.state is HostState.REACHED
        assert [check.verdict.state for check in other.checks] == [VerdictState.OK] * 3
    assert evil.state in {HostState.LOST, HostState.NO_SHELL}
    assert isinstance(evil.error, HostError)
    assert HOSTILE[what][1] in evil.error.message
    assert len(evil.error.message) < 1000
    assert "\n" not in evil.error.message
    # What the host refuses in so many words is that check's own error.
    errors = {id(check.error) for check in evil.checks if check.error and not isinstance(check.error, AgentError)}
    assert len(errors) <= 1, "one error for all of its checks"
    assert [check.planned.key for check in evil.checks] == ["c0", "c1", "c2"]
    assert any(_unknown(check) for check in evil.checks)


def _unknown(check: CheckOutcome) -> bool:
    return check.verdict.state is VerdictState.UNKNOWN


async def measured(transport: Transport, hosts: Sequence[Host], what: str) -> None:
    tracemalloc.start(1)
    try:
        outcomes = await outcomes_of(transport, hosts, what)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        await transport.aclose()
    check_outcomes(outcomes, what)
    assert most < 48 << 20, f"{most:,} bytes at the worst moment"


@pytest.mark.parametrize("what", HOSTILE)
def test_over_the_local_transport(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_ANSWER_GRACE_S", 5.0)
    hosts = [Host(name=name, address="localhost") for name in ("evil", "good", "better")]
    run_async(measured(LocalTransport(LocalOptions()), hosts, what))


@pytest.mark.parametrize("what", HOSTILE)
def test_over_ssh(what: str, sshd: SshdFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_ANSWER_GRACE_S", 5.0)
    run_async(measured(SshTransport(sshd.options()), [sshd.host(n) for n in (1, 2, 3)], what))
