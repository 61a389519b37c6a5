"""The command line as a whole: verbs, errors to exit codes, and the promise about stdout.

Every error ends as one readable message on stderr and a stable exit code; with ``--format json`` stdout holds exactly
one JSON document even then.
"""

from __future__ import annotations

from collections.abc import Sequence

import typer

from checkrunner import __version__
from checkrunner.cli.baseline import baseline
from checkrunner.cli.checks import checks
from checkrunner.cli.diff import DIFF_EXAMPLES, diff
from checkrunner.cli.explain import explain
from checkrunner.cli.failure import fail, forget_closed_stderr, forget_stdout
from checkrunner.cli.history import history
from checkrunner.cli.hosts import hosts
from checkrunner.cli.init import init
from checkrunner.cli.inventory import inventory
from checkrunner.cli.lint import lint
from checkrunner.cli.read import READ_EXAMPLES, read
from checkrunner.cli.report import REPORT_EXAMPLES, report
from checkrunner.cli.run import EXAMPLES, run
from checkrunner.cli.schedule import SCHEDULE_EXAMPLES, schedule
from checkrunner.cli.schema import schema
from checkrunner.cli.show import SHOW_EXAMPLES, show
from checkrunner.cli.silence import SILENCE_EXAMPLES, silence, silences
from checkrunner.cli.slice import SLICE_EXAMPLES, slice_lines
from checkrunner.cli.sweep import SWEEP_EXAMPLES, sweep
from checkrunner.model.errors import CheckrunnerError

__all__ = ["app", "run_command_line"]

_EXIT_USAGE = 64
_EXIT_BUG = 70
_EXIT_INTERRUPTED = 130

# typer vendors its parser in newer versions and depends on it in older ones; the base class is reached through what
# typer itself exports.
_ParserError: type[Exception] = typer.BadParameter.__mro__[2]

_EPILOG = """\
Exit codes: 0 all ok, 1 warnings, 2 critical, 3 could not look everywhere, 4 no host matched, \
64 usage or configuration, 70 bug, 75 skipped (sweep), 130 interrupted.
"""

app = typer.Typer(
    name="checkrunner",
    help="Run diagnostic checks over a fleet and say what is wrong and why.",
    epilog=_EPILOG,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    pretty_exceptions_enable=False,
)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"checkrunner {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
    ),
) -> None:
    """Run diagnostic checks over a fleet and say what is wrong and why."""


app.command("run", epilog=EXAMPLES)(run)
app.command("sweep", epilog=SWEEP_EXAMPLES)(sweep)
app.command("schedule", epilog=SCHEDULE_EXAMPLES)(schedule)
app.command("report", epilog=REPORT_EXAMPLES)(report)
app.add_typer(history, name="history")
app.command("show", epilog=SHOW_EXAMPLES, context_settings={"ignore_unknown_options": True})(show)  # -2 is a run
app.command("diff", epilog=DIFF_EXAMPLES, context_settings={"ignore_unknown_options": True})(diff)  # -2 is a run
app.command("read", epilog=READ_EXAMPLES)(read)
app.add_typer(baseline, name="baseline")
app.command("silence", epilog=SILENCE_EXAMPLES)(silence)
app.add_typer(silences, name="silences")
app.command("init")(init)
app.command("lint")(lint)
app.command("explain")(explain)
app.command("hosts")(hosts)
app.command("inventory")(inventory)
app.command("checks")(checks)
app.command("schema")(schema)
app.command("slice", epilog=SLICE_EXAMPLES)(slice_lines)


def run_command_line(arguments: Sequence[str]) -> int:
    """Run one command line; returns the exit code. Never raises. An empty one asks for help."""
    try:
        return _run(arguments)
    finally:
        forget_closed_stderr()


def _run(arguments: Sequence[str]) -> int:
    try:
        code = app(args=list(arguments) or ["--help"], prog_name="checkrunner", standalone_mode=False)
    except CheckrunnerError as error:
        return fail(error, error.exit_code, arguments)
    except _ParserError as error:
        return fail(error, _EXIT_USAGE, arguments)
    except (KeyboardInterrupt, typer.Abort) as error:
        return fail(error, _EXIT_INTERRUPTED, arguments)
    except BrokenPipeError:
        # A listing whose reader has read enough; a run sees to its report by itself.
        forget_stdout()
        return 0
    except Exception as error:  # noqa: BLE001 - the last line of defence: a bug becomes exit code 70 and a traceback
        return fail(error, _EXIT_BUG, arguments)
    return code if isinstance(code, int) else 0
