"""What makes runs a sweep: one at a time, at its time, and silent unless something got worse."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from time import monotonic, sleep

from checkrunner.app.lock import Lock
from checkrunner.model.errors import UsageError
from checkrunner.model.report import Report

__all__ = ["WORST_FIRST", "Turn", "is_news", "pause", "places_of", "worst"]

WORST_FIRST = (130, 70, 2, 64, 4, 3, 1, 0)
"""Exit codes of several runs: that of the sweep is the first of these that one of them has. What was found comes before
what could not be looked at, and a playbook that could not be run at all before hosts that could not be reached."""

_LOOK_S = 0.1
_PLAYBOOK = "{playbook}"


def worst(codes: Iterable[int]) -> int:
    """The exit code of a sweep whose runs have these."""
    found = set(codes)
    return next((code for code in WORST_FIRST if code in found), max(found, default=0))


def is_news(report: Report) -> bool:
    """Whether anybody has to be told: something got worse since the last run that it can be compared with. Without one,
    whether anything is not ok. A run that did not come to its end is always told of."""
    if report.run.ended != "normal":
        return True
    return report.run.exit_code != 0 if report.drift is None else report.drift.is_worse


def pause(seconds: float, interrupted: Callable[[], bool]) -> None:
    """Wait so long, or until it is interrupted."""
    until = monotonic() + seconds
    while not interrupted() and (left := until - monotonic()) > 0:
        sleep(min(left, _LOOK_S))


class Turn:
    """A sweep's turn among those of its name. Of those that wait there is one; more would never catch up."""

    def __init__(self, running: Lock, waiting: Lock) -> None:
        self._running, self._waiting = running, waiting

    def take(self) -> bool:
        """Take it, if nobody has it."""
        return self._running.take()

    def wait(self, seconds: float | None, interrupted: Callable[[], bool]) -> bool:
        """Wait for it; False where it did not come in time (None: whenever), or another one is waiting already."""
        if not self._waiting.take():
            return False
        until = None if seconds is None else monotonic() + seconds
        try:
            while not interrupted() and (until is None or monotonic() < until):
                if self._running.take():
                    return True
                sleep(_LOOK_S)
            return False
        finally:
            self._waiting.release()

    def release(self) -> None:
        """Let it go."""
        self._running.release()

    def holder(self) -> str:
        """Who has it."""
        return self._running.holder()


def places_of(playbooks: Sequence[str], name: str | None) -> list[str | None]:
    """The file of each playbook where a name was given: ``{playbook}`` in it stands for the playbook's name. Raises
    UsageError where two would write the same file."""
    stems = [os.path.splitext(os.path.basename(playbook))[0] for playbook in playbooks]
    places = [name.replace(_PLAYBOOK, stem) if name and name != "-" else name for stem in stems]
    files = [place for place in places if place and place != "-"]
    if len(set(files)) < len(files):
        raise UsageError(
            f"the playbooks would all write {files[0]}",
            hint=f"{_PLAYBOOK} in the name stands for that of the playbook, which has to be another one for each",
        )
    return places
