"""`checkrunner show`: a run of the store, and what came of single checks in it."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from checkrunner.cli.failure import forget_stdout
from checkrunner.cli.options import History

if TYPE_CHECKING:  # only for its name
    from checkrunner.settings import Settings

__all__ = ["SHOW_EXAMPLES", "show"]

SHOW_EXAMPLES = """\
Examples:

checkrunner show last

checkrunner show -2 --host web01

checkrunner show 20261130T --check disk --format json
"""


def show(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A number, an id or its beginning, last, -2 (the one before last).")
    ] = "last",
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="What came of each check on this host.", show_default=False)
    ] = "",
    check: Annotated[
        str, typer.Option("--check", metavar="CHECK", help="What came of this check on each host.", show_default=False)
    ] = "",
    format_name: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", help="terminal or json; of the report any format that `run` has."),
    ] = "terminal",
    history: History = None,
    color: Annotated[str | None, typer.Option("--color", metavar="WHEN", help="auto, always or never.")] = None,
) -> int:
    """Show the report of a run that is stored, as the run showed it.

    With --host, --check or both it is what the report does not hold: the verdict of each check on each host, since when
    that is so, its reasons and the lines that were shown. No host is asked.

    The exit code is 0 when there was something to show: that of the run is in the report.
    """
    from checkrunner.model.errors import UsageError
    from checkrunner.settings import resolve_settings

    if run.startswith("-") and not run[1:].isdecimal():
        raise UsageError(f"there is no option {run}", hint="`checkrunner show --help` lists them")
    settings = resolve_settings({"history": history, "color": color})
    try:
        if host or check:
            _show_results(settings, run, host, check, format_name)
        else:
            _show_report(settings, run, format_name)
        sys.stdout.flush()
    except BrokenPipeError:  # a reader that has read enough
        forget_stdout()
    return 0


def _show_report(settings: Settings, run: str, format_name: str) -> None:
    from checkrunner.app.recording import open_store
    from checkrunner.app.showing import report_of
    from checkrunner.render import DETAILED, renderer

    shown = renderer(format_name, color=settings.color)
    with open_store(settings) as store, store.reading():
        number = store.find(run)
        report = report_of(store, number)
        detail = store.detail(number) if format_name in DETAILED else None
    shown.render(report, sys.stdout, detail)


def _show_results(settings: Settings, run: str, host: str, check: str, format_name: str) -> None:
    from checkrunner.app.recording import open_store
    from checkrunner.app.showing import results_of
    from checkrunner.model.errors import UnknownNameError
    from checkrunner.render.diff import write_lines
    from checkrunner.render.history import result_lines, results_json
    from checkrunner.render.style import Style

    if format_name not in {"terminal", "json"}:
        raise UnknownNameError("format of single results", format_name, ["terminal", "json"])
    with open_store(settings) as store:
        shown = results_of(store, store.find(run), host=host, check=check)
    noun = "check" if host else "host"
    if format_name == "json":
        typer.echo(results_json(shown.run, shown.results, shown.rest, noun=noun))
        return
    tty = sys.stdout.isatty()
    style = Style(tty if settings.color is None else settings.color)
    width = shutil.get_terminal_size().columns if tty else 1 << 30
    write_lines(result_lines(shown.run, shown.results, shown.rest, noun=noun, style=style, width=width), sys.stdout)
