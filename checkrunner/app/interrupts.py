"""Signals that end a run early."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import signal
from collections.abc import Iterator

from checkrunner.run.stop import Stop

__all__ = ["interrupts"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def interrupts(stop: Stop) -> Iterator[None]:
    """The first signal ends the run in order (also one that is ending by its deadline); the second ends the process.

    Afterwards the signals have the handlers that they had before: what is left to do is short, and whoever called may
    want the report to be written first.
    """
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    seen = False

    def interrupt(number: signal.Signals) -> None:
        nonlocal seen
        if seen:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        seen = True
        stop.set("interrupted")

    for number in _SIGNALS:
        if before[number] is not signal.SIG_IGN:  # nohup stays nohup
            loop.add_signal_handler(number, functools.partial(interrupt, number))
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
