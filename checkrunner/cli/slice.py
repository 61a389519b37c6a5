"""`checkrunner slice`: the few lines of any output that matter."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from checkrunner.cli.failure import forget_stdout
from checkrunner.cli.options import Redact, TokensOf

__all__ = ["SLICE_EXAMPLES", "slice_lines"]

SLICE_EXAMPLES = """\
Examples:

checkrunner slice /var/log/syslog

journalctl -b | checkrunner slice - --budget-tokens 500

kubectl logs web-1 | checkrunner slice - --format jsonl
"""


def slice_lines(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="The file; - is standard input.")],
    budget_tokens: Annotated[
        str, typer.Option("--budget-tokens", metavar="N", help="How many tokens the rows may take, by estimate.")
    ] = "1000",
    format_name: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", help="text (with a last line on what was left out) or jsonl."),
    ] = "text",
    tokens_of: TokensOf = None,
    redact: Redact = None,
) -> int:
    """Show the few lines of an output that matter, each kind of line once, with how many there are of it.

    Lines are grouped by what they are apart from numbers, ids, times and paths, and ranked by what they tell: trouble
    first, then what is rare. What all lines begin with is left out, and so are secrets.

    A row is the number of the first line of its kind, the count, the text. docs/salience.md says how lines are chosen.
    """
    from checkrunner.app.counting import counter_of
    from checkrunner.app.masking import redactor_of
    from checkrunner.app.slicing import slice_text
    from checkrunner.model.errors import UnknownNameError, UsageError
    from checkrunner.render.slices import SLICE_FORMATS, summary_line, write_slice
    from checkrunner.settings import resolve_settings

    if format_name not in SLICE_FORMATS:
        raise UnknownNameError("format", format_name, SLICE_FORMATS)
    # Taken as text, so that one message says what it may be.
    digits = budget_tokens[:12] if budget_tokens.isascii() and budget_tokens.isdigit() else ""
    if not digits or int(digits) < 1:
        raise UsageError(f"--budget-tokens cannot be {budget_tokens!r}", hint="It is a whole number from 1 on")
    settings = resolve_settings({"tokens_of": tokens_of, "redact": redact})
    sliced = slice_text(
        file,
        int(digits),
        numbered=format_name == "text",
        counter=counter_of(settings),
        redactor=redactor_of(settings),
    )
    try:
        write_slice(sliced.rows, format_name, sys.stdout)
        # Rows are never without the count of what is left out; a program that reads them has it beside them.
        typer.echo(summary_line(sliced.summary, len(sliced.rows)), err=format_name != "text")
        sys.stdout.flush()
    except BrokenPipeError:  # a reader that has read enough
        forget_stdout()
    return 0
