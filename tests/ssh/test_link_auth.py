"""Logging in: keys, several keys, agents, encrypted keys, passwords, and what a refusal says."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import asyncssh
import pytest
from async_helpers import run_async
from sshd import SshdFixture, make_key, wait_until

from checkrunner.link.transports import ssh_connection
from checkrunner.link.transports.ssh import SshTransport
from checkrunner.model.errors import AuthenticationError
from checkrunner.model.inventory import Host
from checkrunner.model.options import SshOptions
from checkrunner.model.sources import Secret
from checkrunner.testing import ECHO


class MakeSshd(Protocol):
    def __call__(
        self, *, options: dict[str, str] | None = None, shell: str | None = None, password: str | None = None
    ) -> SshdFixture: ...


@pytest.fixture(params=["short cuts", "plain"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Everything here holds with the short cuts and without them."""
    if request.param == "plain":
        monkeypatch.setattr("checkrunner.link.transports.ssh_dialer.short_cuts_fit", lambda: False)
    return str(request.param)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without keys."""
    folder = tmp_path / "home"
    (folder / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    return folder


def log_in(options: SshOptions, *hosts: Host) -> None:
    async def main() -> None:
        transport = SshTransport(options)
        try:
            for host in hosts:
                channel = await transport.open(host, ECHO, timeout_s=10)
                await channel.send(b"hello")
                assert await channel.receive() == b"hello"
        finally:
            await transport.aclose()

    run_async(main())


def refusal(options: SshOptions, host: Host) -> AuthenticationError:
    with pytest.raises(AuthenticationError) as caught:
        log_in(options, host)
    return caught.value


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


@contextmanager
def agent(folder: Path, *keys: Path) -> Iterator[str]:
    """A real ssh-agent with these keys; yields its socket."""
    path = folder / "agent"
    with subprocess.Popen(["ssh-agent", "-D", "-a", str(path)], stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: _listens(path), what="the agent's socket")
        env = os.environ | {"SSH_AUTH_SOCK": str(path)}
        try:
            for key in keys:
                subprocess.run(["ssh-add", "-q", str(key)], env=env, check=True, stdin=subprocess.DEVNULL)
            yield str(path)
        finally:
            process.terminate()


@pytest.fixture
def many(tmp_path: Path) -> list[Path]:
    return [make_key(tmp_path / f"other{number}") for number in range(8)]


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_a_key_of_each_kind(make_sshd: MakeSshd, tmp_path: Path, kind: str) -> None:
    sshd = make_sshd()
    key = make_key(tmp_path / "key", kind=kind)
    sshd.authorize(key)
    log_in(sshd.options(), sshd.host(private_key_file=str(key)), sshd.host(2, private_key_file=str(key)))


def test_a_wrong_key_is_refused_with_the_facts(sshd: SshdFixture, tmp_path: Path, way: str) -> None:
    key = make_key(tmp_path / "wrong")
    error = refusal(sshd.options(), sshd.host(private_key_file=str(key)))
    assert f"h1: user '{sshd.user}' was refused after " in error.message
    assert "after 1 key" in error.message
    if way != "plain":
        assert "(the server accepts: publickey)" in error.message
    assert "authorized_keys" in error.hint


def test_no_key_at_all(sshd: SshdFixture) -> None:
    error = refusal(sshd.options(), sshd.host(private_key_file=None))
    assert "after 0 keys" in error.message
    assert "--ask-pass" in error.hint


def test_a_key_that_does_not_exist_is_named(sshd: SshdFixture, tmp_path: Path) -> None:
    error = refusal(sshd.options(), sshd.host(private_key_file=str(tmp_path / "nothing")))
    assert f"key file {tmp_path}/nothing does not exist" in error.message


def test_a_file_that_is_no_key_is_named(sshd: SshdFixture, tmp_path: Path) -> None:
    (tmp_path / "junk").write_text("not a key")
    error = refusal(sshd.options(), sshd.host(private_key_file=str(tmp_path / "junk")))
    assert f"key file {tmp_path}/junk cannot be used" in error.message


def test_the_usual_files_of_the_home_are_tried(sshd: SshdFixture, home: Path) -> None:
    make_key(home / ".ssh" / "id_ecdsa", kind="ecdsa")
    for suffix in ("", ".pub"):
        Path(home / ".ssh" / f"id_ed25519{suffix}").write_bytes(Path(f"{sshd.private_key}{suffix}").read_bytes())
    log_in(sshd.options(), sshd.host(private_key_file=None))


def test_the_right_key_is_among_several(sshd: SshdFixture, many: list[Path]) -> None:
    args = " ".join(f"-i {key}" for key in [*many[:3], sshd.private_key])
    log_in(sshd.options(), sshd.host(private_key_file=None, options={"ssh_extra_args": args}))


def test_the_agent_has_the_key(sshd: SshdFixture, tmp_path: Path, many: list[Path]) -> None:
    with agent(tmp_path, many[0], sshd.private_key) as socket_path:
        options = sshd.options(agent_socket=socket_path)
        log_in(options, sshd.host(private_key_file=None), sshd.host(2, private_key_file=None))


def test_a_named_key_goes_before_an_agent_full_of_others(sshd: SshdFixture, tmp_path: Path, many: list[Path]) -> None:
    with agent(tmp_path, *many) as socket_path:
        log_in(sshd.options(agent_socket=socket_path), sshd.host())


def test_too_many_keys_of_an_agent(sshd: SshdFixture, tmp_path: Path, many: list[Path], way: str) -> None:
    with agent(tmp_path, *many, sshd.private_key) as socket_path:
        error = refusal(sshd.options(agent_socket=socket_path), sshd.host(private_key_file=None))
    assert "too many failures" in error.message
    assert "IdentitiesOnly" in error.hint
    if way != "plain":
        assert "after 6 keys" in error.message


def test_identities_only_keeps_the_agent_to_the_named_key(sshd: SshdFixture, tmp_path: Path, many: list[Path]) -> None:
    # The private file is gone: only the agent can sign, and the .pub file says which of its keys is meant.
    public = tmp_path / "named.pub"
    public.write_bytes(Path(f"{sshd.private_key}.pub").read_bytes())
    args = {"ssh_common_args": f"-o IdentitiesOnly=yes -i {tmp_path}/named"}
    with agent(tmp_path, *many, sshd.private_key) as socket_path:
        log_in(sshd.options(agent_socket=socket_path), sshd.host(private_key_file=None, options=args))


def test_an_agent_that_is_gone_is_named(sshd: SshdFixture, tmp_path: Path) -> None:
    error = refusal(sshd.options(agent_socket=str(tmp_path / "gone")), sshd.host(private_key_file=None))
    assert f"the agent at {tmp_path}/gone does not answer" in error.message
    log_in(sshd.options(agent_socket=str(tmp_path / "gone")), sshd.host())


def test_an_agent_that_says_nothing_is_not_waited_for(
    sshd: SshdFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("checkrunner.link.transports.ssh_keys._AGENT_S", 0.3)
    path = tmp_path / "mute"
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(path))
        mute.listen(5)
        log_in(sshd.options(agent_socket=str(path)), sshd.host(1), sshd.host(2))
        error = refusal(sshd.options(agent_socket=str(path)), sshd.host(private_key_file=str(tmp_path / "none")))
    assert f"the agent at {path} does not answer (nothing for 0.3 s)" in error.message


@pytest.mark.parametrize("kind", ["pipe", "large", "public"])
def test_what_is_named_as_a_key_and_is_none(sshd: SshdFixture, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "key"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "large":
        path.write_bytes(b"x" * (2 << 20))
    else:
        path.write_bytes(Path(f"{sshd.private_key}.pub").read_bytes())
    error = refusal(sshd.options(), sshd.host(private_key_file=str(path)))
    said = "is a public key, and no agent has its private one" if kind == "public" else "it is no file, or too large"
    assert f"{path} " in error.message
    assert said in error.message
    assert "private key file that can be read" in error.hint


def test_an_encrypted_key_is_an_error_and_never_a_question(make_sshd: MakeSshd, tmp_path: Path) -> None:
    sshd = make_sshd()
    key = make_key(tmp_path / "secret", passphrase="let me in")
    sshd.authorize(key)
    error = refusal(sshd.options(), sshd.host(private_key_file=str(key)))
    assert f"key_encrypted: {key} needs a passphrase" in error.message
    assert "ssh-add" in error.hint


@pytest.mark.parametrize("with_public", [True, False])
def test_an_encrypted_key_that_the_agent_has(make_sshd: MakeSshd, tmp_path: Path, with_public: bool) -> None:
    sshd = make_sshd()
    plain = make_key(tmp_path / "plain")
    sshd.authorize(plain)
    key = tmp_path / "secret"
    key.write_bytes(plain.read_bytes())
    key.chmod(0o600)
    subprocess.run(["ssh-keygen", "-q", "-p", "-N", "let me in", "-f", str(key)], check=True, stdin=subprocess.DEVNULL)
    if with_public:
        Path(f"{key}.pub").write_bytes(Path(f"{plain}.pub").read_bytes())
    with agent(tmp_path, plain) as socket_path:
        options = {"ssh_common_args": "-o IdentitiesOnly=yes"}
        host = sshd.host(private_key_file=str(key), options=options)
        log_in(sshd.options(agent_socket=socket_path), host)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give an account a password for a test")


@needs_root
def test_a_password(make_sshd: MakeSshd, tmp_path: Path) -> None:
    sshd = make_sshd(password="open sesame")
    wrong = make_key(tmp_path / "wrong")
    log_in(sshd.options(password=Secret("open sesame")), sshd.host(private_key_file=None))
    log_in(sshd.options(), sshd.host(private_key_file=None, password=Secret("open sesame")))
    # A key that is refused comes first, the password after it.
    log_in(sshd.options(password=Secret("open sesame")), sshd.host(private_key_file=str(wrong)))


@needs_root
def test_a_wrong_password(make_sshd: MakeSshd) -> None:
    sshd = make_sshd(password="open sesame")
    error = refusal(sshd.options(password=Secret("sesame")), sshd.host(private_key_file=None))
    assert "and a password" in error.message
    assert "sesame" not in str(error)


class _Interactive(asyncssh.SSHServer):
    """Accepts a password by questions only."""

    def begin_auth(self, username: str) -> bool:
        return True

    def kbdint_auth_supported(self) -> bool:
        return True

    def get_kbdint_challenge(self, username: str, lang: str, submethods: str) -> Any:
        return "", "", "", [("Password: ", False)]

    def validate_kbdint_response(self, username: str, responses: Any) -> bool:
        return list(responses) == ["open sesame"]


async def _cat(process: asyncssh.SSHServerProcess[bytes]) -> None:
    process.stdout.write(await process.stdin.read(5))
    process.exit(0)


def test_a_password_by_questions(tmp_path: Path) -> None:
    async def main() -> None:
        key = asyncssh.generate_private_key("ssh-ed25519")
        server = await asyncssh.create_server(
            _Interactive, "127.0.0.1", 0, server_host_keys=[key], process_factory=_cat, encoding=None
        )
        known = tmp_path / "known_hosts"
        known.write_text(f"[127.0.0.1]:{server.get_port()} {key.export_public_key('openssh').decode()}")
        host = Host(name="asks", address="127.0.0.1", port=server.get_port(), user="somebody")
        options = SshOptions(known_hosts=(str(known),), config_files=(), password=Secret("open sesame"))
        transport = SshTransport(options)
        channel = await transport.open(host, "anything", timeout_s=10)
        await channel.send(b"hello")
        assert await channel.receive() == b"hello"
        await transport.aclose()
        server.close()
        await server.wait_closed()

    run_async(main())


def test_a_server_that_stumbles_over_short_cuts_is_met_without_them(
    sshd: SshdFixture, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """The second try is the plain way, within the same attempt."""
    if way == "plain":
        pytest.skip("there are no short cuts to stumble over")
    tried: list[int] = []
    begin = ssh_connection.Connection.send_service_request

    def stumble(self: ssh_connection.Connection, service: bytes) -> None:
        tried.append(self._auth_methods != [b"none"])
        begin(self, service)
        if tried[-1]:
            self.connection_lost(asyncssh.ProtocolError("unexpected packet"))

    monkeypatch.setattr(ssh_connection.Connection, "send_service_request", stumble)
    log_in(sshd.options(), sshd.host())
    assert tried == [True, False]


def test_this_asyncssh_is_one_that_the_short_cuts_fit() -> None:
    assert ssh_connection.short_cuts_fit()


def test_another_asyncssh_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(asyncssh.SSHClientConnection, "try_next_auth")
    assert not ssh_connection.short_cuts_fit()
