"""The SSH transport against a real sshd: channels, sessions, login shells, start-up files, link loss."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol, Self

import asyncssh
import pytest
from async_helpers import run_async
from sshd import SshdFixture, wait_until

from checkrunner.link.session import FramedSession, open_session
from checkrunner.link.transports.ssh import SshTransport
from checkrunner.model.errors import (
    ConnectTimeoutError,
    HandshakeError,
    SessionLostError,
    ThrottledError,
    UnreachableError,
)
from checkrunner.model.inventory import Host
from checkrunner.model.options import SessionOptions, SshOptions
from checkrunner.model.results import SliceMode, SliceQuery
from checkrunner.testing import ECHO, check_session, check_transport, make_step


class MakeSshd(Protocol):
    def __call__(
        self, *, options: dict[str, str] | None = None, shell: str | None = None, password: str | None = None
    ) -> SshdFixture: ...


ROOT = Path(__file__).resolve().parents[2]
HEAD = SliceQuery(mode=SliceMode.HEAD)


@asynccontextmanager
async def transport_to(options: SshOptions) -> AsyncIterator[SshTransport]:
    transport = SshTransport(options)
    try:
        yield transport
    finally:
        await transport.aclose()


@asynccontextmanager
async def session_on(
    sshd: SshdFixture, options: SshOptions | None = None, *, hello_timeout_s: float = 10.0
) -> AsyncIterator[FramedSession]:
    async with transport_to(options or sshd.options()) as transport:
        limits = SessionOptions(hello_timeout_s=hello_timeout_s)
        session = await open_session(transport, sshd.host(), options=limits, timeout_s=10)
        try:
            yield session
        finally:
            await session.aclose()


def test_it_keeps_the_contract(make_sshd: MakeSshd) -> None:
    sshd = make_sshd()
    dead = sshd.host(2, name="dead", port=1)
    breaks = sshd.kill_connections
    run_async(check_transport(lambda: SshTransport(sshd.options()), sshd.host(), dead=dead, break_links=breaks))


def test_sessions_keep_the_contract(sshd: SshdFixture) -> None:
    async def main() -> None:
        async with transport_to(sshd.options()) as transport:
            await check_session(lambda: open_session(transport, sshd.host(), options=SessionOptions(), timeout_s=10))

    run_async(main())


def test_a_host_has_one_connection_for_all_its_channels(make_sshd: MakeSshd) -> None:
    sshd = make_sshd()

    async def main() -> None:
        async with transport_to(sshd.options()) as transport:
            channels = [await transport.open(sshd.host(), ECHO, timeout_s=10) for _ in range(3)]
            assert len(sshd.connections()) == 1
            await transport.open(sshd.host(2), ECHO, timeout_s=10)
            assert len(sshd.connections()) == 2
            for channel in channels:
                await channel.aclose()

    run_async(main())
    wait_until(lambda: not sshd.connections(), what="the end of the connections")
    sshd.assert_clean()


def test_a_server_with_one_session_a_connection_gets_more_connections(make_sshd: MakeSshd) -> None:
    sshd = make_sshd(options={"MaxSessions": "1"})

    async def main() -> None:
        async with transport_to(sshd.options()) as transport:
            for number in range(3):
                channel = await transport.open(sshd.host(), ECHO, timeout_s=10)
                await channel.send(b"%d" % number)
                assert await channel.receive() == b"%d" % number
            assert len(sshd.connections()) == 3

    run_async(main())


@pytest.mark.parametrize("most", ["1", "2"])
def test_channels_that_are_opened_at_once_are_all_had_where_a_connection_takes_few(
    make_sshd: MakeSshd, most: str
) -> None:
    sshd = make_sshd(options={"MaxSessions": most})

    async def main() -> None:
        async with transport_to(sshd.options()) as transport:

            async def talk(number: int) -> bytes:
                channel = await transport.open(sshd.host(), ECHO, timeout_s=10)
                await channel.send(b"%d" % number)
                return await channel.receive()

            first = await talk(0)
            rest = await asyncio.gather(*(talk(number) for number in range(1, 6)))
            assert [first, *rest] == [b"%d" % number for number in range(6)]
            assert len(sshd.connections()) <= 6

    run_async(main())


def test_a_long_command_arrives_byte_for_byte(sshd: SshdFixture) -> None:
    filler = "".join(f"# line {number} 'quoted' \"twice\" é \\ $x `y`\n" for number in range(6_000))
    script = f"{filler}true\n"
    assert len(script) > 200_000
    digest = hashlib.sha256(script.encode()).hexdigest()

    async def main() -> None:
        async with session_on(sshd) as session:
            command = f"sha256sum <<'END_OF_IT'\n{script}END_OF_IT\n"
            result, (piece,) = await session.run(make_step(command, early=(HEAD,)))
            assert result.rc == 0
            assert piece is not None
            assert piece.lines[0].data.decode() == f"{digest}  -"

    run_async(main())


def test_partial_lines_are_not_lost_over_slow_reads(sshd: SshdFixture) -> None:
    async def main() -> None:
        async with transport_to(sshd.options()) as transport:
            command = "for n in 1 2 3 4 5; do printf 'part%s ' $n; sleep 0.1; done; echo end"
            channel = await transport.open(sshd.host(), command, timeout_s=10)
            got = b""
            while b"end" not in got:
                try:
                    async with asyncio.timeout(0.03):
                        data = await channel.receive()
                        assert data
                        got += data
                except TimeoutError:
                    continue
            assert got == b"part1 part2 part3 part4 part5 end\n"

    run_async(main())


SHELLS = ["/bin/bash", "/bin/dash", "tcsh", "fish", "zsh", "busybox sh"]


@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shutil.which(shell.split()[0])])
def test_every_login_shell_will_do(make_sshd: MakeSshd, shell: str) -> None:
    sshd = make_sshd(shell=shell)

    async def main() -> None:
        async with session_on(sshd) as session:
            result, (piece,) = await session.run(make_step("echo $BASH", early=(HEAD,)))
            assert result.rc == 0
            assert piece is not None
            assert piece.lines[0].data.endswith(b"bash"), "checks run in bash, whatever the login shell"

    run_async(main())
    sshd.assert_clean()


def test_an_account_without_a_shell_is_told(make_sshd: MakeSshd) -> None:
    sshd = make_sshd(options={"ForceCommand": "/bin/echo This account is currently not available.; exit 1"})

    async def main() -> None:
        async with session_on(sshd) as session:
            with pytest.raises(HandshakeError, match=r"h1: the login shell ended.*not available"):
                await session.run(make_step("true"))

    run_async(main())


def test_noise_of_a_start_up_file_is_noted(make_sshd: MakeSshd) -> None:
    sshd = make_sshd()
    (sshd.remote_home / ".bashrc").write_text("echo Welcome to the machine; echo oops >&2\n")

    async def main() -> None:
        async with session_on(sshd) as session:
            result, _ = await session.run(make_step("true"))
            assert result.rc == 0
            assert session.notes[0] == "login_noise: Welcome to the machine"

    run_async(main())
    sshd.assert_clean()


def test_a_start_up_file_that_reads_costs_a_second_start(make_sshd: MakeSshd) -> None:
    sshd = make_sshd()
    once = sshd.folder / "once"
    (sshd.remote_home / ".bashrc").write_text(f"[ -e {once} ] || {{ : > {once}; read -r answer; }}\n")

    async def main() -> None:
        async with session_on(sshd) as session:
            results = await asyncio.gather(*(session.run(make_step(f"exit {rc}")) for rc in (3, 4)))
            assert [result.rc for result, _ in results] == [3, 4]
            assert len(sshd.connections()) == 1, "the second start uses the same connection"

    run_async(main())
    sshd.assert_clean()


def test_a_start_up_file_that_exits_is_told(make_sshd: MakeSshd) -> None:
    sshd = make_sshd()
    (sshd.remote_home / ".bashrc").write_text("echo maintenance; exit 1\n")

    async def main() -> None:
        async with session_on(sshd) as session:
            with pytest.raises(HandshakeError, match="it printed: maintenance"):
                await session.run(make_step("true"))

    run_async(main())
    sshd.assert_clean()


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "tcsh", "fish", "zsh", "busybox sh", "python3", "cat"])
@pytest.mark.parametrize("by", ["forced command", "start-up file"])
def test_a_shell_in_the_agents_place_runs_nothing(make_sshd: MakeSshd, tmp_path: Path, shell: str, by: str) -> None:
    if shutil.which(shell.split()[0]) is None:
        pytest.skip(f"{shell} is not here")
    sshd = make_sshd(options={"ForceCommand": shell} if by == "forced command" else None)
    if by == "start-up file":
        # Once it was there, a shell that runs commands reads the file no more.
        (sshd.remote_home / ".bashrc").write_text(f'[ -n "$DEEP" ] || {{ export DEEP=1; exec {shell}; }}\n')
    marker = tmp_path / "ran"

    async def main() -> None:
        async with session_on(sshd, hello_timeout_s=3) as session:
            with pytest.raises(HandshakeError, match="h1: "):
                await session.run(make_step(f"touch {marker}; true\ntouch {marker}"))

    before = set(sshd.remote_home.iterdir())
    run_async(main())
    sshd.assert_clean()
    assert not marker.exists()
    assert set(sshd.remote_home.iterdir()) - before <= {sshd.remote_home / ".config", sshd.remote_home / ".local"}


@pytest.mark.skipif(os.geteuid() == 0, reason="sshd passes no signals on where root logs in")
def test_a_start_up_file_that_hangs_is_ended_with_its_children(make_sshd: MakeSshd) -> None:
    sshd = make_sshd()
    (sshd.remote_home / ".bashrc").write_text("echo wait for it; sleep 1000; sleep 1000\n")

    async def main() -> None:
        async with session_on(sshd, hello_timeout_s=0.5) as session:
            with pytest.raises(HandshakeError, match="it printed: wait for it"):
                await session.run(make_step("true"))

    run_async(main())
    sshd.assert_clean(deadline_s=60)


# ---- the link ends


def test_a_dead_link_is_found_by_keepalive(make_sshd: MakeSshd) -> None:
    sshd = make_sshd()

    async def main() -> None:
        options = sshd.options(keepalive_s=1.0, keepalive_count=2)
        async with session_on(sshd, options) as session:
            await session.run(make_step("true"))
            calls = [asyncio.ensure_future(session.run(make_step(f"sleep 3{n}"))) for n in range(2)]
            await asyncio.sleep(0)
            loop = asyncio.get_running_loop()
            start = loop.time()
            with sshd.stopped():
                outcomes: Sequence[object] = await asyncio.gather(*calls, return_exceptions=True)
                assert 1.5 < loop.time() - start < 2.9, "two intervals, not three"
                assert len({id(outcome) for outcome in outcomes}) == 1
                with pytest.raises(SessionLostError, match=r"ended \d+\.\d s after .* 2 answers .*no longer answers"):
                    await session.run(make_step("true"))

    run_async(main())
    sshd.assert_clean()


def test_keepalive_keeps_an_idle_link(make_sshd: MakeSshd) -> None:
    sshd = make_sshd(options={"ClientAliveInterval": "1", "ClientAliveCountMax": "2"})

    async def main() -> None:
        async with session_on(sshd, sshd.options(keepalive_s=0.2, keepalive_count=1)) as session:
            result, _ = await session.run(make_step("sleep 2.5; exit 7"))
            assert result.rc == 7

    run_async(main())


async def running(sshd: SshdFixture, command: str) -> None:
    """Return once the command runs on the host."""
    await asyncio.to_thread(
        wait_until, lambda: any(command in text for text in sshd.processes().values()), what=command
    )


def test_a_killed_server_process_is_a_lost_session(make_sshd: MakeSshd) -> None:
    sshd = make_sshd()

    async def main() -> None:
        async with session_on(sshd) as session:
            await session.run(make_step("sleep 100 & disown"))
            call = asyncio.ensure_future(session.run(make_step("sleep 111")))
            await running(sshd, "sleep 111")
            sshd.kill_connections()
            with pytest.raises(SessionLostError, match="with 1 answers outstanding"):
                await call

    run_async(main())
    sshd.assert_clean()


def test_a_killed_controller_leaves_nothing(make_sshd: MakeSshd, tmp_path: Path) -> None:
    sshd = make_sshd()
    script = tmp_path / "controller.py"
    script.write_text(
        f"""
import asyncio, sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
from checkrunner.link.session import open_session
from checkrunner.link.transports.ssh import SshTransport
from checkrunner.model.inventory import Host
from checkrunner.model.options import SessionOptions, SshOptions
from checkrunner.testing import make_step

async def main():
    transport = SshTransport(SshOptions(known_hosts=({str(sshd.known_hosts)!r},), config_files=()))
    host = Host(name="h", address={sshd.address()!r}, port={sshd.port}, user={sshd.user!r},
                private_key_file={str(sshd.private_key)!r})
    session = await open_session(transport, host, options=SessionOptions(), timeout_s=10)
    await session.run(make_step("true"))
    print("up", flush=True)
    await session.run(make_step("sleep 100"))

asyncio.run(main())
"""
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as controller:
        assert controller.stdout is not None
        assert controller.stdout.readline() == "up\n"
        wait_until(lambda: any("sleep 100" in text for text in sshd.processes().values()), what="the command")
        controller.kill()
    sshd.assert_clean()


def test_a_normal_ending_leaves_nothing(make_sshd: MakeSshd) -> None:
    sshd = make_sshd()

    async def main() -> None:
        async with session_on(sshd) as session:
            await session.run(make_step("sleep 100 & echo started"))
            asyncio.ensure_future(session.run(make_step("sleep 111"))).add_done_callback(lambda task: task.exception())
            await running(sshd, "sleep 111")
            start = asyncio.get_running_loop().time()
            await session.aclose()
            assert asyncio.get_running_loop().time() - start < 0.5, "closing waits for nothing"

    run_async(main())
    sshd.assert_clean()


def test_who_comes_back_at_the_same_time_shares_a_connection(make_sshd: MakeSshd) -> None:
    sshd = make_sshd()

    async def main() -> None:
        transport = SshTransport(sshd.options())
        await transport.open(sshd.host(), ECHO, timeout_s=10)
        sshd.kill_connections()
        await asyncio.to_thread(wait_until, lambda: not sshd.connections(), what="the end of the connection")
        await asyncio.sleep(0.2)
        await asyncio.gather(*(transport.open(sshd.host(), ECHO, timeout_s=10) for _ in range(4)))
        assert len(sshd.connections()) == 1
        await transport.aclose()

    run_async(main())


# ---- hosts that cannot be reached


def test_fifty_dead_hosts_are_tried_once_each() -> None:
    with socket.socket() as listener:
        # Accepts nothing and answers nothing: bound, not listening.
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        hosts = [Host(name=f"dead{n}", address="127.0.0.1", port=port) for n in range(50)]
        dialled = 0

        async def main() -> None:
            nonlocal dialled
            loop = asyncio.get_running_loop()
            create = loop.create_connection

            async def counted(*args: object, **kwargs: object) -> object:
                nonlocal dialled
                dialled += 1
                return await create(*args, **kwargs)  # type: ignore[call-overload]  # passed on as they are

            loop.create_connection = counted  # type: ignore[assignment,method-assign]  # to count
            async with transport_to(SshOptions(config_files=())) as transport:
                errors: list[object] = []
                for _ in range(20):
                    tries = [transport.open(host, ECHO, timeout_s=5) for host in hosts]
                    errors = list(await asyncio.gather(*tries, return_exceptions=True))
                    assert {type(error) for error in errors} == {UnreachableError}
                assert str(errors[7]).startswith("dead7: connection refused")

        run_async(main())
    assert dialled == 50


class Rude:
    """A server that accepts and says what it is told to, on a thread of its own."""

    def __init__(self, words: bytes | None) -> None:
        self.accepted = 0
        self._words = words
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            if self._words is None:
                self._open.append(connection)
            else:
                with connection, contextlib.suppress(OSError):
                    connection.sendall(self._words)
                    # The client's words are taken, so that ours arrive before the end of the connection.
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65_536):
                        pass

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        for connection in self._open:
            connection.close()


@pytest.mark.parametrize("words", [b"", b"Exceeded MaxStartups\r\n"])
def test_a_server_that_drops_connections_is_tried_again_with_pauses(
    words: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("checkrunner.link.transports.ssh_gate._PAUSES_S", ((0.0, 0.01),) * 3)

    async def main(port: int) -> None:
        async with transport_to(SshOptions(config_files=())) as transport:
            host = Host(name="busy", address="127.0.0.1", port=port)
            with pytest.raises(ThrottledError, match="busy: the server dropped") as caught:
                await transport.open(host, ECHO, timeout_s=5)
            assert "MaxStartups" in caught.value.hint

    with Rude(words) as server:
        run_async(main(server.port))
        assert server.accepted == 4


def test_a_busy_server_lets_everybody_in_at_last(make_sshd: MakeSshd) -> None:
    sshd = make_sshd(options={"MaxStartups": "3:100:4"})

    async def main() -> None:
        async with transport_to(sshd.options()) as transport:
            hosts = [sshd.host(number) for number in range(1, 13)]
            channels = await asyncio.gather(*(transport.open(host, ECHO, timeout_s=20) for host in hosts))
            assert len(channels) == 12

    run_async(main())


def test_a_busy_server_lets_in_all_names_of_one_address(make_sshd: MakeSshd) -> None:
    sshd = make_sshd(options={"MaxStartups": "2:100:2"})

    async def main() -> None:
        async with transport_to(sshd.options()) as transport:
            hosts = [sshd.host(1, name=f"alias{number}") for number in range(50)]
            channels = await asyncio.gather(*(transport.open(host, ECHO, timeout_s=20) for host in hosts))
            assert len(channels) == 50

    run_async(main())


def test_a_server_that_says_nothing_is_a_timeout() -> None:
    async def main(port: int) -> None:
        async with transport_to(SshOptions(config_files=())) as transport:
            host = Host(name="mute", address="127.0.0.1", port=port)
            with pytest.raises(ConnectTimeoutError, match="mute: no answer within the connect timeout"):
                await transport.open(host, ECHO, timeout_s=0.3)

    with Rude(None) as server:
        run_async(main(server.port))


def test_the_connect_timeout_of_the_host_wins() -> None:
    async def main(port: int) -> None:
        async with transport_to(SshOptions(config_files=())) as transport:
            options = {"ssh_common_args": "-o ConnectTimeout=1"}
            host = Host(name="mute", address="127.0.0.1", port=port, options=options)
            start = asyncio.get_running_loop().time()
            with pytest.raises(ConnectTimeoutError):
                await transport.open(host, ECHO, timeout_s=30)
            assert asyncio.get_running_loop().time() - start < 5

    with Rude(None) as server:
        run_async(main(server.port))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (b"SSH-1.5-old\r\n", "Unsupported SSH version"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "it says 'HTTP/1.1 400 Bad Request'"),
        (b"<html>no newline", "it says '<html>no newline'"),
        (b"line of a banner\r\n" * 10_000, "it says 'line of a banner line of"),
        (b"x" * 200_000, "it says 'xxxx"),
        (b"SSH-2.0-\xff\r\n", "it says 'SSH-2.0-\ufffd'"),
        (b"SSH-2.0-x\r\n" + b"\xff" * 100, "odd: "),
        (b"SSH-2.0-x\r\n", "the connection broke while it was set up"),
    ],
    ids=["old", "http", "html", "banner", "long line", "encoding", "garbage", "ends"],
)
def test_what_is_no_ssh_server_is_not_asked_twice(words: bytes, said: str) -> None:
    async def main(port: int) -> None:
        async with transport_to(SshOptions(config_files=())) as transport:
            host = Host(name="odd", address="127.0.0.1", port=port)
            with pytest.raises(UnreachableError) as caught:
                await transport.open(host, ECHO, timeout_s=5)
            assert said in caught.value.message

    with Rude(words) as server:
        run_async(main(server.port))
        assert server.accepted == 1


def test_a_name_that_does_not_exist() -> None:
    async def main() -> None:
        async with transport_to(SshOptions(config_files=())) as transport:
            host = Host(name="ghost", address="no-such-host.invalid")
            with pytest.raises(UnreachableError, match=r"ghost: the name 'no-such-host\.invalid' cannot be resolved"):
                await transport.open(host, ECHO, timeout_s=20)

    run_async(main())


def test_a_cancelled_open_leaves_no_connection(make_sshd: MakeSshd) -> None:
    sshd = make_sshd()

    async def main() -> None:
        async with transport_to(sshd.options()) as transport:
            for pause in (0.0, 0.005, 0.01, 0.02, 0.03):
                opening = asyncio.ensure_future(transport.open(sshd.host(), ECHO, timeout_s=10))
                await asyncio.sleep(pause)
                opening.cancel()
                await asyncio.wait({opening})
                if not opening.cancelled():
                    await opening.result().aclose()

    run_async(main())
    wait_until(lambda: not sshd.connections(), what="the end of the connections")


def test_post_quantum_key_exchange_stays_offered(sshd: SshdFixture) -> None:
    async def main() -> None:
        async with transport_to(sshd.options()) as transport:
            await transport.open(sshd.host(), ECHO, timeout_s=10)
            connection = transport._hosts["h1"][0].standing.connection
            assert isinstance(connection, asyncssh.SSHClientConnection)
            offered = [name.decode() for name in connection._kex_algs]
            assert "curve25519-sha256" in offered
            assert any(name.startswith(("mlkem768", "sntrup761")) for name in offered)
            assert connection.get_extra_info("recv_cipher") == "aes128-gcm@openssh.com"

    run_async(main())
