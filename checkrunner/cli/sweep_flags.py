"""What a sweep can be told beyond what a run can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from checkrunner.model.errors import SettingsError, UnknownNameError

__all__ = ["SKIPPED", "Playbooks", "SweepFlags"]

SKIPPED = 75
"""The exit code of a sweep that left the looking to another one."""

_RUNNING = ("skip", "wait", "fail")
_PANEL = "Sweep"

Playbooks = Annotated[
    list[str],
    typer.Argument(metavar="PLAYBOOK", help="Playbook files, or bare names of shipped ones such as linux-health."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepFlags:
    """When it speaks, and how it gets along with others of its kind."""

    always: Annotated[
        bool, typer.Option("--always", help="Report also when nothing got worse.", rich_help_panel=_PANEL)
    ] = False
    if_running: Annotated[
        str,
        typer.Option(
            "--if-running",
            metavar="WHAT",
            help="What to do while the same sweep is running already: skip (default), wait for its end, or fail.",
            rich_help_panel=_PANEL,
        ),
    ] = "skip"
    jitter: Annotated[
        str | None,
        typer.Option(
            "--jitter",
            metavar="TIME",
            help="Begin after a random time up to this one: not all machines at once.",
            rich_help_panel=_PANEL,
        ),
    ] = None

    def check(self) -> float:
        """The most seconds to wait before it begins. Raises SettingsError, UnknownNameError."""
        from checkrunner.model.setting_values import parse_seconds

        if self.if_running not in _RUNNING:
            raise UnknownNameError("value of --if-running", self.if_running, _RUNNING)
        try:
            return parse_seconds(self.jitter or 0)
        except ValueError as error:
            raise SettingsError("jitter", self.jitter, "flag", str(error)) from None
