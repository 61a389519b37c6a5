"""`checkrunner silence` and `silences`: what nobody wants to be told of for a while."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from checkrunner.cli.groups import is_below
from checkrunner.cli.options import History

__all__ = ["SILENCE_EXAMPLES", "silence", "silences"]

SILENCE_EXAMPLES = """\
Examples:

checkrunner silence web01 disk --until 3d --why 'disk is on order'

checkrunner silence 'rack7-*' '*' --until '2026-12-24 18:00' --why 'power maintenance'

checkrunner silences

checkrunner silences end 3
"""


def silence(
    host: Annotated[str, typer.Argument(metavar="HOST", help="A host, or hosts such as 'web*'; '*' for all.")],
    check: Annotated[
        str,
        typer.Argument(metavar="CHECK", help="A check, or checks such as 'net-*'; '*' for all, and the host itself."),
    ],
    until: Annotated[
        str,
        typer.Option(
            "--until",
            metavar="TIME",
            help="How long: 90m, 2h, 3d, 1w; or until when: 18:00, 2026-12-24, '2026-12-24 18:00'.",
        ),
    ],
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="Why: reports show it.")],
    history: History = None,
) -> int:
    """Do not tell of a check on a host until then: the exit code does not count it, and it is no news.

    It is still run, kept and reported, behind all others and with who silenced it and why. Times are those of this
    machine's zone, unless they name another one.
    """
    from checkrunner.app.identity import user_of
    from checkrunner.app.masking import redactor_of
    from checkrunner.app.recording import open_store
    from checkrunner.app.silencing import asked_silence, make_silence
    from checkrunner.render.people import silencing_lines
    from checkrunner.render.safe import safe
    from checkrunner.settings import resolve_settings

    settings = resolve_settings({"history": history})
    now = datetime.now(UTC)
    asked = asked_silence(host, check, until=until, why=why, now=now, in_zone=datetime.astimezone)
    mask, by = redactor_of(settings).redact, user_of(settings.environment)
    with open_store(settings, create=True) as store:
        made = make_silence(store, asked, by=by, now=now, mask=mask)
    for line in silencing_lines(made, now):
        typer.echo(line)
    for warning in made.warnings:
        typer.echo(safe(f"warning: {warning}"), err=True)
    return 0


silences = typer.Typer(
    name="silences",
    help="List silences, and end them.",
    invoke_without_command=True,
)

_Format = Annotated[str, typer.Option("--format", metavar="FORMAT", help="text or json.")]


@silences.callback()
def _list(
    context: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Also those that are over.")] = False,
    format_name: _Format = "text",
    history: History = None,
) -> None:
    """List the silences that hold, the oldest first. `silences end` takes one back."""
    if is_below(context, "silences"):
        return
    from checkrunner.app.recording import open_store
    from checkrunner.model.errors import UnknownNameError
    from checkrunner.render.people import silence_line, silences_json
    from checkrunner.settings import resolve_settings

    if format_name not in {"text", "json"}:
        raise UnknownNameError("format", format_name, ["text", "json"])
    now = datetime.now(UTC)
    with open_store(resolve_settings({"history": history})) as store:
        found = store.silences(None if every else now)
    if format_name == "json":
        typer.echo(silences_json(found, now))
        return
    for one in found:
        typer.echo(silence_line(one, now))
    if not found:
        typer.echo("nothing is silenced", err=True)


@silences.command("end")
def _end(
    numbers: Annotated[list[int], typer.Argument(metavar="NUMBER...", help="Numbers as `silences` lists them.")],
    history: History = None,
) -> int:
    """End silences now. They stay listed with --all, and in the reports of their time."""
    from checkrunner.app.recording import open_store
    from checkrunner.render.people import silence_line
    from checkrunner.settings import resolve_settings

    now = datetime.now(UTC)
    with open_store(resolve_settings({"history": history})) as store:
        ended = [store.end_silence(number, now=now) for number in numbers]
    for one in ended:
        typer.echo(silence_line(one, now))
    return 0
