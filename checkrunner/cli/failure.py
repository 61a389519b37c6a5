"""Errors on their way out: a message on stderr, and on stdout one document for the program that asked for it."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import traceback
from collections.abc import Sequence

import typer

from checkrunner.model.errors import CheckrunnerError

__all__ = ["fail", "forget_closed_stderr", "forget_stdout", "format_wanted"]

_FOR_PROGRAMS = frozenset({"json", "junit", "nagios", "prometheus"})
"""Who reads them gets a document even from a run that could not start."""


def format_wanted(arguments: Sequence[str]) -> str:
    """The format for programs that a `run` or `sweep` command line asks for on stdout, "" for none, told from the raw
    words: parsing may have failed."""
    wanted = ""
    if {"run", "sweep"} & set(arguments):
        for word, following in itertools.pairwise([*arguments, ""]):
            if word == "--format" or word.startswith("--format="):
                wanted = following if word == "--format" else word.removeprefix("--format=")
    return wanted if wanted in _FOR_PROGRAMS else ""


def fail(error: BaseException, code: int, arguments: Sequence[str]) -> int:
    """Say what went wrong and return `code`. Bugs come with their traceback and a request to report them."""
    message = _say(error)
    if wanted := format_wanted(arguments):
        from checkrunner.app.failure import failure_report
        from checkrunner.render import renderer

        renderer(wanted).render(failure_report(message, code), sys.stdout)
    return code


def _say(error: BaseException) -> str:
    """Print it on stderr, always in the form of `render.problems`; returns it for that document."""
    from checkrunner.app.failure import mask_text
    from checkrunner.render.problems import print_error, print_problem

    if isinstance(error, CheckrunnerError):
        print_error(error, sys.stderr, mask=mask_text)
        return str(error)
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        print_problem("error", "interrupted", sys.stderr)
        return "interrupted"
    if hasattr(error, "format_message"):
        from checkrunner.cli.hints import parser_problem

        message, hint = parser_problem(error)
        context = getattr(error, "ctx", None)
        if context is not None:
            typer.echo(context.get_usage(), err=True)
        print_problem("error", message, sys.stderr, hint=hint, mask=mask_text)
        return f"{message}. {hint}" if hint else message
    with contextlib.suppress(OSError):  # a terminal that is gone
        traceback.print_exception(error, file=sys.stderr)
    print_problem(
        "error", "this is a bug in checkrunner", sys.stderr, hint="Please report it with the text above", mask=mask_text
    )
    return f"bug: {type(error).__name__}: {error}"


def forget_stdout() -> None:
    """The reader of stdout went away (`| head`), or its disk is full: nothing more can be said there."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - replaces stdout until the process ends


def forget_closed_stderr() -> None:
    """The terminal is gone: what could not be said there must not become the exit code when Python ends."""
    try:
        sys.stderr.flush()
    except AttributeError:  # it was closed from the beginning, and is None
        return
    except OSError:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - replaces stderr until the process ends
