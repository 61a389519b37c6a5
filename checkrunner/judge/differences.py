"""In what two lists of lines differ. Pure; what it costs is bounded, whatever the lines are."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Difference", "differences"]

_MOST_EDITS = 400
"""With more differences than these, which of two equal lines is new does not matter: they are paired one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Places (from 0) of lines that only one of them has: `more` are in the lines of now, `gone` in those of then. A
    line that moved is in both."""

    more: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        """Whether they differ at all."""
        return bool(self.more or self.gone)


def differences(then: Sequence[str], now: Sequence[str], *, ordered: bool = True) -> Difference:
    """The fewest lines that have to go and to come for `then` to become `now`, as far as there are not too many; not
    `ordered`: whatever their order is."""
    start = _common(then, now)
    end = _common(then[start:][::-1], now[start:][::-1])
    old, new = then[start : len(then) - end], now[start : len(now) - end]
    found = (_in_order(old, new) or _moved(old, new)) if ordered else (_surplus(old, new), _surplus(new, old))
    gone, more = found
    return Difference(more=tuple(start + at for at in more), gone=tuple(start + at for at in gone))


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    same = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        same += 1
    return same


def _surplus(of: Sequence[str], over: Sequence[str]) -> list[int]:
    """Places of the lines that one has more often than the other: of equal ones the last."""
    left = Counter(of) - Counter(over)
    found = []
    for at in range(len(of) - 1, -1, -1):
        if left[of[at]] > 0:
            left[of[at]] -= 1
            found.append(at)
    return found[::-1]


def _moved(old: Sequence[str], new: Sequence[str]) -> tuple[list[int], list[int]]:
    """The same for any number of differences, at the cost of sorting: each line is paired with the next equal one, and
    the longest run of pairs that are in order stays."""
    places: dict[str, list[int]] = {}
    for at in range(len(old) - 1, -1, -1):
        places.setdefault(old[at], []).append(at)
    pairs = [(places[line].pop(), at) for at, line in enumerate(new) if places.get(line)]
    # The last pair of the best run of each length, and for each pair the one before it in its run.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (at, _) in enumerate(pairs):
        length = bisect_left(ends, at)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [at]
        last[length : length + 1] = [number]
    stays_old, stays_new = set(), set()
    number = last[-1] if last else -1
    while number >= 0:
        stays_old.add(pairs[number][0])
        stays_new.add(pairs[number][1])
        number = before[number]
    return [at for at in range(len(old)) if at not in stays_old], [at for at in range(len(new)) if at not in stays_new]


def _in_order(old: Sequence[str], new: Sequence[str]) -> tuple[list[int], list[int]] | None:
    """The places in `old` that go and those in `new` that come (the algorithm of Myers); None where there are too many.

    `furthest[k]` is how far in `old` the paths have come that have k more lines of `old` than of `new` behind them.
    """
    furthest = {1: 0}
    steps: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), _MOST_EDITS) + 1):
        steps.append(dict(furthest))
        for k in range(-edits, edits + 1, 2):
            x = furthest[k + 1] if _comes(furthest, k, edits) else furthest[k - 1] + 1
            y = x - k
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[k] = x
            if x >= len(old) and y >= len(new):
                return _path(steps, len(old), len(new))
    return None


def _comes(furthest: dict[int, int], k: int, edits: int) -> bool:
    """Whether the better way to diagonal k is by a line that comes."""
    return k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])


def _path(steps: Sequence[dict[int, int]], x: int, y: int) -> tuple[list[int], list[int]]:
    """The edits that led to the end, found from there back."""
    gone, more = [], []
    for edits in range(len(steps) - 1, 0, -1):
        k = x - y
        before = steps[edits]
        if _comes(before, k, edits):
            x = before[k + 1]
            y = x - k - 1
            more.append(y)
        else:
            x = before[k - 1]
            y = x - k + 1
            gone.append(x)
    return gone[::-1], more[::-1]
