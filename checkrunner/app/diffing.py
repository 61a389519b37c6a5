"""The use case of `diff`: two stored runs compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from checkrunner.findings.drift import drift_of
from checkrunner.history.store import Store
from checkrunner.model.drift import Change, Drift
from checkrunner.model.errors import HistoryError, UsageError
from checkrunner.model.history import RunView

__all__ = ["Compared", "compare"]

_EVERY_CHANGE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two runs and what changed between them. `reasons` says of changes, by their places, why it is now so on the first
    of their hosts."""

    before: RunView
    after: RunView
    drift: Drift
    reasons: Mapping[int, str]

    @property
    def exit_code(self) -> int:
        """1 when somebody is to be told of something, else 0."""
        return 1 if self.drift.is_worse else 0


def compare(store: Store, words: Sequence[str], *, playbook: str = "", force: bool = False, now: datetime) -> Compared:
    """Compare the runs that the words stand for (see `Store.find`), the earlier first. One word: that run with the
    newest of its series, or where it is that with the one before. None: the two newest runs of a series, of `playbook`
    if that is given.

    Raises HistoryError for what is not there, and UsageError for runs of two playbooks unless `force`.
    """
    first, second = _numbers(store, words, playbook)
    before, after = store.view(first), store.view(second)
    if before.playbook != after.playbook and not force:
        raise UsageError(
            f"run {first} is of {before.playbook}, and run {second} of {after.playbook}",
            hint="--force compares the checks and hosts that both have",
        )
    silences = store.silences()
    hold = [one for one in silences if one.holds_at(now)]
    held = [one for one in silences if one.held_at(before.started_at)]
    drift = drift_of(
        before,
        after,
        silent=lambda host, check: any(silence.covers(host, check) for silence in hold),
        was_silent=lambda host, check: any(silence.covers(host, check) for silence in held),
        most=_EVERY_CHANGE,
    )
    return Compared(before=before, after=after, drift=drift, reasons=_reasons(store, second, drift.changes))


def _numbers(store: Store, words: Sequence[str], playbook: str) -> tuple[int, int]:
    if len(words) == 2:
        return store.find(words[0]), store.find(words[1])
    number = store.find(words[0]) if words else _newest(store, playbook)
    view = store.summary(number)
    later = store.last(view.playbook, view.selection, ended="") if words else None
    if later is not None and later > number:
        return number, later
    earlier = store.last(view.playbook, view.selection, before=number)
    if earlier is None:
        raise HistoryError(
            f"run {number} is the only one of {view.playbook} that can be compared",
            str(store.path),
            hint="Name two runs: `checkrunner history` lists them",
        )
    return earlier, number


def _newest(store: Store, playbook: str) -> int:
    if not playbook:
        return store.find("last")
    newest = store.runs(playbook=playbook, limit=1)
    if not newest:
        raise HistoryError(
            f"it holds no run of {playbook}", str(store.path), hint="`checkrunner history` lists what it holds"
        )
    return newest[0].number


def _reasons(store: Store, number: int, changes: Sequence[Change]) -> dict[int, str]:
    """Of what got worse, as it was kept of the first host."""
    out: dict[int, str] = {}
    for at, change in enumerate(changes):
        if not change.is_worse or not change.check:
            continue
        item = f"[{change.items[0].replace(', ', '][')}]" if change.items else ""
        reasons = store.evidence(number, change.names[0], change.check + item).reasons
        out[at] = "; ".join(reason.message for reason in reasons if reason.message)
    return out
