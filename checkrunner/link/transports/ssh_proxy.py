"""A proxy command as a socket: its standard input and output are one end of a pair."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading

__all__ = ["ProxyCommand"]

_TAIL = 2048


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

    def last_words(self) -> str:
        """The end of what it wrote to its standard error."""
        if not self._closed:
            with contextlib.suppress(OSError):
                while data := os.read(self._stderr, 65_536):
                    self._words = (self._words + data)[-_TAIL:]
        return self._words.decode("utf-8", "replace")

    def close(self) -> None:
        """End the command and what it started; idempotent."""
        if self._closed:
            return
        self.last_words()
        self._closed = True
        self.socket.close()
        os.close(self._stderr)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        if self._process.poll() is None:
            # No zombie is left, and nobody waits for it.
            threading.Thread(target=self._process.wait, daemon=True).start()
