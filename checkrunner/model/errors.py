"""The error tree, with the exit code that each branch ends a command with.

    CheckrunnerError (70)
    ├─ UsageError (64)                what the user wrote
    │  ├─ LoadError                   path:line:column, the line itself, the nearest valid word
    │  │  ├─ InventoryError
    │  │  ├─ PlaybookError
    │  │  └─ TemplateError
    │  ├─ SettingsError               key, value, origin (flag, environment, file)
    │  ├─ UnknownNameError            kind, name, the known ones
    │  └─ HistoryError                the store of runs: its file, or what is asked of it
    ├─ NoHostsError (4)               a pattern or limit that selects nobody
    └─ HostError (3)                  one host's trouble: never leaves the engine, becomes an `unknown` verdict
       ├─ ConnectError
       │  ├─ ConnectTimeoutError  ├─ UnreachableError  ├─ ThrottledError
       │  ├─ AuthenticationError  ├─ HostKeyError     ├─ UnsupportedError
       │  └─ NoShellError
       ├─ BecomeError                 another user of the host is not to be had: its checks alone are concerned
       ├─ BootstrapError              the connection stands, the remote side does not
       │  ├─ NoInterpreterError   ├─ RemoteStorageError  └─ HandshakeError
       └─ SessionError
          ├─ ProtocolError        ├─ SessionLostError    └─ AgentError

A check that fails is data, not an exception. A message is built by its class from its fields: what happened, the
facts, then what to do (`hint`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from enum import StrEnum

from checkrunner.model.results import HostState
from checkrunner.model.sources import NOWHERE, SourceRef

__all__ = [
    "AgentError",
    "AuthenticationError",
    "BecomeError",
    "BecomeFailure",
    "BootstrapError",
    "CheckrunnerError",
    "ConnectError",
    "ConnectTimeoutError",
    "HandshakeError",
    "HistoryError",
    "HostError",
    "HostKeyError",
    "InventoryError",
    "LoadError",
    "NoHostsError",
    "NoInterpreterError",
    "NoShellError",
    "PlaybookError",
    "ProtocolError",
    "RemoteStorageError",
    "SessionError",
    "SessionLostError",
    "SettingsError",
    "TemplateError",
    "ThrottledError",
    "UnknownNameError",
    "UnreachableError",
    "UnsupportedError",
    "UsageError",
    "nearest",
]


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` was probably meant to be, or None when nothing is close."""
    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


class CheckrunnerError(Exception):
    """Everything that checkrunner raises on purpose. `exit_code` is what the command line ends with."""

    exit_code = 70

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


class UsageError(CheckrunnerError):
    """What the user wrote cannot be used: arguments, files, settings, templates. Nothing was connected."""

    exit_code = 64


class LoadError(UsageError):
    """A file is wrong at a place. `line_text` is the offending line, without its newline."""

    def __init__(self, message: str, *, source: SourceRef = NOWHERE, line_text: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.source = source
        self.line_text = line_text

    @property
    def errors(self) -> Sequence[LoadError]:
        """What it stands for, place by place: itself alone, unless a file was found wrong at several places."""
        return (self,)

    def __str__(self) -> str:
        where = "" if self.source is NOWHERE else f"{self.source}: "
        out = f"{where}{self.message}"
        if self.line_text:
            # Columns count characters; tabs are kept so that the caret lines up in a terminal.
            pad = "".join("\t" if c == "\t" else " " for c in self.line_text[: max(self.source.column - 1, 0)])
            out += f"\n    {self.line_text}"
            if self.source.column:
                out += f"\n    {pad}^"
        return f"{out}\n  hint: {self.hint}" if self.hint else out


class InventoryError(LoadError):
    """An inventory source cannot be read as one."""


class PlaybookError(LoadError):
    """A playbook cannot be read as one."""


class TemplateError(LoadError):
    """A template or an expression: syntax, an undefined variable, an unknown filter."""


class SettingsError(UsageError):
    """A setting has a value that it cannot have. `origin` is the flag, variable or file that gave it."""

    def __init__(self, key: str, value: object, origin: str, why: str) -> None:
        super().__init__(f"setting {key} = {value!r} (from {origin}): {why}")
        self.key, self.value, self.origin = key, value, origin


class UnknownNameError(UsageError):
    """A name of a kind (tag, format, host, playbook, ...) that nobody has defined."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, tuple(sorted(known))
        close = nearest(name, self.known)
        if close:
            hint = f"Did you mean {close!r}?"
        elif self.known:
            hint = f"Known: {', '.join(self.known[:20])}" + (", ..." if len(self.known) > 20 else "")
        else:
            hint = ""
        super().__init__(f"no {kind} is called {name!r}", hint=hint)


class HistoryError(UsageError):
    """The store of runs cannot be used: its file is not one, is newer than this program, cannot be read or written; or
    what is asked of it is not there. `path` is the file."""

    def __init__(self, message: str, path: str, *, hint: str = "") -> None:
        self.path = path
        super().__init__(f"history {path}: {message}", hint=hint)


class NoHostsError(CheckrunnerError):
    """A pattern or a limit selected no host, which is never the same as all being well."""

    exit_code = 4


class HostError(CheckrunnerError):
    """One host's trouble. The engine turns it into outcomes; it never stops the other hosts.

    `state` is the host's place on the host axis; `phase` is one of ``connect``, ``bootstrap``, ``session``.
    """

    exit_code = 3
    state = HostState.LOST
    phase = "session"


class ConnectError(HostError):
    """No usable connection to the host."""

    state = HostState.UNREACHABLE
    phase = "connect"


class ConnectTimeoutError(ConnectError):
    """The connection did not stand within its time."""


class UnreachableError(ConnectError):
    """Refused, no route, name not found, proxy failed."""


class ThrottledError(ConnectError):
    """The server, or a bastion before it, drops connections because there are too many."""

    state = HostState.THROTTLED


class AuthenticationError(ConnectError):
    """The server was reached and refused every credential that was tried."""

    state = HostState.AUTH_FAILED


class HostKeyError(ConnectError):
    """The server's key is unknown, revoked or another one than is known. No command was sent."""

    state = HostState.HOST_KEY_MISMATCH


class BecomeFailure(StrEnum):
    """Why checks could not be run as another user. `failed` is any other reason; `lost` comes later than the start."""

    PASSWORD_REQUIRED = "become_password_required"  # noqa: S105 - no password
    PASSWORD_WRONG = "become_password_wrong"  # noqa: S105 - no password
    NOT_ALLOWED = "become_not_allowed"
    NEEDS_TTY = "become_needs_tty"
    NOT_INSTALLED = "become_not_installed"
    UNKNOWN_USER = "become_unknown_user"
    FAILED = "become_failed"
    LOST = "become_lost"


class BecomeError(HostError):
    """Nothing can be run as another user of the host. The host's other checks go on. The message begins with `kind`."""

    phase = "become"

    def __init__(self, kind: BecomeFailure, message: str, *, hint: str = "") -> None:
        super().__init__(f"{kind}: {message}", hint=hint)
        self.kind = kind


class UnsupportedError(ConnectError):
    """The host is reached in a way that there is no transport for. Nothing was tried."""

    state = HostState.UNSUPPORTED


class NoShellError(ConnectError):
    """The host was reached and has no shell that could be started."""

    state = HostState.NO_SHELL


class BootstrapError(HostError):
    """The connection stands but the remote side did not start."""

    state = HostState.NO_SHELL
    phase = "bootstrap"


class NoInterpreterError(BootstrapError):
    """No usable Python, or no bash, was found on the host."""


class RemoteStorageError(BootstrapError):
    """No directory on the host can hold captures."""


class HandshakeError(BootstrapError):
    """The agent did not say hello in time, or what came back was not a hello (a login shell's noise, for one)."""


class SessionError(HostError):
    """Trouble after the remote side was up."""


class ProtocolError(SessionError):
    """The peer sent what the protocol does not allow."""


class SessionLostError(SessionError):
    """The link ended while answers were outstanding."""


class AgentError(SessionError):
    """The agent refused a request or failed in it; the message is the agent's own."""
