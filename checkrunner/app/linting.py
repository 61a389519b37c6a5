"""The use case of `lint`: everything that can be known of a playbook without connecting."""

from __future__ import annotations

from collections.abc import Sequence

from checkrunner.app.links import Links
from checkrunner.app.prepare import Request, prepare
from checkrunner.findings.fold import fold
from checkrunner.findings.hostnotes import fold_notes
from checkrunner.plan.lint import Level, Problem, lint

__all__ = ["EXIT_CODES", "lint_playbook"]

EXIT_CODES = {Level.ERROR: 64, Level.WARNING: 1, Level.HINT: 0}
"""What `lint` ends with for the worst problem found; 0 for none."""


def lint_playbook(request: Request) -> Sequence[Problem]:
    """All problems of the playbook, and those of the inventory's connection settings for the hosts it selects.

    Raises what `prepare` raises: a file that cannot be read has no further problems.
    """
    prepared = prepare(request, verify=False)
    links = Links(request.settings)
    notes = fold_notes((plan.host, links.warnings(plan.host)) for plan in prepared.plan.hosts)
    warnings = [*prepared.warnings, *(f"{fold(note.names)}: {note.text}" for note in notes)]
    return [*(Problem(level=Level.WARNING, message=warning) for warning in warnings), *lint(prepared.plan)]
