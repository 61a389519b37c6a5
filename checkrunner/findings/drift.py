"""What changed between two runs: cells compared one by one, and folded over hosts and items of loops."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from checkrunner.findings.fold import CUT, fold
from checkrunner.findings.pairing import OnceCells, Pairing, label_of, trunk_of, version_of
from checkrunner.findings.unlike import unlike
from checkrunner.model.drift import Change, ChangeKind, Drift
from checkrunner.model.history import Cell, CheckVersion, RunView
from checkrunner.model.results import HostState, VerdictState

__all__ = ["MOST_CHANGES", "Silent", "drift_of", "kind_of"]

MOST_CHANGES = 200
"""So many are listed. They are folded already: more of them is a fleet that was changed, not one that has trouble."""

Silent = Callable[[str, str], bool]
"""Whether nobody is to be told of a check (by key; "" for the host itself) on a host for now."""

_HOST_CHARS = 2000
_OK, _WARN, _CRIT, _UNKNOWN, _SKIPPED = (
    VerdictState.OK,
    VerdictState.WARN,
    VerdictState.CRIT,
    VerdictState.UNKNOWN,
    VerdictState.SKIPPED,
)
_TROUBLE = frozenset({_WARN, _CRIT, _UNKNOWN})
_BADNESS = {str(state): at for at, state in enumerate((_CRIT, _UNKNOWN, _WARN, _SKIPPED, _OK))}
_ORDER = {kind: at for at, kind in enumerate(ChangeKind)}
_STAYS, _HEARD = "it does not change any more", "nobody silences it any more"
_RUNS, _EXPECTS, _BOTH = "it runs something else", "it expects something else", "it runs and expects something else"


def drift_of(
    before: RunView,
    after: RunView,
    *,
    silent: Silent | None = None,
    was_silent: Silent | None = None,
    most: int = MOST_CHANGES,
) -> Drift:
    """What changed from the earlier run to the later one; at most `most` changes are listed, the worst first.

    What became of a host stands for all of its checks, and what became of a check for those that follow it or need it.
    `was_silent` is `silent` at the time of the earlier run: trouble that was silenced then and is so no longer is told.
    Runs of other selections are compared in what both have; of one selection, hosts and checks that only one has count
    as well. The order of cells does not matter. Cost: a quarter of a microsecond for each cell that is ok in both.
    """
    return _Comparison(before, after, silent or _nobody, was_silent or _nobody).drift(most)


def kind_of(before: VerdictState | None, after: VerdictState | None, *, same_reasons: bool = True) -> ChangeKind | None:
    """What became of a check that came to `before` (None: it was not there, or nobody could look) and then to `after`
    (None: it is not there any more). None where that is no change, or none that anybody would want to know of."""
    if after is None:
        return ChangeKind.DROPPED if before is _OK or before in _TROUBLE else None
    if before is after:
        return None if same_reasons or after not in _TROUBLE else ChangeKind.CHANGED
    match after:
        case VerdictState.OK:
            return ChangeKind.RECOVERY if before in _TROUBLE else None
        case VerdictState.UNKNOWN:
            return ChangeKind.UNSEEN
        case VerdictState.SKIPPED:
            if before is _UNKNOWN:
                return ChangeKind.SEEN
            return ChangeKind.DROPPED if before is not None else None
        case VerdictState.WARN if before is _CRIT:
            return ChangeKind.RECOVERY
    return ChangeKind.REGRESSION


def _nobody(_host: str, _check: str) -> bool:
    return False


@dataclass(slots=True)
class _Fold:
    """Equal changes of a check: what they have in common is their key in `_Comparison._folds`. `hosts` are by item; the
    rest is over all of them."""

    hosts: dict[str, list[str]] = field(default_factory=dict)
    since: datetime | None = None
    before_since: datetime | None = None
    findings: Counter[str] = field(default_factory=Counter)

    def add(self, item: str, host: str, since: datetime | None, before_since: datetime | None, finding: str) -> None:
        """One cell more."""
        self.hosts.setdefault(item, []).append(host)
        self.since = _earlier(self.since, since)
        self.before_since = _earlier(self.before_since, before_since)
        if finding:
            self.findings[finding] += 1


_Key = tuple[ChangeKind, str, str, str, bool, bool, str]
"""Kind, check without its item, before, after, flapping, silenced, note."""


class _Comparison:
    def __init__(self, before: RunView, after: RunView, silent: Silent, was_silent: Silent) -> None:
        self._before, self._after, self._silent, self._was_silent = before, after, silent, was_silent
        self._pairing = Pairing.of(before.checks, after.checks)
        self._plain = not (self._pairing.earlier or self._pairing.later)
        self._alike = before.playbook == after.playbook and before.selection == after.selection
        self._once = {trunk_of(key) for key, version in after.checks.items() if version.once}
        earlier = {self._pairing.key_before(key) for key in self._once}
        self._once_before, self._once_after = OnceCells(before, earlier), OnceCells(after, self._once)
        self._folds: dict[_Key, _Fold] = {}
        self._unchanged = 0
        self._notes: dict[str, str] = {}
        self._places = {host: at for at, host in enumerate({**before.hosts, **after.hosts})}

    def drift(self, most: int) -> Drift:
        self._hosts()
        self._cells()
        self._left()
        changes = sorted(self._listed(), key=lambda change: change.rank)
        return Drift(
            against=self._before.id,
            against_started_at=self._before.started_at,
            unlike=tuple(unlike(self._before, self._after, self._pairing)),
            changes=tuple(change.made() for change in changes[:most]),
            unchanged=self._unchanged,
            worse=sum(change.is_worse for change in changes),
            left_out=len(changes[most:]),
        )

    def _hosts(self) -> None:
        """What became of hosts."""
        before = self._before.hosts
        for host, now in self._after.hosts.items():
            was = before.get(host)
            if was is None and not self._alike:
                continue
            state = was.state if was else None
            untried = state is HostState.NOT_TRIED
            if now.state is HostState.NOT_TRIED or (untried and self._before.ended != "normal"):
                continue
            kind = _host_kind(None if untried else state, now.state)
            away = now.state is not HostState.REACHED
            heard = away and kind is None and self._is_heard(host, "")
            flapped = was is not None and was.is_flapping and not heard
            stays = kind is None and away and flapped and not now.is_flapping
            if kind is None and not stays and not heard:
                self._unchanged += away
                continue
            if now.is_flapping and not flapped:
                kind = ChangeKind.FLAPPING
            key = (
                kind or ChangeKind.UNSEEN,
                "",
                str(state or ""),
                str(now.state),
                now.is_flapping and flapped,
                self._silent(host, ""),
                _STAYS if stays else _HEARD if heard else "",
            )
            self._fold(key, "", host, now.since, was.since if was else None, "")
        if self._alike:
            for host, was in before.items():
                if host not in self._after.hosts:
                    key = (ChangeKind.DROPPED, "", str(was.state), "", False, self._silent(host, ""), "")
                    self._fold(key, "", host, None, was.since, "")

    def _cells(self) -> None:
        """What became of the checks that the later run has."""
        old = self._before.cells
        plain = self._plain and not self._once
        for at, now in self._after.cells.items():
            was = old.get(at) if plain else self._was(at)
            if was is not None and was.verdict is now.verdict and not (now.blind or was.blind):
                if now.verdict is _OK or now.verdict is _SKIPPED:
                    continue
                if was.reasons == now.reasons and not was.trail and not self._was_silent(*at):
                    self._unchanged += 1
                    continue
            self._cell(at, was, now)

    def _was(self, at: tuple[str, str]) -> Cell | None:
        host, key = at
        earlier = self._pairing.key_before(key)
        if trunk_of(key) in self._once and self._once_after.get(key) and (only := self._once_before.get(earlier)):
            return only[1]
        return self._before.cells.get((host, earlier))

    def _cell(self, at: tuple[str, str], was: Cell | None, now: Cell) -> None:
        host, key = at
        if now.blind or (was is None and not self._is_told_as_new(host, key)):
            return  # what nobody looked at is told with its host, or with the check that it needs
        known = None if was is None else was.was if was.blind else was.verdict
        if known is None and was is not None and self._before.ended != "normal":
            return
        same = was is not None and was.reasons == now.reasons
        kind = kind_of(known, now.verdict, same_reasons=same)
        trouble = now.verdict is not _OK and now.verdict is not _SKIPPED
        heard = trouble and not (kind and kind.is_worse) and self._is_heard(host, key)
        if heard:
            kind = ChangeKind.REGRESSION
        flapped = was is not None and was.is_flapping and not heard
        stays = kind is None and trouble and flapped and not now.is_flapping
        if kind is None and not stays:
            self._unchanged += trouble
            return
        if now.is_flapping and not flapped:
            kind = ChangeKind.FLAPPING
        fold = (
            kind or ChangeKind.REGRESSION,
            trunk_of(key),
            str(known or ""),
            str(now.verdict),
            now.is_flapping and flapped,
            self._silent(host, key),
            ", ".join(filter(None, (self._note(key), _STAYS if stays else _HEARD if heard else ""))),
        )
        self._fold(fold, _item(key), host, now.since, was.since if was else None, now.finding)

    def _is_heard(self, host: str, key: str) -> bool:
        """Whether it was silenced then and is not now."""
        return self._was_silent(host, key) and not self._silent(host, key)

    def _is_told_as_new(self, host: str, key: str) -> bool:
        """Whether what only the later run has counts at all."""
        if not self._alike and (host not in self._before.hosts or trunk_of(key) in self._pairing.new):
            return False
        version = version_of(key, self._after.checks)
        return version is None or not version.follows

    def _left(self) -> None:
        """What became of the checks that only the earlier run has."""
        after = self._after
        if self._plain and not self._once:
            left: Iterable[tuple[str, str]] = self._before.cells.keys() - after.cells.keys()
        else:
            left = [at for at in self._before.cells if not self._is_there(at)]
        for at in left:
            host, key = at
            version = version_of(key, self._before.checks)
            if host not in after.hosts or (version is not None and version.follows):
                continue
            later = self._pairing.key_after(key)
            if not self._alike and (not later or trunk_of(later) not in self._kept):
                continue
            loop = after.cells.get((host, trunk_of(later))) if "[" in later else None
            was = self._before.cells[at]
            if loop is not None and (loop.blind or loop.verdict is _UNKNOWN):
                continue
            known = was.was if was.blind else was.verdict
            if (kind := kind_of(known, None)) is not None:
                fold = (kind, trunk_of(key), str(known), "", False, self._silent(host, key), "")
                self._fold(fold, _item(key), host, None, was.since, "")

    @functools.cached_property
    def _kept(self) -> frozenset[str]:
        return frozenset(map(trunk_of, self._after.checks))

    def _is_there(self, at: tuple[str, str]) -> bool:
        """Whether the later run has it, perhaps under another name or on another host."""
        host, key = at
        later = self._pairing.key_after(key)
        if trunk_of(later) in self._once and self._once_after.get(later) and self._once_before.get(key):
            return True
        return (host, later) in self._after.cells

    def _note(self, key: str) -> str:
        """What is different about the check itself."""
        trunk = trunk_of(key)
        note = self._notes.get(trunk)
        if note is None:
            runs, expects = self._pairing.difference(trunk)
            changed = _BOTH if runs and expects else _RUNS if runs else _EXPECTS if expects else ""
            renamed = f"renamed from {earlier}" if (earlier := self._pairing.earlier.get(trunk)) else ""
            note = self._notes[trunk] = ", ".join(filter(None, (changed, renamed)))
        return note

    def _fold(
        self, key: _Key, item: str, host: str, since: datetime | None, was_since: datetime | None, finding: str
    ) -> None:
        self._folds.setdefault(key, _Fold()).add(item, host, since, was_since, finding)

    def _listed(self) -> Iterator[_Listed]:
        """The changes, items that have the same hosts in one."""
        order = {trunk: at for at, trunk in enumerate(dict.fromkeys(map(trunk_of, self._after.checks)))}
        folded = functools.cache(_folded)
        for key, fold_ in self._folds.items():
            by_hosts: dict[tuple[str, ...], list[str]] = {}
            for item, hosts in fold_.hosts.items():
                names = tuple(sorted(hosts, key=lambda host: self._places.get(host, 0)))
                by_hosts.setdefault(names, []).append(item)
            version = version_of(key[1], self._after.checks) or version_of(key[1], self._before.checks)
            for names, items in by_hosts.items():
                yield _Listed(key, fold_, names, sorted(items), version, order.get(key[1], len(order)), folded)


@dataclass(slots=True)
class _Listed:
    """A change before it is written out: most of many thousands are not."""

    key: _Key
    fold: _Fold
    names: tuple[str, ...]
    items: Sequence[str]
    version: CheckVersion | None
    place: int
    folded: Callable[[tuple[str, ...]], str]

    @property
    def is_worse(self) -> bool:
        """As `Change.is_worse`."""
        kind, _, _, _, flapping, silenced, _ = self.key
        return kind.is_worse and not flapping and not silenced

    @property
    def rank(self) -> tuple[object, ...]:
        """What somebody is to be told comes first: hosts that are away, what is worst now, what is on most hosts."""
        kind, check, before, after, *_, note = self.key
        told = self.is_worse
        bad = 0 if not check else 1 + _BADNESS.get(after if kind.is_worse else before, len(_BADNESS))
        by_kind = 0 if told else 1 + _ORDER[kind]
        return not told, by_kind, bad, -len(self.names), self.place, before, note, self.items, self.names

    def made(self) -> Change:
        """The change as it is told."""
        kind, check, before, after, flapping, silenced, note = self.key
        many = len(self.items) > 1
        name = self.version.name if self.version else ""
        found = self.fold.findings
        return Change(
            hosts=self.folded(self.names),
            names=self.names,
            kind=kind,
            check=check if many else check + self.items[0],
            name=name,
            items=tuple(map(label_of, self.items)) if many else (),
            item_count=len(self.items) if many else 0,
            before=before,
            after=after,
            since=self.fold.since,
            before_since=self.fold.before_since,
            finding=min(found, key=lambda one: (-found[one], one)) if found else "",
            flapping=flapping,
            silenced=silenced,
            note=note,
        )


def _host_kind(before: HostState | None, after: HostState) -> ChangeKind | None:
    if before is after:
        return None
    if after is HostState.REACHED:
        return None if before is None else ChangeKind.SEEN
    return ChangeKind.UNSEEN if before in {None, HostState.REACHED} else ChangeKind.CHANGED


def _item(key: str) -> str:
    """``[/var]`` of ``disk[/var]``; "" where it is no item."""
    return key[len(trunk_of(key)) :]


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min(one, other) if one and other else one or other


def _folded(names: tuple[str, ...]) -> str:
    """The folded names; where they are too long, those of the first hosts and dots."""
    text, keep = fold(names), len(names)
    while len(text) > _HOST_CHARS and keep > 1:
        keep = max(1, min(keep - 1, keep * _HOST_CHARS // len(text)))
        text = fold(names[:keep])
    return text if keep == len(names) else text + CUT
