"""Outcomes folded over hosts and items of loops: which of them say the same, and what the same is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from checkrunner.findings.items import labels, own_words, trunk
from checkrunner.findings.masks import Masker, mask_names
from checkrunner.findings.near import Differing, Shapes, differing, exemplar, is_chosen, near_groups
from checkrunner.findings.totals import execution_of
from checkrunner.model.history import Silence
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.results import Execution, HostState, VerdictState

__all__ = ["Group", "group", "not_looked_at"]

_RANK = {
    VerdictState.CRIT: 0,
    VerdictState.UNKNOWN: 1,
    VerdictState.WARN: 2,
    VerdictState.OK: 3,
    VerdictState.SKIPPED: 5,
}
_SHOWN_ONLY = 4
_ENDS_OF_RUN = frozenset({"interrupted", "deadline", "cancelled"})
"""Notes of a command that the host knew of already and did not start, because the run ended."""


@dataclass(slots=True, eq=False)
class Group:
    """Outcomes of one check, or of several items of a loop, that say the same. `first` is the exemplar; `merged` counts
    the variants of the output that were folded into this group because there were too many of them. `uneven`: not each
    of its items is there for each of its hosts. `near`: their outputs are not all alike; what `differing` hosts show
    besides, and how many such things are `untold`. `novelty` is against the last run, `cause` the id of the group that
    it follows from; both come with the ranking. `silence` holds for all of its outcomes, or for none."""

    key: tuple[object, ...]
    order: int
    outcomes: list[CheckOutcome] = field(default_factory=list)
    merged: int = 0
    uneven: bool = False
    near: bool = False
    differing: list[Differing] = field(default_factory=list)
    untold: int = 0
    novelty: str = ""
    cause: str = ""
    silence: Silence | None = None

    @property
    def first(self) -> CheckOutcome:
        """The outcome of the first host."""
        return self.outcomes[0]

    @property
    def id(self) -> str:
        """A digest of check, verdict and masked evidence: the same in every run, whatever the hosts."""
        text = json.dumps(self.key, default=str, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def rank(self) -> tuple[int, int, int]:
        """Worst verdict first, then the most hosts, then the playbook's order."""
        verdict = self.first.verdict
        rank = _RANK[verdict.state]
        if verdict.state is VerdictState.OK and not verdict.noted:
            rank = _SHOWN_ONLY
        return rank, -len(self.outcomes), self.order


def not_looked_at(host: HostOutcome, check: CheckOutcome) -> bool:
    """Whether the outcome only repeats what is said of its host: not reached, lost, or the run ended before."""
    if check.verdict.state is not VerdictState.UNKNOWN:
        return False
    if check.result is None:
        stopped = check.error is None and any(reason.subject == "execution" for reason in check.verdict.reasons)
        return stopped or host.state is not HostState.REACHED
    if check.result.execution is Execution.NOT_RUN:
        return not _ENDS_OF_RUN.isdisjoint(check.result.notes)
    return host.state is not HostState.REACHED and check.result.execution is Execution.LOST and check.error is not None


def group(
    outcomes: Iterable[HostOutcome],
    *,
    variants: int,
    of_items: int,
    silence: Callable[[str, str], Silence | None] = lambda _host, _check: None,
) -> list[Group]:
    """The groups, ranked. Of one check, verdict and reasons at most `variants` groups differ by their slices alone (of
    one loop `of_items`): those with the fewest hosts are merged into one group more. So are, of one loop, those that
    differ by their hosts alone. Groups that say nearly the same are one before that. What
    different silences hold for, or one and none, is never in one group."""
    masker = Masker()
    shapes = Shapes(masker)
    order: dict[str, int] = {}
    found: dict[tuple[tuple[object, ...], Silence | None], dict[tuple[str, ...], Group]] = {}
    # The same words about two hosts are the same, also where they name one of them.
    said: dict[tuple[object, ...], tuple[object, ...]] = {}
    for host in outcomes:
        names: tuple[str, ...] = ()
        for check in host.checks:
            key = trunk(check.planned)
            place = order.setdefault(key, len(order))
            if not _worth_a_finding(host, check):
                continue
            names = names or shapes.know(host.host)
            words = own_words(check.planned)
            literally = (key, check.verdict.state, check.verdict.reasons)
            if literally not in said:
                said[literally] = _masked_reasons(check, masker, names, words)
            base = _base_key(key, check, said[literally])
            evidence = shapes.key(check)
            same = found.setdefault((base, silence(check.host, check.planned.key)), {})
            entry = same.get(evidence)
            if entry is None:
                entry = same[evidence] = Group(key=(*base, evidence), order=place)
            entry.outcomes.append(check)
    groups = [
        replace(part, silence=held)
        for (base, held), same in found.items()
        for entry in _limited(base, _near(list(same.values()), shapes), variants, of_items)
        for part in _evenly(entry, variants)
    ]
    for entry in groups:
        _tell_apart(entry, shapes)
    _name_apart(groups)
    return sorted(groups, key=lambda entry: entry.rank)


def _name_apart(groups: Iterable[Group]) -> None:
    """Give groups that only silences keep apart keys of their own: what is not silenced has the one that all of them
    would have, so that nothing looks new because of a silence."""
    taken: set[tuple[object, ...]] = set()
    for entry in sorted(groups, key=lambda entry: entry.silence.number if entry.silence else 0):
        if entry.key in taken and entry.silence is not None:
            entry.key = (*entry.key, f"silence {entry.silence.number}")
        taken.add(entry.key)


def _worth_a_finding(host: HostOutcome, check: CheckOutcome) -> bool:
    verdict = check.verdict
    if verdict.state is VerdictState.OK:
        return verdict.noted or bool(check.slices)
    if verdict.state is VerdictState.SKIPPED:
        return check.result is not None and bool(check.result.missing)
    return not not_looked_at(host, check)


def _base_key(key: str, check: CheckOutcome, reasons: tuple[object, ...]) -> tuple[object, ...]:
    verdict, result = check.verdict, check.result
    return (
        key,
        str(verdict.state),
        verdict.noted,
        str(execution_of(check)),
        result.rc if result else None,
        result.signal if result else None,
        result.missing if result else (),
        reasons,
    )


def _masked_reasons(
    check: CheckOutcome, masker: Masker, names: Sequence[str], words: Sequence[str]
) -> tuple[object, ...]:
    return tuple(
        (
            reason.subject,
            mask_names(reason.expected, words, by="#"),
            masker.mask(reason.actual, names, words),
            masker.mask(reason.message, names, words),
        )
        for reason in check.verdict.reasons
    )


def _near(groups: list[Group], shapes: Shapes) -> list[Group]:
    """The groups, those whose outputs are nearly alike as one, with the key of the largest of them."""
    if len(groups) < 2 or any(entry.first.planned.label for entry in groups):
        return groups
    out = []
    for family in near_groups([entry.outcomes for entry in groups], shapes):
        head = groups[family[0]]
        for at in family[1:]:
            head.outcomes += groups[at].outcomes
            head.near = True
        out.append(head)
    return out


def _tell_apart(entry: Group, shapes: Shapes) -> None:
    """Put the outcome in front that shows what most do, and find out what others show besides."""
    first = entry.first
    if entry.merged or len(entry.outcomes) < 2 or first.planned.label:
        return
    if not entry.near and not any(is_chosen(piece) for piece in first.slices):
        return
    best = exemplar(entry.outcomes, shapes)
    entry.outcomes = [best, *(one for one in entry.outcomes if (one.host, one.planned) != (best.host, best.planned))]
    entry.differing, entry.untold = differing(best, entry.outcomes, shapes)
    entry.near |= bool(entry.differing or entry.untold)


def _limited(base: tuple[object, ...], groups: list[Group], of_one: int, of_items: int) -> Iterator[Group]:
    variants = of_items if any(entry.first.planned.label for entry in groups) else of_one
    if len(groups) <= variants + 1:
        yield from groups
        return
    ranked = sorted(groups, key=lambda entry: -len(entry.outcomes))
    yield from ranked[:variants]
    rest = Group(key=(*base, "others"), order=ranked[0].order, merged=len(groups) - variants)
    for entry in ranked[variants:]:
        rest.outcomes.extend(entry.outcomes)
    yield rest


def _evenly(entry: Group, most: int) -> Iterator[Group]:
    """The group in parts in each of which all items have the same hosts, so that what is said is true of each host with
    each item. At most `most` parts; the smallest ones are one more, which says that it is not so there."""
    if not entry.first.planned.label:
        yield entry
        return
    by_item: dict[str, list[CheckOutcome]] = {}
    for outcome in entry.outcomes:
        by_item.setdefault(outcome.planned.key, []).append(outcome)
    alike: dict[tuple[str, ...], list[list[CheckOutcome]]] = {}
    for some in by_item.values():
        alike.setdefault(tuple(outcome.host for outcome in some), []).append(some)
    parts = sorted(alike.values(), key=lambda part: -sum(map(len, part)))
    if entry.merged:
        yield replace(entry, uneven=len(parts) > 1)
        return
    whole = len(parts) if len(parts) <= most + 1 else most
    for part in parts[:whole]:
        yield _part(entry, part, named=len(parts) > 1)
    if rest := [some for part in parts[whole:] for some in part]:
        yield replace(_part(entry, rest, named=False), key=(*entry.key, "uneven"), uneven=True)


def _part(entry: Group, items: Sequence[Sequence[CheckOutcome]], *, named: bool) -> Group:
    """A single item has the key, and so the id, that it would have without the others."""
    outcomes = [outcome for some in items for outcome in some]
    key = entry.key
    if len(items) == 1:
        key = (outcomes[0].planned.key, *key[1:])
    elif named:
        key = (*key, labels(outcomes))
    return Group(key=key, order=entry.order, outcomes=outcomes)
