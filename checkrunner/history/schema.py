"""The tables of the store, and the steps from one version of them to the next."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["APPLICATION_ID", "STEPS", "VERSION"]

APPLICATION_ID = 0x63686B72
"""What marks a SQLite file as ours: ``chkr``."""

_FIRST = """
CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, last_run INTEGER NOT NULL);
CREATE TABLE series (
    id INTEGER PRIMARY KEY, playbook TEXT NOT NULL, selection TEXT NOT NULL, UNIQUE (playbook, selection));
CREATE TABLE blob (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, data BLOB NOT NULL);

CREATE TABLE run (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    series INTEGER NOT NULL,
    kind TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    elapsed_s REAL NOT NULL,
    playbook_digest TEXT NOT NULL,
    ended TEXT NOT NULL,
    complete INTEGER NOT NULL,
    exit_code INTEGER NOT NULL,
    hosts INTEGER NOT NULL,
    verdicts TEXT NOT NULL,
    drift TEXT NOT NULL,
    worse INTEGER NOT NULL,
    checks INTEGER NOT NULL);
CREATE INDEX run_series ON run (series, number);
CREATE INDEX run_checks ON run (checks);
CREATE TABLE report (run INTEGER PRIMARY KEY, data BLOB NOT NULL);

CREATE TABLE host_cell (
    run INTEGER NOT NULL, place INTEGER NOT NULL, host INTEGER NOT NULL,
    state INTEGER NOT NULL, since INTEGER, trail INTEGER NOT NULL,
    PRIMARY KEY (run, place)) WITHOUT ROWID;
CREATE TABLE state (
    run INTEGER NOT NULL, id INTEGER NOT NULL,
    verdict INTEGER NOT NULL, execution INTEGER NOT NULL, reasons TEXT NOT NULL, finding TEXT NOT NULL,
    blind INTEGER NOT NULL, was INTEGER, since INTEGER, trail INTEGER NOT NULL,
    PRIMARY KEY (run, id)) WITHOUT ROWID;
CREATE TABLE cell (
    run INTEGER NOT NULL, host INTEGER NOT NULL, key INTEGER NOT NULL, state INTEGER NOT NULL,
    PRIMARY KEY (run, host, key)) WITHOUT ROWID;

CREATE TABLE evidence (
    run INTEGER NOT NULL, host INTEGER NOT NULL, key INTEGER NOT NULL, blob INTEGER NOT NULL,
    PRIMARY KEY (run, host, key)) WITHOUT ROWID;
CREATE INDEX evidence_blob ON evidence (blob);
CREATE TABLE output (
    run INTEGER NOT NULL, host INTEGER NOT NULL, key INTEGER NOT NULL, stream TEXT NOT NULL,
    data INTEGER NOT NULL, tail INTEGER NOT NULL, total_bytes INTEGER NOT NULL, total_lines INTEGER NOT NULL,
    truncated INTEGER NOT NULL, note TEXT NOT NULL,
    PRIMARY KEY (run, host, key, stream)) WITHOUT ROWID;
CREATE INDEX output_data ON output (data);
CREATE INDEX output_tail ON output (tail);
CREATE TABLE baselined (
    run INTEGER NOT NULL, host INTEGER NOT NULL, key INTEGER NOT NULL, blob INTEGER NOT NULL,
    PRIMARY KEY (run, host, key)) WITHOUT ROWID;
CREATE INDEX baselined_blob ON baselined (blob);

CREATE TABLE shape (
    playbook TEXT NOT NULL, host TEXT NOT NULL, key TEXT NOT NULL, blob INTEGER NOT NULL, seen_at INTEGER NOT NULL,
    PRIMARY KEY (playbook, host, key)) WITHOUT ROWID;
CREATE INDEX shape_blob ON shape (blob);
CREATE TABLE baseline (
    playbook TEXT NOT NULL, host TEXT NOT NULL, key TEXT NOT NULL, blob INTEGER NOT NULL, run TEXT NOT NULL,
    accepted_at INTEGER NOT NULL, by TEXT NOT NULL, why TEXT NOT NULL,
    PRIMARY KEY (playbook, host, key)) WITHOUT ROWID;
CREATE INDEX baseline_blob ON baseline (blob);
CREATE TABLE silence (
    number INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, key TEXT NOT NULL, until INTEGER NOT NULL,
    why TEXT NOT NULL, by TEXT NOT NULL, made_at INTEGER NOT NULL, ended_at INTEGER);
CREATE TABLE strike (
    playbook TEXT NOT NULL, host TEXT NOT NULL, key TEXT NOT NULL, strikes INTEGER NOT NULL,
    since INTEGER NOT NULL, until INTEGER, reason TEXT NOT NULL,
    PRIMARY KEY (playbook, host, key)) WITHOUT ROWID;
"""

STEPS: Sequence[str] = (_FIRST,)
"""SQL that leads from version N (its place, from 0: an empty file) to the next one. A step that was released is never
changed."""

VERSION = len(STEPS)
