"""`checkrunner history suppressed` and `history resume`: checks that are not run where they do harm."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from checkrunner.cli.options import History

__all__ = ["resume", "suppressed"]

_Playbook = Annotated[str | None, typer.Option("--playbook", metavar="PLAYBOOK", help="Only checks of this playbook.")]


def suppressed(
    playbook: _Playbook = None,
    format_name: Annotated[str, typer.Option("--format", metavar="FORMAT", help="text or json.")] = "text",
    history: History = None,
) -> int:
    """List the checks that are not run on a host for a while, because they got stuck there beyond what can be ended, or
    cost their session; then those that did so, and are run all the same."""
    from checkrunner.app.breaker import suppressed_checks
    from checkrunner.app.recording import open_store
    from checkrunner.app.series import playbook_name
    from checkrunner.model.errors import UnknownNameError
    from checkrunner.render.people import suppressed_json, suppressed_lines
    from checkrunner.settings import resolve_settings

    if format_name not in {"text", "json"}:
        raise UnknownNameError("format", format_name, ["text", "json"])
    now = datetime.now(UTC)
    with open_store(resolve_settings({"history": history})) as store:
        held, others = suppressed_checks(store, now, playbook_name(playbook) if playbook else "")
    if format_name == "json":
        typer.echo(suppressed_json(held, others))
        return 0
    for line in suppressed_lines(held, others, now):
        typer.echo(line)
    if not held and not others:
        typer.echo("no check has done harm", err=True)
    return 0


def resume(
    host: Annotated[str, typer.Argument(metavar="HOST", help="A host, or hosts such as 'web*'; '*' for all.")],
    check: Annotated[str, typer.Argument(metavar="CHECK", help="A check, or checks such as 'smart-*'; '*' for all.")],
    playbook: _Playbook = None,
    history: History = None,
) -> int:
    """Run a suppressed check again on a host, and forget the harm that it did."""
    from checkrunner.app.breaker import resume_checks
    from checkrunner.app.recording import open_store
    from checkrunner.app.series import playbook_name
    from checkrunner.render.safe import safe
    from checkrunner.settings import resolve_settings

    with open_store(resolve_settings({"history": history})) as store:
        resumed = resume_checks(store, host, check, playbook_name(playbook) if playbook else "")
    for _, name, key in resumed:
        typer.echo(safe(f"{key} is run again on {name}"))
    return 0
