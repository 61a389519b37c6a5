"""`checkrunner lint`: what is wrong with a playbook, found without connecting."""

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
    PlaybookName,
    VaultId,
    VaultPasswordFile,
)

if TYPE_CHECKING:  # only for its name: importing it is put off until it is wanted
    from checkrunner.model.problems import Problem

__all__ = ["lint"]


def lint(
    playbook: PlaybookName,
    inventory: Inventory = None,
    limit: Limit = None,
    extra_vars: ExtraVars = None,
    vault_password_file: VaultPasswordFile = None,
    vault_id: VaultId = None,
    ask_vault_pass: AskVaultPass = False,
    allow_empty: AllowEmpty = False,
    format_name: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="What stdout gets: text, json or sarif.")
    ] = "text",
) -> int:
    """Check a playbook, its inventory and its templates. Connects to no host.

    Ends with 0 when nothing is wrong, 1 for warnings, 64 for errors that would stop a run. The rules are listed in
    docs/lint.md.

    Example: checkrunner lint web.yml -i inventory.yml
    """
    from checkrunner.app.linting import EXIT_CODES, lint_playbook, not_linted
    from checkrunner.app.prepare import Request
    from checkrunner.app.secrets import make_secrets
    from checkrunner.cli.password import ask_vault_password
    from checkrunner.model.errors import UnknownNameError, UsageError
    from checkrunner.render.lint import LINT_FORMATS
    from checkrunner.settings import resolve_settings

    if format_name not in LINT_FORMATS:
        raise UnknownNameError("format", format_name, LINT_FORMATS)
    flags = {"inventory": inventory, "vault_password_file": vault_password_file, "vault_id": vault_id}
    try:
        settings = resolve_settings(flags)
        request = Request(
            playbook=playbook,
            settings=settings,
            limit=limit,
            extra_vars=tuple(extra_vars or ()),
            allow_empty=allow_empty,
            secrets=make_secrets(settings, ask=ask_vault_password, ask_vault=ask_vault_pass, dry=True),
        )
        problems = lint_playbook(request)
    except UsageError as error:
        if format_name != "text":  # programs read stdout; people get it from whoever catches it
            _show(not_linted(error), playbook, format_name, error.exit_code, color=None)
        raise
    code = max((EXIT_CODES[problem.level] for problem in problems), default=0)
    _show(problems, playbook, format_name, code, color=settings.color)
    return code


def _show(problems: Sequence[Problem], playbook: str, format_name: str, code: int, *, color: bool | None) -> None:
    from checkrunner import __version__
    from checkrunner.app.failure import mask_text
    from checkrunner.app.linting import LINT_RULES
    from checkrunner.render.lint import lint_document, lint_sarif, print_lint, write_document

    if format_name == "json":
        document = lint_document(problems, playbook=playbook, exit_code=code, mask=mask_text)
    elif format_name == "sarif":
        document = lint_sarif(
            problems, rules=LINT_RULES, version=__version__, playbook=playbook, exit_code=code, mask=mask_text
        )
    else:
        print_lint(problems, sys.stdout, color=color, mask=mask_text)
        if not problems:
            typer.echo(f"{playbook}: nothing to complain about", err=True)
        return
    write_document(document, sys.stdout)
