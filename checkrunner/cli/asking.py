"""Asking a person at the terminal what commands on hosts ask, one question at a time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from checkrunner.model.errors import UsageError
from checkrunner.model.plan import PlannedCheck, PromptText
from checkrunner.model.sources import Secret
from checkrunner.render.progress import SilentProgress
from checkrunner.render.safe import safe

__all__ = ["TerminalDriver", "require_terminal"]

_CANCEL = b"\x03"
_AGAIN_S = 1.5
"""Ctrl-C twice within this time is meant for the run, not for one question."""
_INPUT, _LOCAL, _KEYS = 0, 3, 6  # places in what termios gives


def require_terminal() -> None:
    """Raise UsageError where nobody could be asked: from cron, in a pipe, with progress going into a file."""
    for name, stream in (("stdin", sys.stdin), ("stderr", sys.stderr)):
        if not stream.isatty():
            hint = "Write answers into the playbook (`prompts:`), or leave --interactive out"
            raise UsageError(f"--interactive asks at a terminal, and {name} is none", hint=hint)


class TerminalDriver:
    """Implements `model.seams.Driver`: says which host and check ask, shows the question, and reads a line; without
    showing it where the host would not show it. Ctrl-C and Ctrl-D refuse.

    `mask` takes secrets out of questions; `fd` and `out` are the terminal, if not this process's own.
    """

    def __init__(
        self,
        progress: SilentProgress,
        *,
        mask: Callable[[str], str],
        fd: int | None = None,
        out: TextIO | None = None,
    ) -> None:
        self._progress = progress
        self._mask = mask
        self._out = out or sys.stderr
        self._fd = sys.stdin.fileno() if fd is None else fd
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._refused_at = -_AGAIN_S

    async def answer(self, host: str, planned: PlannedCheck, prompt: PromptText) -> Secret | None:
        """See the seam."""
        self._waiting += 1
        try:
            async with self._turn:
                self._progress.pause()
                with contextlib.suppress(OSError, termios.error):  # the terminal is gone, and whoever sat there
                    return await self._ask(host, planned, prompt)
                return None
        finally:
            self._waiting -= 1
            if not self._waiting:  # else the next question comes at once
                self._progress.resume()

    async def _ask(self, host: str, planned: PlannedCheck, prompt: PromptText) -> Secret | None:
        how = "not shown; " if prompt.secret else ""
        more = f", {self._waiting - 1} more wait" if self._waiting > 1 else ""
        question = safe(self._mask(prompt.text)) or "(it shows no text)"
        text = f"{safe(host)}: check {safe(planned.key)} asks{more}:\n    {question}\n"
        try:
            # Whoever sees the question may type at once: not before nothing of it is shown or thrown away.
            with _line_input(self._fd, echo=not prompt.secret):
                self._say(f"{text}  your answer ({how}Ctrl-C refuses): ")
                line = await _line(self._fd)
        except asyncio.CancelledError:
            self._say("\n  no longer asked\n")
            raise
        ended = line.endswith(b"\n")
        if not ended or prompt.secret:
            self._say("\n")
        if ended:
            return Secret(line[:-1].decode("utf-8", "surrogateescape"))
        self._refuse(interrupt=line.endswith(_CANCEL))
        return None

    def _refuse(self, *, interrupt: bool) -> None:
        self._say("  refused\n")
        now = time.monotonic()
        if interrupt and now - self._refused_at < _AGAIN_S:
            signal.raise_signal(signal.SIGINT)
        self._refused_at = now

    def _say(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


@contextlib.contextmanager
def _line_input(fd: int, *, echo: bool) -> Iterator[None]:
    """The terminal gives lines while this holds. Ctrl-C ends the line instead of the run; what was typed before the
    question was there is thrown away, since it cannot be meant for it."""
    before = termios.tcgetattr(fd)
    during: list[Any] = [*before[:_KEYS], [*before[_KEYS]]]
    during[_INPUT] = before[_INPUT] | termios.ICRNL
    during[_LOCAL] = (before[_LOCAL] | termios.ICANON) & ~(termios.ISIG | termios.ECHO)
    if echo:
        during[_LOCAL] |= termios.ECHO
    during[_KEYS][termios.VEOL] = _CANCEL
    termios.tcsetattr(fd, termios.TCSAFLUSH, during)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSAFLUSH, before)


async def _line(fd: int) -> bytes:
    """One line with what ended it: a newline, Ctrl-C; nothing for Ctrl-D and a terminal that is gone."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[bytes] = loop.create_future()

    def read() -> None:
        try:
            data = os.read(fd, 8192)
        except OSError:
            data = b""
        if not done.done():
            done.set_result(data)

    loop.add_reader(fd, read)
    try:
        return await done
    finally:
        loop.remove_reader(fd)
