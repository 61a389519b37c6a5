"""Outcomes that say nearly the same: one finding, and what is different on some of its hosts.

Hosts are never compared with each other: each is looked at once, and only some groups of them are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from checkrunner.findings.items import own_words
from checkrunner.findings.masks import Masker, own_names
from checkrunner.model.inventory import Host
from checkrunner.model.plan import CheckOutcome
from checkrunner.model.results import Slice, SliceMode

__all__ = ["Differing", "Shape", "Shapes", "differing", "exemplar", "is_chosen", "near_groups", "only_lines"]

_TELLING = 3
"""So many lines of a chosen slice tell what the trouble is; those behind them may be of anything."""
_MOST_COMPARED = 48
_LOOKED_AT = 100
"""Hosts of a group whose whole slices are looked at."""
_ALIKE_CHOSEN, _ALIKE_DECLARED = 0.5, 0.6
_RARE = 0.2
_MOST_VARIANTS = 6
_MANY_HOSTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A line without what varies, where it stands, and how much it tells."""

    text: str
    piece: int
    line: int
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """Hosts that show `slices` besides; nothing where they only lack something."""

    outcomes: tuple[CheckOutcome, ...]
    slices: tuple[Slice, ...]


class Shapes:
    """The lines of outcomes without what varies between hosts."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._names: dict[str, tuple[str, ...]] = {}

    def know(self, host: Host) -> tuple[str, ...]:
        """What the host calls itself, to be left out of what its outcomes say."""
        names = self._names.get(host.name)
        if names is None:
            names = self._names[host.name] = own_names(host)
        return names

    def of(self, outcome: CheckOutcome, most: int = 0) -> Iterator[Shape]:
        """The lines of its slices, of each chosen one the `most` telling (0: all), those first."""
        names, words = self._names[outcome.host], own_words(outcome.planned)
        for number, piece in enumerate(outcome.slices):
            chosen = is_chosen(piece)
            places = range(len(piece.lines))
            ranks = [line.rank for line in piece.lines]
            order = sorted(places, key=ranks.__getitem__) if chosen else places
            for place, at in enumerate(order[:most] if most and chosen else order):
                text = self._masker.mask(piece.lines[at].text, names, words)
                weight = 1 / (place + 1) if chosen else 1.0
                yield Shape(text=f"{piece.stream}:{text}", piece=number, line=at, weight=weight)

    def key(self, outcome: CheckOutcome) -> tuple[str, ...]:
        """What outcomes with the same verdict must have in common to be one finding: the most telling line of what was
        chosen, all of what the check declares."""
        names, words = self._names[outcome.host], own_words(outcome.planned)
        return tuple(
            f"{piece.stream}:{'first:' if is_chosen(piece) else ''}{self._masker.mask(_key_text(piece), names, words)}"
            for piece in outcome.slices
        )


def is_chosen(piece: Slice) -> bool:
    """Whether its lines were chosen by how much they tell, and ranked."""
    return piece.query.mode is SliceMode.SALIENT and any(line.rank for line in piece.lines)


def _key_text(piece: Slice) -> str:
    if is_chosen(piece):
        return min((line for line in piece.lines if line.rank), key=lambda line: line.rank).text
    return piece.text


def near_groups(groups: Sequence[Sequence[CheckOutcome]], shapes: Shapes) -> list[list[int]]:
    """Which of the groups, which differ by their outputs alone, say nearly the same: lists of their places, in each the
    largest first. At most `_MOST_COMPARED` of them are compared; the others stand for themselves."""
    order = sorted(range(len(groups)), key=lambda at: -len(groups[at]))
    compared = order[:_MOST_COMPARED]
    seen = {at: list(shapes.of(groups[at][0])) for at in compared}
    weights = {at: {shape.text: shape.weight for shape in reversed(found)} for at, found in seen.items()}
    least = {
        at: _ALIKE_CHOSEN if any(is_chosen(piece) for piece in groups[at][0].slices) else _ALIKE_DECLARED
        for at in compared
    }
    out: list[list[int]] = []
    for at in compared:
        for family in out:
            head = family[0]
            if _alike(weights[head], weights[at]) >= max(least[head], least[at]):
                family.append(at)
                break
        else:
            out.append([at])
    return [*out, *([at] for at in order[_MOST_COMPARED:])]


def _alike(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """From 0, nothing in common, to 1: the weight of what they share in that of all."""
    if not one or not other:
        return 0.0
    common = sum(min(weight, other[text]) for text, weight in one.items() if text in other)
    return 2 * common / (sum(one.values()) + sum(other.values()))


def exemplar(outcomes: Sequence[CheckOutcome], shapes: Shapes) -> CheckOutcome:
    """The outcome that shows what most of them show, its lines ranked so that what few others have comes last. Looks at
    the first `_LOOKED_AT` only."""
    looked = outcomes[:_LOOKED_AT]
    if len(looked) < _TELLING or not any(is_chosen(piece) for piece in outcomes[0].slices):
        return outcomes[0]
    found = [list(shapes.of(outcome)) for outcome in looked]
    hosts: dict[str, int] = {}
    for some in found:
        for text in {shape.text for shape in some}:
            hosts[text] = hosts.get(text, 0) + 1
    best = max(range(len(looked)), key=lambda at: (sum(shape.weight * hosts[shape.text] for shape in found[at]), -at))
    rare = {(shape.piece, shape.line) for shape in found[best] if hosts[shape.text] < max(2, _RARE * len(looked))}
    return _with_last(looked[best], rare) if rare else looked[best]


def _with_last(outcome: CheckOutcome, rare: set[tuple[int, int]]) -> CheckOutcome:
    """The outcome with these lines ranked behind the others of their slices; the first stays the first."""
    slices = []
    for number, piece in enumerate(outcome.slices):
        if not is_chosen(piece):
            slices.append(piece)
            continue
        order = sorted((line.rank != 1 and (number, at) in rare, line.rank, at) for at, line in enumerate(piece.lines))
        ranks = {at: rank for rank, (_, _, at) in enumerate(order, 1)}
        lines = tuple(replace(line, rank=ranks[at]) for at, line in enumerate(piece.lines))
        slices.append(replace(piece, lines=lines))
    return replace(outcome, slices=tuple(slices))


def differing(first: CheckOutcome, outcomes: Sequence[CheckOutcome], shapes: Shapes) -> tuple[list[Differing], int]:
    """What hosts show besides what `first` shows, those that most of them show first, and how many such things had to
    be left out. Of many hosts, what only one of them has is not told, unless it is what tells most there."""
    shown = {shape.text for shape in shapes.of(first)}
    declared = not any(is_chosen(piece) for piece in first.slices)
    extra: dict[str, list[tuple[CheckOutcome, Shape]]] = {}
    lacking = []
    for outcome in outcomes:
        its = list(shapes.of(outcome, _TELLING))
        more: dict[str, Shape] = {}  # each once, also where several lines are alike
        for shape in its:
            if shape.text not in shown:
                more.setdefault(shape.text, shape)
        for text, shape in more.items():
            extra.setdefault(text, []).append((outcome, shape))
        if declared and not more and len({shape.text for shape in its}) < len(shown):
            lacking.append(outcome)
    by_hosts: dict[tuple[int, ...], list[list[tuple[CheckOutcome, Shape]]]] = {}
    for some in extra.values():
        by_hosts.setdefault(tuple(id(outcome) for outcome, _ in some), []).append(some)
    few = len(outcomes) < _MANY_HOSTS or declared
    told = [some for some in by_hosts.values() if few or len(some[0]) > 1 or _is_first(some)]
    ranked = sorted(told, key=lambda some: -len(some[0]))
    out = [_differing(some) for some in ranked[:_MOST_VARIANTS]]
    if lacking:
        out.append(Differing(outcomes=tuple(lacking), slices=()))
    return out, len(by_hosts) - min(len(ranked), _MOST_VARIANTS)


def _is_first(some: Sequence[Sequence[tuple[CheckOutcome, Shape]]]) -> bool:
    """Whether the most telling line of a chosen slice is one of them."""
    return any(
        outcome.slices[shape.piece].lines[shape.line].rank == 1 for entries in some for outcome, shape in entries
    )


def _differing(some: Sequence[Sequence[tuple[CheckOutcome, Shape]]]) -> Differing:
    outcome = some[0][0][0]
    keep: dict[int, set[int]] = {}
    for entries in some:
        keep.setdefault(entries[0][1].piece, set()).add(entries[0][1].line)
    slices = tuple(only_lines(outcome.slices[number], sorted(places)) for number, places in sorted(keep.items()))
    return Differing(outcomes=tuple(outcome for outcome, _ in some[0]), slices=slices)


def only_lines(piece: Slice, keep: Sequence[int]) -> Slice:
    """These lines of a slice (places, ascending) and no word of the others."""
    lines = tuple(piece.lines[at] for at in keep)
    made = replace(piece, lines=lines, more_lines=0, more_shapes=0, why="")
    at = piece.evidence.rfind(":")
    return replace(made, evidence=f"{piece.evidence[: at + 1]}{made.ranges}") if piece.evidence else made
