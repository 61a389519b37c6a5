"""`checkrunner run`: a playbook over hosts, a findings report out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from checkrunner.cli.delivery import check_places, deliver
from checkrunner.cli.explain import check_run
from checkrunner.cli.options import (
    AllowEmpty,
    AskVaultPass,
    ExtraVars,
    Inventory,
    Keep,
    KeepRemote,
    Limit,
    PlaybookName,
    Redact,
    SkipTags,
    Tags,
    TokensOf,
    VaultId,
    VaultPasswordFile,
    split_words,
)
from checkrunner.cli.params import show_params
from checkrunner.cli.signals import was_interrupted

if TYPE_CHECKING:  # only for their names: importing them is put off until a run is wanted
    from checkrunner.app.exports import Exports
    from checkrunner.app.prepare import Request
    from checkrunner.model.report import Report
    from checkrunner.model.sources import Secret

__all__ = ["EXAMPLES", "run"]

_CONNECTION = "Connection"
_LIMITS = "Limits"
_OUTPUT = "Output"

EXAMPLES = """\
Examples:

checkrunner run linux-health

checkrunner run web.yml -i inventory.yml -l 'web:!web03' -o report.json

checkrunner run web.yml -i inventory.yml --format json | jq .findings
"""


def _at_a_terminal(interactive: bool) -> bool:
    from checkrunner.cli.asking import require_terminal

    if interactive:
        require_terminal()
    return interactive


def run(
    playbook: PlaybookName,
    inventory: Inventory = None,
    limit: Limit = None,
    extra_vars: ExtraVars = None,
    tags: Tags = None,
    skip_tags: SkipTags = None,
    vault_password_file: VaultPasswordFile = None,
    vault_id: VaultId = None,
    ask_vault_pass: AskVaultPass = False,
    allow_empty: AllowEmpty = False,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Login name.", rich_help_panel=_CONNECTION)] = None,
    private_key: Annotated[
        str | None,
        typer.Option("--private-key", metavar="FILE", help="SSH private key file.", rich_help_panel=_CONNECTION),
    ] = None,
    ask_pass: Annotated[
        bool, typer.Option("--ask-pass", "-k", help="Ask for the SSH password.", rich_help_panel=_CONNECTION)
    ] = False,
    known_hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--known-hosts",
            metavar="FILE",
            help="Use this known_hosts file instead of OpenSSH's; repeatable.",
            rich_help_panel=_CONNECTION,
        ),
    ] = None,
    host_key_checking: Annotated[
        str | None,
        typer.Option(
            "--host-key-checking",
            metavar="MODE",
            help="yes (default), accept-new (remember an unknown key) or no.",
            rich_help_panel=_CONNECTION,
        ),
    ] = None,
    ssh_config: Annotated[
        str | None,
        typer.Option(
            "--ssh-config",
            metavar="FILE",
            help="SSH client configuration instead of ~/.ssh/config; 'none' for none.",
            rich_help_panel=_CONNECTION,
        ),
    ] = None,
    ssh_common_args: Annotated[
        str | None,
        typer.Option(
            "--ssh-common-args",
            metavar="ARGS",
            help="OpenSSH-style options for every host, e.g. '-J bastion'.",
            rich_help_panel=_CONNECTION,
        ),
    ] = None,
    become: Annotated[
        bool, typer.Option("--become", "-b", help="Run checks as another user.", rich_help_panel=_CONNECTION)
    ] = False,
    become_user: Annotated[
        str | None,
        typer.Option("--become-user", metavar="USER", help="That user (root).", rich_help_panel=_CONNECTION),
    ] = None,
    become_method: Annotated[
        str | None,
        typer.Option("--become-method", metavar="HOW", help="sudo (default), su or doas.", rich_help_panel=_CONNECTION),
    ] = None,
    ask_become_pass: Annotated[
        bool,
        typer.Option(
            "--ask-become-pass",
            "-K",
            help="Ask for the password of sudo, doas or su.",
            rich_help_panel=_CONNECTION,
        ),
    ] = False,
    connect_timeout: Annotated[
        str | None,
        typer.Option(
            "--connect-timeout", metavar="TIME", help="For one host's connection (10s).", rich_help_panel=_CONNECTION
        ),
    ] = None,
    forks: Annotated[
        str | None,
        typer.Option("--forks", "-f", metavar="N", help="Hosts at the same time (100).", rich_help_panel=_LIMITS),
    ] = None,
    timeout: Annotated[
        str | None,
        typer.Option("--timeout", metavar="TIME", help="For a check that names none (60s).", rich_help_panel=_LIMITS),
    ] = None,
    deadline: Annotated[
        str | None,
        typer.Option(
            "--deadline",
            metavar="TIME",
            help="For the whole run; what is left then is reported as not run.",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    format_name: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="What stdout gets: terminal (default), json, markdown, html, junit, nagios or prometheus.",
            rich_help_panel=_OUTPUT,
        ),
    ] = "terminal",
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
    ] = None,
    budget_tokens: Annotated[
        str | None,
        typer.Option(
            "--budget-tokens",
            metavar="N",
            help="Most tokens that the report takes as JSON (4000); 0 for no limit.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    tokens_of: TokensOf = None,
    perfdata: Annotated[
        str | None,
        typer.Option(
            "--perfdata",
            metavar="FILE",
            help="Also write the values as Nagios performance data; - is stdout, in place of the report.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="FILE",
            help="Also write the values as JSON, one a line; - is stdout, in place of the report.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    redact: Redact = None,
    keep: Keep = None,
    keep_remote: KeepRemote = None,
    color: Annotated[
        str | None,
        typer.Option("--color", metavar="WHEN", help="auto, always or never.", rich_help_panel=_OUTPUT),
    ] = None,
    interactive: Annotated[
        bool,
        typer.Option(
            "--interactive",
            callback=_at_a_terminal,
            help="Ask me what commands ask and the playbook does not answer: passwords, confirmations.",
        ),
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", "-C", help="A dry run: say what would run where, rendered, and connect to no host."),
    ] = False,
    help_params: Annotated[
        bool, typer.Option("--help-params", help="List the playbook's parameters and exit; connects to no host.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress on stderr.", rich_help_panel=_OUTPUT)
    ] = False,
    verbose: Annotated[
        int,
        typer.Option("--verbose", "-v", count=True, help="A line per check while running.", rich_help_panel=_OUTPUT),
    ] = 0,
) -> int:
    """Run a playbook's checks on hosts and report what is wrong.

    Output stays on the hosts: the report holds verdicts, metadata and the few lines that matter. Progress goes to
    stderr, the report to stdout.
    """
    from checkrunner.app.prepare import Request
    from checkrunner.settings import resolve_settings

    flags: dict[str, Any] = {
        "inventory": inventory,
        "vault_password_file": vault_password_file,
        "vault_id": vault_id,
        "user": user,
        "private_key": private_key,
        "known_hosts": known_hosts,
        "host_key_checking": host_key_checking,
        "ssh_config": ssh_config,
        "ssh_common_args": ssh_common_args,
        "connect_timeout": connect_timeout,
        "forks": forks,
        "timeout": timeout,
        "deadline": deadline,
        **_named(budget_tokens=budget_tokens, tokens_of=tokens_of, color=color, redact=redact),
        **_named(keep=keep, keep_remote=keep_remote),
        **_become(become, become_user, become_method),
    }
    settings = resolve_settings(flags)
    if help_params:
        return show_params(playbook, settings, format_name)
    destination, exports = check_places(settings, format_name, output or (), perfdata, metrics, dry=check)
    password, become_password = _passwords(ask_pass and not check, ask_become_pass and not check)
    request = Request(
        playbook=playbook,
        settings=settings.with_become_password(become_password),
        limit=limit,
        extra_vars=tuple(extra_vars or ()),
        tags=split_words(tags),
        skip_tags=split_words(skip_tags),
        allow_empty=allow_empty,
    )
    request = _with_secrets(request, ask_vault_pass, dry=check)
    if check:
        return check_run(request, format_name)
    report = _report(request, password, exports, quiet=quiet, verbose=verbose, interactive=interactive)
    return deliver(destination, exports, report, color=settings.color)


def _named(**flags: object) -> dict[str, object]:
    """Flags that are called as their settings are."""
    return flags


def _become(become: bool, user: str | None, method: str | None) -> dict[str, str | None]:
    return {"become": "yes" if become else None, "become_user": user, "become_method": method}


def _with_secrets(request: Request, ask_vault: bool, *, dry: bool) -> Request:
    """The request with what opens secrets, and asks for the password of vaults where it may."""
    from checkrunner.app.secrets import make_secrets
    from checkrunner.cli.password import ask_vault_password

    return replace(
        request, secrets=make_secrets(request.settings, ask=ask_vault_password, ask_vault=ask_vault, dry=dry)
    )


def _passwords(login: bool, become: bool) -> tuple[Secret | None, Secret | None]:
    """The two that a person may be asked for, before anything connects."""
    from checkrunner.cli.password import ask_password

    return (
        ask_password() if login else None,
        ask_password("Become password: ", "ask_become_pass") if become else None,
    )


def _report(
    request: Request, password: Secret | None, exports: Exports, *, quiet: bool, verbose: int, interactive: bool
) -> Report:
    """Prepare the run and do it."""
    from checkrunner.app.prepare import prepare
    from checkrunner.app.run import make_redactor, run_prepared
    from checkrunner.cli.asking import TerminalDriver
    from checkrunner.cli.progress import choose_progress

    prepared = prepare(request)
    redactor = make_redactor(prepared, password)
    mask = exports.mask = redactor.redact
    with choose_progress(request.settings, quiet=quiet, verbose=verbose, mask=mask) as observer:
        driver = TerminalDriver(observer, mask=mask) if interactive else None
        return run_prepared(
            prepared,
            observer,
            password=password,
            redactor=redactor,
            interrupted=was_interrupted,
            driver=driver,
            keep=exports.keep,
        )
