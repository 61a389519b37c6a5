"""Runs a playbook with checkrunner, in this process, and keeps what came of each task on each host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checkrunner.app.prepare import Request, prepare
from checkrunner.app.run import run_prepared
from checkrunner.model.plan import CheckOutcome
from checkrunner.model.report import Report
from checkrunner.settings import resolve_settings

__all__ = ["Ran", "run_tasks"]


class _Watching:
    """An observer that keeps outcomes and looks away from everything else."""

    def __init__(self) -> None:
        self.outcomes: list[CheckOutcome] = []

    def check_finished(self, outcome: CheckOutcome) -> None:
        self.outcomes.append(outcome)

    def __getattr__(self, _name: str) -> Any:
        return lambda *_args, **_more: None


@dataclass(frozen=True)
class Ran:
    """`outcomes` in the order in which they came, an item of a loop each."""

    report: Report
    outcomes: Sequence[CheckOutcome] = field(default_factory=list)

    def of(self, host: str, name: str) -> list[CheckOutcome]:
        """What came of the tasks of that name on a host."""
        return [one for one in self.outcomes if one.host == host and one.planned.check.name == name]


def run_tasks(
    playbook: Path, inventory: Path, folder: Path, *, extra_vars: Sequence[str] = (), limit: str | None = None
) -> Ran:
    """Run it. `folder` is the home of the run: no settings of anybody else count."""
    settings = resolve_settings({"inventory": [str(inventory)]}, environ={"HOME": str(folder)}, cwd=folder)
    prepared = prepare(Request(playbook=str(playbook), settings=settings, extra_vars=tuple(extra_vars), limit=limit))
    watching = _Watching()
    report = run_prepared(prepared, watching)
    return Ran(report, watching.outcomes)
