"""What is no news: lines that a check also has on hosts where it is fine, or had when it was last fine on the same one.

A fleet in which nothing is wrong pays nothing for it. Where something is, a few of the hosts that come after and are
fine are asked for the shapes of their lines too. Nothing of theirs is kept but that.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import replace

from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.results import Slice, SliceMode, VerdictState
from checkrunner.model.seams import Past

__all__ = ["MOST_WITNESSES", "Witnesses", "put_news_first"]

MOST_WITNESSES = 3
"""Hosts that are asked for each check and each set of groups."""

_BEHIND = 8
"""So many places a line falls that is no news. It is not put behind all others: a word of trouble may still be told."""


class Witnesses:
    """Hosts where a check is fine, and what its output looks like there. `peers` is what hosts have in common that are
    compared: their groups. One object serves a whole run."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, Hashable], int] = {}
        self._shapes: dict[tuple[str, Hashable], set[str]] = {}
        self._peers: dict[str, Hashable] = {}
        self.by_host: dict[tuple[str, str], frozenset[str]] = {}
        """What each of them showed, by host and check."""

    def trouble(self, host: str, check: str, peers: Hashable) -> None:
        """The check is not ok on a host, and its telling lines are fetched."""
        self._peers[host] = peers
        self._asked.setdefault((check, peers), 0)

    def wanted(self, check: str, peers: Hashable) -> bool:
        """Whether a host where the check is ok is to be asked; that counts as asked."""
        asked = self._asked.get((check, peers), MOST_WITNESSES)
        if asked >= MOST_WITNESSES:
            return False
        self._asked[check, peers] = asked + 1
        return True

    def saw(self, check: str, peers: Hashable, shapes: Iterable[str], host: str = "") -> None:
        """The shapes of the lines on such a host."""
        self.by_host[host, check] = shapes = frozenset(shapes)
        self._shapes.setdefault((check, peers), set()).update(map(sys.intern, shapes))

    @property
    def silent(self) -> bool:
        """Whether nobody was asked, or had anything to show."""
        return not self._shapes

    def shapes(self, host: str, check: str) -> Container[str]:
        """What a host's peers show where the check is fine."""
        return self._shapes.get((check, self._peers.get(host)), ())


def put_news_first(
    outcomes: Sequence[HostOutcome], past: Past | None, witnesses: Witnesses | None
) -> Sequence[HostOutcome]:
    """The outcomes, the lines of whose salient slices are ranked lower where they are no news. Cost: nothing where
    nothing is known of peers and past."""
    if past is None and (witnesses is None or witnesses.silent):
        return outcomes
    return [_host(outcome, past, witnesses) for outcome in outcomes]


def _host(outcome: HostOutcome, past: Past | None, witnesses: Witnesses | None) -> HostOutcome:
    checks = tuple(
        _check(check, past, witnesses) if check.slices and check.verdict.state is not VerdictState.OK else check
        for check in outcome.checks
    )
    changed = any(new is not old for new, old in zip(checks, outcome.checks, strict=True))
    return replace(outcome, checks=checks) if changed else outcome


def _check(outcome: CheckOutcome, past: Past | None, witnesses: Witnesses | None) -> CheckOutcome:
    host, key = outcome.host, outcome.planned.key
    known = [
        shapes for shapes in (past and past.shapes(host, key), witnesses and witnesses.shapes(host, key)) if shapes
    ]
    if not known:
        return outcome
    slices = tuple(_ranked(piece, known) for piece in outcome.slices)
    changed = any(new is not old for new, old in zip(slices, outcome.slices, strict=True))
    return replace(outcome, slices=slices) if changed else outcome


def _ranked(piece: Slice, known: Sequence[Container[str]]) -> Slice:
    if piece.query.mode is not SliceMode.SALIENT:
        return piece
    old = [bool(line.shape) and any(line.shape in shapes for shapes in known) for line in piece.lines]
    if not any(old):
        return piece
    order = sorted(range(len(old)), key=lambda at: (piece.lines[at].rank + _BEHIND * old[at], old[at], at))
    ranks = {at: rank for rank, at in enumerate(order, 1)}
    return replace(piece, lines=tuple(replace(line, rank=ranks[at]) for at, line in enumerate(piece.lines)))
