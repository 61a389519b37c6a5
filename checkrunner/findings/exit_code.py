"""The one place that decides what a run exits with."""

from __future__ import annotations

from checkrunner.findings.totals import looked_everywhere
from checkrunner.model.report import Totals
from checkrunner.model.results import VerdictState

__all__ = ["EXIT_CODES", "exit_code"]

EXIT_CODES = {
    0: "every check was looked at and none is worse than ok",
    1: "at least one warning, nothing worse, and every check was looked at",
    2: "at least one critical finding, whatever else there is",
    3: "some checks or hosts could not be looked at, and what was seen is not critical",
    4: "no host matched (0 with `--allow-empty`)",
    64: "usage: arguments, files, settings or templates are wrong and nothing was connected, or `-o` cannot be written",
    70: "a bug in checkrunner",
    75: "a `sweep` that was skipped: the same one was running",
    130: "interrupted; the report so far is still written",
}
"""All exit codes of the command line and their meaning. 0 to 3 are those of monitoring plugins."""


def exit_code(totals: Totals, ended: str) -> int:
    """The exit code of a run with these totals that ended in this way (see `RunInfo.ended`).

    Critical wins over "could not look" (what was found is certain), which wins over warnings (what was not looked at
    may be worse). Skipped checks count for nothing. A run that ended with an error has the code of that error instead.
    """
    if ended == "interrupted":
        return 130
    if totals.verdict.get(VerdictState.CRIT):
        return 2
    if not looked_everywhere(totals):
        return 3
    return 1 if totals.verdict.get(VerdictState.WARN) else 0
