"""Host keys: known, unknown, changed, revoked, taken when new, and two hosts behind one address."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Protocol

import pytest
from async_helpers import run_async
from sshd import SshdFixture, make_key

from checkrunner.link.transports.ssh import SshTransport
from checkrunner.model.errors import HostKeyError
from checkrunner.model.inventory import Host
from checkrunner.model.options import SshOptions
from checkrunner.model.results import HostState
from checkrunner.testing import ECHO


class MakeSshd(Protocol):
    def __call__(
        self, *, options: dict[str, str] | None = None, shell: str | None = None, password: str | None = None
    ) -> SshdFixture: ...


def log_in(options: SshOptions, *hosts: Host) -> list[HostKeyError | None]:
    """Open a channel to each; the errors in the hosts' order."""
    out: list[HostKeyError | None] = []

    async def main() -> None:
        transport = SshTransport(options)
        for host in hosts:
            try:
                await transport.open(host, ECHO, timeout_s=10)
                out.append(None)
            except HostKeyError as error:
                out.append(error)
        await transport.aclose()

    run_async(main())
    return out


def refusal(options: SshOptions, host: Host) -> HostKeyError:
    (error,) = log_in(options, host)
    assert error is not None, "the key was accepted"
    assert error.state is HostState.HOST_KEY_MISMATCH
    assert "no command was sent" in error.message
    return error


def fingerprint(public: Path) -> str:
    listed = subprocess.run(["ssh-keygen", "-lf", str(public)], capture_output=True, text=True, check=True)
    return listed.stdout.split()[1]


def known(tmp_path: Path, text: str) -> tuple[str]:
    path = tmp_path / "known"
    path.write_text(text)
    return (str(path),)


def test_an_unknown_host(sshd: SshdFixture, tmp_path: Path) -> None:
    error = refusal(sshd.options(known_hosts=known(tmp_path, "")), sshd.host())
    assert fingerprint(sshd.folder / "host_key.pub") in error.message
    assert "h1: unknown host key: ssh-ed25519 SHA256:" in error.message
    assert "is not known" in error.message
    assert f"ssh-keyscan -p {sshd.port} {sshd.address()}" in error.hint


def test_a_changed_key_names_file_and_line_and_others_go_on(make_sshd: MakeSshd) -> None:
    sshd, other = make_sshd(), make_sshd()
    old = fingerprint(sshd.folder / "host_key.pub")
    sshd.known_hosts.write_text(
        f"# first line\n[{sshd.address()}]:{sshd.port} {sshd.host_key_line()}\n{other.known_hosts.read_text()}"
    )
    sshd.change_host_key()
    error, none = log_in(sshd.options(), sshd.host(), other.host(2))
    assert none is None
    assert error is not None
    assert "h1: changed host key: " in error.message
    assert f"is another one than in {sshd.known_hosts}:2" in error.message
    assert old in error.message
    assert fingerprint(sshd.folder / "host_key.pub") in error.message
    assert f"ssh-keygen -R '[{sshd.address()}]:{sshd.port}'" in error.hint


@pytest.mark.parametrize("policy", ["yes", "accept-new"])
def test_a_revoked_key(sshd: SshdFixture, tmp_path: Path, policy: str) -> None:
    name = f"[{sshd.address()}]:{sshd.port}"
    files = known(tmp_path, f"{name} {sshd.host_key_line()}\n@revoked * {sshd.host_key_line()}\n")
    error = refusal(sshd.options(known_hosts=files, host_key_checking=policy), sshd.host())
    assert f"is revoked in {files[0]}:2" in error.message
    assert fingerprint(sshd.folder / "host_key.pub") in error.message


def test_a_changed_key_is_refused_even_where_new_ones_are_taken(make_sshd: MakeSshd) -> None:
    sshd = make_sshd()
    sshd.change_host_key()
    assert "is another one" in refusal(sshd.options(host_key_checking="accept-new"), sshd.host()).message


def test_a_new_key_is_taken_once_and_remembered(make_sshd: MakeSshd, tmp_path: Path) -> None:
    sshd = make_sshd()
    files = (str(tmp_path / "new folder" / "known"),)
    options = sshd.options(known_hosts=files, host_key_checking="accept-new")
    assert log_in(options, sshd.host(), sshd.host(2)) == [None, None]
    lines = Path(files[0]).read_text().splitlines()
    assert lines == [f"[{sshd.address(number)}]:{sshd.port} {sshd.host_key_line()}" for number in (1, 2)]
    assert log_in(sshd.options(known_hosts=files), sshd.host()) == [None], "remembered, so checked and known"
    listed = subprocess.run(
        ["ssh-keygen", "-F", f"[{sshd.address()}]:{sshd.port}", "-f", files[0]], capture_output=True
    )
    assert listed.returncode == 0, "ssh reads it as well"
    sshd.change_host_key()
    assert "is another one" in refusal(options, sshd.host()).message


def test_a_new_key_is_taken_by_all_names_of_one_address_at_once(make_sshd: MakeSshd, tmp_path: Path) -> None:
    sshd = make_sshd()
    files = (str(tmp_path / "known"),)
    options = sshd.options(known_hosts=files, host_key_checking="accept-new")

    async def main() -> None:
        transport = SshTransport(options)
        hosts = [sshd.host(1, name=f"alias{number}") for number in range(8)]
        await asyncio.gather(*(transport.open(host, ECHO, timeout_s=10) for host in hosts))
        await transport.aclose()

    run_async(main())
    assert Path(files[0]).read_text() == f"[{sshd.address()}]:{sshd.port} {sshd.host_key_line()}\n"


def test_a_host_known_by_a_key_of_a_kind_that_it_no_longer_has(sshd: SshdFixture, tmp_path: Path) -> None:
    make_key(tmp_path / "old", kind="rsa")
    old = " ".join((tmp_path / "old.pub").read_text().split()[:2])
    files = known(tmp_path, f"[{sshd.address()}]:{sshd.port} {old}\n")
    error = refusal(sshd.options(known_hosts=files, host_key_checking="accept-new"), sshd.host())
    assert f"is another one than in {files[0]}:1" in error.message


def test_an_authority_for_all_says_nothing_of_a_host_without_certificate(sshd: SshdFixture, tmp_path: Path) -> None:
    make_key(tmp_path / "authority")
    authority = " ".join((tmp_path / "authority.pub").read_text().split()[:2])
    name = f"[{sshd.address(2)}]:{sshd.port}"
    lines = f"@cert-authority * {authority}\n{name} {authority}\n"
    options = sshd.options(known_hosts=known(tmp_path, lines))
    assert "is not known" in refusal(options, sshd.host()).message
    assert "is another one" in refusal(options, sshd.host(2)).message
    revoked = sshd.options(known_hosts=known(tmp_path, f"{lines}@revoked * {sshd.host_key_line()}\n"))
    assert "revoked" in refusal(revoked, sshd.host()).message
    assert log_in(sshd.options(known_hosts=known(tmp_path, lines), host_key_checking="accept-new"), sshd.host()) == [
        None
    ]


def test_no_checking_at_all(make_sshd: MakeSshd) -> None:
    sshd = make_sshd()
    sshd.change_host_key()
    before = sshd.known_hosts.read_text()
    assert log_in(sshd.options(host_key_checking="no"), sshd.host()) == [None]
    assert log_in(sshd.options(), sshd.host(options={"host_key_checking": False})) == [None]
    args = {"ssh_common_args": "-o StrictHostKeyChecking=no"}
    assert log_in(sshd.options(), sshd.host(options=args)) == [None]
    assert sshd.known_hosts.read_text() == before


def test_two_hosts_behind_one_address(make_sshd: MakeSshd, tmp_path: Path) -> None:
    """Names are known by their own keys: that the address is known by another one does not matter, nor does it help."""
    first, second = make_sshd(), make_sshd()
    address = "127.0.0.1"
    lines = [
        f"[first.test]:{first.port} {first.host_key_line()}",
        f"[second.test]:{second.port} {second.host_key_line()}",
        f"[{address}]:{first.port} {second.host_key_line()}",
    ]
    second.authorize(first.private_key)
    files = known(tmp_path, "\n".join(lines) + "\n")

    def host(name: str, sshd: SshdFixture, alias: str) -> Host:
        config = tmp_path / f"config-{name}"
        config.write_text(f"Host {name}\n  HostName {address}\n  HostKeyAlias {alias}\n")
        args = {"ssh_extra_args": f"-F {config}"}
        return first.host(name=name, address=name, port=sshd.port, options=args)

    # An alias stands for the name without a port, as with ssh.
    text = "\n".join(lines) + f"\nfirst-alias {first.host_key_line()}\nsecond-alias {second.host_key_line()}\n"
    Path(files[0]).write_text(text)
    options = first.options(known_hosts=files)
    assert log_in(options, host("a", first, "first-alias"), host("b", second, "second-alias")) == [None, None]
    (crossed,) = log_in(options, host("c", second, "first-alias"))
    assert crossed is not None
    assert f"another one than in {files[0]}:4" in crossed.message


def test_hashed_names_and_patterns(sshd: SshdFixture, tmp_path: Path) -> None:
    files = known(tmp_path, f"[{sshd.address()}]:{sshd.port} {sshd.host_key_line()}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", files[0]], check=True, capture_output=True)
    assert sshd.address() not in Path(files[0]).read_text()
    assert log_in(sshd.options(known_hosts=files), sshd.host()) == [None]
    (error,) = log_in(sshd.options(known_hosts=files), sshd.host(2))
    assert error is not None
    pattern = f"[127.*]:{sshd.port},![{sshd.address(2)}]:{sshd.port} {sshd.host_key_line()}\n"
    files = known(tmp_path, f"this line is broken\n\n{pattern}")
    assert [error is None for error in log_in(sshd.options(known_hosts=files), sshd.host(), sshd.host(2))] == [
        True,
        False,
    ]


def test_a_host_certificate(make_sshd: MakeSshd, tmp_path: Path) -> None:
    authority = make_key(tmp_path / "authority")
    sshd = make_sshd()
    public = sshd.folder / "host_key.pub"
    command = ["ssh-keygen", "-q", "-s", str(authority), "-I", "host", "-h", "-n", sshd.address(), str(public)]
    subprocess.run(command, check=True)
    sshd.stop()
    sshd._options["HostCertificate"] = str(sshd.folder / "host_key-cert.pub")
    sshd.start()
    ca_line = " ".join(Path(f"{authority}.pub").read_text().split()[:2])
    files = known(tmp_path, f"@cert-authority * {ca_line}\n")
    assert log_in(sshd.options(known_hosts=files), sshd.host()) == [None]
    # Without the authority the plain key counts, also where the server has a certificate.
    fresh = (str(tmp_path / "fresh"),)
    assert log_in(sshd.options(known_hosts=fresh, host_key_checking="accept-new"), sshd.host()) == [None]


def test_five_thousand_lines_are_read_once(sshd: SshdFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"host{number}.test {sshd.host_key_line()}" for number in range(5_000)]
    files = known(tmp_path, "\n".join([*lines, f"[127.*]:{sshd.port} {sshd.host_key_line()}"]) + "\n")
    read: list[Path] = []
    original = Path.read_text

    def counted(self: Path, *args: str) -> str:
        read.append(self)
        return original(self, *args)

    monkeypatch.setattr(Path, "read_text", counted)
    hosts = [sshd.host(number) for number in range(1, 6)]
    assert log_in(sshd.options(known_hosts=files), *hosts) == [None] * 5
    assert read.count(Path(files[0])) == 1
