"""Signals that come while nothing can be reported yet: kept until the run can act on them.

Without this, Ctrl-C during the first tenths of a second ends the process in the middle of an import, with a traceback
and without the one JSON document that `--format json` promises.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

__all__ = ["HELD", "hold_signals", "let_signals_through", "was_interrupted"]

HELD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_came: list[int] = []


def _keep(number: int, frame: FrameType | None) -> None:
    del frame
    if _came:  # whoever asks twice does not want to wait
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
    _came.append(number)


def hold_signals() -> None:
    """From now on the first interrupt is only remembered; the second one ends the process."""
    for number in HELD:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup stays nohup
            signal.signal(number, _keep)


def was_interrupted() -> bool:
    """Whether an interrupt is being kept."""
    return bool(_came)


@contextlib.contextmanager
def let_signals_through() -> Iterator[None]:
    """While this holds, Ctrl-C raises KeyboardInterrupt: where a person is asked something."""
    before = {number: signal.getsignal(number) for number in HELD}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
