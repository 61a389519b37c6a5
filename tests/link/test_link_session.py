"""Sessions over the local transport, against a small peer that misbehaves on request."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from async_helpers import run_async
from peer import peer_payload
from sshd import wait_until

from checkrunner.link.payload import (
    LATER,
    PROBE_LINE,
    Payload,
    load_part,
    load_payload,
    load_plain_payload,
    pack_payload,
)
from checkrunner.link.session import FramedSession, open_session
from checkrunner.link.transports.local import LocalTransport
from checkrunner.model.errors import (
    AgentError,
    HandshakeError,
    HostError,
    InventoryError,
    NoInterpreterError,
    ProtocolError,
    RemoteStorageError,
    SessionLostError,
)
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Observation
from checkrunner.model.options import LocalOptions, SessionOptions
from checkrunner.model.results import SliceMode, SliceQuery
from checkrunner.model.seams import Channel
from checkrunner.testing import check_session, make_step

HOST = Host(name="here", address="localhost")
HEAD = SliceQuery(mode=SliceMode.HEAD)


class Wrapped(LocalTransport):
    """The local transport behind a login shell's start-up file; counts the starts."""

    def __init__(self, before: str = "", options: LocalOptions | None = None) -> None:
        super().__init__(options or LocalOptions())
        self.before = before
        self.commands: list[str] = []

    async def open(self, host: Host, command: str, *, timeout_s: float) -> Channel:  # type: ignore[override]  # wider
        self.commands.append(command)
        return await super().open(host, f"{self.before}\n{command}", timeout_s=timeout_s)


@asynccontextmanager
async def session_over(
    transport: LocalTransport, *, hello_timeout_s: float = 10.0, payload: Payload | None = None
) -> AsyncIterator[FramedSession]:
    options = SessionOptions(hello_timeout_s=hello_timeout_s)
    session = await open_session(transport, HOST, options=options, timeout_s=5, payload=payload or peer_payload())
    try:
        yield session
    finally:
        await session.aclose()
        await transport.aclose()


def with_session(
    use: Callable[[FramedSession], Awaitable[None]],
    before: str = "",
    *,
    hello_timeout_s: float = 10.0,
    payload: Payload | None = None,
    env: Mapping[str, str] | None = None,
) -> Wrapped:
    transport = Wrapped(before, LocalOptions(env=tuple((os.environ | (env or {})).items())))

    async def main() -> None:
        async with session_over(transport, hello_timeout_s=hello_timeout_s, payload=payload) as session:
            await use(session)

    run_async(main())
    return transport


def test_it_keeps_the_contract() -> None:
    async def main() -> None:
        transport = LocalTransport(LocalOptions())

        async def one() -> FramedSession:
            return await open_session(transport, HOST, options=SessionOptions(), timeout_s=5)

        await check_session(one)
        await transport.aclose()

    run_async(main())


def test_everything_asked_at_once_leaves_in_one_piece() -> None:
    sent: list[bytes] = []

    async def use(session: FramedSession) -> None:
        link = session._link
        assert link is not None
        send = link.channel.send

        async def counted(data: bytes) -> None:
            sent.append(data)
            await send(data)

        link.channel.send = counted  # type: ignore[method-assign]  # to count
        await asyncio.gather(*(session.run(make_step(f"echo {number}", early=(HEAD,))) for number in range(20)))
        assert session.agent == f"python 3, bash 5, uid {os.getuid()}"
        assert session.notes == []

    with_session(use)
    assert len([data for data in sent if not data.startswith(b"bye")]) == 1
    assert sent[0].count(b"\nrun ") + sent[0].count(b"run ") >= 20


def test_a_long_command_arrives_byte_for_byte() -> None:
    command = "size " + "".join(f"line {n} 'é\t\\ $x\n" for n in range(12_000))
    data = command.encode()
    assert len(data) > 200_000

    async def use(session: FramedSession) -> None:
        _, (piece,) = await session.run(make_step(command, early=(HEAD,)))
        assert piece is not None
        assert piece.lines[0].data.decode() == f"{len(data)} {hashlib.sha256(data).hexdigest()}"

    with_session(use)


def test_noise_of_the_login_shell_is_noted() -> None:
    async def use(session: FramedSession) -> None:
        result, _ = await session.run(make_step("echo x"))
        assert result.rc == 0
        assert session.notes == ["login_noise: Welcome to here ?[1m!"]

    transport = with_session(use, "printf 'Welcome   to\\nhere \\033[1m!\\n'")
    assert len(transport.commands) == 1


def test_a_start_up_file_that_reads_costs_one_patient_retry(tmp_path: Path) -> None:
    once = tmp_path / "once"

    async def use(session: FramedSession) -> None:
        # The reading file takes the hello line; the requests behind it must reach the second agent, each once.
        results = await asyncio.gather(
            *(session.run(make_step(f"echo {number}", early=(HEAD,))) for number in range(3))
        )
        assert [slices[0].lines[0].data for _, slices in results if slices[0]] == [b"0", b"1", b"2"]
        assert any(note.startswith("login_reads") for note in session.notes)

    transport = with_session(use, f"[ -e {once} ] || {{ : > {once}; read -r line; }}")
    assert len(transport.commands) == 2


@pytest.mark.parametrize("reads", ["read -r line", "read -r a; read -r b; read -r c", "timeout 0.2 cat >/dev/null"])
def test_a_start_up_file_that_reads_every_time_is_fed(reads: str) -> None:
    async def use(session: FramedSession) -> None:
        results = await asyncio.gather(*(session.run(make_step(f"echo {n}", early=(HEAD,))) for n in range(3)))
        assert [slices[0].lines[0].data for _, slices in results if slices[0]] == [b"0", b"1", b"2"]
        assert any(note.startswith("login_reads") for note in session.notes)

    transport = with_session(use, reads)
    assert len(transport.commands) == 2


def test_a_start_up_file_that_never_ends_is_told_and_ended(tmp_path: Path) -> None:
    child = tmp_path / "child"

    async def use(session: FramedSession) -> None:
        with pytest.raises(HandshakeError, match=r"hello within 0\.5 s \(start_timeout\).*--forks"):
            await session.run(make_step("echo x"))

    transport = with_session(use, "sleep 60 & echo $! >$CHILD; wait", hello_timeout_s=0.5, env={"CHILD": str(child)})
    assert len(transport.commands) == 1
    pid = int(child.read_text())
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), what="the end of what hung there")


def starts(transport: Wrapped) -> int:
    """How often the agent was started, or its start tried."""
    return sum(command != PROBE_LINE for command in transport.commands)


@pytest.mark.parametrize(
    "before", ["cat >/dev/null", "while read -r line; do :; done", "exec cat", "exec python3", "tr a b; cat; wc"]
)
def test_what_reads_all_input_is_told_soon(before: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkrunner.link.starting._SILENT_S", 0.3)

    async def use(session: FramedSession) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        with pytest.raises(HandshakeError, match=r"here: .*(reads all input|ended before the agent)") as caught:
            await session.run(make_step("echo x"))
        assert loop.time() - began < 10
        assert "-t 0" in caught.value.hint or "start-up files" in caught.value.hint

    assert starts(with_session(use, before, hello_timeout_s=30)) == 2


def test_a_slow_start_up_file_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkrunner.link.starting._SILENT_S", 0.3)

    async def use(session: FramedSession) -> None:
        result, _ = await session.run(make_step("echo x"))
        assert result.rc == 0
        assert session.notes == []

    transport = with_session(use, "sleep 1.5", hello_timeout_s=30)
    assert starts(transport) == 1
    assert len(transport.commands) == 2, "it was asked once what it waits for"


def test_a_start_up_file_that_hangs_once_costs_a_second_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkrunner.link.starting._SILENT_S", 0.3)

    async def use(session: FramedSession) -> None:
        result, _ = await session.run(make_step("echo x"))
        assert result.rc == 0

    transport = with_session(use, f"[ -e {tmp_path}/once ] || {{ : >{tmp_path}/once; sleep 100; }}", hello_timeout_s=30)
    assert starts(transport) == 2


LIMITS = {
    "-n 3": "login shell ended before the agent started",
    "-n 6": "ulimit -n.* is 6",
    "-n 12": "ulimit -n.* is 12",
    "-d 1000": "Python, which ended before its hello",
    "-d 4000": "Python, which ended before its hello.*MemoryError.*ulimit",
    "-t 0": "Python, which ended before its hello",
}


@pytest.mark.parametrize("limit", LIMITS)
def test_limits_that_keep_the_agent_from_starting_are_told_as_such(limit: str) -> None:
    async def use(session: FramedSession) -> None:
        with pytest.raises(HandshakeError, match=LIMITS[limit]) as caught:
            await session.run(make_step("true"))
        assert "Install" not in str(caught.value)

    with_session(use, f"ulimit {limit}", payload=load_payload())


@pytest.mark.parametrize("limit", ["-v 60000", "-n 20", "-u 1", "-s 100", "-f 0", "-c 0", "-l 0"])
def test_limits_that_leave_enough_do_no_harm(limit: str) -> None:
    async def use(session: FramedSession) -> None:
        result, _ = await session.run(make_step("true"))
        assert result.rc == 0

    with_session(use, f"ulimit {limit}", payload=load_payload())


def test_only_a_start_without_hello_is_killed() -> None:
    killed: list[bool] = []

    async def use(session: FramedSession) -> None:
        await session.run(make_step("echo x"))
        link = session._link
        assert link is not None
        close = link.channel.aclose

        async def noted(*, kill: bool = False) -> bool:
            killed.append(kill)
            return await close(kill=kill)

        link.channel.aclose = noted  # type: ignore[method-assign]

    with_session(use)
    assert set(killed) == {False}


def test_a_start_up_file_that_exits_is_told_with_its_words() -> None:
    async def use(session: FramedSession) -> None:
        with pytest.raises(
            HandshakeError, match=r"ended before the agent started.*it printed: not today.*sorry"
        ) as caught:
            await session.run(make_step("echo x"))
        assert caught.value.hint
        with pytest.raises(HandshakeError):
            await session.ready()

    transport = with_session(use, "echo not today; echo sorry >&2; exit 1")
    assert len(transport.commands) == 2, "the second try has the agent on standard input"


def test_a_shell_that_refuses_long_lines_gets_the_agent_on_standard_input() -> None:
    class Short(Wrapped):
        async def open(self, host: Host, command: str, *, timeout_s: float) -> Channel:  # type: ignore[override]  # wider
            self.before = "echo 'Word too long.' >&2; exit 1" if len(command) > 3000 else ""
            return await super().open(host, command, timeout_s=timeout_s)

    transport = Short()

    async def main() -> None:
        async with session_over(transport) as session:
            result, (piece,) = await session.run(make_step("echo hello", early=(HEAD,)))
            assert result.rc == 0
            assert piece is not None
            assert any(note.startswith("start_by_stdin") for note in session.notes)

    run_async(main())
    assert [len(command) > 3000 for command in transport.commands] == [True, False]


class WithoutPython(Wrapped):
    """A host on which the start of the agent in Python, which is longer than the other one, finds no interpreter."""

    async def open(self, host: Host, command: str, *, timeout_s: float) -> Channel:  # type: ignore[override]
        self.before = "echo checkrunner-no-interpreter: a b; exit 127" if len(command) > 3000 else ""
        return await super().open(host, command, timeout_s=timeout_s)


def without_python(**variables: str) -> tuple[Wrapped, Host]:
    return WithoutPython(), Host(name="here", address="localhost", vars={"checkrunner_agent": "auto", **variables})


async def agent_on(transport: Wrapped, host: Host) -> tuple[str, list[str]]:
    options = SessionOptions(hello_timeout_s=10.0)
    session = await open_session(transport, host, options=options, timeout_s=10.0)
    try:
        result, (piece,) = await session.run(make_step("echo x", early=(SliceQuery(mode=SliceMode.HEAD),)))
        assert (result.rc, piece is not None and piece.lines[0].data) == (0, b"x")
        return session.agent, session.notes
    finally:
        await session.aclose()


def test_without_python_the_agent_in_shell_is_started_and_that_is_remembered() -> None:
    transport, host = without_python()

    async def main() -> None:
        for _ in range(2):
            agent, notes = await agent_on(transport, host)
            assert agent.startswith("shell agent, ")
            assert [note for note in notes if note.startswith("agent_shell: ")]
        await transport.aclose()

    run_async(main())
    assert [len(command) > 3000 for command in transport.commands] == [True, False, False]


class WithoutBash(Wrapped):
    """A host on which the agent finds no bash."""

    async def open(self, host: Host, command: str, *, timeout_s: float) -> Channel:  # type: ignore[override]
        said = """echo '{"t":"error","id":0,"kind":"no_bash","message":"no bash in /bin"}'; exit 0"""
        self.before = said if command == load_payload().exec_line else ""
        return await super().open(host, command, timeout_s=timeout_s)


def test_without_bash_the_agent_with_other_sessions_is_started_and_that_is_remembered() -> None:
    transport, host = WithoutBash(), Host(name="here", address="localhost")

    async def main() -> None:
        for _ in range(2):
            agent, notes = await agent_on(transport, host)
            assert re.match(r"python 3\.\d+\.\d+, (dash|busybox ash|ash), uid", agent)
            assert len([note for note in notes if note.startswith("sessions_sh: ")]) == 1
        await transport.aclose()

    run_async(main())
    plain, usual = load_plain_payload().exec_line, load_payload().exec_line
    assert transport.commands == [usual, plain, plain]


def test_the_agent_in_shell_can_be_asked_for() -> None:
    transport, host = without_python(checkrunner_agent="shell")

    async def main() -> None:
        agent, _notes = await agent_on(transport, host)
        assert agent.startswith("shell agent, ")
        await transport.aclose()

    run_async(main())
    assert [len(command) > 3000 for command in transport.commands] == [False]


def test_no_interpreter_is_an_error_of_its_own_where_the_other_agent_is_forbidden() -> None:
    transport, host = without_python(checkrunner_agent="python")

    async def main() -> None:
        with pytest.raises(NoInterpreterError, match="tried: a b") as caught:
            await agent_on(transport, host)
        assert "python3" in caught.value.hint
        await transport.aclose()

    run_async(main())
    assert len(transport.commands) == 1


def test_an_agent_that_does_not_exist_is_named_before_anything_connects() -> None:
    transport, host = without_python(checkrunner_agent="shel")

    async def main() -> None:
        with pytest.raises(InventoryError, match=r"checkrunner_agent is 'shel'.*\n.*Did you mean 'shell'"):
            await agent_on(transport, host)

    run_async(main())
    assert transport.commands == []


def test_a_start_that_prints_without_end_is_given_up() -> None:
    async def use(session: FramedSession) -> None:
        with pytest.raises(HandshakeError, match=r"16 MiB came before the agent's hello; they begin with: y y y"):
            await session.run(make_step("echo x"))

    with_session(use, "exec yes", hello_timeout_s=60)


def test_a_flood_of_complaints_ends_the_session(tmp_path: Path) -> None:
    async def use(session: FramedSession) -> None:
        with pytest.raises(SessionLostError, match="more than 16 MiB to its standard error"):
            await session.run(make_step("echo x"))

    with_session(use, "yes >&2", hello_timeout_s=60)


def test_a_hello_that_does_not_come() -> None:
    async def use(session: FramedSession) -> None:
        with pytest.raises(HandshakeError, match=r"did not say hello within 0\.3 s \(start_timeout\); it printed: hm"):
            await session.run(make_step("echo x"))

    with_session(use, "echo hm; exec sleep 30", hello_timeout_s=0.3)


def test_an_agent_of_another_protocol() -> None:
    source = (
        b"import sys, os\nwords = dict(w.split('=') for w in sys.stdin.readline().split()[2:])\n"
        b'os.write(1, (\'{"t":"hello","nonce":"%s","v":2}\\n\' % words["nonce"]).encode())\nsys.stdin.read()\n'
    )

    async def use(session: FramedSession) -> None:
        with pytest.raises(HandshakeError, match="protocol 2, not 1"):
            await session.run(make_step("echo x"))

    with_session(use, payload=pack_payload(source, b""))


@pytest.mark.parametrize(
    ("command", "kind", "words"),
    [
        (
            "exit-agent",
            SessionLostError,
            r"s after it was opened, with 3 answers outstanding: .*the agent's last words",
        ),
        ("garbage", ProtocolError, "not a line of JSON"),
        ("wrong-id", ProtocolError, "request 9999"),
        ("seen-other 9999", ProtocolError, "answered Running to request 9999"),
        ("seen-flood", ProtocolError, "reported the state of request 2 1[0-9][0-9] times"),
        ("fatal internal", SessionLostError, "gave up: it is over"),
    ],
)
def test_the_end_of_the_link_is_the_same_for_all(command: str, kind: type[HostError], words: str) -> None:
    async def use(session: FramedSession) -> None:
        await session.run(make_step("echo first"))
        calls = [session.run(make_step(command)), session.run(make_step("echo a")), session.run(make_step("echo b"))]
        outcomes: Sequence[object] = await asyncio.gather(*calls, return_exceptions=True)
        assert len({id(outcome) for outcome in outcomes}) == 1
        (error,) = set(outcomes)
        assert isinstance(error, kind)
        with pytest.raises(kind, match=words):
            await session.run(make_step("echo later"))

    with_session(use)


def test_a_state_after_the_result_ends_the_session() -> None:
    async def use(session: FramedSession) -> None:
        result, _ = await session.run(make_step("seen-after"))
        assert result.rc == 0
        with pytest.raises(ProtocolError, match="answered Running to request 1, which asked no such thing"):
            await session.run(make_step("sleep 0.1"))

    with_session(use)


def test_what_a_command_does_is_told_to_its_caller_alone() -> None:
    async def use(session: FramedSession) -> None:
        states: list[Observation] = []
        others: list[Observation] = []
        await asyncio.gather(
            session.run(make_step("echo x"), on_state=others.append),
            session.run(make_step("sleep 1.1"), on_state=states.append),
            session.run(make_step("sleep 1.1")),
        )
        assert [state.brief for state in states] == ["idle hrtimer_nanosleep (sleep)"]
        assert others == []

    with_session(use)


def digest(name: str) -> str:
    return hashlib.sha256(load_part(name)).hexdigest()


async def output(session: FramedSession, command: str) -> str:
    _, (piece,) = await session.run(make_step(command, early=(HEAD,)))
    assert piece is not None
    return "".join(f"{line.data.decode()}\n" for line in piece.lines)


def test_a_part_that_is_needed_is_sent_once() -> None:
    async def use(session: FramedSession) -> None:
        assert await output(session, "parts") == ""
        await session.run(make_step(f"need {' '.join(LATER)}"))
        assert await output(session, "parts") == "".join(f"{name} {digest(name)}\n" for name in LATER)

    with_session(use)


@pytest.mark.parametrize(
    "names", [f"{LATER[0]} {LATER[0]}", "agent", "../agent", "wrapper.sh", "x" * 3000], ids=lambda names: names[:20]
)
def test_a_part_that_is_needed_twice_or_unknown_ends_the_session(names: str) -> None:
    async def use(session: FramedSession) -> None:
        with pytest.raises(ProtocolError, match="which it has or which does not exist"):
            await session.run(make_step(f"need {names}"))
        with pytest.raises(ProtocolError):
            await session.run(make_step("echo x"))

    with_session(use)


def test_a_part_that_is_refused_harms_no_command() -> None:
    async def use(session: FramedSession) -> None:
        await session.run(make_step("refuse-parts"))
        await session.run(make_step(f"need {LATER[0]}"))
        assert await output(session, "parts") == f"{LATER[0]} {digest(LATER[0])}\n"
        assert await output(session, "echo still here") == "still here\n"

    with_session(use)


def test_closing_with_a_part_under_way() -> None:
    async def use(session: FramedSession) -> None:
        await session.run(make_step(f"need {LATER[0]}"))

    with_session(use)


def test_a_slice_larger_than_asked_for_ends_the_session() -> None:
    async def use(session: FramedSession) -> None:
        result, _ = await session.run(make_step("flood-slice"))
        with pytest.raises(ProtocolError, match="100000 bytes where at most 4096"):
            await session.fetch(result, HEAD)

    with_session(use)


@pytest.mark.parametrize(
    ("kind", "error"),
    [("storage", RemoteStorageError), ("no_bash", NoInterpreterError), ("version", HandshakeError)],
)
def test_a_fatal_error_before_hello(kind: str, error: type[HostError]) -> None:
    source = f'import os\nos.write(1, b\'{{"t":"error","id":0,"kind":"{kind}","message":"it lacks"}}\\n\')\n'.encode()

    async def use(session: FramedSession) -> None:
        with pytest.raises(HostError, match="it lacks") as raised:
            await session.run(make_step("echo x"))
        assert type(raised.value) is error

    with_session(use, payload=pack_payload(source, b""))


def test_a_cancelled_call_leaves_the_others_alone() -> None:
    async def use(session: FramedSession) -> None:
        slow = asyncio.ensure_future(session.run(make_step("sleep 0.3", early=(HEAD,))))
        await session.ready()
        slow.cancel()
        result, _ = await session.run(make_step("echo x"))
        assert result.rc == 0
        assert slow.cancelled()

    with_session(use)


def test_what_cannot_be_sent_is_refused_here() -> None:
    async def use(session: FramedSession) -> None:
        with pytest.raises(AgentError, match=r"cannot be sent.*session='a b'"):
            await session.run(make_step("echo x", session="a b"))
        result, _ = await session.run(make_step("echo x"))
        assert result.rc == 0

    with_session(use)


def test_closing_while_calls_are_in_flight() -> None:
    async def use(session: FramedSession) -> None:
        call = asyncio.ensure_future(session.run(make_step("sleep 5")))
        await session.ready()
        await session.aclose()
        with pytest.raises(SessionLostError, match="closed"):
            await call

    with_session(use)


def test_closing_before_hello_leaves_nothing() -> None:
    async def use(session: FramedSession) -> None:
        await session.aclose()

    with_session(use, "sleep 0.2")
