"""Which hosts go through which plays together: plays that say how, each by itself, and the others as one. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checkrunner.model.playbook import Play, Share

__all__ = ["Stage", "batches", "stages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Plays that a host goes through at once, from `first` up to but not including `end`. Stages begin when those
    before them have ended on all hosts."""

    first: int
    end: int
    serial: tuple[Share, ...] = ()
    forks: int | None = None
    max_fail: Share | None = None

    def __contains__(self, play: int) -> bool:
        return self.first <= play < self.end


def stages(plays: Sequence[Play]) -> list[Stage]:
    """The stages of a playbook, in order; at least one. A play that says `serial`, `forks` or `max_fail` is one by
    itself, and what lies between such plays is one."""
    found: list[Stage] = []
    last = max(len(plays), 1)
    for index, play in enumerate(plays):
        if play.serial or play.forks is not None or play.max_fail is not None:
            found.append(
                Stage(first=index, end=index + 1, serial=play.serial, forks=play.forks, max_fail=play.max_fail)
            )
        elif found and not _alone(plays[found[-1].first]):
            found[-1] = Stage(first=found[-1].first, end=index + 1)
        else:
            found.append(Stage(first=index, end=index + 1))
    return found or [Stage(first=0, end=last)]


def _alone(play: Play) -> bool:
    return bool(play.serial) or play.forks is not None or play.max_fail is not None


def batches(hosts: int, serial: Sequence[Share]) -> Iterator[range]:
    """The hosts of each batch by their numbers: as large as `serial` says, the last size again and again; all at once
    where it says nothing."""
    begin = number = 0
    while begin < hosts:
        size = serial[min(number, len(serial) - 1)].of(hosts) if serial else hosts
        yield range(begin, min(begin + size, hosts))
        begin += size
        number += 1
