"""Which runs the store lets go, and the room that this gives back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import datetime, timedelta

from checkrunner.history.blobs import drop_unused
from checkrunner.history.codes import time_to
from checkrunner.history.database import Database
from checkrunner.model.options import HistoryOptions

__all__ = ["AT_A_TIME", "delete_runs", "free_pages", "outdated", "oversized", "used_bytes"]

AT_A_TIME = 20
"""So many runs at most go with each one that is saved: a save stays cheap also where the limits became lower."""

_OF_RUN = ("report", "host_cell", "state", "cell", "evidence", "output", "baselined")
_WITH_BLOBS = (("evidence", "blob"), ("output", "data"), ("output", "tail"), ("baselined", "blob"))
_LEAST_FREE = 64


def outdated(
    connection: sqlite3.Connection, options: HistoryOptions, now: datetime, most: int, *, after: int | None = None
) -> list[int]:
    """Runs that are older than is kept, and those of each series beyond the number that is kept; the oldest first.
    With `after`, a run that was just stored, of its series alone: the others have not grown."""
    oldest = time_to(now - timedelta(seconds=options.keep_s))
    rows = connection.execute("SELECT number FROM run WHERE started_at < ? ORDER BY number LIMIT ?", (oldest, most))
    found = {number for (number,) in rows.fetchall()}
    grown = "SELECT DISTINCT series FROM run WHERE ? IS NULL OR number = ?"
    for (series,) in connection.execute(grown, (after, after)).fetchall():
        rows = connection.execute(
            "SELECT number FROM run WHERE series = ? ORDER BY number DESC LIMIT -1 OFFSET ?", (series, options.runs)
        )
        found |= {number for (number,) in rows.fetchall()}
    return sorted(found)[:most]


def oversized(connection: sqlite3.Connection, options: HistoryOptions) -> int | None:
    """The oldest run, where all together take more room than they may; never the last one of its series."""
    if used_bytes(connection) <= options.most_bytes:
        return None
    row = connection.execute(
        "SELECT min(number) FROM run WHERE number NOT IN (SELECT max(number) FROM run GROUP BY series)"
    ).fetchone()
    return None if row is None or row[0] is None else int(row[0])


def used_bytes(connection: sqlite3.Connection) -> int:
    """What is in use of the file."""
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def delete_runs(connection: sqlite3.Connection, numbers: Iterable[int]) -> int:
    """Delete these runs, and what only they refer to; returns how many there were."""
    gone = 0
    blobs: set[int] = set()
    for number in numbers:
        checks = connection.execute("SELECT checks FROM run WHERE number = ?", (number,)).fetchone()
        if checks is None:
            continue
        blobs.add(checks[0])
        for table, column in _WITH_BLOBS:
            rows = connection.execute(f"SELECT DISTINCT {column} FROM {table} WHERE run = ?", (number,))
            blobs |= {blob for (blob,) in rows.fetchall()}
        for table in _OF_RUN:
            connection.execute(f"DELETE FROM {table} WHERE run = ?", (number,))
        connection.execute("DELETE FROM run WHERE number = ?", (number,))
        gone += 1
    if gone:
        drop_unused(connection, blobs)
        _drop_names(connection)
    return gone


def _drop_names(connection: sqlite3.Connection) -> None:
    """Names that no run has any more, series without a run, and what healthy outputs of such hosts looked like."""
    oldest = connection.execute("SELECT min(number) FROM run").fetchone()[0]
    before = connection.total_changes
    connection.execute("DELETE FROM name WHERE last_run < ? OR ? IS NULL", (oldest, oldest))
    if connection.total_changes > before:
        lost = "host NOT IN (SELECT text FROM name) OR key NOT IN (SELECT text FROM name)"
        blobs = {blob for (blob,) in connection.execute(f"SELECT blob FROM shape WHERE {lost}").fetchall()}
        connection.execute(f"DELETE FROM shape WHERE {lost}")
        drop_unused(connection, blobs)
    connection.execute("DELETE FROM series WHERE id NOT IN (SELECT series FROM run)")


def free_pages(database: Database, *, all_of_them: bool = False) -> None:
    """Give pages that are free back to the file system, where they are more than the next runs will need."""
    pages, free = database.number("PRAGMA page_count"), database.number("PRAGMA freelist_count")
    keep = 0 if all_of_them else max(_LEAST_FREE, pages // 8)
    if free > keep:
        database.script(f"PRAGMA incremental_vacuum({free - keep})")
    if all_of_them:
        database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
