"""What a run can be compared with: the playbook, the part of it that is run, and its checks."""

from __future__ import annotations

import os
from dataclasses import replace

from checkrunner.app.prepare import Prepared
from checkrunner.app.sweep_name import absolute
from checkrunner.findings.secret_names import is_secret_name
from checkrunner.findings.view import Series
from checkrunner.model.history import Selection
from checkrunner.model.seams import Redactor
from checkrunner.plan.check_versions import check_versions, digest_of

__all__ = ["playbook_name", "series_of"]


def series_of(prepared: Prepared, redactor: Redactor) -> Series:
    """What a prepared run is one of; names of checks are masked."""
    request, plan = prepared.request, prepared.plan
    given = {name: "" if is_secret_name(name) else value for name, value in sorted(plan.setup.extra_vars.items())}
    checks = check_versions(plan, is_secret=is_secret_name)
    return Series(
        playbook=playbook_name(request.playbook),
        selection=Selection(
            limit=request.limit or "",
            tags=tuple(sorted(set(request.tags))),
            skip_tags=tuple(sorted(set(request.skip_tags))),
            params=digest_of(given) if given else "",
            inventory=tuple(map(absolute, request.settings.inventory)),
        ),
        checks={key: replace(version, name=redactor.redact(version.name)) for key, version in checks.items()},
    )


def playbook_name(playbook: str) -> str:
    """The absolute path of a file, the name of a shipped playbook."""
    return os.path.abspath(playbook) if os.path.isfile(playbook) else playbook
