"""Jump hosts and proxy commands, from arguments and from ssh_config, and which hop failed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Protocol

import psutil
import pytest
from async_helpers import run_async
from sshd import SshdFixture, wait_until

from checkrunner.link.transports.ssh import SshTransport
from checkrunner.model.errors import AuthenticationError, ConnectError, HostKeyError, UnreachableError
from checkrunner.model.inventory import Host
from checkrunner.model.options import SshOptions
from checkrunner.testing import ECHO


class MakeSshd(Protocol):
    def __call__(
        self, *, options: dict[str, str] | None = None, shell: str | None = None, password: str | None = None
    ) -> SshdFixture: ...


class Net:
    """Two bastions and a target, each an sshd of its own, and one configuration for all of them."""

    def __init__(self, make_sshd: MakeSshd, folder: Path) -> None:
        self.first, self.second, self.target = make_sshd(), make_sshd(), make_sshd()
        for sshd in (self.first, self.second):
            sshd.authorize(self.target.private_key)
        self.known = folder / "all_known"
        self.known.write_text("".join(sshd.known_hosts.read_text() for sshd in (self.first, self.second, self.target)))
        self.folder = folder

    def options(self, config: str = "") -> SshOptions:
        path = self.folder / "config"
        path.write_text(config)
        key = str(self.target.private_key)
        return SshOptions(known_hosts=(str(self.known),), config_files=(str(path),), private_key_file=key)

    def host(self, number: int = 1, args: str = "") -> Host:
        return self.target.host(number, options={"ssh_common_args": args})


@pytest.fixture
def net(make_sshd: MakeSshd, tmp_path: Path) -> Net:
    return Net(make_sshd, tmp_path)


def spec(sshd: SshdFixture, number: int = 1) -> str:
    return f"{sshd.user}@{sshd.address(number)}:{sshd.port}"


def log_in(options: SshOptions, *hosts: Host, during: object = None) -> None:
    async def main() -> None:
        transport = SshTransport(options)
        try:
            channels = await asyncio.gather(*(transport.open(host, ECHO, timeout_s=10) for host in hosts))
            for channel in channels:
                await channel.send(b"hello")
                assert await channel.receive() == b"hello"
            if callable(during):
                during()
        finally:
            await transport.aclose()

    run_async(main())


def refusal(options: SshOptions, host: Host) -> ConnectError:
    with pytest.raises(ConnectError) as caught:
        log_in(options, host)
    return caught.value


@pytest.mark.parametrize("form", ["-J {0}", "-J{0}", "-o ProxyJump={0}", "-o 'ProxyJump {0}'", "-J ssh://{0}"])
def test_one_jump_is_shared_by_all_hosts(net: Net, form: str) -> None:
    args = form.format(spec(net.first))

    def during() -> None:
        assert (len(net.first.connections()), len(net.target.connections())) == (1, 3)

    log_in(net.options(), *(net.host(number, args) for number in (1, 2, 3)), during=during)
    wait_until(lambda: not net.first.connections(), what="the end of the jump connection")


def test_two_jumps(net: Net) -> None:
    def during() -> None:
        assert [len(sshd.connections()) for sshd in (net.first, net.second, net.target)] == [1, 1, 1]

    log_in(net.options(), net.host(1, f"-J {spec(net.first)},{spec(net.second)}"), during=during)


def test_jumps_in_the_configuration(net: Net) -> None:
    first, second = net.first, net.second
    config = (
        f"Host outer\n  HostName {first.address()}\n  Port {first.port}\n"
        f"Host inner\n  HostName {second.address()}\n  Port {second.port}\n  ProxyJump outer\n"
        f"Host 127.*\n  ProxyJump inner\n"
    )

    def during() -> None:
        assert [len(sshd.connections()) for sshd in (first, second, net.target)] == [1, 1, 1]

    log_in(net.options(config), net.host(), during=during)
    log_in(net.options(config), net.host(1, "-J none"))


def test_jumps_in_a_circle(net: Net) -> None:
    config = "Host a\n  ProxyJump b\nHost b\n  ProxyJump a\n"
    error = refusal(net.options(config), net.host(1, "-J a"))
    assert isinstance(error, UnreachableError)
    assert "circle" in error.message


def test_a_jump_that_is_down_is_named(net: Net) -> None:
    error = refusal(net.options(), net.host(1, f"-J {net.first.address()}:1,{spec(net.second)}"))
    assert isinstance(error, UnreachableError)
    assert error.message == f"h1: jump host {net.first.address()}:1: connection refused ({net.first.address()} port 1)"


def test_a_target_that_the_jump_cannot_reach(net: Net) -> None:
    host = net.target.host(port=1, options={"ssh_common_args": f"-J {spec(net.first)}"})
    error = refusal(net.options(), host)
    assert isinstance(error, UnreachableError)
    assert f"h1: jump host {spec(net.first)} cannot reach it (" in error.message


def test_a_jump_that_refuses_the_login_is_named(net: Net) -> None:
    net.first.authorize(net.second.private_key)
    error = refusal(net.options(), net.host(1, f"-J {spec(net.first)}"))
    assert isinstance(error, AuthenticationError)
    assert f"h1: jump host {spec(net.first)}: user" in error.message


def test_a_jump_whose_key_is_unknown_is_named(net: Net) -> None:
    net.known.write_text(net.target.known_hosts.read_text())
    error = refusal(net.options(), net.host(1, f"-J {spec(net.first)}"))
    assert isinstance(error, HostKeyError)
    assert f"jump host {spec(net.first)}: unknown host key: " in error.message


def test_a_target_whose_key_is_unknown_behind_a_jump(net: Net) -> None:
    net.known.write_text(net.first.known_hosts.read_text())
    error = refusal(net.options(), net.host(1, f"-J {spec(net.first)}"))
    assert isinstance(error, HostKeyError)
    assert error.message.startswith("h1: unknown host key: ")


@pytest.fixture
def forward(tmp_path: Path) -> Path:
    """A program that connects its standard streams with an address, as nc does."""
    path = tmp_path / "forward.py"
    path.write_text(
        "import os, socket, sys, threading\n"
        "s = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n"
        "def up():\n"
        "    while data := os.read(0, 65536):\n"
        "        s.sendall(data)\n"
        "    os._exit(0)\n"
        "threading.Thread(target=up, daemon=True).start()\n"
        "while data := s.recv(65536):\n"
        "    os.write(1, data)\n"
    )
    return path


def _running(name: str) -> bool:
    return any(name in " ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"]))


def test_a_proxy_command(net: Net, forward: Path) -> None:
    args = f"-o 'ProxyCommand=python3 {forward} %h %p'"
    log_in(net.options(), net.host(1, args), net.host(2, args), during=lambda: _running(str(forward)))
    wait_until(lambda: not _running(str(forward)), what="the end of the proxy commands")


def test_a_proxy_command_in_the_configuration(net: Net, forward: Path) -> None:
    log_in(net.options(f"Host *\n  ProxyCommand python3 {forward} %h %p\n"), net.host())


def test_a_proxy_command_that_fails_is_told_with_its_words(net: Net) -> None:
    error = refusal(net.options(), net.host(1, "-o 'ProxyCommand=sh -c \"echo no way out >&2; exit 3\"'"))
    assert isinstance(error, UnreachableError)
    assert error.message == "h1: the proxy command ended without a connection: no way out"


def test_a_proxy_command_that_says_much_is_not_held_up(net: Net, forward: Path, tmp_path: Path) -> None:
    script = tmp_path / "loud.sh"
    script.write_text(f"head -c 300000 /dev/zero | tr '\\0' x >&2\nexec python3 {forward} $1 $2\n")
    log_in(net.options(), net.host(1, f"-o 'ProxyCommand=sh {script} %h %p'"))


def test_a_proxy_command_that_does_not_want_to_end_is_ended(net: Net, tmp_path: Path) -> None:
    script = tmp_path / "stubborn.sh"
    script.write_text("trap '' TERM HUP\nsleep 300\nsleep 300\n")
    error = refusal(net.options(), net.host(1, f"-o ConnectTimeout=1 -o 'ProxyCommand=sh {script}'"))
    assert "no answer within the connect timeout" in error.message
    wait_until(lambda: not _running(str(script)), deadline_s=3, what="the end of the proxy command")


def test_a_proxy_commands_server_that_is_too_busy_is_asked_again(net: Net, forward: Path, tmp_path: Path) -> None:
    script = tmp_path / "busy.sh"
    script.write_text(
        f"if mkdir {tmp_path}/once 2>/dev/null; then\n"
        "  echo 'kex_exchange_identification: Connection closed by remote host' >&2\n  exit 255\nfi\n"
        f"exec python3 {forward} $1 $2\n"
    )
    log_in(net.options(), net.host(1, f"-o 'ProxyCommand=sh {script} %h %p'"))
    assert (tmp_path / "once").exists()
