"""`checkrunner run`: a playbook over hosts, a findings report out."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from checkrunner.cli.delivery import check_places, deliver
from checkrunner.cli.explain import check_run
from checkrunner.cli.flags import spread
from checkrunner.cli.options import AskVaultPass, Format, PlaybookName
from checkrunner.cli.params import show_params
from checkrunner.cli.run_flags import RunFlags
from checkrunner.cli.signals import was_interrupted

if TYPE_CHECKING:  # only for their names: importing them is put off until a run is wanted
    from checkrunner.app.exports import Exports
    from checkrunner.app.prepare import Request
    from checkrunner.model.report import Report
    from checkrunner.model.sources import Secret

__all__ = ["EXAMPLES", "run", "run_request"]

_CONNECTION = "Connection"
_OUTPUT = "Output"

EXAMPLES = """\
Examples:

checkrunner run linux-health

checkrunner run web.yml -i inventory.yml -l 'web:!web03' -o report.json

checkrunner run web.yml -i inventory.yml --format json | jq .findings
"""


def _at_a_terminal(interactive: bool) -> bool:
    from checkrunner.cli.asking import require_terminal

    if interactive:
        require_terminal()
    return interactive


@spread
def run(
    playbook: PlaybookName,
    flags: RunFlags,
    format_name: Format = "terminal",
    ask_vault_pass: AskVaultPass = False,
    ask_pass: Annotated[
        bool, typer.Option("--ask-pass", "-k", help="Ask for the SSH password.", rich_help_panel=_CONNECTION)
    ] = False,
    ask_become_pass: Annotated[
        bool,
        typer.Option(
            "--ask-become-pass",
            "-K",
            help="Ask for the password of sudo, doas or su.",
            rich_help_panel=_CONNECTION,
        ),
    ] = False,
    interactive: Annotated[
        bool,
        typer.Option(
            "--interactive",
            callback=_at_a_terminal,
            help="Ask me what commands ask and the playbook does not answer: passwords, confirmations.",
        ),
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", "-C", help="A dry run: say what would run where, rendered, and connect to no host."),
    ] = False,
    help_params: Annotated[
        bool, typer.Option("--help-params", help="List the playbook's parameters and exit; connects to no host.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress on stderr.", rich_help_panel=_OUTPUT)
    ] = False,
    verbose: Annotated[
        int,
        typer.Option("--verbose", "-v", count=True, help="A line per check while running.", rich_help_panel=_OUTPUT),
    ] = 0,
) -> int:
    """Run a playbook's checks on hosts and report what is wrong.

    Output stays on the hosts: the report holds verdicts, metadata and the few lines that matter. Progress goes to
    stderr, the report to stdout.
    """
    settings = flags.settings()
    if help_params:
        return show_params(playbook, settings, format_name)
    places = (flags.output or (), flags.perfdata, flags.metrics)
    destination, exports = check_places(settings, format_name, *places, dry=check)
    password, become_password = _passwords(ask_pass and not check, ask_become_pass and not check)
    request = flags.request(playbook, settings.with_become_password(become_password))
    request = _with_secrets(request, ask_vault_pass, dry=check)
    if check:
        return check_run(request, format_name)
    report = run_request(request, exports, password=password, quiet=quiet, verbose=verbose, interactive=interactive)
    return deliver(destination, exports, report, color=settings.color)


def _with_secrets(request: Request, ask_vault: bool, *, dry: bool) -> Request:
    """The request with what opens secrets, and asks for the password of vaults where it may."""
    from checkrunner.app.secrets import make_secrets
    from checkrunner.cli.password import ask_vault_password

    return replace(
        request, secrets=make_secrets(request.settings, ask=ask_vault_password, ask_vault=ask_vault, dry=dry)
    )


def _passwords(login: bool, become: bool) -> tuple[Secret | None, Secret | None]:
    """The two that a person may be asked for, before anything connects."""
    from checkrunner.cli.password import ask_password

    return (
        ask_password() if login else None,
        ask_password("Become password: ", "ask_become_pass") if become else None,
    )


def run_request(
    request: Request,
    exports: Exports,
    *,
    password: Secret | None = None,
    quiet: bool = False,
    verbose: int = 0,
    interactive: bool = False,
    kind: str = "run",
) -> Report:
    """Prepare the run and do it. `kind` says in the history what it was."""
    from checkrunner.app.prepare import prepare
    from checkrunner.app.recorded import run_recorded
    from checkrunner.app.run import make_redactor
    from checkrunner.cli.asking import TerminalDriver
    from checkrunner.cli.progress import choose_progress

    prepared = prepare(request)
    redactor = make_redactor(prepared, password)
    mask = exports.mask = redactor.redact
    with choose_progress(request.settings, quiet=quiet, verbose=verbose, mask=mask) as observer:
        driver = TerminalDriver(observer, mask=mask) if interactive else None
        recorded = run_recorded(
            prepared,
            observer,
            password=password,
            redactor=redactor,
            interrupted=was_interrupted,
            driver=driver,
            keep=exports.keep,
            kind=kind,
        )
    if recorded.trouble:
        from checkrunner.render.problems import print_problem

        print_problem("warning", mask(recorded.trouble), sys.stderr)
    return recorded.report
