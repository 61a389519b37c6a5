"""A TCP proxy on loopback whose connections a test can cut, or let die without a word."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from typing import Self

__all__ = ["Cuttable"]


class Cuttable:
    """Forwards to `port` of 127.0.0.1. `cut` closes what there is; after `stall` nothing of it is forwarded or closed any
    more, while new connections work. `refuse` closes new ones. After `down`, until `up`, nobody listens."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._stalled: list[tuple[socket.socket, socket.socket]] = []
        self._refusing = False
        self._over = False
        self.accepted = 0
        self.times: list[float] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._thread.join(10)
        self.cut()
        for pair in self._stalled:
            for end in pair:
                end.close()
        self._listener.close()

    def cut(self) -> None:
        """Close every connection."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                end.close()

    def stall(self) -> None:
        """From now on the packets of every connection are dropped."""
        with self._lock:
            self._stalled += self._pairs
            self._pairs = []

    def refuse(self) -> None:
        """Close new connections at once."""
        self._refusing = True

    def down(self) -> None:
        """Cut, and listen no more."""
        self._listener.close()
        self.cut()

    def up(self) -> None:
        """Listen again, at the same port."""
        self._listener = socket.create_server(("127.0.0.1", self.port))

    def _serve(self) -> None:
        while not self._over:
            if self._listener.fileno() < 0:
                time.sleep(0.02)
                continue
            with self._lock:
                ends = {end: other for pair in self._pairs for end, other in (pair, pair[::-1])}
            with contextlib.suppress(OSError, ValueError):  # closed by the test meanwhile
                ready, _, _ = select.select([self._listener, *ends], [], [], 0.02)
                for one in ready:
                    if one is self._listener:
                        self._accept()
                    else:
                        self._forward(one, ends[one])

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        self.accepted += 1
        self.times.append(time.monotonic())
        if self._refusing:
            client.close()
            return
        try:
            server = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            client.close()
            return
        with self._lock:
            self._pairs.append((client, server))

    def _forward(self, one: socket.socket, other: socket.socket) -> None:
        with self._lock:
            if not any(one in pair for pair in self._pairs):
                return
            data = b""
            with contextlib.suppress(OSError):
                data = one.recv(1 << 16)
            if data:
                with contextlib.suppress(OSError):
                    other.sendall(data)
                    return
            self._pairs = [pair for pair in self._pairs if one not in pair]
        one.close()
        other.close()
