"""Items of loops in a report: which outcomes belong to one loop, and what each is called there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checkrunner.findings.masks import mask_numbers
from checkrunner.model.plan import CheckOutcome, PlannedCheck

__all__ = ["because", "label", "labels", "own_words", "place", "trunk"]

_MOST_WORDS = 10
_WORD = 3, 200
"""Characters of a word that is looked for, at least and at most."""


def trunk(planned: PlannedCheck) -> str:
    """The key without the item: ``unit`` of ``unit[sshd]``, also for what follows an item. Else the key as it is."""
    return _trunk(planned.key, planned.check.id) if planned.label else planned.key


def label(planned: PlannedCheck) -> str:
    """What the item is called, with the items around it: ``/var``, ``/var, 3``; "" where there is none."""
    behind = planned.key[len(trunk(planned)) :]
    return behind[1:-1].replace("][", ", ")


def labels(outcomes: Sequence[CheckOutcome]) -> tuple[str, ...]:
    """The items of these outcomes, each once, in their order."""
    return tuple(name for name in dict.fromkeys(label(outcome.planned) for outcome in outcomes) if name)


def because(outcomes: Sequence[CheckOutcome]) -> str:
    """The check that these follow: the very item where it is the same for all, else its loop."""
    keys = {outcome.planned.follows for outcome in outcomes}
    return keys.pop() if len(keys) == 1 else _trunk(outcomes[0].planned.follows, "")


def place(outcome: CheckOutcome, *, of_many: bool) -> str:
    """Where the outcome is from: its host; with the item, where the outcomes of many are spoken of."""
    name = label(outcome.planned) if of_many else ""
    return f"{outcome.host}[{name}]" if name else outcome.host


def own_words(planned: PlannedCheck) -> tuple[str, ...]:
    """The texts by which outputs and reasons may name the item, longest first: its label, itself, its parts."""
    if not planned.label:
        return ()
    words = {planned.label}
    for word in _texts(planned.item):
        if len(words) >= _MOST_WORDS:
            break
        words.add(word)
    # Numbers count as equal anyway, and short words may stand for something else: rc was 1, a result.
    telling = [word for word in words if _WORD[0] <= len(word) <= _WORD[1] and mask_numbers(word) != "#"]
    return tuple(sorted(telling, key=lambda word: (-len(word), word)))


def _trunk(key: str, id_: str) -> str:
    # Ids have no brackets; the text between them may hold anything.
    at = key.find("[", len(id_))
    return key if at < 0 else key[:at]


def _texts(item: Any) -> Iterator[str]:
    if isinstance(item, str):
        yield str.__str__(item)
    elif isinstance(item, Mapping):
        for value in item.values():
            yield from _texts(value)
    elif isinstance(item, (list, tuple)):
        for value in item:
            yield from _texts(value)
