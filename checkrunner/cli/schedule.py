"""`checkrunner schedule`: a sweep as units of systemd or lines of a crontab."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from checkrunner.cli.flags import arguments_of, spread
from checkrunner.cli.run_flags import RunFlags
from checkrunner.cli.sweep_flags import Playbooks, SweepFlags
from checkrunner.model.errors import UsageError

if TYPE_CHECKING:  # only for their names: importing them is put off until they are wanted
    from checkrunner.settings import Settings

__all__ = ["SCHEDULE_EXAMPLES", "schedule"]

SCHEDULE_EXAMPLES = """\
Examples:

checkrunner schedule web.yml -i inventory.yml --every 5m

checkrunner schedule web.yml db.yml -i inventory.yml --cron '*/10 6-22 * * 1-5' --format cron --install
"""


@spread
def schedule(
    playbooks: Playbooks,
    flags: RunFlags,
    sweep: SweepFlags,
    report_format: Annotated[
        str,
        typer.Option("--report-format", metavar="FORMAT", help="The sweep's --format.", rich_help_panel="Output"),
    ] = "terminal",
    every: Annotated[
        str | None, typer.Option("--every", metavar="TIME", help="At equal distances: 30s, 5m, 1h, 1d.")
    ] = None,
    cron: Annotated[
        str | None,
        typer.Option("--cron", metavar="FIELDS", help="Cron's five fields, or @hourly, @daily and the like."),
    ] = None,
    format_name: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="What it becomes: systemd (default) or cron.")
    ] = "systemd",
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="What it is called: checkrunner- and something of its own.")
    ] = "",
    install: Annotated[
        bool,
        typer.Option("--install", help="Put it there: the user's own systemd, or the user's crontab."),
    ] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Take it away again.")] = False,
) -> int:
    """Print what makes systemd or cron run a sweep again and again; --install puts it there.

    Takes the options of `sweep`. Paths become absolute, and the current directory is the one that it runs in. The units
    or lines go to stdout, the next times to stderr.
    """
    from datetime import datetime

    from checkrunner.app.periods import period_of
    from checkrunner.app.scheduling import install as install_job
    from checkrunner.app.scheduling import job_of, laid_open, left_behind, printed, remove, unit_name, when
    from checkrunner.app.sweep_name import absolute

    if install and uninstall:
        raise UsageError("--install and --uninstall do not go together")
    settings = flags.settings()
    requests = [flags.request(playbook, settings) for playbook in playbooks]
    _check_name(name)
    if uninstall:
        _say(remove(name or unit_name(requests), format_name, settings))
        return 0
    period = period_of(every, cron)
    own = replace(flags, inventory=[absolute(source) for source in settings.inventory] or None)
    words = [absolute(playbook) for playbook in playbooks] + arguments_of(own) + arguments_of(sweep)
    words += [] if report_format == "terminal" else ["--format", report_format]
    _check(settings, report_format)
    job = job_of(requests, words, period, name=name, most_s=_most(settings, sweep))
    if install:
        _say(install_job(job, format_name))
    else:
        sys.stdout.write(printed(job, format_name))
    warnings = [*laid_open(flags.extra_vars or ()), *left_behind(settings)]
    _say([*(f"warning: {text}" for text in warnings), when(period, datetime.now().astimezone())])
    return 0


def _check_name(name: str) -> None:
    import re

    if name and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", name):
        raise UsageError(f"--name {name!r} is not a name", hint="Letters, digits, and . _ - within")


def _check(settings: Settings, report_format: str) -> None:
    """What the sweep would refuse is refused now."""
    from checkrunner.app.counting import budget_of
    from checkrunner.render import renderer

    budget_of(settings)
    renderer(report_format)


def _most(settings: Settings, sweep: SweepFlags) -> float | None:
    """The longest that it may take: None without a deadline."""
    jitter = sweep.check()
    deadline = settings.run_options().deadline_s
    if deadline is None:
        return None
    return jitter + deadline * (2 if sweep.if_running == "wait" else 1)


def _say(sentences: list[str]) -> None:
    for sentence in sentences:
        typer.echo(sentence, err=True)
