"""Which entries of a ranking fit into a budget, and with which of their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from checkrunner.findings.salience.choosing import TROUBLE
from checkrunner.findings.salience.clipping import clip, clip_to
from checkrunner.findings.salience.rows import Entry, Ranking, Selection, Shown
from checkrunner.model.seams import TokenCounter

__all__ = ["Cost", "fit", "seen_text"]

Cost = Callable[[Entry, str], int]
"""What an entry costs with one of its texts, as it is printed."""

_MOST_MISSES = 12
_LOOKED_AT = 200
_FEWEST_CHARACTERS = 12
_TIGHT_CHARACTERS = 60
_CHARACTERS_A_TOKEN = 0.4
"""So many characters of a text for each token of a tight budget: none takes more than about an eighth of it."""


def seen_text(entry: Entry, text: str) -> str:
    """A text of an entry as a reader sees it: with how many there are of it, where it is not one."""
    return f"x{entry.count} {text}" if entry.count > 1 else text


def fit(ranking: Ranking, budget: int, counter: TokenCounter, *, cost: Cost | None = None) -> Selection:
    """Choose what fits into `budget` tokens, by rank: more kinds of trouble in short texts go before fewer in long
    ones, and long texts of trouble before what is no trouble. A row costs its seen text and one token more, or `cost`.

    What is used never exceeds the budget. Linear in the entries.
    """

    def plain(entry: Entry, text: str) -> int:
        return counter.count(seen_text(entry, text)) + 1

    room = _Room(budget, cost or plain)
    trouble = [entry for entry in ranking.entries if entry.severity >= TROUBLE]
    others = [entry for entry in ranking.entries if entry.severity < TROUBLE]
    room.add(trouble)
    room.lengthen(trouble, reserve=room.left // 2)
    room.add(others)
    room.lengthen(ranking.entries)
    if not room.texts and ranking.entries:
        room.squeeze(ranking.entries[0])
    return _selection(ranking, room)


class _Room:
    """What was chosen so far, and what is left of the budget."""

    def __init__(self, budget: int, cost: Cost) -> None:
        self.left = budget
        self.used = 0
        self.texts: dict[int, str] = {}
        self._cost = cost
        self._longest = max(_TIGHT_CHARACTERS, int(budget * _CHARACTERS_A_TOKEN))
        self._costs: dict[int, int] = {}

    def add(self, entries: Iterable[Entry]) -> None:
        """Take entries with their short texts; a few that are too long may be passed over."""
        misses = 0
        for entry in entries:
            misses += not self._take(entry, self._short(entry))
            if misses > _MOST_MISSES:
                break

    def lengthen(self, entries: Iterable[Entry], *, reserve: int = 0) -> None:
        """Give entries that were taken their long texts as long as more than `reserve` is left."""
        for entry in entries:
            if entry.rank in self.texts and entry.text != self.texts[entry.rank]:
                self._take(entry, entry.text, reserve=reserve)

    def squeeze(self, entry: Entry) -> None:
        """Take a part of the text where no whole one fits."""
        length = len(entry.short) // 2
        while length >= _FEWEST_CHARACTERS and not self._take(entry, clip(entry.short, 0, 0, longest=length)):
            length //= 2

    def _short(self, entry: Entry) -> str:
        if len(entry.short) <= self._longest:
            return entry.short
        return clip_to(entry.short, self._longest)

    def _take(self, entry: Entry, text: str, *, reserve: int = 0) -> bool:
        cost = self._cost(entry, text)
        more = cost - self._costs.get(entry.rank, 0)
        if more > self.left - reserve:
            return False
        self.left -= more
        self.used += more
        self._costs[entry.rank] = cost
        self.texts[entry.rank] = text
        return True

    def mean_cost(self, entries: Sequence[Entry]) -> float:
        """What a short text takes on average."""
        some = entries[:_LOOKED_AT]
        return sum(self._cost(entry, entry.short) for entry in some) / len(some) if some else 0.0


def _selection(ranking: Ranking, room: _Room) -> Selection:
    chosen = [entry for entry in ranking.entries if entry.rank in room.texts]
    left = [entry for entry in ranking.entries if entry.rank not in room.texts]
    more_shapes = ranking.more_shapes + len(left)
    return Selection(
        shown=tuple(
            Shown(entry=entry, text=room.texts[entry.rank]) for entry in sorted(chosen, key=lambda entry: entry.number)
        ),
        used=room.used,
        more_shapes=more_shapes,
        more_lines=ranking.more_lines + sum(entry.count for entry in left),
        more_tokens=round(room.mean_cost(left or ranking.entries) * more_shapes),
    )
