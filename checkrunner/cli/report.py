"""`checkrunner report`: a report that was written to a file, shown or made ready for a language model."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from checkrunner.cli.failure import forget_stdout
from checkrunner.cli.options import TokensOf

__all__ = ["REPORT_EXAMPLES", "report"]

REPORT_EXAMPLES = """\
Examples:

checkrunner run linux-health -o report.json; checkrunner report report.json

checkrunner report report.json --for-llm --budget-tokens 2000 > context.txt

checkrunner run web.yml --format json | checkrunner report - --for-llm | some-model-client
"""


def report(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE|-", help="A JSON report, from `run -o FILE` or --format json; - is stdin."),
    ],
    for_llm: Annotated[
        bool,
        typer.Option("--for-llm", help="Print exactly what a model would get; its size in tokens goes to stderr."),
    ] = False,
    format_name: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="terminal (default) or json.")
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
    color: Annotated[str | None, typer.Option("--color", metavar="WHEN", help="auto, always or never.")] = None,
) -> int:
    """Show a report that a run wrote into a file.

    It is shown as `run` shows it, printed as the JSON that it is, or made the context of a language model: a few lines
    that say how to read it, and the report as data, in the tokens that are set. Nothing but the file is read.

    The exit code is 0 when it could be shown, whatever it says: that of its run is `run.exit_code` in it.
    """
    from checkrunner.app.reporting import load_report, model_context, show_report
    from checkrunner.model.errors import UsageError
    from checkrunner.settings import resolve_settings

    settings = resolve_settings({"budget_tokens": budget_tokens, "tokens_of": tokens_of, "color": color})
    if for_llm and format_name is not None:
        raise UsageError("--for-llm has a form of its own", hint="Leave out --format, or --for-llm")
    try:
        if for_llm:
            context = model_context(load_report(file), settings)
            sys.stdout.buffer.write(context.text.encode())  # to the letter, whatever the terminal's encoding
            sys.stdout.flush()
            typer.echo(context.size, err=True)
        else:
            show_report(file, format_name or "terminal", settings, sys.stdout)
    except BrokenPipeError:  # a reader that has read enough
        forget_stdout()
    except OSError as error:
        forget_stdout()
        raise UsageError(f"the report could not be written to stdout: {error.strerror or error}") from None
    return 0
