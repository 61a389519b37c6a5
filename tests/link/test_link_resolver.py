"""Names become addresses, and a slow name service holds up nobody else."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest
from async_helpers import run_async

from checkrunner.link.transports.ssh_resolver import addresses


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "fe80::1%lo"])
def test_an_address_is_not_looked_up(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", None)

    async def main() -> None:
        assert await addresses(address, 22, socket.AF_UNSPEC) == [(socket.AF_UNSPEC, address)]

    run_async(main())


def test_a_name_has_each_address_once() -> None:
    async def main() -> None:
        assert await addresses("localhost", 22, socket.AF_INET) == [(socket.AF_INET, "127.0.0.1")]

    run_async(main())


@pytest.mark.parametrize(
    "name", ["no-such-host.invalid", "a..b", "x" * 70 + ".invalid", "\u202eabc", "256.1.1.1", "a b"]
)
def test_a_name_that_is_none(name: str) -> None:
    async def main() -> None:
        with pytest.raises(socket.gaierror):
            await addresses(name, 22, socket.AF_UNSPEC)

    run_async(main())


def test_names_that_are_never_answered_hold_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    real, answer = socket.getaddrinfo, threading.Event()

    def slow(host: str, *args: object, **named: object) -> object:
        if host.startswith("slow"):
            answer.wait(20)
        return real(host, *args, **named)  # type: ignore[arg-type]  # passed on as they are

    monkeypatch.setattr(socket, "getaddrinfo", slow)

    async def main() -> None:
        waiting = [asyncio.ensure_future(addresses(f"slow{n}.invalid", 22, socket.AF_INET)) for n in range(60)]
        await asyncio.sleep(0)
        assert await asyncio.wait_for(addresses("localhost", 22, socket.AF_INET), 5)
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)

    before = threading.active_count()
    run_async(main())  # asyncio waits for the threads that are its own
    assert threading.active_count() > before
    answer.set()
    for thread in threading.enumerate():
        if thread.name.startswith("name of slow"):
            assert thread.daemon
            thread.join(10)
