from __future__ import annotations

import asyncio

import pytest
from async_helpers import run_async

from checkrunner.link.transports.inbox import CHUNK, HIGH_WATER, TAIL, Inbox
from checkrunner.model.errors import SessionLostError


class Source:
    def __init__(self) -> None:
        self.told: list[str] = []
        self.inbox = Inbox(lambda: self.told.append("pause"), lambda: self.told.append("resume"))


def test_chunks_come_in_order_and_not_too_large() -> None:
    async def main() -> None:
        inbox = Source().inbox
        inbox.put(b"a" * (CHUNK + 1))
        inbox.put(b"b")
        inbox.end()
        assert [len(await inbox.get()) for _ in range(4)] == [CHUNK, 1, 1, 0]

    run_async(main())


def test_a_flood_waits_until_it_is_read() -> None:
    async def main() -> None:
        source = Source()
        source.inbox.put(b"x" * HIGH_WATER)
        source.inbox.put(b"x")
        assert source.told == ["pause"]
        await source.inbox.get()
        assert source.told == ["pause", "resume"]
        await source.inbox.get()
        assert source.told == ["pause", "resume"]

    run_async(main())


def test_what_came_before_a_loss_is_read_first_and_the_loss_stays() -> None:
    async def main() -> None:
        inbox = Source().inbox
        inbox.put(b"last words")
        inbox.lose("the link broke", OSError("why"))
        assert await inbox.get() == b"last words"
        for _ in range(2):
            with pytest.raises(SessionLostError, match="the link broke") as caught:
                await inbox.get()
            assert isinstance(caught.value.__cause__, OSError)

    run_async(main())


def test_closing_lets_a_reader_go_and_takes_no_more() -> None:
    async def main() -> None:
        inbox = Source().inbox
        reader = asyncio.ensure_future(inbox.get())
        await asyncio.sleep(0)
        inbox.close()
        assert await reader == b""
        inbox.put(b"too late")
        assert await inbox.get() == b""

    run_async(main())


def test_the_end_of_standard_error_is_kept() -> None:
    async def main() -> None:
        inbox = Source().inbox
        inbox.complain(b"first " * TAIL)
        inbox.complain(b"last")
        assert len(inbox.tail()) == TAIL
        assert inbox.tail().endswith(b"last")

    run_async(main())
