"""A proxy command as a socket: its standard input and output are one end of a pair."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import threading

__all__ = ["ProxyCommand"]

_TAIL = 2048
# How long it may take to end in order, and how often that is looked at.
_ENDING_S = 0.5
_LOOK_S = 0.01


class ProxyCommand:
    """Runs the command with /bin/sh until closed. `socket` is our end of its standard streams."""

    def __init__(self, command: str) -> None:
        ours, theirs = socket.socketpair()
        words, self._words = os.pipe(), b""
        self._stderr = words[0]
        os.set_blocking(self._stderr, False)
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", f"exec {command}"],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=words[1],
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            os.close(self._stderr)
            raise
        finally:
            theirs.close()
            os.close(words[1])
        ours.setblocking(False)
        self.socket = ours
        self._closed = False
        # Read as it comes: a command that says much would stop when the pipe is full.
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._stderr, self._read)

    def _read(self) -> None:
        """Take what it has said since the last time."""
        data = b"-"
        with contextlib.suppress(OSError):
            while data := os.read(self._stderr, 65_536):
                self._words = (self._words + data)[-_TAIL:]
        if not data:
            self._loop.remove_reader(self._stderr)

    def last_words(self) -> str:
        """The end of what it wrote to its standard error."""
        if not self._closed:
            self._read()
        return self._words.decode("utf-8", "replace")

    async def aclose(self) -> None:
        """End the command and what it started, and wait for that, for a short time; idempotent."""
        if self._closed:
            return
        self._read()
        self._closed = True
        self._loop.remove_reader(self._stderr)
        self.socket.close()
        os.close(self._stderr)
        self._signal(signal.SIGTERM)
        end = self._loop.time() + _ENDING_S
        try:
            while self._ended() is None and self._loop.time() < end:  # noqa: ASYNC110 (nothing says when it ends)
                await asyncio.sleep(_LOOK_S)
        finally:
            # The group is named after a process that is not collected yet, so it is no other one.
            self._signal(signal.SIGKILL)
            # No zombie is left, and nobody waits for it.
            threading.Thread(target=self._process.wait, daemon=True).start()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _ended(self) -> object:
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
