"""`checkrunner history`: the runs of the store, and what is done about the store itself."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from checkrunner.cli.failure import forget_stdout
from checkrunner.cli.groups import is_below
from checkrunner.cli.options import History
from checkrunner.cli.suppressed import resume, suppressed

if TYPE_CHECKING:  # only for its name
    from checkrunner.settings import Settings

__all__ = ["history"]

_FORMATS = ("terminal", "json")

history = typer.Typer(
    invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)


@history.callback()
def _runs(
    context: typer.Context,
    playbook: Annotated[
        str | None, typer.Option("--playbook", metavar="PLAYBOOK", help="Only runs of this playbook.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many runs; 0 for all.")] = 20,
    format_name: Annotated[str, typer.Option("--format", metavar="FORMAT", help="terminal or json.")] = "terminal",
    history: History = None,
    color: Annotated[str | None, typer.Option("--color", metavar="WHEN", help="auto, always or never.")] = None,
) -> int | None:
    """List the runs that are stored, the newest first: when, how many checks came to what, and what changed.

    Each run is stored unless --history none says otherwise, for 90 days and at most 1,000 of a playbook.
    """
    from checkrunner.settings import resolve_settings

    if is_below(context, "history"):
        return None
    return _list(resolve_settings({"history": history, "color": color}), playbook, limit, format_name)


def _list(settings: Settings, playbook: str | None, limit: int, format_name: str) -> int:
    from checkrunner.app.recording import open_store
    from checkrunner.model.errors import UnknownNameError, UsageError
    from checkrunner.render.history import run_lines, runs_json
    from checkrunner.render.style import Style

    if format_name not in _FORMATS:
        raise UnknownNameError("format", format_name, _FORMATS)
    if limit < 0:
        raise UsageError(f"--limit cannot be {limit}", hint="It is a number of runs, 0 for all")
    name = ""
    if playbook is not None:
        from checkrunner.app.series import playbook_name

        name = playbook_name(playbook)
    with open_store(settings) as store, store.reading():
        runs = store.runs(playbook=name, limit=limit or -1)
        count = store.count(playbook=name)
    if format_name == "json":
        _write([runs_json(runs, of=count)])
    else:
        style = Style(sys.stdout.isatty() if settings.color is None else settings.color)
        _write(list(run_lines(runs, of=count, style=style)))
    return 0


@history.command("prune")
def _prune(history: History = None) -> int:
    """Delete what is beyond the limits (history_keep, history_runs, history_bytes), and make the file smaller.

    Each run that is stored lets go what is too old by itself; this is for limits that became much lower.
    """
    from checkrunner.app.recording import open_store
    from checkrunner.settings import resolve_settings

    with open_store(resolve_settings({"history": history})) as store:
        gone = store.prune(datetime.now(UTC))
        left, size = store.count(), store.path.stat().st_size
    _write([f"{gone:,} run{'' if gone == 1 else 's'} deleted, {left:,} left in {size:,} bytes"])
    return 0


history.command("suppressed")(suppressed)
history.command("resume")(resume)


def _write(lines: list[str]) -> None:
    from checkrunner.render.diff import write_lines

    try:
        write_lines(iter(lines), sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:  # a reader that has read enough
        forget_stdout()
