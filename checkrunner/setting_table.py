"""Which settings there are. Each is a row of `SETTINGS`; `settings.py` finds their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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
    size_or_none,
    sources,
    text_of,
    vocabulary,
)

__all__ = ["PREFIX", "SETTINGS", "Setting"]

PREFIX = "CHECKRUNNER_"
"""What the environment variables of settings begin with."""


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
        return PREFIX + self.name.upper()


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
        Setting(
            name="keep",
            read=choice("failed", "all", "none"),
            default="failed",
            help="outputs that are fetched and kept with the run: of checks that are not ok, of all, or none",
        ),
        Setting(name="keep_bytes", read=size, default=2 << 20, help="most bytes kept of an output after the run"),
        Setting(name="keep_total", read=size, default=32 << 20, help="most bytes kept of all outputs of a run"),
        Setting(
            name="keep_remote",
            read=parse_seconds,
            default=0.0,
            help="time that outputs stay on the hosts after the run; 0 means not at all",
        ),
        Setting(name="history", read=text_of, default=None, help="file of the store of runs; none for none"),
        Setting(name="history_keep", read=positive_seconds, default=90 * 86400.0, help="time that runs are kept"),
        Setting(name="history_runs", read=count, default=1000, help="most runs kept of a playbook with one selection"),
        Setting(name="history_bytes", read=size, default=1 << 30, help="most bytes of all runs that are kept"),
        Setting(
            name="suppress_after",
            read=count,
            default=3,
            help="runs in a row in which a check does harm on a host, until it is not run there for a while",
        ),
        Setting(name="suppress_for", read=positive_seconds, default=86400.0, help="time for which it is not run"),
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
        Setting(
            name="audit_log",
            read=text_of,
            default=None,
            help="file with a line for each command that was run; none for none",
        ),
        Setting(
            name="audit_bytes",
            read=size_or_none,
            default=64 << 20,
            help="most bytes of that log with its older files; 0 leaves their rotation to others",
        ),
        Setting(name="color", read=choice("auto", "always", "never"), default="auto", help="auto, always or never"),
    )
}
"""Every setting by name. docs/settings.md holds the same table."""
