"""Every error of asyncssh and of sockets has a row of its own: what is new there fails here."""

from __future__ import annotations

import asyncio
import errno
import inspect
import socket

import asyncssh
import pytest

from checkrunner.link.transports import ssh_errors
from checkrunner.link.transports.ssh_errors import Progress, connect_error, mapped_errors
from checkrunner.model.errors import (
    AuthenticationError,
    ConnectError,
    ConnectTimeoutError,
    HostKeyError,
    ThrottledError,
    UnreachableError,
)

ELSEWHERE = {
    # Of servers, terminals and file transfer: no client connection of ours can raise them.
    "BreakReceived",
    "ChannelListenError",
    "SignalReceived",
    "SoftEOFReceived",
    "TerminalSizeChanged",
}


def foreign() -> list[type[BaseException]]:
    names = [name for name in dir(asyncssh) if name not in ELSEWHERE]
    kinds = [getattr(asyncssh, name) for name in names]
    kinds = [kind for kind in kinds if inspect.isclass(kind) and issubclass(kind, BaseException)]
    assert len(kinds) > 20
    os_kinds = [socket.gaierror, *OSError.__subclasses__(), *ConnectionError.__subclasses__()]
    return [*kinds, *os_kinds, asyncio.IncompleteReadError, EOFError, ValueError, UnicodeDecodeError]


@pytest.mark.parametrize("kind", foreign(), ids=lambda kind: kind.__name__)
def test_every_foreign_error_has_a_row(kind: type[BaseException]) -> None:
    rows = [kinds for kinds, _ in ssh_errors._MAKERS if issubclass(kind, kinds)]
    assert rows, f"{kind.__name__} is mapped by nothing"
    # The first row that fits wins: no later one may be a closer match.
    closest = min(kind.__mro__.index(base) for kinds in rows for base in kinds if base in kind.__mro__)
    first = min(kind.__mro__.index(base) for base in rows[0] if base in kind.__mro__)
    assert first == closest or issubclass(kind, TimeoutError)


def reached(**facts: object) -> Progress:
    progress = Progress(target="web1", user="ops")
    for name, value in facts.items():
        setattr(progress, name, value)
    return progress


LOST = asyncssh.ConnectionLost("Connection lost")
CASES: list[tuple[BaseException, Progress, type[ConnectError], str]] = [
    (ConnectionRefusedError(errno.ECONNREFUSED, "x"), reached(), UnreachableError, "web1: connection refused"),
    (
        ConnectionRefusedError(errno.ECONNREFUSED, "x"),
        reached(address="10.0.0.1", port=2222),
        UnreachableError,
        "web1: connection refused (10.0.0.1 port 2222)",
    ),
    (TimeoutError(), reached(address="a", port=22), ConnectTimeoutError, "within the connect timeout (a port 22)"),
    (
        asyncssh.ChannelOpenError(2, "Connection refused"),
        reached(via="b", address="a", port=22),
        UnreachableError,
        "web1: jump host b cannot reach it (a port 22): Connection refused",
    ),
    (socket.gaierror(-2, "x"), reached(address="web9"), UnreachableError, "web1: the name 'web9' cannot be resolved"),
    (OSError(errno.EHOSTUNREACH, "x"), reached(), UnreachableError, "web1: no route to the host"),
    (OSError(errno.ENETUNREACH, "x"), reached(), UnreachableError, "web1: no route to the network"),
    (OSError(errno.EMFILE, "Too many open files"), reached(), UnreachableError, "web1: Too many open files"),
    (OSError("Multiple exceptions: a, b"), reached(), UnreachableError, "web1: Multiple exceptions: a, b"),
    (TimeoutError(), reached(), ConnectTimeoutError, "web1: no connection within the connect timeout"),
    (
        TimeoutError(),
        reached(resolving=True, address="w.test"),
        ConnectTimeoutError,
        "web1: the name 'w.test' was not resolved within the connect timeout",
    ),
    (TimeoutError(), reached(dialled=True), ConnectTimeoutError, "web1: no answer within"),
    (TimeoutError(), reached(dialled=True, banner=True), ConnectTimeoutError, "web1: no login within"),
    (OSError(errno.ETIMEDOUT, "x"), reached(), ConnectTimeoutError, "web1: no connection within"),
    (ConnectionResetError(errno.ECONNRESET, "x"), reached(dialled=True), ThrottledError, "web1: the server dropped"),
    (LOST, reached(dialled=True), ThrottledError, "web1: the server dropped"),
    (ConnectionResetError(errno.ECONNRESET, "x"), reached(), ThrottledError, "web1: the server dropped"),
    (
        LOST,
        reached(dialled=True, greeting=b"Exceeded MaxStartups\r\n"),
        ThrottledError,
        "before it said what it is (Exceeded MaxStartups)",
    ),
    (LOST, reached(dialled=True, greeting=b"HTTP/1.1 400 Bad\r\n"), UnreachableError, "it says 'HTTP/1.1 400 Bad'"),
    (
        asyncssh.ProtocolError("Too many banner lines"),
        reached(dialled=True, greeting=b"line 1\nline 2\n"),
        UnreachableError,
        "web1: what answers there is no SSH server, or does not want to be one: it says 'line 1 line 2'",
    ),
    (
        UnicodeDecodeError("ascii", b"\xff", 0, 1, "x"),
        reached(dialled=True, greeting=b"SSH-2.0-\xff\n"),
        UnreachableError,
        "it says 'SSH-2.0-\ufffd'",
    ),
    (
        TimeoutError(),
        reached(dialled=True, greeting=b"220 mail\r\n"),
        ConnectTimeoutError,
        "web1: no answer of an SSH server within the connect timeout: it says '220 mail'",
    ),
    (
        LOST,
        reached(by_proxy=True, proxy_words="kex_exchange_identification: Connection closed by remote host"),
        ThrottledError,
        "web1: the proxy command's server dropped the connection: kex_exchange_identification",
    ),
    (LOST, reached(dialled=True, banner=True), UnreachableError, "web1: the connection broke while it was set up"),
    (
        LOST,
        reached(dialled=True, banner=True, authenticating=True),
        UnreachableError,
        "web1: the connection broke while logging in as 'ops'",
    ),
    (LOST, reached(by_proxy=True), UnreachableError, "web1: the proxy command ended"),
    (asyncssh.PermissionDenied("x"), reached(keys_tried=2), AuthenticationError, "refused after 2 keys"),
    (asyncssh.PermissionDenied("x"), reached(password_given=True), AuthenticationError, "0 keys and a password"),
    (
        asyncssh.DisconnectError(2, "Too many authentication failures"),
        reached(dialled=True, banner=True, authenticating=True),
        AuthenticationError,
        "too many failures",
    ),
    (asyncssh.HostKeyNotVerifiable("no"), reached(), HostKeyError, "web1: the host's key was not accepted: no"),
    (asyncssh.KeyExchangeFailed("no match"), reached(), UnreachableError, "no agreement on how to speak: no match"),
    (asyncssh.ChannelOpenError(1, "no more"), reached(dialled=True), UnreachableError, "refuses a session: no more"),
    (
        asyncssh.ChannelOpenError(2, "SSH connection closed"),
        reached(dialled=True),
        UnreachableError,
        "web1: the connection ended before a session was open",
    ),
    (socket.gaierror(-2, "Name or service not known"), reached(), UnreachableError, "cannot be resolved"),
    (asyncssh.ConfigParseError("config line 3: bad"), reached(), UnreachableError, "cannot be used: config line 3"),
    (RuntimeError("what"), reached(), UnreachableError, "web1: RuntimeError: what"),
]


@pytest.mark.parametrize(("address", "hint"), [("web1", "set ansible_host to an address"), ("web9", "in ansible_host")])
def test_the_hint_for_a_name_knows_whether_ansible_host_is_set(address: str, hint: str) -> None:
    assert hint in connect_error(socket.gaierror(-2, "x"), reached(address=address)).hint


@pytest.mark.parametrize(("error", "progress", "kind", "words"), CASES, ids=lambda value: str(value)[:40])
def test_what_becomes_of_it(error: BaseException, progress: Progress, kind: type[ConnectError], words: str) -> None:
    mapped = connect_error(error, progress)
    assert type(mapped) is kind
    assert words in mapped.message


def test_the_foreign_error_is_the_cause() -> None:
    error = ConnectionRefusedError(errno.ECONNREFUSED, "x")
    with pytest.raises(UnreachableError) as caught, mapped_errors(Progress(target="web1")):
        raise error
    assert caught.value.__cause__ is error


def test_ours_and_cancelling_pass_through() -> None:
    ours = ThrottledError("x")
    with pytest.raises(ThrottledError) as caught, mapped_errors(Progress(target="web1")):
        raise ours
    assert caught.value is ours
    with pytest.raises(asyncio.CancelledError), mapped_errors(Progress(target="web1")):
        raise asyncio.CancelledError


def test_words_of_a_server_are_one_plain_line() -> None:
    error = asyncssh.DisconnectError(11, "go away\n\x1b[31mred\r\n" + "x" * 1000)
    message = connect_error(error, reached(dialled=True, banner=True)).message
    assert "go away ?[31mred" in message.replace("\t", " ")
    assert message.isprintable()
    assert len(message) < 500
