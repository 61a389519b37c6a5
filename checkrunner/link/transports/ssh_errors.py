"""Every error that asyncssh, sockets and files of ours can raise while connecting, as ours: in one context manager.

The facts that the foreign error lacks (how far the connection came, what was tried) are in a `Progress` that the
connection fills.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import asyncssh

from checkrunner.model.characters import one_line
from checkrunner.model.errors import (
    AuthenticationError,
    ConnectError,
    ConnectTimeoutError,
    HostKeyError,
    ThrottledError,
    UnreachableError,
)

__all__ = ["Progress", "connect_error", "is_too_many", "loss_text", "mapped_errors"]


@dataclass(slots=True)
class Progress:
    """What is known of one connection attempt. `target` names the host (and the hop) as messages should, `address`
    and `port` are what is dialled; `greeting` is the start of what came before the server's version was through
    (`banner`)."""

    target: str
    address: str = ""
    port: int = 0
    resolving: bool = False
    dialled: bool = False
    banner: bool = False
    greeting: bytes = b""
    authenticating: bool = False
    user: str = ""
    keys_tried: int = 0
    keys_skipped: list[str] = field(default_factory=list)
    encrypted: list[str] = field(default_factory=list)
    password_given: bool = False
    methods: list[str] = field(default_factory=list)
    key_problem: HostKeyError | None = None
    by_proxy: bool = False
    via: str = ""
    proxy_words: str = ""

    def start_again(self) -> None:
        """Forget how far the first try came: a second one begins."""
        self.keys_tried, self.dialled, self.banner, self.greeting = 0, False, False, b""

    @property
    def place(self) -> str:
        """`` (address port 22)``, or nothing where it is not known or a proxy command decides."""
        return f" ({self.address} port {self.port})" if self.address and not self.by_proxy else ""


@contextmanager
def mapped_errors(progress: Progress) -> Iterator[None]:
    """Raise what goes wrong inside as a member of the ConnectError family, from the foreign error."""
    try:
        yield
    except ConnectError:
        raise
    except asyncio.CancelledError:
        raise
    except Exception as error:
        raise connect_error(error, progress) from error


def loss_text(error: BaseException | None) -> str:
    """Why a connection was lost, in words."""
    if error is None:
        return "the connection was closed"
    text = str(error) or type(error).__name__
    if "keepalive" in text:
        return "the host no longer answers (keepalive)"
    return f"the connection broke: {_sentence(text)}"


def connect_error(error: BaseException, progress: Progress) -> ConnectError:
    """The error of ours for a foreign one; total."""
    for kinds, make in _MAKERS:
        if isinstance(error, kinds):
            return make(error, progress)
    return UnreachableError(f"{progress.target}: {type(error).__name__}: {_sentence(str(error))}")


def _sentence(text: str) -> str:
    """Text of a library or of a host for the inside of a message: one line, not long, no full stop at its end."""
    return one_line(text, 300).rstrip(".")


def _host_key(error: BaseException, progress: Progress) -> ConnectError:
    if progress.key_problem is not None:
        return progress.key_problem
    return HostKeyError(
        f"{progress.target}: the host's key was not accepted: {_sentence(str(error))}; no command was sent",
        hint="Compare the key with what the host's administrator says, then correct the known_hosts file",
    )


def _auth(error: BaseException, progress: Progress) -> ConnectError:
    tried = [f"{progress.keys_tried} key{'' if progress.keys_tried == 1 else 's'}"]
    if progress.password_given:
        tried.append("a password")
    facts = f"{progress.target}: user {progress.user!r} was refused after {' and '.join(tried)}"
    if progress.methods:
        facts += f" (the server accepts: {', '.join(progress.methods)})"
    if is_too_many(error):
        facts += "; the server ended the attempts: too many failures"
        hint = "Name the key (ansible_ssh_private_key_file) and set IdentitiesOnly=yes, so that no other is offered"
        return AuthenticationError(facts, hint=hint)
    for path in progress.encrypted:
        facts += f"; key_encrypted: {path} needs a passphrase and is not in the agent"
    for note in progress.keys_skipped:
        facts += f"; {note}"
    if progress.encrypted:
        hint = "Load the key into ssh-agent (ssh-add)"
    elif progress.keys_tried or progress.password_given:
        hint = (
            "See whether the account has this key in its authorized_keys, whether the user name is right, and whether "
            "its login shell exists"
        )
    elif progress.keys_skipped:
        hint = (
            "Name a private key file that can be read (ansible_ssh_private_key_file), start an agent, or use --ask-pass"
        )
    else:
        hint = "No key was found: name one (ansible_ssh_private_key_file), start an agent, or use --ask-pass"
    return AuthenticationError(facts, hint=hint)


def _dropped(error: BaseException, progress: Progress) -> ConnectError:
    why = _sentence(str(error)) or type(error).__name__
    if progress.key_problem is not None:
        return progress.key_problem
    # A connection is reset while it is made by who has taken it and found that there are too many.
    reset = isinstance(error, OSError) and error.errno == errno.ECONNRESET
    if progress.by_proxy and not progress.banner:
        return _no_proxy(progress)
    if (progress.dialled or reset) and not progress.banner:
        return _no_version(progress)
    if isinstance(error, asyncssh.ConnectionLost) and "timeout" in why.lower():
        return ConnectTimeoutError(f"{progress.target}: {why}")
    if progress.authenticating:
        return (
            _auth(error, progress)
            if is_too_many(error)
            else UnreachableError(
                f"{progress.target}: the connection broke while logging in as {progress.user!r}: {why}"
            )
        )
    return UnreachableError(f"{progress.target}: the connection broke while it was set up: {why}")


_MAX_STARTUPS = "It may be at its limit of unauthenticated connections (MaxStartups): lower --forks, or raise it"
# What OpenSSH says before it drops a connection, and what its client says when that happened to it.
_DROPS = re.compile("exceeded maxstartups|not allowed at this time|^$", re.IGNORECASE)
_PROXY_DROPS = re.compile(
    "kex_exchange_identification|ssh_exchange_identification|exceeded maxstartups|not allowed at this time",
    re.IGNORECASE,
)


def _no_version(progress: Progress) -> ConnectError:
    """The server ended the connection, or was left, before it said its version."""
    said = _said(progress)
    if _DROPS.search(said):
        words = f" ({said})" if said else ""
        return ThrottledError(
            f"{progress.target}: the server dropped the connection before it said what it is{words}", hint=_MAX_STARTUPS
        )
    return UnreachableError(
        f"{progress.target}: what answers there is no SSH server, or does not want to be one: it says {said!r}",
        hint="See address and port, and what stands between",
    )


def _no_proxy(progress: Progress) -> ConnectError:
    words = _sentence(progress.proxy_words) or _said(progress)
    if _PROXY_DROPS.search(words):
        return ThrottledError(
            f"{progress.target}: the proxy command's server dropped the connection: {words}", hint=_MAX_STARTUPS
        )
    return UnreachableError(
        f"{progress.target}: the proxy command ended without a connection{f': {words}' if words else ''}"
    )


def _said(progress: Progress) -> str:
    return _sentence(progress.greeting.decode("utf-8", "replace"))[:100]


def is_too_many(error: BaseException) -> bool:
    """Whether the server ended the connection because too many keys were tried."""
    return "too many authentication failures" in str(error).lower()


def _negotiation(error: BaseException, progress: Progress) -> ConnectError:
    return UnreachableError(
        f"{progress.target}: no agreement on how to speak: {_sentence(str(error))}",
        hint="An old or restricted server: allow an algorithm that it has (KexAlgorithms, Ciphers, ... in ssh_config)",
    )


def _channel(error: BaseException, progress: Progress) -> ConnectError:
    if progress.via and not progress.dialled:
        why = _sentence(str(error))
        return UnreachableError(f"{progress.target}: jump host {progress.via} cannot reach it{progress.place}: {why}")
    if str(error) == "SSH connection closed":
        return UnreachableError(f"{progress.target}: the connection ended before a session was open on it")
    return UnreachableError(f"{progress.target}: the server refuses a session: {_sentence(str(error))}")


def _timeout(_error: BaseException, progress: Progress) -> ConnectError:
    if progress.resolving:
        return ConnectTimeoutError(
            f"{progress.target}: the name {progress.address!r} was not resolved within the connect timeout",
            hint="See this machine's name service (DNS), or set ansible_host to an address",
        )
    stage = "no connection" if not progress.dialled else "no answer" if not progress.banner else "no login"
    if progress.greeting and not progress.banner:
        return ConnectTimeoutError(
            f"{progress.target}: no answer of an SSH server within the connect timeout: it says {_said(progress)!r}",
            hint="See address and port, and what stands between",
        )
    return ConnectTimeoutError(
        f"{progress.target}: {stage} within the connect timeout{progress.place}",
        hint="See whether the host is up and a firewall lets it through, or raise --connect-timeout",
    )


_OS_WORDS = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to the host",
    errno.ENETUNREACH: "no route to the network",
    errno.EADDRNOTAVAIL: "the address cannot be reached from here",
}
_OS_HINTS = {
    errno.ECONNREFUSED: "See whether sshd runs there, and on which port",
    errno.EMFILE: "Raise the limit of open files (ulimit -n), or lower --forks",
    errno.ENFILE: "The machine is out of open files; lower --forks",
}


def _name_error(error: BaseException, progress: Progress) -> ConnectError:
    assert isinstance(error, OSError)
    name = f" {progress.address!r}" if progress.address else ""
    hint = "See the spelling, or set ansible_host to an address"
    if progress.address not in ("", progress.target):
        hint = "See the spelling in ansible_host, or of Hostname in ssh_config"
    return UnreachableError(
        f"{progress.target}: the name{name} cannot be resolved: {_sentence(error.strerror or str(error))}", hint=hint
    )


def _os_error(error: BaseException, progress: Progress) -> ConnectError:
    assert isinstance(error, OSError)
    if error.errno in (errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED):
        return _dropped(error, progress)
    if error.errno == errno.ETIMEDOUT:
        return _timeout(error, progress)
    code = error.errno or 0
    # asyncio joins the errors of several addresses into one text, without their numbers.
    text = _OS_WORDS.get(code) or _sentence(error.strerror or str(error) or os.strerror(code))
    where = f" ({error.filename})" if error.filename else progress.place
    return UnreachableError(f"{progress.target}: {text}{where}", hint=_OS_HINTS.get(code, ""))


def _bad_value(error: BaseException, progress: Progress) -> ConnectError:
    if isinstance(error, UnicodeDecodeError) and progress.greeting and not progress.banner:
        return _no_version(progress)
    return UnreachableError(
        f"{progress.target}: an SSH setting, key or file cannot be used: {_sentence(str(error))}",
        hint="See ssh_config, the key and the known_hosts file",
    )


# The most specific first.
_MAKERS: Sequence[tuple[tuple[type[BaseException], ...], Callable[[BaseException, Progress], ConnectError]]] = (
    ((asyncssh.HostKeyNotVerifiable,), _host_key),
    ((asyncssh.PermissionDenied,), _auth),
    ((asyncssh.KeyExchangeFailed, asyncssh.ProtocolNotSupported, asyncssh.ServiceNotAvailable), _negotiation),
    ((asyncssh.PasswordChangeRequired,), _auth),
    ((asyncssh.ConnectionLost,), _dropped),
    ((asyncssh.DisconnectError,), _dropped),
    ((asyncssh.ChannelOpenError,), _channel),
    ((asyncssh.Error,), _dropped),
    ((TimeoutError,), _timeout),
    ((socket.gaierror,), _name_error),
    ((OSError,), _os_error),
    ((EOFError,), _dropped),
    ((ValueError,), _bad_value),
)
