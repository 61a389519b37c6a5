"""`checkrunner inventory`: takes the arguments of `ansible-inventory` and prints what it prints."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from checkrunner.cli.options import (
    AllowEmpty,
    AskVaultPass,
    ExtraVars,
    Inventory,
    Limit,
    PlaybookDir,
    VaultId,
    VaultPasswordFile,
)

__all__ = ["inventory"]

_ACTIONS = "What to print (one of them)"


def inventory(
    group: Annotated[str, typer.Argument(metavar="GROUP", help="Where --graph starts.", show_default="all")] = "all",
    list_all: Annotated[
        bool, typer.Option("--list", help="All groups and hosts with their variables.", rich_help_panel=_ACTIONS)
    ] = False,
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="NAME", help="The variables of one host.", rich_help_panel=_ACTIONS),
    ] = None,
    as_graph: Annotated[
        bool, typer.Option("--graph", help="The groups as a tree, with their hosts.", rich_help_panel=_ACTIONS)
    ] = False,
    inventory: Inventory = None,
    limit: Limit = None,
    as_yaml: Annotated[bool, typer.Option("--yaml", "-y", help="YAML in place of JSON.")] = False,
    with_vars: Annotated[bool, typer.Option("--vars", help="With --graph: variables too.")] = False,
    export: Annotated[
        bool, typer.Option("--export", help="Variables of groups at the groups, of hosts their own only.")
    ] = False,
    output: Annotated[
        str | None, typer.Option("--output", metavar="FILE", help="Write to a file in place of the screen.")
    ] = None,
    extra_vars: ExtraVars = None,
    playbook_dir: PlaybookDir = ".",
    vault_password_file: VaultPasswordFile = None,
    vault_id: VaultId = None,
    ask_vault_pass: AskVaultPass = False,
    allow_empty: AllowEmpty = False,
) -> int:
    """Print an inventory as ansible-inventory does, with secrets masked. Connects to no host.

    Example: checkrunner inventory -i hosts.ini --graph
    """
    from checkrunner.app.inventory_output import Wanted, inventory_text
    from checkrunner.app.secrets import make_secrets
    from checkrunner.cli.password import ask_vault_password
    from checkrunner.settings import resolve_settings

    flags = {"inventory": inventory, "vault_password_file": vault_password_file, "vault_id": vault_id}
    settings = resolve_settings(flags)
    secrets = make_secrets(settings, ask=ask_vault_password, ask_vault=ask_vault_pass)
    wanted = Wanted(
        sources=settings.inventory, action=_action(list_all, host, as_graph), start=host or group, limit=limit,
        as_yaml=as_yaml, with_vars=with_vars, export=export, extra_vars=tuple(extra_vars or ()),
        playbook_dir=playbook_dir, allow_empty=allow_empty,
    )  # fmt: skip
    text, warnings = inventory_text(wanted, secrets)
    _write(text, output, warnings)
    return 0


def _action(list_all: bool, host: str | None, as_graph: bool) -> str:
    from checkrunner.model.errors import UsageError

    chosen = {"list": list_all, "host": host is not None, "graph": as_graph}
    names = [name for name, is_chosen in chosen.items() if is_chosen]
    if len(names) != 1:
        what = " and ".join(f"--{name}" for name in names) if names else "no action"
        verb = "are" if len(names) > 1 else "is"
        raise UsageError(f"{what} {verb} given; one is needed", hint="Use one of --list, --host NAME and --graph.")
    return names[0]


def _write(text: str, output: str | None, warnings: tuple[str, ...]) -> None:
    from checkrunner.app.failure import mask_text
    from checkrunner.model.errors import SettingsError
    from checkrunner.render.problems import print_problem

    for warning in warnings:
        print_problem("warning", warning, sys.stderr, mask=mask_text)
    if output is None:
        typer.echo(text.removesuffix("\n"))
        return
    try:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as exc:
        raise SettingsError("output", output, "flag", f"it cannot be written: {exc.strerror or exc}") from exc
