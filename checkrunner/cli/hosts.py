"""`checkrunner hosts`: which hosts a pattern selects, and where a host's variables come from."""

from __future__ import annotations

from typing import Annotated

import typer

from checkrunner.cli.options import (
    AllowEmpty,
    AskVaultPass,
    Inventory,
    Limit,
    PlaybookDir,
    VaultId,
    VaultPasswordFile,
)

__all__ = ["hosts"]


def hosts(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATTERN",
            help="Hosts and groups as in a play: 'web:&prod:!web03', '*.db'.",
            show_default="all",
        ),
    ] = None,
    inventory: Inventory = None,
    limit: Limit = None,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="NAME",
            help="Show one host: what selects it, its groups, where variables are set.",
        ),
    ] = None,
    playbook_dir: PlaybookDir = ".",
    vault_password_file: VaultPasswordFile = None,
    vault_id: VaultId = None,
    ask_vault_pass: AskVaultPass = False,
    allow_empty: AllowEmpty = False,
) -> int:
    """List the hosts that a pattern selects, in Ansible's order, without connecting to any.

    Example: checkrunner hosts 'web:!web03' -i inventory.yml
    """
    from checkrunner.app.listing import explain_host, list_hosts
    from checkrunner.app.secrets import make_secrets
    from checkrunner.cli.password import ask_vault_password
    from checkrunner.model.errors import UsageError
    from checkrunner.render.safe import safe
    from checkrunner.settings import resolve_settings

    if patterns and len(patterns) > 1:
        raise UsageError("one pattern is expected here", hint=f"Write the names as one: {','.join(patterns)}")
    pattern = patterns[0] if patterns else "all"
    flags = {"inventory": inventory, "vault_password_file": vault_password_file, "vault_id": vault_id}
    settings = resolve_settings(flags)
    secrets = make_secrets(settings, ask=ask_vault_password, ask_vault=ask_vault_pass)
    sources = settings.inventory
    if explain:
        asked = pattern if patterns else None
        lines = explain_host(sources, explain, pattern=asked, limit=limit, secrets=secrets, playbook_dir=playbook_dir)
    else:
        lines = list_hosts(sources, pattern, limit, allow_empty=allow_empty, secrets=secrets, playbook_dir=playbook_dir)
    for line in lines:
        typer.echo(safe(line))
    return 0
