"""Turns at the door of a server that drops connections."""

from __future__ import annotations

import asyncio

import pytest
from async_helpers import run_async

from checkrunner.link.transports.ssh_gate import Gate
from checkrunner.model.errors import ConnectTimeoutError, ThrottledError, UnreachableError

PAUSES = "checkrunner.link.transports.ssh_gate._PAUSES_S"


class Door:
    """A server that takes `room` at a time and drops the rest, after a turn of the loop."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.inside = self.most = self.dropped = self.asked = 0

    async def enter(self) -> str:
        self.asked += 1
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            full = self.inside > self.room
            await asyncio.sleep(0)
            if full:
                self.dropped += 1
                raise ThrottledError("full")
            await asyncio.sleep(0.001)
            return "in"
        finally:
            self.inside -= 1


def test_a_server_that_drops_nobody_gets_all_at_once() -> None:
    door = Door(1000)

    async def main() -> None:
        gate = Gate()
        assert await asyncio.gather(*(gate.through(door.enter) for _ in range(300))) == ["in"] * 300

    run_async(main())
    assert door.most == 300
    assert door.asked == 300


@pytest.mark.parametrize("room", [1, 2, 5])
def test_a_server_with_little_room_gets_all_in_turn(room: int) -> None:
    door = Door(room)

    async def main() -> None:
        gate = Gate()
        assert await asyncio.gather(*(gate.through(door.enter) for _ in range(200))) == ["in"] * 200

    run_async(main())
    assert door.asked < 700, "turns are taken: few are dropped after the first rush"


def test_one_that_drops_everybody_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PAUSES, ((0.0, 0.01),) * 3)
    door = Door(0)

    async def main() -> None:
        gate = Gate()
        outcomes = await asyncio.gather(*(gate.through(door.enter) for _ in range(20)), return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {ThrottledError}

    run_async(main())
    assert 20 * 4 <= door.asked <= 20 * 6


def test_other_errors_pass_and_a_timeout_ends_the_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PAUSES, ((0.0, 0.0),) * 3)
    errors: list[Exception] = [ThrottledError("full"), ConnectTimeoutError("silent")]

    async def fails() -> None:
        if errors:
            raise errors.pop(0)
        await asyncio.sleep(0.001)
        raise UnreachableError("gone")

    async def main() -> None:
        gate = Gate()
        with pytest.raises(ConnectTimeoutError):
            await gate.through(fails)
        door = Door(1000)
        await asyncio.gather(*(gate.through(door.enter) for _ in range(10)))
        assert door.most == 10
        with pytest.raises(UnreachableError):
            await gate.through(fails)

    run_async(main())


def test_who_gives_up_waiting_leaves_the_turn_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PAUSES, ((0.0, 0.0),) * 3)

    async def main() -> None:
        gate = Gate()
        door = Door(1)
        tasks = [asyncio.ensure_future(gate.through(door.enter)) for _ in range(30)]
        await asyncio.sleep(0.003)
        for task in tasks[::2]:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(outcome == "in" for outcome in outcomes[1::2])

    run_async(main())
