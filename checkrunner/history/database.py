"""The file of the store: opened, made, brought to the version that this program knows. The door to sqlite3."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkrunner.history.codes import plain
from checkrunner.history.schema import APPLICATION_ID, STEPS, VERSION
from checkrunner.model.errors import HistoryError

__all__ = ["BUSY_S", "Database", "Value"]

Value = int | float | str | bytes | None
"""What a column may hold."""

BUSY_S = 30.0
"""How long a process waits for another one that writes."""

_UNWRITABLE = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_FULL", "SQLITE_IOERR_SHM")
"""What SQLite says where the file can be read, and the files beside it cannot be made."""

_MAKE = "Move it away, and the next run makes a new one"


class Database:
    """A connection. Each change is one transaction: all of it is there afterwards, or nothing, whatever ends the
    process. Everything raises HistoryError, and nothing else, for what is wrong with the file.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._unwritable: HistoryError | None = None
        with self.told():
            if create:
                _make_file(path)
            elif not path.exists():
                hint = "The first run makes it (checkrunner run PLAYBOOK); --history names another file"
                raise HistoryError("there is no such file", str(path), hint=hint)
            self._connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
            try:
                self._prepare()
            except BaseException as error:
                self.close()
                if create or not self._open_to_read(error):
                    raise

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection that is open."""
        if self._connection is None:
            raise HistoryError("it is closed", str(self.path))
        return self._connection

    def close(self) -> None:
        """Close it; idempotent."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def rows(self, sql: str, *values: Value) -> list[tuple[Any, ...]]:
        """What a query finds."""
        with self.told():
            return self.connection.execute(sql, list(map(_plain, values))).fetchall()

    def one(self, sql: str, *values: Value) -> tuple[Any, ...] | None:
        """The first row that a query finds."""
        with self.told():
            row: tuple[Any, ...] | None = self.connection.execute(sql, list(map(_plain, values))).fetchone()
            return row

    def script(self, sql: str) -> None:
        """Execute it to its end, outside of a transaction. A statement that goes on for each row that it gives, and
        whose rows have no columns, would end after the first one otherwise."""
        with self.told():
            self.connection.executescript(sql)

    def number(self, sql: str, *values: Value) -> int:
        """The one number that a query finds; 0 where it finds none."""
        row = self.one(sql, *values)
        return int(row[0]) if row and isinstance(row[0], int) else 0

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """What is read within this is of one time."""
        with self.told():
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                self.connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """A transaction. It waits for that of another process, and is taken back when the block raises."""
        with self.told():
            connection = self.connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextlib.contextmanager
    def told(self) -> Iterator[None]:
        """Make what SQLite and the system raise a HistoryError that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            if self._unwritable is not None and _code(error).startswith("SQLITE_READONLY"):
                raise self._unwritable from error
            raise _trouble(error, self.path) from error
        except OSError as error:
            raise HistoryError(f"it cannot be used: {error.strerror or error}", str(self.path)) from error

    def _open_to_read(self, error: BaseException) -> bool:
        """Open it to be read where nothing can be written beside it: the file system is read-only, or full. Only while
        all that was written is in the file itself. What changes it raises `error` from then on."""
        if not isinstance(error, HistoryError) or not _code(error.__cause__).startswith(_UNWRITABLE):
            return False
        log = Path(f"{self.path}-wal")
        if log.exists() and log.stat().st_size:
            return False
        address = f"{self.path.absolute().as_uri()}?immutable=1"
        self._connection = sqlite3.connect(address, timeout=BUSY_S, isolation_level=None, uri=True)
        self._unwritable = error
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise
        return True

    def _prepare(self) -> None:
        connection = self.connection
        version = self.number("PRAGMA user_version")
        self._check_owner(version)
        if version > VERSION:
            what = f"a newer checkrunner made it (version {version} of the tables; this one knows {VERSION})"
            raise HistoryError(what, str(self.path), hint="Update checkrunner, or name another file with --history")
        if version == 0:
            # Pages of what is deleted can be given back to the file system: has to be said before the first table.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        if version < VERSION:
            self._migrate()
        if self._unwritable is None and self.one("PRAGMA journal_mode") != ("wal",):
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")

    def _check_owner(self, version: int) -> None:
        application = self.number("PRAGMA application_id")
        if application == APPLICATION_ID:
            return
        if not (application or version or self.number("SELECT count(*) FROM sqlite_master")):
            return
        # Another process may have made the tables since the first look: then the mark is there as well.
        if self.number("PRAGMA application_id") != APPLICATION_ID:
            hint = "Name another one with --history, or none for none"
            raise HistoryError("the file is a database of something else", str(self.path), hint=hint)

    def _migrate(self) -> None:
        """All steps that are missing, in one transaction: another process may be at it, too."""
        with self.change() as connection:
            version = self.number("PRAGMA user_version")
            for step in STEPS[version:]:
                for statement in filter(str.strip, step.split(";")):
                    connection.execute(statement)
            if version < VERSION:
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {VERSION}")


def _plain(value: Value) -> Value:
    return plain(value) if isinstance(value, str) else value


def _make_file(path: Path) -> None:
    """The file and its folder, for nobody else: outputs and names of hosts are in it."""
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _code(error: object) -> str:
    """SQLite's name for what went wrong; "" where it has none."""
    name = getattr(error, "sqlite_errorname", None)
    return name if isinstance(name, str) else ""


def _trouble(error: sqlite3.Error, path: Path) -> HistoryError:
    code = _code(error)
    kind = code.removeprefix("SQLITE_").partition("_")[0]
    if kind in {"CORRUPT", "NOTADB"}:
        what = "it is damaged" if kind == "CORRUPT" else "the file is no store of runs, or it is damaged"
        hint = f"{_MAKE}; `sqlite3 {path} .recover` may get back what is in it"
        return HistoryError(f"{what} ({error})", str(path), hint=hint)
    if kind in {"BUSY", "LOCKED"}:
        hint = "Another process is writing, or was stopped while it did"
        return HistoryError(f"it is locked, and was so for {BUSY_S:g} seconds", str(path), hint=hint)
    if kind == "FULL" or code == "SQLITE_IOERR_SHMSIZE":  # the index of its log finds no room either
        return HistoryError("there is no room left on the disk", str(path))
    if kind in {"READONLY", "CANTOPEN", "PERM", "AUTH"}:
        hint = "The file and its folder have to be writable; --history names another one, or none"
        return HistoryError(f"it cannot be opened for writing ({error})", str(path), hint=hint)
    return HistoryError(f"it cannot be used ({error})", str(path))
