"""`checkrunner diff`: what changed between two runs."""

from __future__ import annotations

import shutil
import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from checkrunner.cli.failure import forget_stdout
from checkrunner.cli.options import History

__all__ = ["DIFF_EXAMPLES", "diff"]

DIFF_EXAMPLES = """\
Examples:

checkrunner diff

checkrunner diff -2 last

checkrunner diff 20261130T --playbook web.yml --format json
"""


def diff(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN [RUN]]",
            help="The earlier run and the later one: a number, an id or its beginning, last, -2 (the one before last).",
        ),
    ] = None,
    playbook: Annotated[
        str | None,
        typer.Option("--playbook", metavar="PLAYBOOK", help="Without a RUN: the last two runs of this playbook."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Compare runs of two playbooks in what both have.")] = False,
    format_name: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="terminal (default) or json.")
    ] = None,
    history: History = None,
    color: Annotated[str | None, typer.Option("--color", metavar="WHEN", help="auto, always or never.")] = None,
) -> int:
    """Tell what changed between two runs that are kept in the store.

    Each thing that got worse is told with its reason, all that got better in a line, and nothing is printed where
    nothing changed. With one RUN, that is compared with the newest run of the same playbook and selection; without,
    the two newest are.

    The exit code is 1 when something got worse that is neither silenced nor known to flap, else 0.
    """
    from checkrunner.app.diffing import compare
    from checkrunner.app.recording import open_store
    from checkrunner.app.series import playbook_name
    from checkrunner.model.errors import UnknownNameError, UsageError
    from checkrunner.render.diff import diff_json, diff_lines, write_lines
    from checkrunner.render.style import Style
    from checkrunner.settings import resolve_settings

    words = runs or []
    for word in words:
        if word.startswith("-") and not word[1:].isdecimal():
            raise UsageError(f"there is no option {word}", hint="`checkrunner diff --help` lists them")
    if len(words) > 2:
        raise UsageError(f"diff compares two runs, and {len(words)} are named")
    if words and playbook:
        raise UsageError("--playbook is for a diff without a RUN: a run knows its playbook")
    if format_name not in {None, "terminal", "json"}:
        raise UnknownNameError("format", format_name, ["terminal", "json"])
    settings = resolve_settings({"history": history, "color": color})
    with open_store(settings) as store:
        found = compare(
            store, words, playbook=playbook_name(playbook) if playbook else "", force=force, now=datetime.now(UTC)
        )
    try:
        if format_name == "json":
            typer.echo(diff_json(found.before, found.after, found.drift))
        else:
            tty = sys.stdout.isatty()
            style = Style(tty if settings.color is None else settings.color)
            width = shutil.get_terminal_size().columns if tty else 1 << 30
            lines = diff_lines(found.before, found.after, found.drift, found.reasons, style=style, width=width)
            write_lines(lines, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:  # a reader that has read enough
        forget_stdout()
    return found.exit_code
