"""`checkrunner init`: a directory to begin with."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

__all__ = ["init"]


def init(
    directory: Annotated[
        str, typer.Argument(metavar="DIR", help="Where the files go; it is made where it is not there.")
    ] = ".",
    force: Annotated[bool, typer.Option("--force", help="Overwrite the files that are there.")] = False,
) -> int:
    """Write a playbook, its schema for editors, an inventory, settings and a README. They run at once on this machine.

    Files that are there are kept.

    Example: checkrunner init checks
    """
    from checkrunner.app.scaffold import PLAYBOOK, scaffold
    from checkrunner.render.safe import safe

    written = scaffold(directory, force=force)
    for one in written:
        kept = " (it was there; --force overwrites it)" if one.what == "kept" else ""
        typer.echo(safe(f"{one.what} {one.path}{kept}"))
    there = "" if directory == "." else f"cd {shlex.quote(directory)} && "
    typer.echo(safe(f"Next: {there}checkrunner run {PLAYBOOK}"))
    return 0
