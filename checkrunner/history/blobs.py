"""Pieces of data, compressed, each kept once however often it is referred to."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkrunner.history.database import Database
from checkrunner.model.errors import HistoryError

__all__ = ["Blob", "blob_of", "drop_unused", "put", "read_blob", "read_json", "unpacked", "unpacked_json"]

_DIGEST_BYTES = 16
_SMALL = 64
_LEVEL = 3
_PLAIN, _PACKED = b"\0", b"\1"

_USES = (
    ("run", "checks"),
    ("evidence", "blob"),
    ("output", "data"),
    ("output", "tail"),
    ("baselined", "blob"),
    ("shape", "blob"),
    ("baseline", "blob"),
)
_UNUSED = " AND ".join(f"NOT EXISTS (SELECT 1 FROM {table} WHERE {column} = blob.id)" for table, column in _USES)


@dataclass(frozen=True, slots=True)
class Blob:
    """Data that is ready to be stored: made before the transaction begins, since it takes time."""

    digest: bytes
    data: bytes


def blob_of(value: object) -> Blob:
    """The blob of bytes, or of what JSON can write."""
    if isinstance(value, bytes):
        data = value
    else:
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(data).digest()[:_DIGEST_BYTES]
    packed = zlib.compress(data, _LEVEL) if len(data) > _SMALL else data
    return Blob(digest, _PACKED + packed if len(packed) < len(data) else _PLAIN + data)


def put(connection: sqlite3.Connection, blob: Blob) -> int:
    """Store it unless it is there already; returns its id."""
    row = connection.execute("SELECT id FROM blob WHERE digest = ?", (blob.digest,)).fetchone()
    if row is not None:
        return int(row[0])
    added = connection.execute("INSERT INTO blob (digest, data) VALUES (?, ?)", (blob.digest, blob.data)).lastrowid
    assert added is not None
    return added


def unpacked(stored: bytes, path: Path) -> bytes:
    """The data of a stored blob. SQLite does not see what a bad disk did to it: then HistoryError names the file."""
    try:
        return zlib.decompress(stored[1:]) if stored[:1] == _PACKED else stored[1:]
    except zlib.error as error:
        raise _damaged(path) from error


def unpacked_json(stored: bytes, path: Path) -> Any:
    """What JSON wrote into it."""
    try:
        return json.loads(unpacked(stored, path))
    except ValueError as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> HistoryError:
    hint = "Move the file away, and the next run makes a new one"
    return HistoryError("it is damaged: a piece of it cannot be read", str(path), hint=hint)


def read_blob(database: Database, number: int) -> bytes:
    """The data of the blob with that id."""
    row = database.one("SELECT data FROM blob WHERE id = ?", number)
    return unpacked(row[0], database.path) if row else b""


def read_json(database: Database, number: int) -> Any:
    """What JSON wrote into it."""
    row = database.one("SELECT data FROM blob WHERE id = ?", number)
    return unpacked_json(row[0] if row else b"", database.path)


def drop_unused(connection: sqlite3.Connection, among: Iterable[int]) -> None:
    """Delete those of these blobs that nothing refers to any more."""
    connection.executemany(f"DELETE FROM blob WHERE id = ? AND {_UNUSED}", [(one,) for one in among])
