"""What the settings of a host mean: inventory, `ssh` arguments, ssh_config files and our own options, in that order.

asyncssh reads ssh_config files; this adds the options that it leaves out, and names those that nobody honours.
"""

from __future__ import annotations

import getpass
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from asyncssh.config import SSHClientConfig, SSHConfig

from checkrunner.link.transports.ssh_arguments import Arguments, parse_arguments
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
_Number = TypeVar("_Number", int, float)
_Handler = tuple[str, Callable[[Any, str, list[str]], None]]


def _note_ignored(config: SshConfig, option: str, args: list[str]) -> None:
    config.ignored.append(spelling(option))
    args.clear()


def _match_with_tokens(config: SshConfig, option: str, args: list[str]) -> None:
    """asyncssh runs a `Match exec` as it is written; OpenSSH puts host and user in."""
    for at in range(1, len(args)):
        if args[at - 1].lower().lstrip("!") == "exec":
            args[at] = config.with_tokens(args[at])
    SSHConfig._match(config, option, args)


def _handlers() -> dict[str, _Handler]:
    """asyncssh's table with the options that are ours, and without those that would have no effect here."""
    ours = {name.lower(): name for name in HONOURED}
    ours["challengeresponseauthentication"] = "ChallengeResponseAuthentication"
    table: dict[str, _Handler] = {}
    for key, (name, handler) in SSHClientConfig._handlers.items():
        keep = key in ours or key in ("host", "match", "include", "tag")
        table[key] = (name, handler if keep else _note_ignored)
    table["match"] = ("Match", _match_with_tokens)
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

    def read(self, path: Path) -> None:
        """Take what a file says of the host. Raises OSError and ValueError."""
        try:
            self.parse(path)
        except RecursionError:
            raise ValueError(f"{path}: its Include lines go in a circle") from None

    def with_tokens(self, text: str) -> str:
        """A text with %-tokens and ${variables} replaced by what is set so far."""
        self._tokens.setdefault("%", "%")
        self._set_tokens()
        return self._expand_val(text)

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


def _config_files(options: SshOptions, arguments: Arguments) -> list[Path]:
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
    arguments = parse_arguments([*given, options.common_args])
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
    arguments = parse_arguments([*given, options.common_args])
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
    address: str, config: SshConfig, arguments: Arguments, options: SshOptions, asked: str | None
) -> HostSettings:
    before_files = _apply_options(config, options)
    if asked is None and options.host_key_checking != "yes" and config.get("StrictHostKeyChecking") is None:
        asked = options.host_key_checking
    for path in _config_files(options, arguments):
        config.read(path)
    config.finish()
    in_files = [name for name in config.ignored[before_files:] if name.lower() not in _QUIET_IN_FILES]
    port = _in_range("Port", cast(int, config.get("Port", 22)), 1, 65_535)
    name = _unbracketed(cast(str, config.get("Hostname", address)))
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
        keepalive_s=_in_range(
            "ServerAliveInterval", float(cast(int, config.get("ServerAliveInterval", options.keepalive_s))), 0
        ),
        keepalive_count=max(1, cast(int, config.get("ServerAliveCountMax", options.keepalive_count))),
        ignored=(*arguments.ignored, *config.ignored[:before_files], *in_files),
    )


def _unbracketed(name: str) -> str:
    """``[fe80::1%eth0]`` as a URL has it is the address inside."""
    return name[1:-1] if name.startswith("[") and name.endswith("]") and ":" in name else name


def _in_range(name: str, value: _Number, least: int, most: int | None = None) -> _Number:
    if value < least or (most is not None and value > most):
        wanted = f"from {least} to {most}" if most is not None else f"{least} or more"
        raise ValueError(f"{name} is {value:g}, not {wanted}")
    return value


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
    if not host or (port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536)):
        raise ValueError(f"ProxyJump {word!r} is not of the form [user@]host[:port]")
    return Hop(host=host, user=user or None, port=int(port) if port else None)
