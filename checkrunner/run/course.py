"""The order in which a host's checks are sent: side by side as far as their sessions and needs allow."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby

from checkrunner.model.errors import TemplateError
from checkrunner.model.plan import CheckOutcome, Items, PlannedCheck, Settled, Skip, Step
from checkrunner.model.results import VerdictState
from checkrunner.run.errand import Errand
from checkrunner.run.outcomes import settled, skipped, unrendered
from checkrunner.run.situation import Situation
from checkrunner.run.turns import Lease

__all__ = ["Course"]

_OF_HOST = frozenset({"needs", "pre_checks", "tasks"})
"""What a skip is about where other checks of the host are the cause (`Skip.subject`)."""


class Course:
    """Sends checks to the session `own`, and starts in `group` what goes on with them."""

    def __init__(self, at: Situation, own: Lease, group: asyncio.TaskGroup) -> None:
        self._at = at
        self._own = own
        self._group = group

    async def send(self, checks: Sequence[PlannedCheck]) -> None:
        """Checks side by side, each session its own; tasks, as they are in Ansible, one after another. All in play
        order. Returns when everything is sent."""
        for is_task, part in groupby(checks, key=lambda planned: planned.check.task is not None):
            some = list(part)
            if not is_task:
                await self._side_by_side(some)
                continue
            await self._lane(some)
            for planned in some:  # what they leave to others has to be there
                await self._at.wait_for(planned.key)

    async def _side_by_side(self, checks: Sequence[PlannedCheck]) -> None:
        lanes: dict[str, list[PlannedCheck]] = defaultdict(list)
        for planned in checks:
            lanes[planned.check.session].append(planned)
        if len(lanes) == 1:
            await self._lane(checks)
            return
        async with asyncio.TaskGroup() as lanes_group:
            for lane in lanes.values():
                lanes_group.create_task(self._lane(lane))

    async def _lane(self, lane: Sequence[PlannedCheck]) -> None:
        """Send a named session's checks in order, waiting only where a check needs an earlier result."""
        for planned in lane:
            if not await self._send(planned):
                return

    async def _send(self, planned: PlannedCheck) -> bool:
        """Send a check, or all items of a loop; False when nothing more is to be sent."""
        for key in planned.needs:
            await self._at.wait_for(key)
        if self._at.over:
            return False
        once = self._at.once.get(planned.key)
        if once is not None:
            turn = self._in_turn(planned)
            if once.is_decided(self._at.host):  # then it keeps its place before what comes next
                await turn
            else:
                self._group.create_task(turn)
            return True
        return await self._begin(planned)

    async def _in_turn(self, planned: PlannedCheck) -> None:
        """Begin with a check that one host runs for many, if that is up to this one; else wait for what comes of it."""
        at = self._at
        outcome = await at.unless_over(at.once[planned.key].wait(at.host))
        if at.over:
            return
        if outcome is not None:
            at.book.leave_to_others(planned, outcome)
            return
        await self._begin(planned)

    async def _begin(self, planned: PlannedCheck) -> bool:
        resolved = self._resolve(planned)
        if isinstance(resolved, Items):
            return await self._send_items(resolved)
        if resolved is not None:
            self._at.observer.check_started(self._at.host, planned)
            self._group.create_task(Errand(self._at, resolved, own=self._own, then=self._follow).run())
            if planned.check.until is not None:  # how often it is run is not known before
                await self._at.wait_for(planned.key)
        return True

    async def _send_items(self, loop: Items) -> bool:
        self._at.book.add_items(loop.planned, loop.items)
        self._added(len(loop.items) - 1)
        pause_s = loop.planned.check.loop.pause_s if loop.planned.check.loop else 0.0
        for item in loop.items:
            if pause_s and item.index:
                await self._at.pause(pause_s)
            if not await self._send(item):
                return False
            if pause_s:
                await self._at.wait_for(item.key)
        return True

    def _resolve(self, planned: PlannedCheck) -> Step | Items | None:
        """What is to be sent; None when the check has its outcome already."""
        at = self._at
        try:
            resolved = at.script.resolve(planned, at.book.judged)
        except TemplateError as error:
            self._end(unrendered(at.host, planned, error))
            return None
        if isinstance(resolved, Skip):
            self._skip(resolved)
            return None
        if isinstance(resolved, Settled):
            self._end(settled(at.host, resolved))
            return None
        return resolved

    def _skip(self, skip: Skip) -> None:
        """A check that is not run here. One that a host runs for many is left to the next one where it is this host's
        other checks that keep it from being run."""
        at, outcome = self._at, skipped(self._at.host, skip)
        once = at.once.get(skip.planned.key)
        if once is not None and skip.subject in _OF_HOST and not once.leave(at.host):
            at.book.leave_to_others(skip.planned, outcome)
        else:
            self._end(outcome)

    def _end(self, outcome: CheckOutcome) -> None:
        self._at.record(outcome)
        self._follow(outcome)

    def _follow(self, outcome: CheckOutcome) -> None:
        """Begin with the checks that are to run because of an outcome. They hold up nobody."""
        if self._at.over or outcome.verdict.state is VerdictState.SKIPPED:
            return
        followers = self._at.script.follow(outcome)
        if followers:
            self._at.book.add_followers(outcome.planned, followers)
            self._added(len(followers))
            self._group.create_task(self._lane(followers))

    def _added(self, more: int) -> None:
        if more:
            self._at.observer.checks_added(self._at.host, more)
