"""One at a time: locks between processes of this machine, let go by the kernel when their holder dies. The door to
filelock."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from checkrunner.app.output import replace_file
from checkrunner.model.errors import UsageError

__all__ = ["Lock"]


class Lock:
    """A lock in a folder of locks, which is made where it is missing. Its file stays when it is let go: the file is no
    lock, holding it is."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._path = folder / f"{name}.lock"
        self._told = folder / f"{name}.holder"
        self._lock = FileLock(self._path, mode=0o600, thread_local=False)

    def take(self) -> bool:
        """Take it if nobody has it. Raises UsageError where there can be no such file."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        except OSError as error:
            raise UsageError(
                f"the lock {self._path} cannot be taken: {error.strerror or error}",
                hint="XDG_STATE_HOME says where locks, the history and the audit log are",
            ) from None
        self._tell()
        return True

    def release(self) -> None:
        """Let it go. Idempotent."""
        if self._lock.is_locked:
            self._told.unlink(missing_ok=True)
            self._lock.release()

    def holder(self) -> str:
        """Who has it, in words, as far as that is known: ``process 4711, since 10:05:00 UTC``."""
        try:
            told = json.loads(self._told.read_text(encoding="utf-8"))
            since = datetime.fromisoformat(told["since"])
            return f"process {int(told['pid'])}, since {since:%H:%M:%S} UTC"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def _tell(self) -> None:
        told = {"pid": os.getpid(), "since": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"}
        # Beside the lock, and not in it: whoever tries to take a lock may empty its file.
        try:
            replace_file(self._told, lambda out: out.write(json.dumps(told)))
        except OSError:
            self._told.unlink(missing_ok=True)
