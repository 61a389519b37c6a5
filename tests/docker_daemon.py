"""A Docker daemon with one running container, ``box``, whose processes run on this machine: for the real client.

It knows what `docker exec` asks of it: the container, a new exec, the start that turns the connection into a stream.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

__all__ = ["docker_daemon"]

_UPGRADED = (
    b"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n"
    b"Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
)


@contextmanager
def docker_daemon(folder: Path) -> Iterator[str]:
    """The value for DOCKER_HOST."""
    path = folder / "docker.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen(20)
        daemon = _Daemon(listening)
        accepting = threading.Thread(target=daemon.accept)
        accepting.start()
        try:
            yield f"unix://{path}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for serving in daemon.serving:
                serving.join(20)


class _Daemon:
    def __init__(self, listening: socket.socket) -> None:
        self.serving: list[threading.Thread] = []
        self._listening = listening
        self._execs: dict[str, tuple[list[str], list[subprocess.Popen[bytes]]]] = {}

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,))
            self.serving.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb", buffering=0) as stream, suppress(OSError):
            while request := stream.readline().decode():
                method, url, _ = request.split()
                body = self._body(stream)
                words = url.split("?")[0].strip("/").split("/")
                if words[-1] == "start":
                    self._stream(connection, words[-2])
                    return
                status, answer = self._answer(words, body)
                connection.sendall(_response(status, b"" if method == "HEAD" else json.dumps(answer).encode()))

    def _body(self, stream: Any) -> bytes:
        size = 0
        while (line := stream.readline().strip()) != b"":
            name, value = line.split(b":", 1)
            size = int(value) if name.lower() == b"content-length" else size
        body = b""
        while len(body) < size:
            body += stream.read(size - len(body))
        return body

    def _answer(self, words: list[str], body: bytes) -> tuple[str, object]:
        if words[-1] == "_ping":
            return "200 OK", "OK"
        if words[1:2] == ["containers"] and words[2] != "box":
            return "404 Not Found", {"message": f"No such container: {words[2]}"}
        if words[-1] == "exec":
            ident = f"e{len(self._execs)}"
            self._execs[ident] = json.loads(body)["Cmd"], []
            return "201 Created", {"Id": ident}
        if words[1:2] == ["exec"]:
            (process,) = self._execs[words[2]][1]
            code = process.poll()
            return "200 OK", {"ID": words[2], "Running": code is None, "ExitCode": code or 0}
        return "200 OK", {"Id": "box", "State": {"Running": True}, "Config": {"Tty": False}}

    def _stream(self, connection: socket.socket, ident: str) -> None:
        argv, processes = self._execs[ident]
        pipe = subprocess.PIPE
        with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True) as process:
            processes.append(process)
            connection.sendall(_UPGRADED)
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            lock = threading.Lock()
            outputs = [
                threading.Thread(target=_pass_on, args=(source, kind, connection, lock))
                for kind, source in ((1, process.stdout), (2, process.stderr))
            ]
            feeding = threading.Thread(target=_feed, args=(connection, process.stdin))
            for thread in (*outputs, feeding):
                thread.start()
            for thread in outputs:
                thread.join()
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            feeding.join()


def _feed(connection: socket.socket, sink: IO[bytes]) -> None:
    """What the client sends; its end, or that of the client, is the end of the input."""
    with sink, suppress(OSError):
        while data := connection.recv(65536):
            sink.write(data)
            sink.flush()


def _pass_on(source: IO[bytes], kind: int, connection: socket.socket, lock: threading.Lock) -> None:
    while data := os.read(source.fileno(), 65536):
        with lock, suppress(OSError):
            connection.sendall(struct.pack(">BxxxI", kind, len(data)) + data)


def _response(status: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nApi-Version: 1.43\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
