"""Servers that talk before they listen, in any encoding, that stop answering half-way, or live at IPv6 addresses."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import psutil
import pytest
from async_helpers import run_async
from cli_runner import CommandLine
from slowness import allowed
from sshd import SshdFixture, make_key, wait_until

from checkrunner.link.session import open_session
from checkrunner.link.transports.ssh import SshTransport
from checkrunner.model.errors import ConnectTimeoutError, SessionLostError
from checkrunner.model.inventory import Host
from checkrunner.model.options import SessionOptions, SshOptions
from checkrunner.testing import ECHO, make_step


class MakeSshd(Protocol):
    def __call__(
        self, *, options: dict[str, str] | None = None, shell: str | None = None, password: str | None = None
    ) -> SshdFixture: ...


PLAY = "- hosts: all\n  checks: [{id: a, run: 'echo fine', expect: {stdout: {equals: fine}}}]\n"


class Relay:
    """Stands between client and server. `first` is said to the client before anything; silence of `idle_s` ends a
    connection without a word, as a firewall does; while `deaf`, nothing gets through."""

    def __init__(self, port: int, *, first: bytes = b"", idle_s: float = 1000.0, delay_s: float = 0.0) -> None:
        self.port, self._to = 0, port
        self._first, self._idle_s, self._delay_s = first, idle_s, delay_s
        self.hearing = asyncio.Event()
        self.hearing.set()
        self.cut = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        there_reader, there = await asyncio.open_connection("127.0.0.1", self._to)
        writer.write(self._first)
        last = [asyncio.get_running_loop().time()]
        pumps = [self._pump(reader, there, last), self._pump(there_reader, writer, last)]
        pumping = {asyncio.ensure_future(pump) for pump in pumps}
        try:
            await asyncio.wait(pumping, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            pass
        finally:
            for pump in pumping:
                pump.cancel()
            await asyncio.wait(pumping)
            for end in (there, writer):
                end.close()
                with contextlib.suppress(OSError):
                    await end.wait_closed()
            self._tasks.discard(task)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, last: list[float]) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):
            while True:
                try:
                    async with asyncio.timeout(0.05):
                        data = await reader.read(65_536)
                except TimeoutError:
                    if loop.time() - last[0] > self._idle_s:
                        self.cut += 1
                        return
                    continue
                if not data:
                    return
                await self.hearing.wait()
                await asyncio.sleep(self._delay_s)
                last[0] = loop.time()
                writer.write(data)


def through(sshd: SshdFixture, relay: Relay, folder: Path, **changes: object) -> tuple[SshOptions, Host]:
    known = folder / "known_relay"
    known.write_text(f"[127.0.0.1]:{relay.port} {sshd.host_key_line()}\n")
    options = sshd.options(known_hosts=(str(known),), **changes)
    return options, sshd.host(address="127.0.0.1", port=relay.port)


async def echo(options: SshOptions, host: Host) -> None:
    transport = SshTransport(options)
    try:
        channel = await transport.open(host, ECHO, timeout_s=10)
        await channel.send(b"hello")
        assert await channel.receive() == b"hello"
    finally:
        await transport.aclose()


BANNERS = {
    "latin-1": "Zutritt nur f\xfcr Befugte\n".encode("latin-1"),
    "utf-16": "Nur f\xfcr Befugte\n".encode("utf-16"),
    "escapes": b"\x1b[31mred\x1b[0m\x07\x00\xff\xfe\n",
    "long": b"=" * 60_000 + b"\n",
}


@pytest.mark.parametrize("way", ["short cuts", "plain"])
@pytest.mark.parametrize("name", BANNERS)
def test_a_banner_of_any_encoding_at_login(
    make_sshd: MakeSshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, way: str
) -> None:
    if way == "plain":
        monkeypatch.setattr("checkrunner.link.transports.ssh_dialer.short_cuts_fit", lambda: False)
    (tmp_path / "banner").write_bytes(BANNERS[name])
    sshd = make_sshd(options={"Banner": str(tmp_path / "banner")})
    run_async(echo(sshd.options(), sshd.host()))


@pytest.mark.parametrize(
    "first",
    ["Zutritt nur f\xfcr Befugte\r\n".encode("latin-1"), b"\xff\xfe\x00\r\n" * 20, b"warning: 3 updates\n" * 100],
    ids=["latin-1", "binary", "many lines"],
)
def test_lines_before_the_version(sshd: SshdFixture, tmp_path: Path, first: bytes) -> None:
    async def main() -> None:
        relay = Relay(sshd.port, first=first)
        async with relay.running():
            await echo(*through(sshd, relay, tmp_path))

    run_async(main())


def test_a_slow_link_only_takes_its_time(sshd: SshdFixture, tmp_path: Path) -> None:
    async def main() -> None:
        relay = Relay(sshd.port, delay_s=0.15)
        async with relay.running():
            await echo(*through(sshd, relay, tmp_path))

    run_async(main())


def test_a_silent_command_outlives_a_firewall_that_cuts_idle_links(sshd: SshdFixture, tmp_path: Path) -> None:
    async def main() -> None:
        relay = Relay(sshd.port, idle_s=0.8)
        async with relay.running():
            options, host = through(sshd, relay, tmp_path, keepalive_s=0.2)
            transport = SshTransport(options)
            session = await open_session(transport, host, options=SessionOptions(), timeout_s=10)
            assert (await session.run(make_step("sleep 2.5; exit 7")))[0].rc == 7
            await asyncio.sleep(2)
            assert (await session.run(make_step("exit 8")))[0].rc == 8
            assert relay.cut == 0
            await session.aclose()
            await transport.aclose()

    run_async(main())


def test_without_keepalive_the_same_firewall_ends_the_link(sshd: SshdFixture, tmp_path: Path) -> None:
    async def main() -> None:
        relay = Relay(sshd.port, idle_s=0.4)
        async with relay.running():
            options, host = through(sshd, relay, tmp_path, keepalive_s=0.0)
            transport = SshTransport(options)
            session = await open_session(transport, host, options=SessionOptions(), timeout_s=10)
            assert (await session.run(make_step("true")))[0].rc == 0
            async with asyncio.timeout(10):
                while not relay.cut:
                    await asyncio.sleep(0.02)
            with pytest.raises(SessionLostError):
                await session.run(make_step("true"))
            await session.aclose()
            await transport.aclose()

    run_async(main())


def test_a_link_that_goes_deaf_during_a_command_is_found(sshd: SshdFixture, tmp_path: Path) -> None:
    """Packets are dropped from now on: no end of the connection is seen by either side."""

    async def main() -> None:
        relay = Relay(sshd.port)
        async with relay.running():
            options, host = through(sshd, relay, tmp_path, keepalive_s=0.3, keepalive_count=2)
            transport = SshTransport(options)
            session = await open_session(transport, host, options=SessionOptions(), timeout_s=10)
            assert (await session.run(make_step("true")))[0].rc == 0
            call = asyncio.ensure_future(session.run(make_step("sleep 44")))
            await asyncio.sleep(0)
            loop = asyncio.get_running_loop()
            start = loop.time()
            relay.hearing.clear()
            with pytest.raises(SessionLostError, match="no longer answers"):
                await call
            assert loop.time() - start < 5
            await session.aclose()
            await transport.aclose()

    run_async(main())


@pytest.mark.parametrize(
    "said", [b"SSH-2.0-OpenSSH_9.2\r\n", b"hello\r\n", b""], ids=["version", "greeting", "nothing"]
)
def test_a_server_that_stops_half_way_is_a_timeout_that_says_where(said: bytes) -> None:
    words = {b"": "no answer", b"hello\r\n": "no answer of an SSH server"}.get(said, "no login")

    async def main() -> None:
        writers: list[asyncio.StreamWriter] = []

        def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(said)
            writers.append(writer)

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        host = Host(name="half", address="127.0.0.1", port=server.sockets[0].getsockname()[1])
        transport = SshTransport(SshOptions(config_files=()))
        with pytest.raises(ConnectTimeoutError, match=f"half: {words} within the connect timeout"):
            await transport.open(host, ECHO, timeout_s=0.5)
        await transport.aclose()
        for writer in writers:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        server.close()
        await server.wait_closed()

    run_async(main())


def _ipv6_addresses() -> list[str]:
    """This machine's own: what is sent to them never leaves it. A link-local one has a zone."""
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            return []
    own = [
        entry.address for many in psutil.net_if_addrs().values() for entry in many if entry.family == socket.AF_INET6
    ]
    return ["::1", *(address for address in own if "%" in address and address.startswith("fe80"))][:2]


@pytest.mark.parametrize("address", _ipv6_addresses())
@pytest.mark.parametrize("form", ["{}", "[{}]"])
def test_an_ipv6_address_with_port_and_zone(tmp_path: Path, address: str, form: str) -> None:
    with SshdFixture(tmp_path / "sshd", options={"ListenAddress": "0.0.0.0\nListenAddress ::"}) as sshd:
        known = tmp_path / "known"
        known.write_text(f"[{address}]:{sshd.port} {sshd.host_key_line()}\n")
        inventory = tmp_path / "six.ini"
        inventory.write_text(
            f"six ansible_host={form.format(address)} ansible_port={sshd.port} ansible_user={sshd.user}"
            f" ansible_ssh_private_key_file={sshd.private_key}\n"
        )
        cli = CommandLine(folder=tmp_path, sshd=sshd)
        known_args = ["--known-hosts", known, "--ssh-config", "none", "--format", "json"]
        outcome = cli.call_here(cli.argv("run", cli.playbook(PLAY), "-i", inventory, *known_args))
        assert outcome.code == 0, outcome.stdout + outcome.stderr
        jump = {"ssh_common_args": f"-J {sshd.user}@[{address}]:{sshd.port}"}
        both = tmp_path / "both"
        both.write_text(known.read_text() + sshd.known_hosts.read_text())
        options = sshd.options(known_hosts=(str(both),), private_key_file=str(sshd.private_key))
        run_async(echo(options, sshd.host(options=jump)))


def test_an_encrypted_key_ends_a_run_at_once_where_nobody_can_be_asked(make_sshd: MakeSshd, tmp_path: Path) -> None:
    sshd = make_sshd()
    key = make_key(tmp_path / "secret", passphrase="let me in")
    sshd.authorize(key)
    sshd.private_key = key
    cli = CommandLine(folder=tmp_path, sshd=sshd, hosts=3)
    outcome = cli.run(PLAY)
    assert outcome.code == 3
    (entry,) = outcome.report["incomplete"]
    assert entry["state"] == "auth_failed"
    assert f"key_encrypted: {key} needs a passphrase" in entry["reason"]
    assert outcome.report["run"]["elapsed_s"] < allowed(9)
    assert outcome.report["totals"]["not_run"] == 3


def test_a_host_whose_clock_is_a_day_off(make_sshd: MakeSshd, tmp_path: Path) -> None:
    sshd = make_sshd()
    tools = sshd.remote_home / "tools"
    tools.mkdir()
    python = tools / "python3"
    python.write_text(
        f"#!{sys.executable} -IS\n"
        "import sys, time\n"
        "real = time.time\n"
        "time.time = lambda: real() - 86_400\n"
        "exec(sys.argv[sys.argv.index('-c') + 1])\n"
    )
    python.chmod(0o755)
    (sshd.remote_home / ".bashrc").write_text(f"PATH={tools}:$PATH\n")
    cli = CommandLine(folder=tmp_path, sshd=sshd)
    outcome = cli.run("""
        - hosts: all
          checks:
            - {id: slept, run: 'sleep 0.3', expect: 'elapsed_s >= 0.3 and elapsed_s < 3600'}
            - {id: late, run: 'sleep 60', timeout: 1}
            - {id: shift, run: 'command -v python3', expect: {stdout: {contains: tools}}}
        """)
    assert {finding["check"]: finding["execution"] for finding in outcome.report["findings"]} == {"late": "timed_out"}
    assert outcome.report["run"]["elapsed_s"] < allowed(20)
    wait_until(lambda: not os.listdir(sshd.run_dir), what="the end of the agent's directory")
