"""The use cases of `baseline`: outputs of a run that a person takes for how they should be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from checkrunner.app.choosing import chosen
from checkrunner.findings.fold import fold
from checkrunner.history.store import Store
from checkrunner.judge.baseline import compared
from checkrunner.model.errors import UsageError
from checkrunner.model.history import Baseline
from checkrunner.model.people import Offer, Shown

__all__ = ["accept_baselines", "drop_baselines", "find_run", "offers", "shown_baselines"]

_LOOKED_AT = 100
"""So many runs back one is looked for that has something to accept."""
_OUTPUT = "an output to accept"
_BASELINE = "a baseline"
_HINT = "A check with `baseline` has one where it ran to its end with the return code that is expected"

_Cell = tuple[str, str]


def find_run(store: Store, word: str | None, hosts: Sequence[str], checks: Sequence[str]) -> tuple[int, list[_Cell]]:
    """The run that a word names, and the cells of it that fit; without a word the newest run that has any.

    Raises HistoryError for a run that is not there, and UsageError where there is nothing to accept.
    """
    if word is not None:
        number = store.find(word)
        cells = store.baselined_cells(number)
        if not cells:
            raise UsageError(f"run {number} has no output that could be accepted", hint=_HINT)
        return number, _some(chosen(cells, hosts, checks, what=_OUTPUT), number)
    newest: tuple[int, Sequence[_Cell]] | None = None
    for run in store.runs(limit=_LOOKED_AT):
        cells = store.baselined_cells(run.number)
        if not cells:
            continue
        newest = newest or (run.number, cells)
        try:
            if found := chosen(cells, hosts, checks, what=_OUTPUT):
                return run.number, found
        except UsageError:
            continue
    if newest is None:
        raise UsageError("no run that is stored has an output that could be accepted", hint=_HINT)
    number, cells = newest
    return number, _some(chosen(cells, hosts, checks, what=_OUTPUT), number)


def _some(cells: list[_Cell], number: int) -> list[_Cell]:
    if not cells:
        raise UsageError(f"run {number} has no such output of these checks on these hosts", hint=_HINT)
    return cells


def offers(store: Store, number: int, cells: Sequence[_Cell]) -> list[Offer]:
    """The outputs of a run, equal ones folded over hosts, against what is accepted."""
    playbook = store.summary(number).playbook
    accepted = {(one.host, one.check): one.lines for one in store.baselines(playbook)}
    found: dict[tuple[str, tuple[str, ...], tuple[str, ...] | None], list[str]] = {}
    for host, check in cells:
        lines = store.baselined(number, host, check)
        if lines is not None:
            found.setdefault((check, lines, accepted.get((host, check))), []).append(host)
    return [_offer(check, lines, before, hosts) for (check, lines, before), hosts in found.items()]


def _offer(check: str, lines: tuple[str, ...], before: tuple[str, ...] | None, hosts: list[str]) -> Offer:
    made = None if before is None else compared(before, lines)
    return Offer(
        hosts=fold(hosts),
        names=tuple(hosts),
        check=check,
        lines=lines,
        before=before,
        more=made.more if made else (),
        gone=made.gone if made else (),
    )


def accept_baselines(
    store: Store, number: int, cells: Sequence[_Cell], *, now: datetime, by: str, why: str, mask: Callable[[str], str]
) -> None:
    """Take the outputs of a run for how they should be. `why` is masked."""
    store.accept_baselines(number, cells, now=now, by=by, why=mask(why))


def shown_baselines(store: Store, hosts: Sequence[str], checks: Sequence[str], playbook: str) -> list[Shown]:
    """What is accepted, equal outputs that were accepted together folded over hosts. Raises UnknownNameError for words
    that fit nothing."""
    every = store.baselines(playbook)
    if not every:
        return []
    cells = set(chosen(((one.host, one.check) for one in every), hosts, checks, what=_BASELINE))
    found: dict[tuple[object, ...], list[Baseline]] = {}
    for one in every:
        if (one.host, one.check) in cells:
            alike = (one.playbook, one.check, one.lines, one.run, one.accepted_at, one.by, one.why)
            found.setdefault(alike, []).append(one)
    return [
        Shown(hosts=fold(one.host for one in some), names=tuple(one.host for one in some), first=some[0])
        for some in found.values()
    ]


def drop_baselines(store: Store, hosts: Sequence[str], checks: Sequence[str], playbook: str) -> list[Shown]:
    """Forget what is accepted; returns what it was."""
    gone = shown_baselines(store, hosts, checks, playbook)
    by_playbook: dict[str, list[_Cell]] = {}
    for shown in gone:
        cells = by_playbook.setdefault(shown.first.playbook, [])
        cells += [(host, shown.first.check) for host in shown.names]
    for path, cells in by_playbook.items():
        store.drop_baselines(path, cells)
    return gone
