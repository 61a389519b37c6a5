"""Signals during a run. That a real one ends in order is tested against a real sshd."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, os, signal, sys
from checkrunner.app.interrupts import interrupts
from checkrunner.run.stop import Stop

async def main():
    stop = Stop()
    if sys.argv[1]:
        stop.set(sys.argv[1])
    with interrupts(stop):
        heard = asyncio.Event()
        told = stop.set
        stop.set = lambda reason: (told(reason), heard.set())
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.wait_for(heard.wait(), 5)
        print(stop.reason, flush=True)
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(5)
    print("the second signal was ignored")

asyncio.run(main())
"""


@pytest.mark.parametrize("ending", ["", "deadline"])
def test_the_first_signal_is_patient_and_the_second_is_not(ending: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, ending], capture_output=True, text=True, check=False, timeout=30
    )

    assert (done.returncode, done.stdout) == (-signal.SIGINT, f"{ending or 'interrupted'}\n")
