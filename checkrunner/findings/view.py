"""A run as others are compared with it: what came of each check on each host, and since when that is so."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from checkrunner.findings.grouping import not_looked_at
from checkrunner.findings.items import own_words
from checkrunner.findings.masks import Masker, own_names
from checkrunner.findings.pairing import OnceCells, Pairing, trunk_of, version_of
from checkrunner.findings.totals import execution_of
from checkrunner.model.history import Cell, CheckVersion, HostCell, RunView, Selection
from checkrunner.model.inventory import Host
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.report import RunInfo
from checkrunner.model.results import Execution, HostState, VerdictState

__all__ = ["Series", "view_of"]

_ALL_BITS = (1 << 32) - 1
_DIGEST = 12
_TROUBLE = frozenset({VerdictState.WARN, VerdictState.CRIT, VerdictState.UNKNOWN})
_LAST_SEEN = "; last seen: "
_WHATEVER = frozenset({"consensus", "quorum"})
"""What is expected by these is what other hosts show, which changes with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What a run is one of: see `RunView.playbook`, `Selection` and `RunView.checks`."""

    playbook: str
    selection: Selection = field(default_factory=Selection)
    checks: Mapping[str, CheckVersion] = field(default_factory=dict)


def view_of(
    outcomes: Sequence[HostOutcome],
    *,
    info: RunInfo,
    series: Series,
    before: RunView | None = None,
    findings: Mapping[tuple[str, str], str] | None = None,
) -> RunView:
    """The run that has just ended. `before` is the last one that it can be compared with, from which it has since when
    things are so; `findings` has the id of the finding of each cell that is part of one.

    What nobody looked at keeps what was known of it (see `Cell`), also the items of a loop that could not be had.
    Cost: about a microsecond for a check that is as it was.
    """
    making = _Making(info.started_at, series.checks, before, findings or {})
    for host in outcomes:
        making.host(host)
    return RunView(
        id=info.id,
        started_at=info.started_at,
        playbook=series.playbook,
        playbook_digest=info.playbook_digest,
        selection=series.selection,
        ended=info.ended,
        complete=info.complete,
        exit_code=info.exit_code,
        hosts=making.hosts,
        checks={**making.checks, **making.items},
        cells=making.cells,
    )


class _Making:
    def __init__(
        self,
        started_at: datetime,
        checks: Mapping[str, CheckVersion],
        before: RunView | None,
        findings: Mapping[tuple[str, str], str],
    ) -> None:
        self._started_at = started_at
        self._findings = findings
        self._digests = _Digests()
        self._cells: dict[tuple[object, ...], Cell] = {}
        self._hosts: dict[tuple[object, ...], HostCell] = {}
        self._before = before
        self._old = before.cells if before else {}
        self.checks = checks
        self.items: dict[str, CheckVersion] = {}
        self.hosts: dict[str, HostCell] = {}
        self.cells: dict[tuple[str, str], Cell] = {}
        self._pairing = Pairing.of(before.checks if before else {}, checks)
        self._renamed = bool(self._pairing.earlier or self._pairing.later)
        once = [key for key, version in checks.items() if version.once]
        self._once = OnceCells(before, map(self._pairing.key_before, once)) if before and once else None
        self._same: dict[str, bool] = {}
        self._item_keys = _items_by_loop(before, self._pairing) if before else {}

    def host(self, host: HostOutcome) -> None:
        """All cells of a host."""
        name = host.host.name
        self.hosts[name] = self._host(name, host.state)
        old, cells, findings = self._old, self.cells, self._findings
        plain = not self._renamed and self._once is None
        for check in host.checks:
            key = check.planned.key
            at = (name, key)
            known = old.get(at) if plain else self._known(name, key)
            if (
                known is not None
                and check.verdict.state is VerdictState.OK
                and known.verdict is VerdictState.OK
                and not known.trail
                and not known.finding
                and known.execution is Execution.DONE
                and at not in findings
                and not known.blind
            ):
                cells[at] = known  # as it was: the usual case, which costs nothing
            else:
                cells[at] = self._cell(host, check, known)
            if key not in self.checks and key not in self.items:
                self._item(key, check.planned)
        if self._item_keys:
            self._carry(name, host)

    def _host(self, name: str, state: HostState) -> HostCell:
        old = self._before.hosts.get(name) if self._before else None
        if old is None:
            return self._host_cell(state, self._started_at, 0)
        same = old.state is state
        tried = HostState.NOT_TRIED not in {state, old.state}
        trail = (old.trail << 1 | (not same and tried)) & _ALL_BITS
        return self._host_cell(state, old.since if same else self._started_at, trail)

    def _host_cell(self, state: HostState, since: datetime | None, trail: int) -> HostCell:
        made = (state, since, trail)
        return self._hosts.setdefault(made, HostCell(state=state, since=since, trail=trail))

    def _known(self, host: str, key: str) -> Cell | None:
        """The cell of the same check in the run before."""
        earlier = self._pairing.key_before(key)
        if self._once is not None and (only := self._once.get(earlier)) is not None:
            return only[1]
        return self._old.get((host, earlier))

    def _cell(self, host: HostOutcome, check: CheckOutcome, known: Cell | None) -> Cell:
        state, execution = check.verdict.state, execution_of(check)
        if check.held_by or not_looked_at(host, check):
            return self._blind(state, execution, known)
        reasons = self._digests.of(check, host.host) if state in _TROUBLE else ""
        finding = self._findings.get((host.host.name, check.planned.key), "")
        was = None if known is None else known.was if known.blind else known.verdict
        if known is None or was is None:
            return self._made(state, execution, reasons, self._started_at, 0, finding)
        same = was is state
        differs = (not same or reasons != known.reasons) and self._is_same(check.planned.key)
        trail = (known.trail << 1 | differs) & _ALL_BITS
        return self._made(state, execution, reasons, known.since if same else self._started_at, trail, finding)

    def _blind(self, state: VerdictState, execution: Execution, known: Cell | None) -> Cell:
        if known is None:
            return self._made(state, execution, "", None, 0, "", True)
        was = known.was if known.blind else known.verdict
        return self._made(state, execution, known.reasons, known.since, known.trail, "", True, was)

    def _made(
        self,
        verdict: VerdictState,
        execution: Execution,
        reasons: str,
        since: datetime | None,
        trail: int,
        finding: str,
        blind: bool = False,
        was: VerdictState | None = None,
    ) -> Cell:
        fields = (verdict, execution, reasons, since, trail, finding, blind, was)
        cell = self._cells.get(fields)
        if cell is None:
            cell = self._cells[fields] = Cell(
                verdict=verdict,
                execution=execution,
                reasons=reasons,
                since=since,
                trail=trail,
                finding=finding,
                blind=blind,
                was=was,
            )
        return cell

    def _is_same(self, key: str) -> bool:
        """Whether the check is the one that it was, whatever it is called."""
        trunk = trunk_of(key)
        if trunk not in self._same:
            self._same[trunk] = not any(self._pairing.difference(trunk))
        return self._same[trunk]

    def _item(self, key: str, planned: PlannedCheck) -> None:
        """An item of a loop is what its loop is; of another check that nobody announced, nothing is known."""
        unknown = CheckVersion(key=key, name=planned.check.name, play=planned.play, command="", rules="")
        self.items[key] = version_of(key, self.checks) or unknown

    def _carry(self, name: str, host: HostOutcome) -> None:
        """The items that a loop had here, where it could not be told which it has now."""
        for check in host.checks:
            key = check.planned.key
            if check.verdict.state is not VerdictState.UNKNOWN and not check.held_by:
                continue
            for item in self._item_keys.get((name, key), ()):
                if (name, item) not in self.cells:
                    known = self._known(name, item)
                    self.cells[name, item] = self._blind(VerdictState.UNKNOWN, Execution.NOT_RUN, known)
                    self._item(item, check.planned)


def _items_by_loop(before: RunView, pairing: Pairing) -> dict[tuple[str, str], list[str]]:
    """The items of each host's loops, as they are called now."""
    found: dict[tuple[str, str], list[str]] = {}
    if any("[" in key for key in before.checks):
        for host, key in before.cells:
            if "[" in key and (now := pairing.key_after(key)):
                found.setdefault((host, trunk_of(now)), []).append(now)
    return found


class _Digests:
    """Digests of reasons. The same words about two hosts are the same, also where they name one of them."""

    def __init__(self) -> None:
        self._masker = Masker()
        self._known: dict[tuple[object, ...], str] = {}
        self._made: dict[tuple[object, ...], str] = {}

    def of(self, check: CheckOutcome, host: Host) -> str:
        """The digest of an outcome that is not ok."""
        words = own_words(check.planned)
        literally = (check.verdict.state, check.verdict.reasons, words)
        digest = self._known.get(literally)
        if digest is None:
            said = _said(check, self._masker, own_names(host), words)
            digest = self._known[literally] = self._made.setdefault(said, _digest(said))
        return digest


def _said(
    check: CheckOutcome, masker: Masker, names: Sequence[str], words: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """What of the reasons counts when runs are compared: what was expected, without numbers; and where nobody could
    look, why, without what the command was last seen doing."""
    out: dict[tuple[str, ...], None] = {}
    for reason in check.verdict.reasons:
        expected = "" if reason.subject in _WHATEVER else masker.mask(reason.expected, names, words)
        why = ""
        if check.verdict.state is VerdictState.UNKNOWN:
            ran = reason.subject == "execution" and reason.actual not in {"not_run", "refused"}
            why = reason.actual if ran else masker.mask(reason.message.partition(_LAST_SEEN)[0], names, words)
        out[reason.subject, expected, why] = None
    return tuple(sorted(out))


def _digest(said: Iterable[Iterable[str]]) -> str:
    """Twelve hexadecimal digits."""
    text = "\x1e".join("\x1f".join(parts) for parts in said)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
