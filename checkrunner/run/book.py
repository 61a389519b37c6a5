"""What is known of a host's checks: which there are, what came of each, and who waits for that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence

from checkrunner.model.plan import CheckOutcome, PlannedCheck
from checkrunner.run.stop import Stop

__all__ = ["Book"]

_Whole = Callable[[PlannedCheck, Sequence[CheckOutcome]], CheckOutcome]


class Book:
    """`whole` says what a loop came to when all of its items are known. `told` gets each verdict that somebody may wait
    for. Belongs to one event loop."""

    def __init__(
        self, checks: Sequence[PlannedCheck], whole: _Whole, told: Callable[[CheckOutcome], None] | None = None
    ) -> None:
        self._checks = checks
        self._whole = whole
        self._told = told
        self._of_others: set[str] = set()
        self._judged: dict[str, CheckOutcome] = {}
        self._final: dict[str, CheckOutcome] = {}
        self._items: dict[str, tuple[PlannedCheck, ...]] = {}
        self._loops: dict[str, PlannedCheck] = {}
        self._left: dict[str, int] = {}
        self._followers: dict[str, tuple[PlannedCheck, ...]] = {}
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._given_up = False

    @property
    def judged(self) -> Mapping[str, CheckOutcome]:
        """The verdicts so far by key, also of loops as a whole. Slices may be missing yet."""
        return self._judged

    def add_items(self, loop: PlannedCheck, items: Sequence[PlannedCheck]) -> None:
        """A check has turned out to be these: they take its place."""
        self._items[loop.key] = tuple(items)
        self._loops[loop.key] = loop
        self._left[loop.key] = len(items)

    def add_followers(self, parent: PlannedCheck, followers: Sequence[PlannedCheck]) -> None:
        """These come after a check, because of what came of it."""
        self._followers[parent.key] = tuple(followers)

    def leave_to_others(self, planned: PlannedCheck, outcome: CheckOutcome) -> None:
        """Another host runs the check, for this one too: it has no outcome here. `outcome` is what those see who need
        it: what came of it there, or why this host has not run it where that is not known yet."""
        self._of_others.add(planned.key)
        self.publish(outcome)

    def publish(self, outcome: CheckOutcome) -> None:
        """Let those go on that wait for this check's verdict."""
        planned = outcome.planned
        known = planned.key in self._judged
        self._judged[planned.key] = outcome
        if self._told is not None:
            self._told(outcome)
        future = self._waiting.get(planned.key)
        if future is not None and not future.done():
            future.set_result(None)
        if planned.loop in self._left and not known:
            self._left[planned.loop] -= 1
            if not self._left[planned.loop]:
                items = [self._judged[item.key] for item in self._items[planned.loop]]
                self.publish(self._whole(self._loops[planned.loop], items))

    def record(self, outcome: CheckOutcome) -> None:
        """The check's outcome stands."""
        self._final[outcome.planned.key] = outcome
        self.publish(outcome)

    async def wait(self, key: str, stop: Stop) -> None:
        """Return when the check has a verdict, the run stops, or nobody will get one any more."""
        if key in self._judged or self._given_up or stop.reason:
            return
        future = self._waiting.setdefault(key, asyncio.get_running_loop().create_future())
        await stop.race(asyncio.shield(future))

    def give_up(self) -> None:
        """No further verdict will come: nobody is to wait for one."""
        self._given_up = True
        for future in self._waiting.values():
            if not future.done():
                future.set_result(None)

    def in_order(self) -> Iterator[PlannedCheck]:
        """All checks that there are by now, loops as their items, each followed by those that it made run."""
        for planned in self._checks:
            yield from self._below(planned)

    def unfinished(self) -> list[PlannedCheck]:
        """The checks without an outcome."""
        return [planned for planned in self.in_order() if planned.key not in self._final]

    def outcomes(self) -> tuple[CheckOutcome, ...]:
        """The outcomes in plan order; every check must have one."""
        return tuple(self._final[planned.key] for planned in self.in_order())

    def _below(self, planned: PlannedCheck) -> Iterator[PlannedCheck]:
        items = self._items.get(planned.key)
        if planned.key in self._of_others:
            return
        if items is None:
            yield planned
        else:
            for item in items:
                yield from self._below(item)
        for follower in self._followers.get(planned.key, ()):
            yield from self._below(follower)
