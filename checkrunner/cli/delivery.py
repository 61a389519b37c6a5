"""Where what a verb has made goes: looked at before it starts, and written at its end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from checkrunner.cli.explain import refuse_files
from checkrunner.cli.failure import forget_stdout
from checkrunner.model.errors import UsageError

if TYPE_CHECKING:  # only for their names: importing them is put off until they are wanted
    from checkrunner.app.exports import Exports
    from checkrunner.app.output import ReportOutput
    from checkrunner.model.report import Report
    from checkrunner.settings import Settings

__all__ = ["check_places", "deliver", "not_written"]


def check_places(
    settings: Settings,
    format_name: str,
    output: Sequence[str],
    perfdata: str | None,
    metrics: str | None,
    *,
    dry: bool,
) -> tuple[ReportOutput, Exports]:
    """Where report and values go, and how large the report may be: all looked at before anything connects."""
    from checkrunner.app.counting import budget_of
    from checkrunner.app.exports import prepare_exports
    from checkrunner.app.output import prepare_output

    budget_of(settings)
    destination = prepare_output(format_name, output)
    if dry:
        refuse_files(format_name, output, perfdata, metrics)
    return destination, prepare_exports(perfdata, metrics, destination)


def deliver(
    destination: ReportOutput, exports: Exports, report: Report, *, color: bool | None, screen: bool = True
) -> int:
    """Write the report, and the values where they are wanted; to stdout only with `screen`. The exit code is the run's,
    unless something could not be written where it was wanted."""
    from checkrunner.app.output import write_files, write_screen

    code = report.run.exit_code
    for place, trouble in write_files(destination, report, exports.detail):
        code = not_written(place, trouble)
    try:
        for place, trouble in exports.write(report.run.started_at, sys.stdout):
            code = not_written(place, trouble, "the values")
        if screen and not exports.take_stdout:
            write_screen(destination, report, sys.stdout, color=color, detail=exports.detail)
    except BrokenPipeError:
        forget_stdout()
    except OSError as error:
        forget_stdout()
        failed = not_written("stdout", error)
        # A terminal that was closed ends the run and takes the report no more.
        code = code if report.run.ended == "interrupted" else failed
    return code


def not_written(where: str, error: OSError, what: str = "the report") -> int:
    """Say so, and return the exit code of that."""
    from checkrunner.render.problems import print_problem

    print_problem("error", f"{what} could not be written to {where}: {error.strerror or error}", sys.stderr)
    return UsageError.exit_code
