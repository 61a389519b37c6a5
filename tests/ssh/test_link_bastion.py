"""One jump host before many hosts: it limits channels, connections or logins, or breaks down under them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import asyncssh
import pytest
from async_helpers import run_async
from asyncssh.constants import OPEN_ADMINISTRATIVELY_PROHIBITED, OPEN_CONNECT_FAILED, OPEN_RESOURCE_SHORTAGE
from sshd import SshdFixture, wait_until

from checkrunner.link.transports.ssh import SshChannel, SshTransport
from checkrunner.model.errors import ConnectError, ConnectTimeoutError, ThrottledError, UnreachableError
from checkrunner.model.inventory import Host
from checkrunner.model.options import SshOptions
from checkrunner.testing import ECHO, check_queues

RELAY = """import os, select, socket, sys
far = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
while True:
    for one in select.select([0, far], [], [])[0]:
        data = os.read(0, 65536) if one == 0 else far.recv(65536)
        if not data:
            sys.exit()
        far.sendall(data) if one == 0 else os.write(1, data)
"""


class MakeSshd(Protocol):
    def __call__(
        self, *, options: dict[str, str] | None = None, shell: str | None = None, password: str | None = None
    ) -> SshdFixture: ...


class Bastion:
    """A jump host of our own making: `channels` a connection, `connections` at a time, `logins` under way at a time."""

    def __init__(self, *, channels: int = 1000, connections: int = 1000, code: int = OPEN_RESOURCE_SHORTAGE) -> None:
        self.channels, self.connections, self.code = channels, connections, code
        self.forbidden: set[str] = set()
        self.standing: list[_Served] = []
        self.made = self.refused = self.most = 0
        self.port = 0
        self.known = ""

    def spec(self) -> str:
        return f"ops@127.0.0.1:{self.port}"

    @asynccontextmanager
    async def running(self, sshd: SshdFixture) -> AsyncIterator[None]:
        key = asyncssh.generate_private_key("ssh-ed25519")
        server = await asyncssh.create_server(
            lambda: _Served(self),
            "127.0.0.1",
            0,
            server_host_keys=[key],
            authorized_client_keys=f"{sshd.private_key}.pub",
        )
        self.port = server.get_port()
        self.known = f"[127.0.0.1]:{self.port} {key.export_public_key('openssh').decode()}"
        try:
            yield
        finally:
            server.close()
            await server.wait_closed()


class _Served(asyncssh.SSHServer):
    def __init__(self, bastion: Bastion) -> None:
        self.bastion = bastion
        self.open = 0
        self.connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self.connection = conn
        self.bastion.made += 1

    def begin_auth(self, username: str) -> bool:
        if len(self.bastion.standing) >= self.bastion.connections:
            assert self.connection is not None
            self.connection.abort()
            return True
        self.bastion.standing.append(self)
        self.bastion.most = max(self.bastion.most, len(self.bastion.standing))
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        with contextlib.suppress(ValueError):
            self.bastion.standing.remove(self)

    async def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> Any:
        if self.open >= self.bastion.channels or dest_host in self.bastion.forbidden:
            self.bastion.refused += 1
            raise asyncssh.ChannelOpenError(self.bastion.code, "open failed")
        self.open += 1
        assert self.connection is not None
        try:
            session = await self.connection.forward_connection(dest_host, dest_port)
        except BaseException:
            self.open -= 1
            raise
        ended = session.connection_lost

        def lost(exc: Exception | None) -> None:
            self.open -= 1
            ended(exc)

        session.connection_lost = lost  # type: ignore[method-assign]  # one object's, to see its end
        return session


def options_for(sshd: SshdFixture, bastion: Bastion, folder: Path) -> SshOptions:
    known = folder / "known_both"
    known.write_text(sshd.known_hosts.read_text() + bastion.known)
    return sshd.options(known_hosts=(str(known),), private_key_file=str(sshd.private_key))


def behind(sshd: SshdFixture, bastion: Bastion, numbers: range) -> list[Host]:
    args = {"ssh_common_args": f"-J {bastion.spec()}"}
    return [sshd.host(number, options=args) for number in numbers]


async def echo(transport: SshTransport, host: Host) -> SshChannel:
    channel = await transport.open(host, ECHO, timeout_s=20)
    await channel.send(b"hello")
    assert await channel.receive() == b"hello"
    return channel


@pytest.mark.parametrize("code", [OPEN_RESOURCE_SHORTAGE, OPEN_ADMINISTRATIVELY_PROHIBITED, OPEN_CONNECT_FAILED])
def test_a_jump_host_that_takes_two_channels_gets_more_connections(
    sshd: SshdFixture, tmp_path: Path, code: int
) -> None:
    async def main() -> None:
        bastion = Bastion(channels=2, code=code)
        async with bastion.running(sshd):
            transport = SshTransport(options_for(sshd, bastion, tmp_path))
            hosts = behind(sshd, bastion, range(1, 13))
            await asyncio.gather(*(echo(transport, host) for host in hosts))
            assert bastion.most == 6, "no more than are needed"
            (wait,) = transport.waits()
            assert wait.place == f"jump host {bastion.spec()}"
            assert (wait.waiting, wait.connections, wait.channels) == (0, 6, 2)
            assert wait.hosts >= 10
            assert 0 < wait.longest_s <= wait.waited_s
            await transport.aclose()

    run_async(main())


def test_one_connection_does_for_many_where_nothing_is_limited(sshd: SshdFixture, tmp_path: Path) -> None:
    async def main() -> None:
        bastion = Bastion()
        async with bastion.running(sshd):
            transport = SshTransport(options_for(sshd, bastion, tmp_path))
            await asyncio.gather(*(echo(transport, host) for host in behind(sshd, bastion, range(1, 9))))
            (wait,) = transport.waits()
            assert (bastion.made, wait.connections, wait.channels, wait.dropped) == (1, 1, 0, 0)
            await transport.aclose()

    run_async(main())


def test_a_jump_host_with_one_connection_is_waited_for(sshd: SshdFixture, tmp_path: Path) -> None:
    """Two channels in all: who has one gives it to the next."""

    async def main() -> None:
        bastion = Bastion(channels=2, connections=1)
        async with bastion.running(sshd):
            transport = SshTransport(options_for(sshd, bastion, tmp_path))

            async def visit(host: Host) -> None:
                await (await echo(transport, host)).aclose()

            visits = [asyncio.ensure_future(visit(host)) for host in behind(sshd, bastion, range(1, 7))]
            seen = 0
            while not all(task.done() for task in visits):
                check_queues(transport)
                seen = max(seen, *(wait.waiting for wait in transport.waits()), 0)
                await asyncio.wait(visits, timeout=0.1)
            await asyncio.gather(*visits)
            check_queues(transport)
            assert seen >= 2
            (wait,) = transport.waits()
            assert (wait.connections, bastion.most) == (1, 1)
            assert wait.longest_s > 0.5
            await transport.aclose()

    run_async(main())


def test_a_jump_host_that_stays_full_is_told(
    sshd: SshdFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("checkrunner.link.transports.ssh_bastion._PATIENCE_S", 0.5)

    async def main() -> None:
        bastion = Bastion(channels=2, connections=1)
        async with bastion.running(sshd):
            transport = SshTransport(options_for(sshd, bastion, tmp_path))
            hosts = behind(sshd, bastion, range(1, 4))
            results = await asyncio.gather(*(echo(transport, host) for host in hosts), return_exceptions=True)
            (error,) = (result for result in results if isinstance(result, BaseException))
            assert isinstance(error, ThrottledError)
            assert f": jump host {bastion.spec()}: no channel was free on its 1 connections" in error.message
            assert "--forks" in error.hint
            await transport.aclose()

    run_async(main())


def test_what_a_jump_host_forbids_is_told_and_the_others_go_on(sshd: SshdFixture, tmp_path: Path) -> None:
    async def main() -> None:
        bastion = Bastion(code=OPEN_ADMINISTRATIVELY_PROHIBITED)
        bastion.forbidden = {sshd.address(2), sshd.address(5)}
        async with bastion.running(sshd):
            transport = SshTransport(options_for(sshd, bastion, tmp_path))
            hosts = behind(sshd, bastion, range(1, 9))
            results = await asyncio.gather(*(echo(transport, host) for host in hosts), return_exceptions=True)
            errors = {host.name: result for host, result in zip(hosts, results, strict=True)
                      if isinstance(result, BaseException)}  # fmt: skip
            assert sorted(errors) == ["h2", "h5"]
            for error in errors.values():
                assert isinstance(error, UnreachableError)
                assert f"jump host {bastion.spec()} cannot reach it" in error.message
            assert bastion.most <= 3
            await transport.aclose()

    run_async(main())


def test_a_jump_host_that_went_away_is_connected_anew(sshd: SshdFixture, tmp_path: Path) -> None:
    async def main() -> None:
        bastion = Bastion()
        async with bastion.running(sshd):
            transport = SshTransport(options_for(sshd, bastion, tmp_path))
            first, second = behind(sshd, bastion, range(1, 3))
            await echo(transport, first)
            for served in list(bastion.standing):
                assert served.connection is not None
                served.connection.abort()
            await echo(transport, second)
            await echo(transport, first)
            assert bastion.made == 2
            await transport.aclose()

    run_async(main())


def test_a_dead_jump_host_is_tried_once_for_all_hosts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        args = {"ssh_common_args": f"-J ops@127.0.0.1:{port}"}
        hosts = [Host(name=f"h{number}", address="10.255.255.1", options=args) for number in range(30)]

        async def main() -> None:
            transport = SshTransport(SshOptions(config_files=()))
            for some in (hosts[:20], hosts[20:]):
                tries = [transport.open(host, ECHO, timeout_s=0.5) for host in some]
                errors = await asyncio.gather(*tries, return_exceptions=True)
                assert {type(error) for error in errors} == {ConnectTimeoutError}
                assert f"{errors[0]}".startswith(f"{some[0].name}: jump host ops@127.0.0.1:{port}: no answer within")
            await transport.aclose()

        run_async(main())
        mute.setblocking(False)
        mute.accept()[0].close()
        with pytest.raises(BlockingIOError):
            mute.accept()


def test_a_jump_host_that_drops_everybody_is_given_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkrunner.link.transports.ssh_gate._PAUSES_S", ((0.0, 0.05),) * 3)

    async def main() -> None:
        dropped = 0

        def drop(_: object, writer: asyncio.StreamWriter) -> None:
            nonlocal dropped
            dropped += 1
            writer.close()

        server = await asyncio.start_server(drop, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        args = {"ssh_common_args": f"-J ops@127.0.0.1:{port}"}
        hosts = [Host(name=f"h{number}", address="10.255.255.1", options=args) for number in range(30)]
        transport = SshTransport(SshOptions(config_files=()))
        tries = [transport.open(host, ECHO, timeout_s=5) for host in hosts]
        errors = await asyncio.gather(*tries, return_exceptions=True)
        assert {type(error) for error in errors} == {ThrottledError}
        assert dropped == 4
        (wait,) = transport.waits()
        assert (wait.hosts, wait.dropped, wait.connections) == (30, 4, 0)
        await transport.aclose()
        server.close()
        await server.wait_closed()

    run_async(main())


@pytest.mark.parametrize("way", ["short cuts", "plain"])
def test_hosts_behind_a_real_jump_host_that_lets_in_two_at_a_time(
    make_sshd: MakeSshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "plain":
        monkeypatch.setattr("checkrunner.link.transports.ssh_dialer.short_cuts_fit", lambda: False)
    target, bastion = make_sshd(), make_sshd(options={"MaxStartups": "2:100:4", "MaxSessions": "2"})
    bastion.authorize(target.private_key)
    known = tmp_path / "known_both"
    known.write_text(target.known_hosts.read_text() + bastion.known_hosts.read_text())
    options = target.options(known_hosts=(str(known),), private_key_file=str(target.private_key))
    args = {"ssh_common_args": f"-J {bastion.user}@{bastion.address()}:{bastion.port}"}
    hosts = [target.host(number, options=args) for number in range(1, 21)]

    async def main() -> None:
        transport = SshTransport(options)
        await asyncio.gather(*(echo(transport, host) for host in hosts))
        assert len(bastion.connections()) == 1
        await transport.aclose()

    run_async(main())
    wait_until(lambda: not bastion.connections(), what="the end of the jump connection")


def _behind(target: SshdFixture, bastion: SshdFixture, folder: Path) -> tuple[SshOptions, dict[str, str]]:
    """Options for hosts of the one behind the other."""
    bastion.authorize(target.private_key)
    known = folder / "known_both"
    known.write_text(target.known_hosts.read_text() + bastion.known_hosts.read_text())
    options = target.options(known_hosts=(str(known),), private_key_file=str(target.private_key))
    return options, {"ssh_common_args": f"-J {bastion.user}@{bastion.address()}:{bastion.port}"}


def test_a_server_behind_a_jump_host_that_drops_connections_is_asked_again(make_sshd: MakeSshd, tmp_path: Path) -> None:
    target, bastion = make_sshd(options={"MaxStartups": "2:100:2"}), make_sshd()
    options, args = _behind(target, bastion, tmp_path)
    hosts = [target.host(1, name=f"name{number}", options=args) for number in range(12)]

    async def main() -> None:
        transport = SshTransport(options)
        await asyncio.gather(*(echo(transport, host) for host in hosts))
        (waited,) = [wait for wait in transport.waits() if "jump host" not in wait.place]
        assert waited.dropped > 0
        await transport.aclose()

    run_async(main())


def test_a_server_behind_a_jump_host_that_says_nothing_gave_no_answer(make_sshd: MakeSshd, tmp_path: Path) -> None:
    target, bastion = make_sshd(), make_sshd()
    options, args = _behind(target, bastion, tmp_path)

    async def main() -> None:
        transport = SshTransport(options)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            host = replace(target.host(1, options=args), address="127.0.0.1", port=silent.getsockname()[1])
            with pytest.raises(ConnectError, match="h1: no answer within the connect timeout"):
                await transport.open(host, ECHO, timeout_s=2)
        await transport.aclose()

    run_async(main())


def test_a_proxy_command_for_many_hosts_takes_turns_at_its_server(make_sshd: MakeSshd, tmp_path: Path) -> None:
    target, bastion = make_sshd(), make_sshd(options={"MaxStartups": "2:100:2"})
    bastion.authorize(target.private_key)
    command = (
        f"ssh -F none -i {target.private_key} -o UserKnownHostsFile={bastion.known_hosts} -o BatchMode=yes"
        f" -p {bastion.port} -W %h:%p {bastion.user}@{bastion.address()}"
    )
    config = tmp_path / "config"
    config.write_text(f"Host *\n  ProxyCommand {command}\n")
    options = replace(target.options(), config_files=(str(config),))

    async def main() -> None:
        transport = SshTransport(options)
        await asyncio.gather(*(echo(transport, target.host(number)) for number in range(1, 13)))
        (wait,) = transport.waits()
        assert wait.place.startswith("proxy command ssh -F none")
        assert wait.dropped > 0
        assert wait.hosts > 1
        await transport.aclose()

    run_async(main())


def test_the_proxy_command_of_a_lost_jump_host_is_ended(make_sshd: MakeSshd, tmp_path: Path) -> None:
    target, bastion = make_sshd(), make_sshd()
    bastion.authorize(target.private_key)
    started = tmp_path / "started"
    relay = tmp_path / "relay"
    relay.write_text(f"#!/bin/sh\necho $$ >>{started}\nexec {sys.executable} -IS -c '{RELAY}' {bastion.port}\n")
    relay.chmod(0o755)
    known = tmp_path / "known_both"
    known.write_text(f"{target.known_hosts.read_text()}jump {bastion.host_key_line()}\n")
    config = tmp_path / "config"
    config.write_text(f"Host jump\n  HostKeyAlias jump\n  User {bastion.user}\n  ProxyCommand {relay}\n")
    options = target.options(
        known_hosts=(str(known),), private_key_file=str(target.private_key), config_files=(str(config),)
    )
    args = {"ssh_common_args": f"-F {config} -J jump"}

    async def main() -> None:
        transport = SshTransport(options)
        await echo(transport, target.host(1, options=args))
        bastion.kill_connections()
        await asyncio.sleep(0.5)
        await echo(transport, target.host(2, options=args))
        first, _second = (int(line) for line in started.read_text().splitlines())
        await asyncio.to_thread(wait_until, lambda: not Path(f"/proc/{first}").exists(), what="its end")
        await transport.aclose()

    run_async(main())


def test_two_names_of_one_address_take_turns_together(make_sshd: MakeSshd, tmp_path: Path) -> None:
    sshd = make_sshd(options={"MaxStartups": "1:100:1"})
    known = tmp_path / "known"
    known.write_text(f"[localhost]:{sshd.port},[127.0.0.1]:{sshd.port} {sshd.host_key_line()}\n")
    options = sshd.options(known_hosts=(str(known),))
    names = [("localhost", "-4"), ("127.0.0.1", "")] * 8
    hosts = [
        sshd.host(name=f"name{at}", address=address, options={"ssh_common_args": args})
        for at, (address, args) in enumerate(names)
    ]

    async def main() -> None:
        transport = SshTransport(options)
        await asyncio.gather(*(echo(transport, host) for host in hosts))
        (wait,) = transport.waits()
        assert wait.dropped > 0
        await transport.aclose()

    run_async(main())


def test_a_second_jump_that_fails_is_named(make_sshd: MakeSshd, tmp_path: Path) -> None:
    """Another user and port at each hop, and three ways to fail at the second."""
    target = make_sshd()
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))

    async def main() -> None:
        first, second = Bastion(), Bastion()
        async with first.running(target), second.running(target):
            known = tmp_path / "known_all"
            known.write_text(f"{target.known_hosts.read_text()}{first.known}{second.known}")
            options = target.options(known_hosts=(str(known),), private_key_file=str(target.private_key))

            async def refusal(args: str) -> ConnectError:
                transport = SshTransport(options)
                with pytest.raises(ConnectError) as caught:
                    await transport.open(target.host(options={"ssh_common_args": args}), ECHO, timeout_s=10)
                await transport.aclose()
                return caught.value

            transport = SshTransport(options)
            one, two = first.spec(), second.spec().replace("ops", "other")
            await echo(transport, target.host(options={"ssh_common_args": f"-J {one},{two}"}))
            assert [wait.place for wait in transport.waits()] == [f"jump host {two}"]
            await transport.aclose()
            down = f"other@127.0.0.1:{closed.getsockname()[1]}"
            error = await refusal(f"-J {one},{down}")
            assert error.message.startswith(f"h1: jump host {down}: jump host {one} cannot reach it (127.0.0.1 port ")
            known.write_text(f"{target.known_hosts.read_text()}{first.known}")
            assert (await refusal(f"-J {one},{two}")).message.startswith(f"h1: jump host {two}: unknown host key: ")

    run_async(main())
    closed.close()
