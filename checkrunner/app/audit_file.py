"""A log that several processes append lines to, bounded in size. Whoever holds the lock of the file that the path names
may write, and may begin a new one."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import stat
from pathlib import Path

__all__ = ["OLDER", "AppendFile"]

OLDER = 3
"""How many older files stay beside the log: ``.1`` is the youngest."""
_AGAIN = 20
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class AppendFile:
    """Appends to `path`, a regular file for its owner alone. With `most_bytes` (0: never) the log and its older files
    together stay below that: each takes at most an equal part, unless a single batch is larger.

    It may be renamed or removed at any time (``logrotate``): the next batch goes where the path then leads.
    """

    def __init__(self, path: Path, most_bytes: int) -> None:
        self.path = path
        self._most = most_bytes // (OLDER + 1)
        self._fd = -1

    def append(self, batch: bytes) -> bool:
        """Write whole lines, all or none of them, in one go. False where somebody else is writing: ask again.

        Raises OSError: the folder, the disk, or something at the path that is no file.
        """
        for _ in range(_AGAIN):
            self._open()
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            try:
                if not self._is_current():
                    continue
                size = os.fstat(self._fd).st_size
                if self._most and size and size + len(batch) > self._most:
                    self._rotate()
                    continue
                self._write(batch, size)
                return True
            finally:
                self._forget_or_unlock()
        raise OSError(errno.EAGAIN, "it is replaced all the time")

    def close(self) -> None:
        """Close it. Idempotent."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> None:
        if self._fd >= 0:
            return
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._fd = os.open(self.path, _FLAGS, 0o600)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise OSError(errno.ELOOP, "it is a symbolic link") from None
            raise
        if not stat.S_ISREG(os.fstat(self._fd).st_mode):
            self.close()
            raise OSError(errno.EINVAL, "it is no regular file")

    def _is_current(self) -> bool:
        """Whether the path still leads to what is open."""
        try:
            there = os.stat(self.path, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(there, os.fstat(self._fd))

    def _rotate(self) -> None:
        """Make it the youngest of the older ones. Whoever waits for its lock finds it renamed, and opens the new one;
        that one cannot be there before the last rename, so that no two processes rename at once."""
        names = [self.path, *(self.path.with_name(f"{self.path.name}.{number}") for number in range(1, OLDER + 1))]
        for younger, older in reversed(list(itertools.pairwise(names))):
            with contextlib.suppress(FileNotFoundError):
                younger.replace(older)

    def _write(self, batch: bytes, size: int) -> None:
        if size and not self._ends_whole(size):
            batch = b"\n" + batch
        try:
            # Once, but for a disk that is filling up: then the next call says why.
            while batch:
                batch = batch[os.write(self._fd, batch) :]
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, size)
            raise

    def _ends_whole(self, size: int) -> bool:
        """Whether the last line is whole: a machine that went down may have left half of one."""
        reading = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            return os.pread(reading, 1, size - 1) == b"\n"
        finally:
            os.close(reading)

    def _forget_or_unlock(self) -> None:
        """Keep what is current open; what was renamed is not ours to hold any more."""
        if self._is_current():
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        else:
            self.close()
