"""`checkrunner read`: outputs that were kept with a run, also when the host is gone."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from checkrunner.cli.failure import forget_stdout
from checkrunner.cli.options import History

__all__ = ["READ_EXAMPLES", "read"]

READ_EXAMPLES = """\
Examples:

checkrunner read last web01 app-log --tail 50

checkrunner read last web01 app-log --match 'FATAL|panic' -C 2

checkrunner read last web01/app-log/stdout:118-119,240
"""


def read(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run: its number, its id or how that begins, or last.")],
    host: Annotated[str, typer.Argument(metavar="HOST", help="The host, or an evidence id of a report.")],
    check: Annotated[str | None, typer.Argument(metavar="CHECK", help="The check.")] = None,
    stream: Annotated[
        str | None,
        typer.Option("--stream", metavar="STREAM", help="stdout, or stderr where nothing was written to it."),
    ] = None,
    lines: Annotated[
        str | None, typer.Option("--lines", metavar="A:B", help="These lines: 10:20, 10:, :20, 10,30:40.")
    ] = None,
    head: Annotated[int | None, typer.Option("--head", metavar="N", help="The first lines.")] = None,
    tail: Annotated[int | None, typer.Option("--tail", metavar="N", help="The last lines.")] = None,
    match: Annotated[
        str | None, typer.Option("--match", metavar="RE", help="The lines in which a regular expression is found.")
    ] = None,
    context: Annotated[
        int | None, typer.Option("--context", "-C", metavar="N", help="Lines around each of these.")
    ] = None,
    span: Annotated[
        str | None,
        typer.Option("--bytes", metavar="A:B", help="Bytes of the text that was kept, from 0: 0:1000, -500:."),
    ] = None,
    number: Annotated[bool, typer.Option("--number", "-n", help="Numbers before the lines.")] = False,
    format_name: Annotated[str, typer.Option("--format", metavar="FORMAT", help="text or json.")] = "text",
    history: History = None,
) -> int:
    """Show an output that was kept with a run, or a part of it. The host is not asked: it may be gone.

    What is kept is text, with secrets masked: of checks that are not ok, unless the run's --keep said otherwise. Of a
    large output it is the beginning and the end. docs/keeping.md tells all of it.
    """
    from checkrunner.app.reading import parse_want, place_of, read_output
    from checkrunner.app.recording import open_store
    from checkrunner.render.outputs import check_read_format, facts_of, write_reading
    from checkrunner.settings import resolve_settings

    check_read_format(format_name)
    place = place_of(host, check, stream)
    want = parse_want(lines=lines, head=head, tail=tail, match=match, context=context, span=span)
    with open_store(resolve_settings({"history": history})) as store:
        reading = read_output(store, run, place, want)
    try:
        write_reading(reading, format_name, sys.stdout, numbered=number)
        sys.stdout.flush()
    except BrokenPipeError:  # a reader that has read enough
        forget_stdout()
    if format_name == "text":
        for fact in facts_of(reading):
            typer.echo(fact, err=True)
    return 0
