"""A report for a run that could not start: readers of JSON get a document even then."""

from __future__ import annotations

from datetime import UTC, datetime

from checkrunner import __version__
from checkrunner.app.identity import new_run_id
from checkrunner.findings.totals import count
from checkrunner.model.report import Report, RunInfo

__all__ = ["failure_report"]


def failure_report(message: str, exit_code: int) -> Report:
    """Nothing was looked at; `run.ended` is ``error`` (``interrupted`` for 130) and `run.error` says why."""
    now = datetime.now(UTC)
    return Report(
        run=RunInfo(
            id=new_run_id(now),
            version=__version__,
            playbook="",
            playbook_digest="",
            inventory=(),
            limit=None,
            started_at=now,
            elapsed_s=0.0,
            ended="interrupted" if exit_code == 130 else "error",
            complete=False,
            exit_code=exit_code,
            error=message,
        ),
        totals=count([]),
    )
