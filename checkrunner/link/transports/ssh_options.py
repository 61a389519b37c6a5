"""What the settings of a host mean: inventory, `ssh` arguments, ssh_config files and our own options, in that order.

asyncssh reads ssh_config files; this adds the options that it leaves out, and names those that nobody honours.
"""

from __future__ import annotations

import getpass
import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from asyncssh.config import SSHClientConfig, SSHConfig

from checkrunner.link.transports.ssh_names import spelling
from checkrunner.model.inventory import Host
from checkrunner.model.options import SshOptions

__all__ = [
    "HONOURED",
    "POLICIES",
    "Hop",
    "HostSettings",
    "SshConfig",
    "hop_settings",
    "host_settings",
    "parse_hops",
]

HONOURED = (
    "AddressFamily",
    "BatchMode",
    "BindAddress",
    "CASignatureAlgorithms",
    "CertificateFile",
    "Ciphers",
    "Compression",
    "ConnectTimeout",
    "GlobalKnownHostsFile",
    "HostKeyAlgorithms",
    "HostKeyAlias",
    "Hostname",
    "IdentitiesOnly",
    "IdentityAgent",
    "IdentityFile",
    "KbdInteractiveAuthentication",
    "KexAlgorithms",
    "MACs",
    "PasswordAuthentication",
    "Port",
    "PreferredAuthentications",
    "ProxyCommand",
    "ProxyJump",
    "PubkeyAuthentication",
    "RekeyLimit",
    "ServerAliveCountMax",
    "ServerAliveInterval",
    "StrictHostKeyChecking",
    "TCPKeepAlive",
    "User",
    "UserKnownHostsFile",
)
"""The options of ssh_config(5) that are honoured, in files and as `-o`. Host, Match, Include and Tag are understood."""

POLICIES = ("yes", "accept-new", "no")

# In files these are silent: many distributions set them for everybody, and leaving them out changes nothing here.
_QUIET_IN_FILES = {
    "forwardx11trusted",
    "gssapiauthentication",
    "gssapidelegatecredentials",
    "hashknownhosts",
    "loglevel",
    "sendenv",
    "visualhostkey",
}
# `ssh` flags with an argument.
_FLAGS_WITH_VALUE = "BbcDEeFIiJLlmOoPpQRSWw"
_FLAG_OPTIONS = {"J": "ProxyJump", "p": "Port", "l": "User", "i": "IdentityFile"}

_Handler = tuple[str, Callable[[Any, str, list[str]], None]]


def _note_ignored(config: SshConfig, option: str, args: list[str]) -> None:
    config.ignored.append(spelling(option))
    args.clear()


def _handlers() -> dict[str, _Handler]:
    """asyncssh's table with the options that are ours, and without those that would have no effect here."""
    ours = {name.lower(): name for name in HONOURED}
    ours["challengeresponseauthentication"] = "ChallengeResponseAuthentication"
    table: dict[str, _Handler] = {}
    for key, (name, handler) in SSHClientConfig._handlers.items():
        keep = key in ours or key in ("host", "match", "include", "tag")
        table[key] = (name, handler if keep else _note_ignored)
    table["stricthostkeychecking"] = ("StrictHostKeyChecking", SSHConfig._set_string)
    table["batchmode"] = ("BatchMode", SSHConfig._set_string)
    return table


class _Handlers(dict[str, _Handler]):
    """Options that asyncssh has no row for are noted instead of skipped."""

    def __missing__(self, key: str) -> _Handler:
        return key, _note_ignored


class SshConfig(SSHClientConfig):
    """A host's view of the ssh_config files and of `ssh` arguments. `ignored` names what was set and has no effect."""

    _handlers = _Handlers(_handlers())
    # Expansion is done once, after all files, since a value may come from an argument.
    _percent_expand: set[str] = set()  # noqa: RUF012 (asyncssh's name, never changed)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.ignored: list[str] = []

    def apply(self, name: str, value: str) -> None:
        """Set an option from an argument. The first value of an option stands."""
        key = name.lower()
        option, handler = self._handlers[key]
        option = name if option == key else option  # one that nobody knows, as it was written
        handler(self, option, [value] if key in self._no_split else shlex.split(value))

    def expanded(self, name: str) -> list[str]:
        """An option's texts with %-tokens, ${variables} and ~ replaced."""
        value = self.get(name)
        texts = [value] if isinstance(value, str) else cast("list[str]", value or [])
        return [os.path.expanduser(self._expand_val(text)) for text in texts]

    def finish(self) -> None:
        """Make the tokens available; call it when everything is set."""
        self._tokens.setdefault("%", "%")
        self._set_tokens()
        self.loaded = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A jump host as written: ``[user@]host[:port]``."""

    host: str
    user: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        name = f"[{self.host}]" if ":" in self.host and self.port else self.host
        return f"{f'{self.user}@' if self.user else ''}{name}{f':{self.port}' if self.port else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """Everything needed to connect to one host or hop.

    `key_files` are those named for it (empty: the usual ones of ``~/.ssh``); `known_hosts` None means that keys are
    not checked. `lookup` is the name under which the key is known, and `lookup_port` the port that belongs to it.
    """

    config: SshConfig
    address: str
    port: int
    user: str
    key_files: tuple[str, ...]
    identities_only: bool
    agent_socket: str | None
    policy: str
    user_known_hosts: tuple[str, ...]
    global_known_hosts: tuple[str, ...]
    lookup: str
    lookup_port: int
    hops: tuple[Hop, ...]
    proxy_command: str | None
    connect_timeout_s: float | None
    keepalive_s: float
    keepalive_count: int
    ignored: tuple[str, ...]


@dataclass(slots=True)
class _Arguments:
    """`ssh` arguments, read: options in order, and what is not honoured, as sentences name it."""

    options: list[tuple[str, str]]
    config_file: str | None
    ignored: list[str]


def _parse_arguments(texts: Sequence[str]) -> _Arguments:
    out = _Arguments([], None, [])
    for text in texts:
        words = shlex.split(text)
        while words:
            word = words.pop(0)
            if not word.startswith("-") or word == "-":
                out.ignored.append(repr(word))
                continue
            _parse_flags(word[1:], words, out)
    return out


def _parse_flags(letters: str, words: list[str], out: _Arguments) -> None:
    while letters:
        flag, letters = letters[0], letters[1:]
        if flag in _FLAGS_WITH_VALUE:
            value = letters or (words.pop(0) if words else "")
            if not value:
                raise ValueError(f"ssh argument -{flag} needs a value")
            _take_flag(flag, value, out)
            return
        if flag in "46":
            out.options.append(("AddressFamily", "inet" if flag == "4" else "inet6"))
        elif flag == "C":
            out.options.append(("Compression", "yes"))
        else:
            out.ignored.append(f"-{flag}")


def _take_flag(flag: str, value: str, out: _Arguments) -> None:
    if flag == "F":
        out.config_file = out.config_file or value
    elif flag in _FLAG_OPTIONS:
        out.options.append((_FLAG_OPTIONS[flag], shlex.quote(value)))
    elif flag == "o":
        name, _, rest = value.replace("=", " ", 1).strip().partition(" ")
        if not rest.strip():
            raise ValueError(f"ssh argument -o {value} needs a value (-o Name=value)")
        out.options.append((name, rest.strip()))
    else:
        out.ignored.append(f"-{flag}")


def _config_files(options: SshOptions, arguments: _Arguments) -> list[Path]:
    if arguments.config_file is not None:
        path = os.path.expanduser(arguments.config_file)
        return [] if path == "none" else [Path(path)]
    if options.config_files is not None:
        return [Path(os.path.expanduser(path)) for path in options.config_files]
    defaults = (Path(os.path.expanduser("~/.ssh/config")), Path("/etc/ssh/ssh_config"))
    return [path for path in defaults if os.access(path, os.R_OK)]


def host_settings(host: Host, options: SshOptions) -> HostSettings:
    """The settings of a host of the inventory. Raises ValueError and OSError for what cannot be read."""
    given = [str(host.options[key]) for key in ("ssh_common_args", "ssh_extra_args") if host.options.get(key)]
    arguments = _parse_arguments([*given, options.common_args])
    config = _new_config(host.address, host.user, host.port)
    if host.private_key_file is not None:
        config.apply("IdentityFile", shlex.quote(host.private_key_file))
    for name, value in arguments.options:
        config.apply(name, value)
    asked = _policy_word(host.options.get("host_key_checking"))
    return _resolve(host.address, config, arguments, options, asked)


def hop_settings(hop: Hop, target: Host, options: SshOptions) -> HostSettings:
    """The settings of a jump host. As with `ssh -J`, arguments for the target do not hold for it, except ``-F``."""
    given = [str(target.options[key]) for key in ("ssh_common_args", "ssh_extra_args") if target.options.get(key)]
    arguments = _parse_arguments([*given, options.common_args])
    arguments.options, arguments.ignored = [], []
    config = _new_config(hop.host, hop.user, hop.port)
    return _resolve(hop.host, config, arguments, options, _policy_word(target.options.get("host_key_checking")))


def _new_config(address: str, user: str | None, port: int | None) -> SshConfig:
    # asyncssh's mark for "not given" is an empty tuple.
    return SshConfig(
        None,
        False,
        False,
        False,
        getpass.getuser(),
        () if user is None else user,
        address,
        () if port is None else port,
    )


def _policy_word(value: object) -> str | None:
    if value is None:
        return None
    word = {"true": "yes", "false": "no", "ask": "yes", "off": "no", "1": "yes", "0": "no"}.get(str(value).lower())
    return word or str(value).lower()


def _resolve(
    address: str, config: SshConfig, arguments: _Arguments, options: SshOptions, asked: str | None
) -> HostSettings:
    before_files = _apply_options(config, options)
    if asked is None and options.host_key_checking != "yes" and config.get("StrictHostKeyChecking") is None:
        asked = options.host_key_checking
    for path in _config_files(options, arguments):
        config.parse(path)
    config.finish()
    in_files = [name for name in config.ignored[before_files:] if name.lower() not in _QUIET_IN_FILES]
    port = cast(int, config.get("Port", 22))
    name = cast(str, config.get("Hostname", address))
    alias = cast("str | None", config.get("HostKeyAlias"))
    policy = asked or _policy_word(config.get("StrictHostKeyChecking")) or "yes"
    if policy not in POLICIES:
        raise ValueError(f"host key checking is {policy!r}, not one of {', '.join(POLICIES)}")
    proxy = config.expanded("ProxyCommand")
    timeout = config.get("ConnectTimeout")
    return HostSettings(
        config=config,
        address=name,
        port=port,
        user=cast(str, config.get("User", getpass.getuser())),
        key_files=tuple(dict.fromkeys(config.expanded("IdentityFile"))),
        identities_only=bool(config.get("IdentitiesOnly", False)),
        agent_socket=_agent_socket(config, options),
        policy=policy,
        user_known_hosts=_files(config, "UserKnownHostsFile", "~/.ssh/known_hosts", "~/.ssh/known_hosts2"),
        global_known_hosts=_files(
            config, "GlobalKnownHostsFile", "/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"
        ),
        lookup=alias or name,
        lookup_port=22 if alias else port,
        hops=parse_hops(cast("str | None", config.get("ProxyJump")) or ""),
        proxy_command=proxy[0] if proxy else None,
        connect_timeout_s=None if timeout is None else float(cast(int, timeout)),
        keepalive_s=float(cast(int, config.get("ServerAliveInterval", options.keepalive_s))),
        keepalive_count=max(1, cast(int, config.get("ServerAliveCountMax", options.keepalive_count))),
        ignored=(*arguments.ignored, *config.ignored[:before_files], *in_files),
    )


def _apply_options(config: SshConfig, options: SshOptions) -> int:
    """Our own options, before any file is read. Returns how many ignored options came before the files."""
    if options.user is not None and config.get("User") is None:
        config.apply("User", shlex.quote(options.user))
    if options.private_key_file is not None:
        config.apply("IdentityFile", shlex.quote(options.private_key_file))
    if options.known_hosts and config.get("UserKnownHostsFile") is None:
        # The files named for this run are all that is trusted, whatever ssh_config says.
        config.apply("UserKnownHostsFile", shlex.join(options.known_hosts))
        if config.get("GlobalKnownHostsFile") is None:
            config.apply("GlobalKnownHostsFile", "none")
    return len(config.ignored)


def _files(config: SshConfig, name: str, *defaults: str) -> tuple[str, ...]:
    if config.get(name) is not None:
        return tuple(config.expanded(name))
    return tuple(os.path.expanduser(path) for path in defaults)


def _agent_socket(config: SshConfig, options: SshOptions) -> str | None:
    if config.get("IdentityAgent", "SSH_AUTH_SOCK") == "SSH_AUTH_SOCK":
        return options.agent_socket
    # Nothing for "none", which asyncssh reads as None.
    return next(iter(config.expanded("IdentityAgent")), None)


def parse_hops(text: str) -> tuple[Hop, ...]:
    """``a,user@b:2222`` in the order they are passed; ``none`` and "" are no hops. Raises ValueError."""
    if text.strip().lower() in ("", "none"):
        return ()
    return tuple(_parse_hop(word.strip()) for word in text.split(","))


def _parse_hop(word: str) -> Hop:
    rest = word.removeprefix("ssh://").rstrip("/")
    user, _, name = rest.rpartition("@")
    if name.startswith("["):
        host, _, tail = name[1:].partition("]")
        port = tail.removeprefix(":")
    elif name.count(":") == 1:
        host, _, port = name.partition(":")
    else:
        host, port = name, ""
    if not host or (port and not port.isdigit()):
        raise ValueError(f"ProxyJump {word!r} is not of the form [user@]host[:port]")
    return Hop(host=host, user=user or None, port=int(port) if port else None)
