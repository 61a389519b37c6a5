"""Settings: flag > environment > checkrunner.toml > default, resolved once, each with its origin.

The only reader of the process's environment. Below `app` nobody sees `Settings`: parts receive the option group they
need (`model/options.py`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from checkrunner.model.errors import SettingsError, UnknownNameError
from checkrunner.model.options import HistoryOptions, KeepOptions, LocalOptions, RunOptions, SessionOptions, SshOptions
from checkrunner.model.playbook import Become
from checkrunner.model.sources import Secret
from checkrunner.setting_table import PREFIX, SETTINGS, Setting

__all__ = ["Settings", "resolve_settings"]


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
    def state_folder(self) -> Path:
        """Where what outlasts a run is: the store of runs, the audit log, locks. It need not exist."""
        home = self.environment.get("HOME") or os.path.expanduser("~")
        state = self.environment.get("XDG_STATE_HOME", "")
        return Path(state if os.path.isabs(state) else f"{home}/.local/state") / "checkrunner"

    @property
    def audit_log(self) -> Path | None:
        """The file of the audit log; None for none."""
        given = self._text("audit_log")
        if given == "none":
            return None
        return Path(given).expanduser() if given else self.state_folder / "audit.jsonl"

    @property
    def audit_bytes(self) -> int:
        """The most that the audit log and its older files take together; 0 for no limit."""
        return int(self._number("audit_bytes"))

    @property
    def program_timeout_s(self) -> float:
        """The time that a program has which prints an inventory, a password or a secret."""
        return self._number("program_timeout")

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the environment's variables that are meant for this program."""
        return tuple(sorted(name for name in self.environment if name.startswith(PREFIX)))

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
            stay_s=self._number("keep_remote"),
        )

    def keep_options(self) -> KeepOptions:
        """The group for what is kept of outputs after the run."""
        return KeepOptions(
            which=str(self.values["keep"]),
            output_bytes=int(self._number("keep_bytes")),
            total_bytes=int(self._number("keep_total")),
        )

    @property
    def history(self) -> Path | None:
        """The file of the store of runs; None for none."""
        given = self._text("history")
        if given == "none":
            return None
        return Path(given).expanduser().absolute() if given else self.state_folder / "history.db"

    def history_options(self) -> HistoryOptions:
        """The group for the store of runs."""
        return HistoryOptions(
            keep_s=self._number("history_keep"),
            runs=int(self._number("history_runs")),
            most_bytes=int(self._number("history_bytes")),
            suppress_after=int(self._number("suppress_after")),
            suppress_for_s=self._number("suppress_for"),
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

    def with_deadline(self, seconds: float) -> Settings:
        """The same settings with so much time for the run."""
        return replace(self, values={**self.values, "deadline": seconds})

    def local_options(self) -> LocalOptions:
        """The group for the local transport."""
        return LocalOptions()


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
        if variable.startswith(PREFIX) and variable != f"{PREFIX}CONFIG":
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
    named = environ.get(f"{PREFIX}CONFIG")
    candidates = [Path(named)] if named else [cwd / "checkrunner.toml"]
    if not named:
        config_home = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
        candidates.append(Path(config_home) / "checkrunner" / "checkrunner.toml")
    for path in candidates:
        if not path.is_file():
            if named:
                raise SettingsError("config", named, f"{PREFIX}CONFIG", "there is no such file")
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
