"""`checkrunner lint`: what is wrong with a playbook, found without connecting."""

from __future__ import annotations

import sys

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
) -> int:
    """Check a playbook, its inventory and its templates. Connects to no host.

    Ends with 0 when nothing is wrong, 1 for warnings, 64 for errors that would stop a run.

    Example: checkrunner lint web.yml -i inventory.yml
    """
    from checkrunner.app.failure import mask_text
    from checkrunner.app.linting import EXIT_CODES, lint_playbook
    from checkrunner.app.prepare import Request
    from checkrunner.app.secrets import make_secrets
    from checkrunner.cli.password import ask_vault_password
    from checkrunner.render.problems import print_problem
    from checkrunner.settings import resolve_settings

    flags = {"inventory": inventory, "vault_password_file": vault_password_file, "vault_id": vault_id}
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
    for problem in problems:
        print_problem(
            str(problem.level),
            problem.message,
            sys.stdout,
            source=problem.source,
            line_text=problem.line_text,
            hint=problem.hint,
            color=settings.color,
            mask=mask_text,
        )
    if not problems:
        typer.echo(f"{playbook}: nothing to complain about", err=True)
    return max((EXIT_CODES[problem.level] for problem in problems), default=0)
