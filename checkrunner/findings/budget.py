"""A report cut to a number of tokens. What gives way is told: as omissions, folded by kind so that they stay few.

Portions are taken in one fixed order, whatever the limit, up to the first that does not fit: so a larger limit shows
what a smaller one does, and more. Only then is the rest of the room filled with whatever still fits.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from checkrunner.findings.entries import alone, briefest, bulk, bulk_of, frame_of, shortened, with_entries
from checkrunner.findings.leftout import BUDGET, few_kinds, folded_omissions, more_findings
from checkrunner.findings.portions import Detail, Portions, clipped, within
from checkrunner.findings.scale import Scale, settled
from checkrunner.model.report import Finding, Omission, Report, RunInfo
from checkrunner.model.seams import TokenCounter

__all__ = ["fit"]

_IN_ORDER = 120
"""Larger details do not stop others: they are looked at when the rest is through."""
_MOST_TRIES = 400
_LEAST_PART = 6
_SLACK = 8
_MOST_ROUNDS = 12
_SAMPLE = 40
_COUNTED = 90
"""What it takes to say how much was left out, without names."""
_NAMES, _KINDS, _NAME_CHARS = 16, 40, 60
"""One part in so many of a limit is kept for the names of checks that are left out, and for kinds of what else is."""
_VERDICTS = 24
_BULK = 16
"""A text of more characters for each token of the limit is not even weighed: it will not fit."""
_RUN_TOKENS, _ERROR_TOKENS = 14, 36
_KIND_TOKENS = 24
_WHOLE = 3.0
"""What is shown in short has the whole at a level so many times as high."""
_FACTORS = {
    "incomplete": 1.5,
    "suppressed": 1.5,
    "unlike": 2.5,
    "change": 3.0,
    "redacted": 3.0,
    "limit": 4.0,
    "inventory": 4.0,
    "wait": 4.0,
    "message": 5.0,
    "warning": 6.0,
    "value": 7.0,
    "digest": 8.0,
}
_WORDS = {
    "line": "line",
    "variant": "variant",
    "incomplete": "group of incomplete hosts",
    "suppressed": "suppressed check",
    "unlike": "difference between the runs",
    "change": "change",
    "limit": "omission",
    "wait": "wait",
    "message": "message",
    "warning": "warning",
    "value": "values of a check",
}
_REST, _FINDING = "detail", "finding"
_KNOWN = {*_WORDS.values(), _REST, _FINDING}


@dataclass(order=True, slots=True)
class _Part:
    """Something that may be shown. `add` makes it be shown."""

    level: float
    number: int
    kind: str = field(compare=False)
    weigh: Callable[[], int] = field(compare=False)
    add: Callable[[], None] = field(compare=False)
    allowed: Callable[[], bool] = field(compare=False, default=lambda: True)
    count: int = field(compare=False, default=1)
    owner: int = field(compare=False, default=0)
    cost: int = field(compare=False, default=-1)

    def size(self) -> int:
        """Its cost, weighed once."""
        if self.cost < 0:
            self.cost = max(1, self.weigh())
        return self.cost


def fit(
    report: Report, limit: int | None, to_text: Callable[[Report], str], counter: TokenCounter | None = None
) -> Report:
    """The report in at most `limit` tokens (at least `LEAST_BUDGET`; None: as it is), with the entry about its size.

    `to_text` writes the document that the limit is for. Findings keep their order and their names one by one; totals
    stay as they are. Cost: what is shown is weighed once, and of what is not shown a sample.
    """
    scale = Scale(to_text, counter)
    if limit is None or bulk_of(report) <= _BULK * limit:
        whole = settled(report, scale, limit)
        if limit is None or whole.budget.used <= limit:
            return whole
    # Estimates say too much rather than too little. Should they not, then the filling gives way, and the order last.
    room = filled = limit
    for _ in range(_MOST_ROUNDS):
        fitting = _Fitting(report, limit, room, filled, scale)
        made = fitting.made()
        over = made.budget.used - limit
        if over <= 0:
            return made
        if fitting.filled:
            filled -= over + _SLACK
        else:
            room -= over + _SLACK
    return _Fitting(report, limit, 0, 0, scale).made()


class _Fitting:
    """One try. `filled` says whether it used room that the order had left."""

    def __init__(self, report: Report, limit: int, room: int, filled: int, scale: Scale) -> None:
        self._report = report
        self._limit = limit
        self._scale = scale
        self._shown: list[Portions] = []
        self._kept: dict[str, dict[int, object]] = {kind: {} for kind in _FACTORS}
        self._rest: list[_Part] = []
        self._number = 0
        self.filled = False
        self._parts: list[_Part] = []
        told = {one for one in report.omissions if one.why == BUDGET and one.what in _KNOWN}
        self._others_told = folded_omissions(one for one in report.omissions if one not in told)
        self._before = {one.what: one for one in folded_omissions(one for one in report.omissions if one in told)}
        self._base = self._bare()
        checks = {finding.check for finding in report.findings}
        names = sum(scale.text(clipped(check, _NAME_CHARS)) + 4 for check in checks) if len(checks) < limit else limit
        self._names = min(limit // _NAMES, names + _VERDICTS)
        told_once = [scale.text(play) + 4 for play in self._plays.values() if self._one_play]
        fixed = scale.report(self._base) + sum(told_once)
        self._left = room - fixed - self._names - _COUNTED - limit // _KINDS
        self._room = filled

    def made(self) -> Report:
        """The report that fits, as far as estimates go."""
        self._in_order()
        report = self._assembled(names=0)
        for _ in range(3):
            self._left = self._room - report.budget.used - self._names
            if not self._fill():
                break
            self.filled = True
            report = self._assembled(names=0)
        room = self._room - report.budget.used
        if room <= 0 or not (self._omitted() or _FINDING in self._before):
            return report
        self.filled = True
        return self._assembled(names=room)

    def _bare(self) -> Report:
        """What is always shown."""
        report = self._report
        plays = {finding.play for finding in report.findings}
        self._plays = {play: within(play, _RUN_TOKENS, self._scale) for play in plays}
        self._one_play = len(plays) == 1
        run = report.run
        short: RunInfo = replace(
            run,
            id=within(run.id, _RUN_TOKENS, self._scale),
            version=within(run.version, _RUN_TOKENS // 2, self._scale),
            playbook=within(run.playbook, _RUN_TOKENS, self._scale),
            playbook_digest="",
            inventory=(),
            limit=None if run.limit is None else within(run.limit, _RUN_TOKENS, self._scale),
            error=within(run.error, _ERROR_TOKENS, self._scale),
            waits=(),
        )
        drift = report.drift and briefest(report.drift, within(report.drift.against, _RUN_TOKENS, self._scale))
        bare = Report(run=short, totals=report.totals, drift=drift, schema=report.schema)
        return settled(bare, self._scale, self._limit)

    def _in_order(self) -> None:
        """Portions in their order, up to the first that does not fit."""
        parts = self._parts = list(self._others())
        heapq.heapify(parts)
        upcoming = 1
        while True:
            if upcoming <= len(self._report.findings) and (not parts or upcoming <= parts[0].level):
                if not self._take_finding(upcoming):
                    return
                upcoming += 1
            elif parts:
                part = heapq.heappop(parts)
                if not part.allowed() or part.size() > _IN_ORDER:
                    self._rest.append(part)
                elif part.size() <= self._left:
                    self._take(part)
                else:
                    self._rest.append(part)
                    return
            else:
                return

    def _take_finding(self, place: int) -> bool:
        portions = Portions.of(self._finding(place), place, self._scale)
        cost = portions.cost + (0 if self._one_play else self._scale.text(portions.core.play) + 3)
        if cost > self._left:
            return False
        self._left -= cost
        self._shown.append(portions)
        for detail in portions.details():
            heapq.heappush(self._parts, self._detail(portions, detail))
        return True

    def _finding(self, place: int) -> Finding:
        finding = self._report.findings[place - 1]
        return replace(finding, play=self._plays[finding.play])

    def _detail(self, portions: Portions, detail: Detail) -> _Part:
        return self._part(
            detail.level,
            detail.kind,
            lambda: portions.weigh(detail),
            lambda: portions.chosen.add(detail.tag),
            allowed=lambda: not detail.needs or detail.needs in portions.chosen,
            count=detail.count,
            owner=portions.place,
        )

    def _part(
        self,
        level: float,
        kind: str,
        weigh: Callable[[], int],
        add: Callable[[], None],
        *,
        allowed: Callable[[], bool] = lambda: True,
        count: int = 1,
        owner: int = 0,
    ) -> _Part:
        self._number += 1
        return _Part(level, self._number, kind, weigh, add, allowed, count, owner)

    def _take(self, part: _Part) -> None:
        part.add()
        self._left -= part.size()

    def _fill(self) -> bool:
        """What still fits, in order, large ones last; whether anything did."""
        waiting = sorted([*self._rest, *self._parts], key=lambda part: (part.cost > _IN_ORDER, part))
        self._rest, self._parts = [], []
        took = False
        for at, part in enumerate(waiting):
            if at > _MOST_TRIES or self._left < _LEAST_PART:
                self._rest += waiting[at:]
                break
            if part.allowed() and part.size() <= self._left:
                self._take(part)
                took = True
            else:
                self._rest.append(part)
        return took

    def _others(self) -> Iterator[_Part]:
        """What stands beside the findings."""
        report, run = self._report, self._report.run
        for kind, entries in (
            ("incomplete", report.incomplete),
            ("suppressed", report.suppressed),
            ("unlike", report.drift.unlike if report.drift else ()),
            ("change", report.drift.changes if report.drift else ()),
            ("message", report.messages),
            ("warning", report.warnings),
            ("value", report.metrics),
            ("limit", self._others_told),
            ("redacted", [report.redacted] if report.redacted else []),
            ("wait", run.waits),
            ("inventory", [run.inventory] if run.inventory else []),
            ("digest", [run.playbook_digest] if run.playbook_digest else []),
        ):
            factor = _FACTORS[kind]
            for at, entry in enumerate(entries):
                yield from self._entries(kind, factor * (at + 1), at, entry)

    def _entries(self, kind: str, level: float, at: int, entry: object) -> Iterator[_Part]:
        """The entry in short, and where that is not all of it, the whole."""
        short, kept = shortened(kind, entry), self._kept[kind]

        def keep(what: object) -> Callable[[], None]:
            return lambda: kept.__setitem__(at, what)

        yield self._part(level, kind, lambda: self._alone(kind, short), keep(short))
        if short != entry:
            size = bulk(entry)
            yield self._part(
                level * _WHOLE,
                "detail",
                lambda: (
                    self._alone(kind, entry) - self._alone(kind, short) + 1 if size < _BULK * self._limit else size // 4
                ),
                keep(entry),
                allowed=lambda: at in kept,
            )

    def _alone(self, kind: str, entry: object) -> int:
        """What an entry takes, without what stands around it in any case."""
        frame = frame_of(kind)
        around = self._scale.other(frame) - 1 if frame else 0
        return self._scale.other(alone(kind, entry)) - around

    def _omitted(self) -> Sequence[Finding]:
        return self._report.findings[len(self._shown) :]

    def _assembled(self, *, names: int) -> Report:
        """The report as chosen so far. `names` is how many tokens the names of what is left out may take."""
        report = with_entries(
            self._base, {kind: [kept[at] for at in sorted(kept)] for kind, kept in self._kept.items()}
        )
        made = replace(
            report,
            findings=tuple(portions.shown() for portions in self._shown),
            omissions=(*report.omissions, *self._omissions(names)),
        )
        return settled(made, self._scale, self._limit)

    def _omissions(self, names: int) -> list[Omission]:
        """With what a larger limit left out before."""
        out, before = [], dict(self._before)
        left, told = self._omitted(), before.pop(_FINDING, None)
        if left or told:
            out.append(more_findings(left, names, self._scale, told))
        parts: dict[str, list[_Part]] = {}
        for part in (*self._rest, *self._parts):
            parts.setdefault(_WORDS.get(part.kind, _REST), []).append(part)
        counts = {kind: sum(part.count for part in some) for kind, some in parts.items()}
        tokens = {kind: _weight(some) for kind, some in parts.items()}
        for kind, one in before.items():
            counts[kind] = counts.get(kind, 0) + one.count
            tokens[kind] = tokens.get(kind, 0) + one.tokens
        return [*out, *few_kinds(counts, tokens, 2 + self._limit // (_KINDS * _KIND_TOKENS), _REST)]


def _weight(parts: Sequence[_Part]) -> int:
    """About what all of them would take."""
    step = max(1, len(parts) // _SAMPLE)
    sample = parts[::step]
    return sum(part.size() for part in sample) * len(parts) // len(sample)
