"""`checkrunner report`: a report that was written to a file, shown or made ready for a language model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from checkrunner.cli.delivery import not_written
from checkrunner.cli.failure import forget_stdout
from checkrunner.cli.options import History, TokensOf

if TYPE_CHECKING:  # only for their names: importing them is put off until they are wanted
    from checkrunner.app.stored import Loaded
    from checkrunner.settings import Settings

__all__ = ["REPORT_EXAMPLES", "report"]

REPORT_EXAMPLES = """\
Examples:

checkrunner run linux-health -o report.json; checkrunner report report.json

checkrunner report last -o report.html -o report.md

checkrunner report report.json --for-llm --budget-tokens 2000 > context.txt

checkrunner run web.yml --format json | checkrunner report - --for-llm | some-model-client
"""


def report(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|RUN|-",
            help="A JSON report, from `run -o FILE` or --format json; - is stdin. Or a run of the history: its number "
            "or id, last, or -2 (after --) for the one before the last.",
        ),
    ],
    for_llm: Annotated[
        bool,
        typer.Option("--for-llm", help="Print exactly what a model would get; its size in tokens goes to stderr."),
    ] = False,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="terminal (default), json, markdown, html, junit, nagios or prometheus.",
        ),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write it there, in the format of its name's end or as FORMAT:FILE; repeatable. Then stdout gets "
            "nothing unless --format says what.",
        ),
    ] = None,
    budget_tokens: Annotated[
        str | None,
        typer.Option(
            "--budget-tokens",
            metavar="N",
            help="Most tokens of what is printed: 4000 with --for-llm, else as many as the file has; 0 for no limit.",
        ),
    ] = None,
    tokens_of: TokensOf = None,
    history: History = None,
    color: Annotated[str | None, typer.Option("--color", metavar="WHEN", help="auto, always or never.")] = None,
) -> int:
    """Show the report of a run, from a file or from the history, or write it in other formats.

    It is shown as `run` shows it, written in the formats of `run`, or made the context of a language model: a few lines
    that say how to read it, and the report as data, in the tokens that are set. Nothing is connected.

    The exit code is 0 when it could be shown, whatever it says: that of its run is `run.exit_code` in it. Only with
    --format nagios it is that of the run, as monitoring systems want it.
    """
    from checkrunner.model.errors import UsageError
    from checkrunner.settings import resolve_settings

    settings = resolve_settings(
        {"budget_tokens": budget_tokens, "tokens_of": tokens_of, "history": history, "color": color}
    )
    if not for_llm:
        return _convert(file, format_name or ("" if output else "terminal"), output or (), settings)
    if format_name is not None or output:
        raise UsageError(
            "--for-llm has a form of its own", hint=f"Leave out {'--output' if output else '--format'}, or --for-llm"
        )
    return _context(file, settings)


def _convert(file: str, format_name: str, output: Sequence[str], settings: Settings) -> int:
    """Everything is looked at before the first format is written."""
    from checkrunner.app.output import prepare_output, write_files, write_screen
    from checkrunner.app.reporting import fitted_report

    destination = prepare_output(format_name, output)
    loaded = _loaded(file, settings, detail=destination.wants_detail)
    shown = fitted_report(loaded.report, settings)
    code = shown.run.exit_code if format_name == "nagios" else 0
    for place, trouble in write_files(destination, shown, loaded.detail):
        code = not_written(place, trouble)
    try:
        write_screen(destination, shown, sys.stdout, color=settings.color, detail=loaded.detail)
    except BrokenPipeError:  # a reader that has read enough
        forget_stdout()
    except OSError as error:
        forget_stdout()
        code = not_written("stdout", error)
    return code


def _loaded(file: str, settings: Settings, *, detail: bool = False) -> Loaded:
    from checkrunner.app.stored import load_run
    from checkrunner.render.problems import print_problem

    loaded = load_run(file, settings, detail=detail)
    if loaded.doubt:
        print_problem("warning", loaded.doubt, sys.stderr)
    return loaded


def _context(file: str, settings: Settings) -> int:
    from checkrunner.app.reporting import model_context

    context = model_context(_loaded(file, settings).report, settings)
    try:
        sys.stdout.buffer.write(context.text.encode())  # to the letter, whatever the terminal's encoding
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
    except OSError as error:
        forget_stdout()
        return not_written("stdout", error)
    typer.echo(context.size, err=True)
    return 0
