"""What `run` and the verbs that run the same by themselves can be told: one list of options for all of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

import typer

from checkrunner.cli.options import (
    AllowEmpty,
    ExtraVars,
    History,
    Inventory,
    Keep,
    KeepRemote,
    Limit,
    Redact,
    SkipTags,
    Tags,
    TokensOf,
    VaultId,
    VaultPasswordFile,
    split_words,
)

if TYPE_CHECKING:  # only for their names: importing them is put off until a run is wanted
    from checkrunner.app.prepare import Request
    from checkrunner.settings import Settings

__all__ = ["RunFlags"]

_CONNECTION = "Connection"
_LIMITS = "Limits"
_OUTPUT = "Output"
_NO_SETTINGS = frozenset(["limit", "extra_vars", "tags", "skip_tags", "allow_empty", "output", "perfdata", "metrics"])


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFlags:
    """Which hosts and checks, how to connect, with which limits, and what is written. A field that is no setting stands
    in `_NO_SETTINGS`."""

    inventory: Inventory = None
    limit: Limit = None
    extra_vars: ExtraVars = None
    tags: Tags = None
    skip_tags: SkipTags = None
    vault_password_file: VaultPasswordFile = None
    vault_id: VaultId = None
    allow_empty: AllowEmpty = False
    user: Annotated[str | None, typer.Option("--user", "-u", help="Login name.", rich_help_panel=_CONNECTION)] = None
    private_key: Annotated[
        str | None,
        typer.Option("--private-key", metavar="FILE", help="SSH private key file.", rich_help_panel=_CONNECTION),
    ] = None
    known_hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--known-hosts",
            metavar="FILE",
            help="Use this known_hosts file instead of OpenSSH's; repeatable.",
            rich_help_panel=_CONNECTION,
        ),
    ] = None
    host_key_checking: Annotated[
        str | None,
        typer.Option(
            "--host-key-checking",
            metavar="MODE",
            help="yes (default), accept-new (remember an unknown key) or no.",
            rich_help_panel=_CONNECTION,
        ),
    ] = None
    ssh_config: Annotated[
        str | None,
        typer.Option(
            "--ssh-config",
            metavar="FILE",
            help="SSH client configuration instead of ~/.ssh/config; 'none' for none.",
            rich_help_panel=_CONNECTION,
        ),
    ] = None
    ssh_common_args: Annotated[
        str | None,
        typer.Option(
            "--ssh-common-args",
            metavar="ARGS",
            help="OpenSSH-style options for every host, e.g. '-J bastion'.",
            rich_help_panel=_CONNECTION,
        ),
    ] = None
    become: Annotated[
        bool, typer.Option("--become", "-b", help="Run checks as another user.", rich_help_panel=_CONNECTION)
    ] = False
    become_user: Annotated[
        str | None,
        typer.Option("--become-user", metavar="USER", help="That user (root).", rich_help_panel=_CONNECTION),
    ] = None
    become_method: Annotated[
        str | None,
        typer.Option("--become-method", metavar="HOW", help="sudo (default), su or doas.", rich_help_panel=_CONNECTION),
    ] = None
    connect_timeout: Annotated[
        str | None,
        typer.Option(
            "--connect-timeout", metavar="TIME", help="For one host's connection (10s).", rich_help_panel=_CONNECTION
        ),
    ] = None
    forks: Annotated[
        str | None,
        typer.Option("--forks", "-f", metavar="N", help="Hosts at the same time (100).", rich_help_panel=_LIMITS),
    ] = None
    timeout: Annotated[
        str | None,
        typer.Option("--timeout", metavar="TIME", help="For a check that names none (60s).", rich_help_panel=_LIMITS),
    ] = None
    deadline: Annotated[
        str | None,
        typer.Option(
            "--deadline",
            metavar="TIME",
            help="For the whole run; what is left then is reported as not run.",
            rich_help_panel=_LIMITS,
        ),
    ] = None
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Also write the report there, in the format of its name's end (.json, .md, .html, .xml, .prom, .txt; "
            "else JSON) or as FORMAT:FILE; repeatable.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None
    budget_tokens: Annotated[
        str | None,
        typer.Option(
            "--budget-tokens",
            metavar="N",
            help="Most tokens that the report takes as JSON (4000); 0 for no limit.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None
    tokens_of: TokensOf = None
    perfdata: Annotated[
        str | None,
        typer.Option(
            "--perfdata",
            metavar="FILE",
            help="Also write the values as Nagios performance data; - is stdout, in place of the report.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="FILE",
            help="Also write the values as JSON, one a line; - is stdout, in place of the report.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None
    redact: Redact = None
    history: History = None
    keep: Keep = None
    keep_remote: KeepRemote = None
    color: Annotated[
        str | None,
        typer.Option("--color", metavar="WHEN", help="auto, always or never.", rich_help_panel=_OUTPUT),
    ] = None

    def settings(self) -> Settings:
        """The settings, with these flags. Raises UsageError members."""
        from checkrunner.settings import resolve_settings

        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in _NO_SETTINGS}
        return resolve_settings({**given, "become": "yes" if self.become else None})

    def request(self, playbook: str, settings: Settings) -> Request:
        """What is to be run of a playbook. Nothing in it asks for a password."""
        from checkrunner.app.prepare import Request

        return Request(
            playbook=playbook,
            settings=settings,
            limit=self.limit,
            extra_vars=tuple(self.extra_vars or ()),
            tags=split_words(self.tags),
            skip_tags=split_words(self.skip_tags),
            allow_empty=self.allow_empty,
        )
