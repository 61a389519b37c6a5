"""A run into the store, in one transaction."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from checkrunner.history.blobs import Blob, blob_of, drop_unused, put
from checkrunner.history.codes import (
    HOST_STATES,
    VERDICTS,
    cell_row,
    checks_to,
    evidence_to,
    plain,
    selection_to,
    time_to,
)
from checkrunner.model.drift import ChangeKind, Drift
from checkrunner.model.history import Cell, Evidence, RunRecord, Selection
from checkrunner.model.options import HistoryOptions
from checkrunner.model.results import Execution

__all__ = ["Prepared", "prepare", "write"]

_Key = tuple[str, str]
_HOST_CODES = {word: at for at, word in enumerate(HOST_STATES)}
_REPORT_LEVEL = 6
_MOST_REASON = 500
_ENDED = frozenset({Execution.DONE, Execution.TIMED_OUT, Execution.WAITING_INPUT})
"""Ends of a command that did no harm. One that was killed may have been so with its run, before it could do any."""


class Prepared:
    """What takes time and needs no transaction: everything compressed, equal things once."""

    def __init__(self, record: RunRecord) -> None:
        self.record = record
        self.checks = blob_of(checks_to(record.view.checks))
        self.report = zlib.compress(record.report_text.encode("utf-8", "replace"), _REPORT_LEVEL)
        self.evidence = _evidence(record.evidence)
        self.baselined = _by_value(record.baselined)
        self.shapes = _by_value({at: tuple(sorted(shapes)) for at, shapes in record.shapes.items()})
        self.outputs = [(kept, blob_of(kept.data), blob_of(kept.tail)) for kept in record.kept]
        cells = record.view.cells.values()
        self.states, self.places = _states(cells)
        counts = record.report.totals.verdict  # cells of items that were known, and were not looked for, are none
        self.verdicts = json.dumps([counts.get(verdict, 0) for verdict in VERDICTS])


def prepare(record: RunRecord) -> Prepared:
    """Make a run ready to be written."""
    return Prepared(record)


def write(connection: sqlite3.Connection, prepared: Prepared, options: HistoryOptions, now: datetime) -> int:
    """Write it within the transaction that is open; returns its number.

    Raises sqlite3.IntegrityError where a run of that id is there already.
    """
    number = _write_run(connection, prepared)
    view = prepared.record.view
    names = _Names(connection, number, [*view.hosts, *view.checks, *(key for _, key in view.cells)])
    connection.executemany(
        "INSERT INTO host_cell VALUES (?, ?, ?, ?, ?, ?)",
        [
            (number, place, names[host], _HOST_CODES[cell.state], time_to(cell.since), cell.trail)
            for place, (host, cell) in enumerate(view.hosts.items())
        ],
    )
    connection.executemany(
        "INSERT INTO state VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(number, at, *cell_row(cell)) for at, cell in enumerate(prepared.states)],
    )
    ids = names.ids
    # In the order of the key, so that the table grows at its end.
    rows = sorted(
        (number, ids[host], ids[key], place) for (host, key), place in zip(view.cells, prepared.places, strict=True)
    )
    connection.executemany("INSERT INTO cell VALUES (?, ?, ?, ?)", rows)
    _write_pieces(connection, number, names, "evidence", prepared.evidence)
    _write_pieces(connection, number, names, "baselined", prepared.baselined)
    _write_outputs(connection, number, names, prepared)
    _write_shapes(connection, prepared, now)
    _count_strikes(connection, prepared.record, options)
    return number


def _states(cells: Iterable[Cell]) -> tuple[list[Cell], list[int]]:
    """The different cells, and for each cell which of them it is: mostly they are the same objects."""
    places: list[int] = []
    known: dict[int, int] = {}
    states: dict[Cell, int] = {}
    for cell in cells:
        place = known.get(id(cell))
        if place is None:
            place = known[id(cell)] = states.setdefault(cell, len(states))
        places.append(place)
    return list(states), places


def _evidence(evidence: Mapping[_Key, Evidence]) -> dict[_Key, Blob]:
    made: dict[str, Blob] = {}
    found: dict[_Key, Blob] = {}
    for (host, key), piece in evidence.items():
        text = json.dumps(evidence_to(piece, host, key), ensure_ascii=False, separators=(",", ":"))
        blob = made.get(text)
        if blob is None:
            blob = made[text] = blob_of(text.encode("utf-8", "surrogatepass"))
        found[host, key] = blob
    return found


def _by_value(texts: Mapping[_Key, Sequence[str]]) -> dict[_Key, Blob]:
    """Equal lists of lines are one object where they come from one place, which is the usual case."""
    made: dict[int, Blob] = {}
    found: dict[_Key, Blob] = {}
    for at, lines in texts.items():
        blob = made.get(id(lines))
        if blob is None:
            blob = made[id(lines)] = blob_of(list(lines))
        found[at] = blob
    return found


def _write_run(connection: sqlite3.Connection, prepared: Prepared) -> int:
    record, view = prepared.record, prepared.record.view
    drift, worse = _drift(record.report.drift)
    number = connection.execute(
        "INSERT INTO run (id, series, kind, started_at, elapsed_s, playbook_digest, ended, complete, exit_code, hosts,"
        " verdicts, drift, worse, checks) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            view.id,
            _series(connection, view.playbook, view.selection),
            record.kind,
            time_to(view.started_at),
            record.report.run.elapsed_s,
            view.playbook_digest,
            view.ended,
            view.complete,
            view.exit_code,
            len(view.hosts),
            prepared.verdicts,
            drift,
            worse,
            put(connection, prepared.checks),
        ),
    ).lastrowid
    assert number is not None
    connection.execute("INSERT INTO report VALUES (?, ?)", (number, prepared.report))
    return number


def _series(connection: sqlite3.Connection, playbook: str, selection: Selection) -> int:
    values = (plain(playbook), selection_to(selection))
    connection.execute("INSERT OR IGNORE INTO series (playbook, selection) VALUES (?, ?)", values)
    row = connection.execute("SELECT id FROM series WHERE playbook = ? AND selection = ?", values).fetchone()
    return int(row[0])


def _drift(drift: Drift | None) -> tuple[str, int]:
    if drift is None:
        return "", 0
    if drift.worse:
        return "worse", drift.worse
    better = any(change.kind in {ChangeKind.RECOVERY, ChangeKind.SEEN} for change in drift.changes)
    return "better" if better else "same", 0


class _Names:
    """Names of hosts and checks by number; those of this run are marked as used in it."""

    def __init__(self, connection: sqlite3.Connection, run: int, names: Iterable[str]) -> None:
        self.ids: dict[str, int] = dict(connection.execute("SELECT text, id FROM name"))
        used = {name: plain(name) for name in names}
        missing = [text for text in dict.fromkeys(used.values()) if text not in self.ids]
        if missing:
            connection.executemany("INSERT INTO name (text, last_run) VALUES (?, ?)", [(text, run) for text in missing])
            self.ids = dict(connection.execute("SELECT text, id FROM name"))
        self.ids.update({name: self.ids[text] for name, text in used.items()})
        connection.executemany("UPDATE name SET last_run = ? WHERE id = ?", [(run, self.ids[name]) for name in used])

    def __getitem__(self, name: str) -> int:
        return self.ids[name]


def _write_pieces(
    connection: sqlite3.Connection, number: int, names: _Names, table: str, pieces: Mapping[_Key, Blob]
) -> None:
    """Blobs by host and check. What is of no host or check of the run is nobody's."""
    stored = _Stored(connection)
    rows = [
        (number, names[host], names[key], stored.id_of(blob))
        for (host, key), blob in pieces.items()
        if host in names.ids and key in names.ids
    ]
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", rows)


class _Stored:
    """Blobs that this run has put already."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._ids: dict[bytes, int] = {}

    def id_of(self, blob: Blob) -> int:
        number = self._ids.get(blob.digest)
        if number is None:
            number = self._ids[blob.digest] = put(self._connection, blob)
        return number


def _write_outputs(connection: sqlite3.Connection, number: int, names: _Names, prepared: Prepared) -> None:
    rows = [
        (
            number,
            names[kept.host],
            names[kept.check],
            str(kept.stream),
            put(connection, data),
            put(connection, tail),
            kept.total_bytes,
            kept.total_lines,
            kept.truncated,
            kept.note,
        )
        for kept, data, tail in prepared.outputs
        if kept.host in names.ids and kept.check in names.ids
    ]
    connection.executemany("INSERT INTO output VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _write_shapes(connection: sqlite3.Connection, prepared: Prepared, now: datetime) -> None:
    """What a healthy output looks like replaces what it looked like before."""
    if not prepared.shapes:
        return
    playbook, stored = plain(prepared.record.view.playbook), _Stored(connection)
    old: set[int] = set()
    for (host, key), blob in prepared.shapes.items():
        at = (playbook, plain(host), plain(key))
        row = connection.execute("SELECT blob FROM shape WHERE playbook = ? AND host = ? AND key = ?", at).fetchone()
        new = stored.id_of(blob)
        if row is not None and row[0] != new:
            old.add(row[0])
        connection.execute("INSERT OR REPLACE INTO shape VALUES (?, ?, ?, ?, ?)", (*at, new, time_to(now)))
    drop_unused(connection, old)


def _count_strikes(connection: sqlite3.Connection, record: RunRecord, options: HistoryOptions) -> None:
    """A check that did harm on a host again and again is suppressed there. One that ran and did none begins anew."""
    view, playbook = record.view, plain(record.view.playbook)
    rows = connection.execute("SELECT host, key, strikes, since FROM strike WHERE playbook = ?", (playbook,))
    known = {(host, key): (strikes, since) for host, key, strikes, since in rows.fetchall()}
    for at in known.keys() - record.harmed.keys():
        cell = view.cells.get(at)
        if cell is not None and cell.execution in _ENDED:
            connection.execute("DELETE FROM strike WHERE playbook = ? AND host = ? AND key = ?", (playbook, *at))
    began = view.started_at
    ended = began + timedelta(seconds=record.report.run.elapsed_s)
    for (host, key), reason in record.harmed.items():
        at = (plain(host), plain(key))
        strikes, since = known.get(at, (0, time_to(began)))
        strikes += 1
        until = ended + timedelta(seconds=options.suppress_for_s) if strikes >= options.suppress_after else None
        connection.execute(
            "INSERT OR REPLACE INTO strike VALUES (?, ?, ?, ?, ?, ?, ?)",
            (playbook, *at, strikes, since, time_to(until), plain(reason[:_MOST_REASON])),
        )
