"""Signals during a run. That a real one ends in order is tested against a real sshd."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from checkrunner.app.run import _interrupts
from checkrunner.run.stop import Stop


@pytest.mark.parametrize("ending", ["", "deadline"])
def test_the_first_signal_is_patient_and_the_second_is_not(ending: str) -> None:
    seen: list[str] = []

    async def main() -> None:
        stop = Stop()
        if ending:
            stop.set(ending)
        with _interrupts(stop):
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.wait_for(stop.wait(), 5)
            seen.append(stop.reason)
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(5)
        seen.append("the second signal was ignored")

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())

    assert seen == [ending or "interrupted"]
