"""Verbs that do something by themselves, and have verbs below them."""

from __future__ import annotations

import typer

__all__ = ["is_below"]


def is_below(context: typer.Context, verb: str) -> bool:
    """Whether a verb below `verb` was called, so that nothing is to be done here. Raises UsageError where options stand
    before it: they would count for nothing."""
    word = context.invoked_subcommand
    if word is None:
        return False
    from checkrunner.model.errors import UsageError

    sources = [context.get_parameter_source(name) for name in context.params]
    if any(source is not None and source.name == "COMMANDLINE" for source in sources):
        raise UsageError(f"options of `{verb} {word}` come behind it", hint=f"checkrunner {verb} {word} --help")
    return True
