"""What is said of a run that could not start: readers of JSON get a document even then, and secrets stay out of it."""

from __future__ import annotations

from datetime import UTC, datetime

from checkrunner import __version__
from checkrunner.app.identity import new_run_id
from checkrunner.findings.redact import PatternRedactor
from checkrunner.findings.totals import count
from checkrunner.model.report import Report, RunInfo

__all__ = ["failure_report", "mask_text"]


def mask_text(text: str) -> str:
    """`text` without what looks like a secret. Which values are secret is not known before the files are read."""
    return PatternRedactor().redact(text)


def failure_report(message: str, exit_code: int) -> Report:
    """Nothing was looked at; `run.ended` is ``error`` (``interrupted`` for 130) and `run.error` says why, secrets
    masked."""
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
            error=mask_text(message),
        ),
        totals=count([]),
    )
