"""One SSH connection: asyncssh's client with fewer round trips, and our policy for host keys.

The short cuts are ordinary protocol, taken only where nothing can be lost by them: no question which methods there are
when a key is to be tried anyway; with exactly one key its signed request at once instead of the question whether it
would do; and that request in one flight with the request for the authentication service, whose answer is always yes.
A refusal leads into asyncssh's own way of trying the next method. Everything that reaches into asyncssh's private
parts is in this file, and `short_cuts_fit` says whether this version of asyncssh has them as they are expected.
"""

from __future__ import annotations

import asyncio
import inspect
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import asyncssh
from asyncssh.auth import _ClientPublicKeyAuth
from asyncssh.constants import MSG_SERVICE_ACCEPT
from asyncssh.packet import SSHPacket

from checkrunner.link.transports.ssh_errors import Progress
from checkrunner.link.transports.ssh_known_hosts import Entry, KnownHosts
from checkrunner.link.transports.ssh_options import HostSettings
from checkrunner.model.errors import HostKeyError

__all__ = ["Attempt", "Client", "Connection", "HostKeyPolicy", "dial", "drop", "plain_dial_options", "short_cuts_fit"]

_PUBLIC_KEY = b"publickey"
# So much is kept of what a server says before its version: enough to see what it is.
_GREETING = 400
_QUICKACK = getattr(socket, "TCP_QUICKACK", None)


def short_cuts_fit() -> bool:
    """Whether asyncssh is built as the short cuts expect it; otherwise connections are made its own way."""
    connection = asyncssh.SSHClientConnection
    try:
        source_names = connection.try_next_auth.__code__.co_names
        return (
            list(inspect.signature(connection.send_service_request).parameters) == ["self", "service"]
            and list(inspect.signature(connection.try_next_auth).parameters) == ["self", "next_method"]
            and "_auth_methods" in source_names
            and "_auth" in source_names
            and connection._packet_handlers[MSG_SERVICE_ACCEPT].__name__ == "_process_service_accept"
            and inspect.iscoroutinefunction(_ClientPublicKeyAuth._start)
            and inspect.iscoroutinefunction(_ClientPublicKeyAuth._send_signed_request)
            and "wait" in inspect.signature(connection.__init__).parameters
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


@dataclass(slots=True)
class HostKeyPolicy:
    """Decides about the key of one host. `known` holds all files, `user_file` is where a new key is remembered."""

    policy: str
    known: KnownHosts
    name: str
    port: int
    target: str
    user_file: str | None

    def trusted(self) -> tuple[list[asyncssh.SSHKey], list[asyncssh.SSHKey], list[asyncssh.SSHKey]]:
        """The keys, certificate authorities and revoked keys of the host, as asyncssh takes them."""
        entries = [(entry.marker, entry.key()) for entry in self.known.find(self.name, self.port)]
        revoked = [key for marker, key in entries if marker == "revoked" and key is not None]
        keys = [key for marker, key in entries if marker == "" and key is not None and key not in revoked]
        authorities = [key for marker, key in entries if marker == "cert-authority" and key is not None]
        # Plain keys that are revoked come to `judge`, which can say where; certificates are judged by asyncssh.
        return keys, authorities, revoked if authorities else []

    def judge(self, key: asyncssh.SSHKey) -> HostKeyError | None:
        """None when a key that is not among the trusted ones is to be accepted; it is then remembered."""
        entries = self.known.find_exact(self.name, self.port)
        for entry in self.known.find(self.name, self.port):
            if entry.marker == "revoked" and entry.key() == key:
                return self._refusal(key, "revoked", f"is revoked in {entry}", "Do not connect until you know why")
        known = [entry for entry in entries if entry.marker == ""]
        if any(entry.key() == key for entry in known):
            # Another host behind the same name has just been here: the key is known since this connection began.
            return None
        if known:
            return self._changed(key, known)
        if self.policy == "accept-new":
            if self.user_file is not None:
                self.known.remember(self.user_file, self.name, self.port, key)
            return None
        where = self.user_file or "a known_hosts file"
        port = "" if self.port == 22 else f"-p {self.port} "
        return self._refusal(
            key,
            "unknown",
            "is not known",
            "Compare it with what the host's administrator says, then add it "
            f"(ssh-keyscan {port}{self.name} >> {where}), or take new keys with host key checking accept-new",
        )

    def _changed(self, key: asyncssh.SSHKey, known: list[Entry]) -> HostKeyError:
        same_kind = [entry for entry in known if entry.data.split(None, 1)[0] == key.get_algorithm()]
        entry = (same_kind or known)[0]
        old = entry.key()
        was = f" (there: {old.get_fingerprint()})" if old is not None else ""
        name = self.name if self.port == 22 else f"'[{self.name}]:{self.port}'"
        where = str(entry) if entry.line else f"{entry.path}, added in this run"
        return self._refusal(
            key,
            "changed",
            f"is another one than in {where}{was}",
            "The host was installed anew, or something else answers in its place. If you know that it was: "
            f"ssh-keygen -R {name} -f {entry.path}, then add the new key",
        )

    def _refusal(self, key: asyncssh.SSHKey, case: str, what: str, hint: str) -> HostKeyError:
        shown = f"{key.get_algorithm()} {key.get_fingerprint()}"
        return HostKeyError(f"{self.target}: {case} host key: {shown} {what}; no command was sent", hint=hint)


class Client(asyncssh.SSHClient):
    """asyncssh's questions about one connection."""

    def __init__(self, progress: Progress, policy: HostKeyPolicy | None) -> None:
        self._progress = progress
        self._policy = policy

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002 - theirs
        """Called for keys that are not among the trusted ones (asyncssh's name and arguments)."""
        if self._policy is None:
            return True
        self._progress.key_problem = self._policy.judge(key)
        return self._progress.key_problem is None

    def begin_auth(self, username: str) -> None:
        """The host's key was accepted."""
        self._progress.user = username
        self._progress.authenticating = True


class _SignedAtOnce(_ClientPublicKeyAuth):
    """Public key authentication that does not ask first whether the key would do."""

    async def _start(self) -> None:
        self._keypair = await self._conn.public_key_auth_requested()
        if self._keypair is None:
            self._conn.try_next_auth(next_method=True)
        else:
            await self._send_signed_request()


class Connection(asyncssh.SSHClientConnection):
    """asyncssh's client connection; `short_cuts` is 0 (none), 1 (known method first) or 2 (one flight)."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        options: asyncssh.SSHClientConnectionOptions,
        progress: Progress,
        short_cuts: int,
    ) -> None:
        super().__init__(loop, options, wait="auth")
        self._progress = progress
        self._at_once = short_cuts >= 2
        self._service_ahead = False
        self._quick_socket: Any = None
        if short_cuts:
            self._auth_methods = [_PUBLIC_KEY]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The byte stream stands."""
        self._progress.dialled = True
        sock = transport.get_extra_info("socket")
        if _QUICKACK is not None and getattr(sock, "family", None) in (socket.AF_INET, socket.AF_INET6):
            self._quick_socket = sock
        super().connection_made(transport)

    def data_received(self, data: bytes, datatype: int | None = None) -> None:
        """Bytes from the server. Acknowledged at once: sshd holds small packets back until we do (Nagle), some 40 ms a
        connection. The kernel forgets the option, so it is set at each read."""
        if self._quick_socket is not None and _QUICKACK is not None:
            try:
                self._quick_socket.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)
            except OSError:
                self._quick_socket = None
        if self._progress.banner:
            super().data_received(data, datatype)
            return
        self._progress.greeting += data[: _GREETING - len(self._progress.greeting)]
        super().data_received(data, datatype)
        self._progress.banner = _has_version(self)

    async def public_key_auth_requested(self) -> asyncssh.SSHKeyPair | None:
        """The next key to try; counted for the error message."""
        key = await super().public_key_auth_requested()
        if key is not None:
            self._progress.keys_tried += 1
        return key

    def send_service_request(self, service: bytes) -> None:
        """Ask for authentication; with one key, the request itself follows in the same flight."""
        super().send_service_request(service)
        if self._at_once:
            self._service_ahead = True
            self._auth_in_progress = True
            self._owner.begin_auth(self._username)
            self.try_next_auth()

    def try_next_auth(self, *, next_method: bool = False) -> None:
        """Start the next method; see asyncssh."""
        if self._at_once and not next_method:
            self._at_once = False
            self._auth = _SignedAtOnce(self, _PUBLIC_KEY)
            return
        if not next_method and self._auth_methods != [b"none"]:
            self._progress.methods = [method.decode("ascii", "replace") for method in self._auth_methods]
        super().try_next_auth(next_method=next_method)

    def _accept_service(self, pkttype: int, pktid: int, packet: SSHPacket) -> None:
        if not self._service_ahead:
            self._process_service_accept(pkttype, pktid, packet)
            return
        packet.get_string()
        packet.check_end()
        self._service_ahead = False
        self._next_service = None

    # asyncssh finds a packet's handler in this table, not by its name.
    _packet_handlers = {**asyncssh.SSHClientConnection._packet_handlers, MSG_SERVICE_ACCEPT: _accept_service}  # noqa: RUF012 - as theirs


@dataclass(slots=True)
class Attempt:
    """What one attempt needs. `via` is a connection to the last hop; without one, `found` are the addresses."""

    settings: HostSettings
    progress: Progress
    policy: HostKeyPolicy | None
    keys: list[asyncssh.SSHKeyPair]
    password: str | None
    via: asyncssh.SSHClientConnection | None
    found: Sequence[tuple[int, str]] = ()
    short_cuts: bool = True


def _algorithms(settings: HostSettings, policy: HostKeyPolicy | None) -> dict[str, Any]:
    out: dict[str, Any] = {}
    config = settings.config
    if config.get("Ciphers") is None:
        # The cheapest for both sides by far, where both have the instructions for it; the rest stays offered.
        out["encryption_algs"] = "^aes128-gcm@openssh.com,aes256-gcm@openssh.com"
    if config.get("Compression") is None:
        out["compression_algs"] = ["none"]
    if config.get("HostKeyAlgorithms") is None:
        out["server_host_key_algs"] = _host_key_algorithms(policy)
    return out


def _host_key_algorithms(policy: HostKeyPolicy | None) -> list[str]:
    """All that can be judged, what is known first: a server that has other keys only must be refused by its key.

    Certificates are wanted only of a host whose authority is known: one of an unknown authority says nothing.
    """
    from asyncssh.public_key import get_default_certificate_algs, get_default_public_key_algs

    keys, authorities, _ = policy.trusted() if policy is not None else ([], [], [])
    known = [name for key in keys for name in key.sig_algorithms]
    names = [*(get_default_certificate_algs() if authorities else ()), *known, *get_default_public_key_algs()]
    return list(dict.fromkeys(name.decode("ascii") for name in names))


def _connection_options(attempt: Attempt) -> asyncssh.SSHClientConnectionOptions:
    settings, policy = attempt.settings, attempt.policy
    # asyncssh takes settings that were read before from an options object; a file would be read again.
    read_before = object.__new__(asyncssh.SSHClientConnectionOptions)
    read_before.config, read_before.kwargs = settings.config, {}
    return asyncssh.SSHClientConnectionOptions(
        read_before,
        config=None,
        client_factory=lambda: Client(attempt.progress, policy),
        host=settings.address,
        port=settings.port,
        username=settings.user,
        password=attempt.password,
        known_hosts=None if policy is None else policy.trusted(),
        client_keys=attempt.keys or None,
        agent_path=None,
        agent_identities=None,
        tunnel=None,
        proxy_command=None,
        canonicalize_hostname=False,
        host_based_auth=False,
        gss_host=None,
        x509_trusted_certs=None,
        agent_forwarding=False,
        x11_forwarding=False,
        env=None,
        send_env=None,
        request_pty=False,
        utf8_decode_errors="replace",
        keepalive_interval=settings.keepalive_s,
        # asyncssh, as OpenSSH, waits for one interval more than it says: the one before its first question.
        keepalive_count_max=max(1, settings.keepalive_count - 1),
        **_algorithms(settings, policy),
    )


def _short_cuts(attempt: Attempt) -> int:
    config = attempt.settings.config
    if not attempt.short_cuts or not attempt.keys:
        return 0
    if config.get("PreferredAuthentications") is not None or config.get("PubkeyAuthentication") is False:
        return 0
    # An RSA key's signature kind is chosen by what the server says along with its answer to the service request.
    one_kind = len(attempt.keys[0].sig_algorithms) == 1
    return 2 if len(attempt.keys) == 1 and attempt.password is None and one_kind else 1


async def dial(attempt: Attempt, sock: socket.socket | None = None) -> asyncssh.SSHClientConnection:
    """Connect and log in. Raises whatever asyncssh and sockets raise; leaves nothing behind then, or when cancelled."""
    settings, loop = attempt.settings, asyncio.get_running_loop()
    options = _connection_options(attempt)
    options.waiter = loop.create_future()
    made: list[Connection] = []

    def factory() -> Connection:
        made.append(Connection(loop, options, attempt.progress, _short_cuts(attempt)))
        return made[-1]

    try:
        if sock is not None:
            await loop.create_connection(factory, sock=sock)
        elif attempt.via is not None:
            await attempt.via.create_connection(cast(Callable[[], Any], factory), settings.address, settings.port)
        else:
            await _connect(factory, attempt, options)
        connection = made[-1]
        connection.set_extra_info(host=settings.address, port=settings.port)
        await options.waiter
    except BaseException:
        options.waiter.cancel()
        for connection in made:
            await drop(connection, attempt.progress)
        raise
    return connection


async def _connect(
    factory: Callable[[], Connection], attempt: Attempt, options: asyncssh.SSHClientConnectionOptions
) -> None:
    """Try each address of the host; the error of the last one counts."""
    settings, found = attempt.settings, attempt.found
    for at, (family, address) in enumerate(found, 1):
        try:
            await asyncio.get_running_loop().create_connection(
                factory, address, settings.port, family=family, local_addr=options.local_addr
            )
        except OSError:
            if at == len(found):
                raise
        else:
            return


def _has_version(connection: asyncssh.SSHClientConnection) -> bool:
    """Whether the server has said its version. `get_extra_info` would ask on: behind a jump host, that for its own."""
    return "server_version" in getattr(connection, "_extra", ())


async def drop(connection: asyncssh.SSHClientConnection, progress: Progress | None = None) -> None:
    """End a connection at once and wait until its socket is closed, which takes a turn or two of the loop."""
    if progress is not None:
        progress.banner |= _has_version(connection)
    standing = connection._transport is not None
    connection.abort()
    if standing:
        await connection.wait_closed()
    await asyncio.sleep(0)


def plain_dial_options(attempt: Attempt) -> dict[str, Any]:
    """For `asyncssh.connect`: the same connection made asyncssh's own way."""
    return {"host": attempt.settings.address, "port": attempt.settings.port, "options": _connection_options(attempt)}
