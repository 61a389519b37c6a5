"""`checkrunner baseline`: outputs that a person takes for how they should be."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated

import typer

from checkrunner.cli.failure import forget_stdout
from checkrunner.cli.options import History, split_words

__all__ = ["baseline"]

_ACCEPT_EXAMPLES = """\
Examples:

checkrunner baseline accept --check sshd-config --dry-run

checkrunner baseline accept last --check sshd-config --host 'web*' --why 'new bastion'
"""

_Hosts = Annotated[
    list[str] | None,
    typer.Option("--host", metavar="HOST", help="Only of this host, or of hosts such as 'web*'; repeatable."),
]
_Checks = Annotated[
    list[str] | None,
    typer.Option("--check", metavar="CHECK", help="Only of this check, or of checks such as 'net-*'; repeatable."),
]
_Playbook = Annotated[
    str | None,
    typer.Option("--playbook", metavar="PLAYBOOK", help="Only of checks of this playbook."),
]

baseline = typer.Typer(
    name="baseline",
    help="Outputs that are accepted as how they should be, for checks with `baseline`: see docs/baseline.md.",
    no_args_is_help=True,
)


@baseline.command("accept", epilog=_ACCEPT_EXAMPLES)
def _accept(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]",
            help="The run whose outputs are accepted: its number, its id or how that begins, or last. The newest one "
            "that has such outputs unless it is given.",
        ),
    ] = None,
    host: _Hosts = None,
    check: _Checks = None,
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="A word for those who come after you.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, line by line.")] = False,
    history: History = None,
) -> int:
    """Take outputs of a run for how they should be on their hosts; later runs are compared with them.

    What is accepted already is replaced. Without --host and --check all outputs of the run are taken that checks with
    `baseline` had.
    """
    from checkrunner.app.baselines import accept_baselines, find_run, offers
    from checkrunner.app.identity import user_of
    from checkrunner.app.masking import redactor_of
    from checkrunner.app.recording import open_store
    from checkrunner.render.people import offer_lines
    from checkrunner.settings import resolve_settings

    settings = resolve_settings({"history": history})
    hosts, checks = split_words(host), split_words(check)
    with open_store(settings) as store:
        number, cells = find_run(store, run, hosts, checks)
        offered = offers(store, number, cells)
        if not dry_run:
            mask, by = redactor_of(settings).redact, user_of(settings.environment)
            accept_baselines(store, number, cells, now=datetime.now(UTC), by=by, why=why, mask=mask)
    typer.echo(f"{'offered by' if dry_run else 'accepted from'} run {number}:")
    _print(offer_lines(offered, lines=dry_run))
    return 0


@baseline.command("show")
def _show(
    host: _Hosts = None,
    check: _Checks = None,
    playbook: _Playbook = None,
    format_name: Annotated[str, typer.Option("--format", metavar="FORMAT", help="text or json.")] = "text",
    history: History = None,
) -> int:
    """Show what is accepted: with --host or --check the outputs, else which there are."""
    from checkrunner.app.baselines import shown_baselines
    from checkrunner.app.recording import open_store
    from checkrunner.app.series import playbook_name
    from checkrunner.model.errors import UnknownNameError
    from checkrunner.render.people import baseline_lines, baselines_json
    from checkrunner.settings import resolve_settings

    if format_name not in {"text", "json"}:
        raise UnknownNameError("format", format_name, ["text", "json"])
    hosts, checks = split_words(host), split_words(check)
    with open_store(resolve_settings({"history": history})) as store:
        found = shown_baselines(store, hosts, checks, playbook_name(playbook) if playbook else "")
    if format_name == "json":
        _print([baselines_json(found)])
    else:
        _print(baseline_lines(found, lines=bool(hosts or checks)))
        if not found:
            typer.echo("no baseline is accepted", err=True)
    return 0


@baseline.command("drop")
def _drop(
    host: _Hosts = None,
    check: _Checks = None,
    playbook: _Playbook = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    history: History = None,
) -> int:
    """Forget what is accepted: these checks are `unknown` then, until an output is accepted again."""
    from checkrunner.app.baselines import drop_baselines
    from checkrunner.app.recording import open_store
    from checkrunner.app.series import playbook_name
    from checkrunner.model.errors import UsageError
    from checkrunner.render.people import baseline_lines
    from checkrunner.settings import resolve_settings

    hosts, checks = split_words(host), split_words(check)
    if not (hosts or checks or playbook or everything):
        hint = "Name them with --host, --check or --playbook, or say --all"
        raise UsageError("which baselines are to go?", hint=hint)
    with open_store(resolve_settings({"history": history})) as store:
        gone = drop_baselines(store, hosts, checks, playbook_name(playbook) if playbook else "")
    _print([f"dropped {line}" for line in baseline_lines(gone, lines=False) if not line.startswith(" ")])
    if not gone:
        typer.echo("no baseline is accepted", err=True)
    return 0


def _print(lines: Iterable[str]) -> None:
    try:
        for line in lines:
            typer.echo(line)
    except BrokenPipeError:  # a reader that has read enough
        forget_stdout()
