"""A file system in user space that can fall silent, as a file server does that has died.

The smallest one that answers: a directory with one `file`, spoken over /dev/fuse itself, so that nothing has to be
installed. What waits for it can be killed as long as its request has not been read; once it has been read, it cannot.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import struct
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from state_cases import CannotProvokeError

LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, INIT, OPENDIR, INTERRUPT, BATCH_FORGET = (
    1,
    2,
    3,
    14,
    15,
    18,
    26,
    27,
    36,
    42,
)
ROOT, FILE = 1, 2
CONTENT = b"alive\n"


class DeadFuse:
    """Serves `point` in a thread. `silence` says what becomes of requests from then on: they are "taken" and never
    answered, or "left" where they are."""

    def __init__(self, server: int, point: Path) -> None:
        self.server, self.point = server, point
        self.silence = ""
        self.taken = 0
        self.begun, self.ended = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self) -> None:
        while not self.ended.is_set():
            if not select.select([self.server], [], [], 0.02)[0] or self.silence == "left":
                self.ended.wait(0.02)
                continue
            try:
                request = os.read(self.server, 1 << 18)
            except OSError:
                continue
            _size, opcode, unique, node = struct.unpack_from("<IIQQ", request)
            if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            if self.silence:
                self.taken += 1
                continue
            error, data = self._answer(opcode, node, request[40:])
            with contextlib.suppress(OSError):
                os.write(self.server, struct.pack("<IiQ", 16 + len(data), -error, unique) + data)
            self.begun.set()

    @staticmethod
    def _answer(opcode: int, node: int, body: bytes) -> tuple[int, bytes]:
        if opcode == INIT:
            return 0, struct.pack("<IIIIHHIIHHI28x", 7, 31, 65536, 0, 16, 12, 65536, 1, 16, 0, 0)
        if opcode == GETATTR:
            return 0, struct.pack("<QII", 0, 0, 0) + attributes(node)  # to be asked for each time
        if opcode == LOOKUP and body.rstrip(b"\0") == b"file":
            return 0, struct.pack("<QQQQII", FILE, 0, 0, 0, 0, 0) + attributes(FILE)
        if opcode in (OPEN, OPENDIR):
            return 0, struct.pack("<QII", 0, 1, 0)  # not through the page cache
        if opcode == READ:
            return 0, CONTENT if struct.unpack_from("<QQ", body)[1] == 0 else b""
        if opcode == RELEASE:
            return 0, b""
        return (2 if opcode == LOOKUP else 38), b""  # ENOENT, ENOSYS


def attributes(node: int) -> bytes:
    mode = 0o40755 if node == ROOT else 0o100755
    return struct.pack("<QQQQQQIIIIIIIIII", node, len(CONTENT), 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


@contextlib.contextmanager
def dead_fuse() -> Iterator[DeadFuse]:
    """One that is mounted, and still answers. At its end everyone who waits for it gets an error."""
    libc = ctypes.CDLL(None, use_errno=True)
    with tempfile.TemporaryDirectory() as base:
        point = Path(base) / "mount"
        point.mkdir()
        try:
            server = os.open("/dev/fuse", os.O_RDWR)
        except OSError as error:
            raise CannotProvokeError(f"no FUSE: {error}") from None
        options = f"fd={server},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
        if libc.mount(b"dead", bytes(point), b"fuse", 0, options):
            os.close(server)
            raise CannotProvokeError("a FUSE file system cannot be mounted: " + os.strerror(ctypes.get_errno()))
        fuse = DeadFuse(server, point)
        try:
            assert fuse.begun.wait(10), "until its first question is answered, the kernel holds all others back"
            yield fuse
        finally:
            fuse.ended.set()
            fuse.thread.join()
            os.close(server)
            libc.umount2(bytes(point), 2)  # MNT_DETACH
