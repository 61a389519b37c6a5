"""Options that several verbs share, declared once."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "AllowEmpty",
    "AskVaultPass",
    "ExtraVars",
    "Format",
    "History",
    "Inventory",
    "Keep",
    "KeepRemote",
    "Limit",
    "PlaybookDir",
    "PlaybookName",
    "Redact",
    "SkipTags",
    "Tags",
    "TokensOf",
    "VaultId",
    "VaultPasswordFile",
    "split_words",
]

_KEPT = "What is kept"
_WHICH = "Which hosts and checks"
_WHAT = "Output"

PlaybookName = Annotated[
    str,
    typer.Argument(metavar="PLAYBOOK", help="A playbook file, or the bare name of a shipped one such as linux-health."),
]
Inventory = Annotated[
    list[str] | None,
    typer.Option(
        "--inventory",
        "-i",
        metavar="SOURCE",
        help="Inventory as in Ansible: a file, a directory, a program, a list such as web1,web2, or a node set: "
        "nodeset:web[1-9]. Repeatable. Without it: localhost.",
        rich_help_panel=_WHICH,
    ),
]
Limit = Annotated[
    str | None,
    typer.Option(
        "--limit",
        "-l",
        metavar="PATTERN",
        help="Only hosts of this pattern, e.g. 'web:!web03', @failed.txt or nodeset:web[1-9].",
        rich_help_panel=_WHICH,
    ),
]
ExtraVars = Annotated[
    list[str] | None,
    typer.Option(
        "--extra-vars",
        "-e",
        metavar="VARS",
        help="Variables that win over all others: key=value, JSON/YAML text, or @FILE; repeatable.",
        rich_help_panel=_WHICH,
    ),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tags", "-t", metavar="TAGS", help="Only checks with one of these tags.", rich_help_panel=_WHICH),
]
SkipTags = Annotated[
    list[str] | None,
    typer.Option("--skip-tags", metavar="TAGS", help="Leave out checks with one of these.", rich_help_panel=_WHICH),
]
Redact = Annotated[
    list[str] | None,
    typer.Option(
        "--redact",
        metavar="PATTERN",
        help="Mask what this regular expression fits, too (its group, if it has one); repeatable.",
        rich_help_panel=_WHAT,
    ),
]
AllowEmpty = Annotated[
    bool,
    typer.Option("--allow-empty", help="Exit 0 instead of 4 when no host is selected.", rich_help_panel=_WHICH),
]
VaultPasswordFile = Annotated[
    list[str] | None,
    typer.Option(
        "--vault-password-file",
        "--vault-pass-file",
        metavar="FILE",
        help="File with the password of Ansible vaults, or program that prints it; repeatable.",
        rich_help_panel=_WHICH,
    ),
]
VaultId = Annotated[
    list[str] | None,
    typer.Option(
        "--vault-id",
        metavar="LABEL@FILE",
        help="The same for the vaults of one label; LABEL@prompt asks. Repeatable.",
        rich_help_panel=_WHICH,
    ),
]
AskVaultPass = Annotated[
    bool,
    typer.Option(
        "--ask-vault-pass",
        "--ask-vault-password",
        "-J",
        help="Ask for the password of vaults when it is needed.",
        rich_help_panel=_WHICH,
    ),
]
TokensOf = Annotated[
    str | None,
    typer.Option(
        "--tokens-of",
        metavar="VOCABULARY",
        help="Whose tokens are counted: o200k_base (default), cl100k_base, claude_2, deepseek_v3, or a factor to the "
        "first such as 1.2.",
    ),
]
PlaybookDir = Annotated[
    str,
    typer.Option(
        "--playbook-dir",
        metavar="DIR",
        help="Where group_vars/ and host_vars/ beside the playbook are: the current directory.",
        show_default=False,
        rich_help_panel=_WHICH,
    ),
]

Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="What stdout gets: terminal (default), json, markdown, html, junit, nagios or prometheus.",
        rich_help_panel=_WHAT,
    ),
]
History = Annotated[
    str | None,
    typer.Option(
        "--history",
        metavar="FILE",
        help="The store of runs: this file instead of ~/.local/state/checkrunner/history.db; none for none.",
        rich_help_panel=_KEPT,
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(
        "--keep",
        metavar="WHICH",
        help="Outputs that are fetched and kept with the run: of checks that are not ok (failed, the default), of all, "
        "none. `checkrunner read` shows them.",
        rich_help_panel=_KEPT,
    ),
]
KeepRemote = Annotated[
    str | None,
    typer.Option(
        "--keep-remote",
        metavar="TIME",
        help="Leave the outputs on the hosts for so long after the run.",
        rich_help_panel=_KEPT,
    ),
]


def split_words(values: list[str] | None) -> tuple[str, ...]:
    """Words that may come comma-separated, repeated, or both."""
    return tuple(word.strip() for value in values or () for word in value.split(",") if word.strip())
