"""The use case of `lint`: everything that can be known of a playbook without connecting."""

from __future__ import annotations

from collections.abc import Sequence

from checkrunner.app.links import Links
from checkrunner.app.prepare import Request, prepare
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
    warnings = [*prepared.warnings, *links.warnings(host.host for host in prepared.plan.hosts)]
    return [*(Problem(level=Level.WARNING, message=warning) for warning in warnings), *lint(prepared.plan)]
