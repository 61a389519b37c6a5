"""Settings: flag > environment > checkrunner.toml > default, resolved once, each with its origin.

The only reader of the process's environment. Below `app` nobody sees `Settings`: parts receive the option group they
need (`model/options.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from checkrunner.model.errors import SettingsError, UnknownNameError
from checkrunner.model.options import LocalOptions, RunOptions, SessionOptions, SshOptions
from checkrunner.model.playbook import Become
from checkrunner.model.setting_values import (
    budget,
    choice,
    count,
    listed,
    parse_seconds,
    paths,
    positive_seconds,
    secret,
    size,
    sources,
    text_of,
    vocabulary,
)
from checkrunner.model.sources import Secret

__all__ = ["SETTINGS", "Setting", "Settings", "resolve_settings"]

_PREFIX = "CHECKRUNNER_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting: its name (also its key in checkrunner.toml), reader of texts and values, default, help text.

    `foreign` is a variable of another program that gives it where its own is not set. A `secret` one is not taken from
    a file. Of one that `adds` the values of all places count together: nobody loses one by giving another.
    """

    name: str
    read: Callable[[object], object]
    default: object
    help: str
    foreign: str = ""
    secret: bool = False
    adds: bool = False

    @property
    def variable(self) -> str:
        """The environment variable that gives it."""
        return _PREFIX + self.name.upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Resolved values by name, and where each came from: ``flag``, a variable's name, a file's path or ``default``."""

    values: Mapping[str, object]
    origins: Mapping[str, str]
    agent_socket: str | None
    color: bool | None
    """True or False when a setting or NO_COLOR decides; None leaves it to the terminal."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The whole environment, for the secrets that a file takes from it by name."""

    def _number(self, name: str) -> float:
        value = self.values[name]
        assert isinstance(value, int | float)
        return value

    def _text(self, name: str) -> str | None:
        value = self.values[name]
        return None if value is None else str(value)

    def _texts(self, name: str) -> tuple[str, ...]:
        value = self.values[name]
        assert isinstance(value, tuple)
        return value

    @property
    def inventory(self) -> tuple[str, ...]:
        """Inventory sources; empty means localhost."""
        return self._texts("inventory")

    @property
    def vault_password_files(self) -> tuple[str, ...]:
        """Files that hold a vault password, and programs that print one."""
        return self._texts("vault_password_file")

    @property
    def vault_ids(self) -> tuple[str, ...]:
        """Vault passwords as ``LABEL@SOURCE``."""
        return self._texts("vault_id")

    @property
    def redact(self) -> tuple[str, ...]:
        """Patterns of secrets that the user gave."""
        return self._texts("redact")

    @property
    def budget_tokens(self) -> int | None:
        """The most tokens that the JSON report may take; None for no limit."""
        return int(self._number("budget_tokens")) or None

    @property
    def tokens_of(self) -> str:
        """The vocabulary whose tokens are counted, or a factor."""
        return str(self.values["tokens_of"])

    @property
    def program_timeout_s(self) -> float:
        """The time that a program has which prints an inventory, a password or a secret."""
        return self._number("program_timeout")

    def run_options(self) -> RunOptions:
        """The group for the engine and the plan."""
        deadline = self._number("deadline")
        return RunOptions(
            forks=int(self._number("forks")),
            deadline_s=deadline or None,
            timeout_s=self._number("timeout"),
            capture_bytes=int(self._number("capture_bytes")),
            away_s=self.session_options().away_s,
            start_s=self._number("start_timeout"),
            become=Become(
                become=self.values["become"] == "yes",
                user=self._text("become_user"),
                method=self._text("become_method"),
            ),
        )

    def session_options(self) -> SessionOptions:
        """The group for the remote side."""
        return SessionOptions(
            host_bytes=int(self._number("host_bytes")),
            max_sessions=int(self._number("max_sessions")),
            hello_timeout_s=self._number("start_timeout"),
            reconnect_s=self._number("reconnect"),
            unnoticed_s=self.ssh_options().unnoticed_s,
        )

    def ssh_options(self, password: Secret | None = None) -> SshOptions:
        """The group for the SSH transport; `password` is what a prompt gave."""
        config = self._text("ssh_config")
        return SshOptions(
            known_hosts=self._texts("known_hosts"),
            host_key_checking=str(self.values["host_key_checking"]),
            config_files=None if config is None else (() if config == "none" else (config,)),
            user=self._text("user"),
            private_key_file=self._text("private_key"),
            password=password,
            become_password=self.become_password,
            agent_socket=self.agent_socket,
            common_args=self._text("ssh_common_args") or "",
            connect_timeout_s=self._number("connect_timeout"),
            keepalive_s=self._number("keepalive"),
            origins=self.origins,
        )

    @property
    def become_password(self) -> Secret | None:
        """What sudo, doas or su is told where a host has no password of its own."""
        value = self.values["become_password"]
        return value if isinstance(value, Secret) else None

    def with_become_password(self, password: Secret | None) -> Settings:
        """The same settings with a password that a person gave, if one was asked."""
        if password is None:
            return self
        values = {**self.values, "become_password": password}
        return replace(self, values=values, origins={**self.origins, "become_password": "flag"})

    def local_options(self) -> LocalOptions:
        """The group for the local transport."""
        return LocalOptions()


def _patterns(value: object) -> tuple[str, ...]:
    """One pattern, one a line, or a list of them."""
    from checkrunner.ownpatterns import check_pattern

    patterns = [line for line in value.split("\n") if line] if isinstance(value, str) else value
    if not isinstance(patterns, list | tuple) or not all(isinstance(one, str) for one in patterns):
        raise ValueError("expected a list of regular expressions")
    for pattern in patterns:
        try:
            check_pattern(pattern)
        except ValueError as error:
            raise ValueError(f"{pattern!r}: {error}" if len(patterns) > 1 else str(error)) from None
    return tuple(patterns)


SETTINGS: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(name="inventory", read=sources, default=(), help="inventory sources (a list in checkrunner.toml)"),
        Setting(name="forks", read=count, default=100, help="hosts worked on at the same time"),
        Setting(name="timeout", read=positive_seconds, default=60.0, help="a check's time where it names none"),
        Setting(name="connect_timeout", read=positive_seconds, default=10.0, help="time for one host's connection"),
        Setting(name="start_timeout", read=positive_seconds, default=30.0, help="time for the start on one host"),
        Setting(name="deadline", read=parse_seconds, default=0.0, help="time for the whole run; 0 means no limit"),
        Setting(name="reconnect", read=parse_seconds, default=20.0, help="time to get back a lost link; 0 means never"),
        Setting(name="keepalive", read=positive_seconds, default=5.0, help="seconds between keepalive questions"),
        Setting(name="capture_bytes", read=size, default=64 << 20, help="most bytes kept of each output stream"),
        Setting(name="host_bytes", read=size, default=256 << 20, help="most bytes of all captures on one host"),
        Setting(name="max_sessions", read=count, default=16, help="named sessions on one host"),
        Setting(name="user", read=text_of, default=None, help="login name where the inventory names none"),
        Setting(name="private_key", read=text_of, default=None, help="private key file for SSH"),
        Setting(name="known_hosts", read=paths, default=(), help="known_hosts files instead of OpenSSH's"),
        Setting(
            name="host_key_checking",
            read=choice("yes", "accept-new", "no"),
            default="yes",
            help="yes, accept-new (remember an unknown key) or no (dangerous)",
        ),
        Setting(name="ssh_config", read=text_of, default=None, help="SSH client configuration file; none for none"),
        Setting(name="ssh_common_args", read=text_of, default=None, help="OpenSSH-style options for every host"),
        Setting(
            name="become",
            read=choice("yes", "no"),
            default="no",
            help="run checks as another user",
        ),
        Setting(name="become_user", read=text_of, default="root", help="that user"),
        Setting(name="become_method", read=choice("sudo", "su", "doas"), default="sudo", help="how: sudo, su or doas"),
        Setting(
            name="become_password",
            read=secret,
            default=None,
            help="what that asks for; never read from a file",
            secret=True,
        ),
        Setting(
            name="vault_password_file",
            read=sources,
            default=(),
            help="file with the password of vaults, or program that prints it (or a list of them)",
            foreign="ANSIBLE_VAULT_PASSWORD_FILE",
        ),
        Setting(
            name="vault_id",
            read=listed,
            default=(),
            help="vault passwords as LABEL@FILE, separated by commas",
            foreign="ANSIBLE_VAULT_IDENTITY_LIST",
        ),
        Setting(
            name="program_timeout",
            read=positive_seconds,
            default=60.0,
            help="time for a program that prints an inventory, a password or a secret",
        ),
        Setting(
            name="redact",
            read=_patterns,
            default=(),
            help="regular expressions of more secrets to mask (a list in checkrunner.toml); those of all places count",
            adds=True,
        ),
        Setting(
            name="budget_tokens",
            read=budget,
            default=4000,
            help="most tokens that the JSON report takes (at least 500); 0 means no limit",
        ),
        Setting(
            name="tokens_of",
            read=vocabulary,
            default="o200k_base",
            help="vocabulary whose tokens are counted, or a factor to o200k_base",
        ),
        Setting(name="color", read=choice("auto", "always", "never"), default="auto", help="auto, always or never"),
    )
}
"""Every setting by name. docs/settings.md holds the same table."""


def resolve_settings(
    flags: Mapping[str, object], *, environ: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Settings:
    """Resolve all settings. `flags` holds what the command line gave (None and empty lists mean "not given").

    `environ` and `cwd` default to the process's own. Raises SettingsError for a value that cannot be, and
    UnknownNameError for an unknown key in a file or an unknown CHECKRUNNER_ variable.
    """
    environ = os.environ if environ is None else environ
    home = environ.get("HOME") or "~"
    file_values, file_name = _read_file(environ, cwd or Path.cwd(), home)
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for name, setting in SETTINGS.items():
        raw, origin = _pick(setting, flags, environ, file_values, file_name)
        if setting.adds:
            values[name] = _added(setting, flags, environ, file_values, file_name)
        else:
            values[name] = setting.default if origin == "default" else _read(setting, raw, origin)
        origins[name] = origin
    for variable in environ:
        if variable.startswith(_PREFIX) and variable != f"{_PREFIX}CONFIG":
            _known("environment variable", variable, [s.variable for s in SETTINGS.values()])
    if environ is os.environ:
        for setting in SETTINGS.values():
            if setting.secret:  # no program that we start is to inherit it
                os.environ.pop(setting.variable, None)
    color = {"always": True, "never": False}.get(str(values["color"]))
    if color is None and environ.get("NO_COLOR"):
        color = False
    return Settings(
        values=values,
        origins=origins,
        agent_socket=environ.get("SSH_AUTH_SOCK") or None,
        color=color,
        environment=dict(environ),
    )


def _read(setting: Setting, raw: object, origin: str) -> object:
    try:
        return setting.read(raw)
    except ValueError as error:
        raise SettingsError(setting.name, raw, origin, str(error)) from None


def _added(
    setting: Setting,
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    file_values: Mapping[str, object],
    file_name: str,
) -> tuple[object, ...]:
    """The values of all places, each once."""
    given = (
        (flags.get(setting.name), "flag"),
        (environ.get(setting.variable), setting.variable),
        (file_values.get(setting.name), file_name),
    )
    found: dict[object, None] = {}
    for raw, origin in given:
        value = _read(setting, raw, origin) if raw not in (None, "", [], ()) else ()
        assert isinstance(value, tuple)
        found.update(dict.fromkeys(value))
    return tuple(found)


def _pick(
    setting: Setting,
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    file_values: Mapping[str, object],
    file_name: str,
) -> tuple[object, str]:
    flag = flags.get(setting.name)
    if flag is not None and flag not in ([], ()):
        return flag, "flag"
    if environ.get(setting.variable):
        return environ[setting.variable], setting.variable
    if setting.foreign and environ.get(setting.foreign):
        return environ[setting.foreign], setting.foreign
    if setting.name in file_values:
        return file_values[setting.name], file_name
    return setting.default, "default"


def _read_file(environ: Mapping[str, str], cwd: Path, home: str) -> tuple[Mapping[str, object], str]:
    """The first of $CHECKRUNNER_CONFIG, ./checkrunner.toml and ~/.config/checkrunner/checkrunner.toml that exists."""
    named = environ.get(f"{_PREFIX}CONFIG")
    candidates = [Path(named)] if named else [cwd / "checkrunner.toml"]
    if not named:
        config_home = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
        candidates.append(Path(config_home) / "checkrunner" / "checkrunner.toml")
    for path in candidates:
        if not path.is_file():
            if named:
                raise SettingsError("config", named, f"{_PREFIX}CONFIG", "there is no such file")
            continue
        import tomllib

        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise SettingsError("config", str(path), "file", f"it cannot be read: {error}") from None
        for key in values:
            _known(f"setting (in {path})", key, SETTINGS)
            if SETTINGS[key].secret:
                why = f"it is not read from a file: use {SETTINGS[key].variable}, or let yourself be asked"
                raise SettingsError(key, "...", str(path), why)
        return values, str(path)
    return {}, ""


def _known(kind: str, name: str, known: Mapping[str, object] | list[str]) -> None:
    if name not in known:
        raise UnknownNameError(kind, name, known)
