"""`checkrunner explain` and `run --check`: what a run would do, found without connecting."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from checkrunner.cli.options import (
    AllowEmpty,
    AskVaultPass,
    ExtraVars,
    Inventory,
    Limit,
    VaultId,
    VaultPasswordFile,
)

if TYPE_CHECKING:  # only for their names: importing them is put off until they are wanted
    from checkrunner.app.prepare import Request

__all__ = ["check_run", "explain", "refuse_files"]

_FORMATS = ("text", "json")


def explain(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="PLAYBOOK CHECK",
            help="A playbook and the id of one of its checks, also as PLAYBOOK:CHECK; or a check of a shipped playbook "
            "alone.",
        ),
    ],
    inventory: Inventory = None,
    limit: Limit = None,
    extra_vars: ExtraVars = None,
    vault_password_file: VaultPasswordFile = None,
    vault_id: VaultId = None,
    ask_vault_pass: AskVaultPass = False,
    allow_empty: AllowEmpty = False,
    format_name: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="What stdout gets: text or json.")
    ] = "text",
) -> int:
    """Say where one check would run, and what exactly: rendered, hosts with the same outcome folded.

    Connects to no host, and programs of `!cmd` are not run. What only a run finds out is left as written.

    Example: checkrunner explain web.yml disk -i inventory.yml -l web1
    """
    from checkrunner.app.prepare import Request
    from checkrunner.app.preview import explain as explain_check
    from checkrunner.app.preview import find_check
    from checkrunner.app.secrets import make_secrets
    from checkrunner.cli.password import ask_vault_password
    from checkrunner.model.errors import UnknownNameError, UsageError
    from checkrunner.render.lint import write_document
    from checkrunner.render.preview import explain_lines, preview_document
    from checkrunner.settings import resolve_settings

    if format_name not in _FORMATS:
        raise UnknownNameError("format", format_name, _FORMATS)
    if len(words) > 2:
        raise UsageError("explain takes one check", hint="Write: checkrunner explain PLAYBOOK CHECK -i INVENTORY")
    settings = resolve_settings(
        {"inventory": inventory, "vault_password_file": vault_password_file, "vault_id": vault_id}
    )
    playbook, check = find_check(words)
    request = Request(
        playbook=playbook,
        settings=settings,
        limit=limit,
        extra_vars=tuple(extra_vars or ()),
        # A check is explained whatever its tags are.
        tags=("all", "never"),
        allow_empty=allow_empty,
        secrets=make_secrets(settings, ask=ask_vault_password, ask_vault=ask_vault_pass, dry=True),
    )
    run = explain_check(request, check)
    if format_name == "json":
        write_document(preview_document(run), sys.stdout)
    else:
        for line in explain_lines(run):
            typer.echo(line)
    for warning in run.warnings:
        _warn(warning)
    return 0


def refuse_files(format_name: str, output: Sequence[str], perfdata: str | None, metrics: str | None) -> None:
    """Raise UsageError where a dry run is to write what only a run has."""
    from checkrunner.model.errors import UsageError

    formats = {} if format_name in {"terminal", "json"} else {f"--format {format_name}": format_name}
    given = {"--output": output or None, "--perfdata": perfdata, "--metrics": metrics}
    asked = [name for name, value in {**given, **formats}.items() if value is not None]
    if asked:
        hint = "`--check --format json` prints what would run"
        raise UsageError(f"{asked[0]} does not go with --check: there are no results", hint=hint)


def check_run(request: Request, format_name: str) -> int:
    """Show what the run would do. Raises UsageError members for what would keep it from starting."""
    from checkrunner.app.preview import preview_run
    from checkrunner.render.lint import write_document
    from checkrunner.render.preview import preview_document, preview_lines

    run = preview_run(request)
    if format_name == "json":
        write_document(preview_document(run), sys.stdout)
    else:
        for line in preview_lines(run):
            typer.echo(line)
    for warning in run.warnings:
        _warn(warning)
    return 0


def _warn(warning: str) -> None:
    from checkrunner.render.problems import print_problem

    print_problem("warning", warning, sys.stderr)
