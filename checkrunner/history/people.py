"""What people said of checks: how they should be, and that they do not want to be told; and which are not run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from checkrunner.history.blobs import drop_unused, unpacked_json
from checkrunner.history.codes import time_from, time_to
from checkrunner.history.database import Database
from checkrunner.model.errors import HistoryError
from checkrunner.model.history import Baseline, Silence, Suppression

__all__ = ["People", "baseline_from"]

_SILENCES = "SELECT number, host, key, until, why, by, made_at, ended_at FROM silence"
_BASELINE_BLOB = "SELECT blob FROM baseline WHERE playbook = ? AND host = ? AND key = ?"
_BASELINES = (
    "SELECT playbook, host, key, data, run, accepted_at, by, why FROM baseline JOIN blob ON blob.id = baseline.blob"
)


class People:
    """Baselines, silences and suppressions. A silence that was ended, and a baseline that was replaced, change no run
    that is stored."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def accept_baselines(
        self, number: int, cells: Iterable[tuple[str, str]], *, now: datetime, by: str = "", why: str = ""
    ) -> list[Baseline]:
        """Take the outputs that a run had of these checks (host and key) for how they should be; those of which it has
        none are passed over. Returns what is accepted now."""
        run = self._database.one(
            "SELECT run.id, playbook FROM run JOIN series ON series.id = run.series WHERE number = ?", number
        )
        if run is None:
            raise HistoryError(f"it has no run {number}", str(self._database.path))
        accepted: list[tuple[str, str]] = []
        with self._database.change() as connection:
            old: set[int] = set()
            for host, key in cells:
                row = connection.execute(
                    "SELECT blob FROM baselined b JOIN name h ON h.id = b.host JOIN name k ON k.id = b.key"
                    " WHERE b.run = ? AND h.text = ? AND k.text = ?",
                    (number, host, key),
                ).fetchone()
                if row is None:
                    continue
                at = (run[1], host, key)
                old |= {blob for (blob,) in connection.execute(_BASELINE_BLOB, at).fetchall()}
                connection.execute(
                    "INSERT OR REPLACE INTO baseline VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (*at, row[0], run[0], time_to(now), by, why),
                )
                accepted.append((host, key))
            drop_unused(connection, old)
        wanted = set(accepted)
        return [one for one in self.baselines(run[1]) if (one.host, one.check) in wanted]

    def baselines(self, playbook: str = "") -> list[Baseline]:
        """Those of a playbook, or all."""
        return [baseline_from(row, self._database.path) for row in self.baseline_rows(playbook)]

    def baseline_rows(self, playbook: str = "") -> list[tuple[Any, ...]]:
        """The same as they are stored: what reads them decides when their lines are unpacked."""
        where, values = (" WHERE playbook = ?", (playbook,)) if playbook else ("", ())
        return self._database.rows(f"{_BASELINES}{where} ORDER BY playbook, key, host", *values)

    def drop_baselines(self, playbook: str, cells: Iterable[tuple[str, str]]) -> int:
        """Forget the baselines of these checks (host and key); returns how many there were."""
        with self._database.change() as connection:
            found = []
            for host, key in cells:
                at = (playbook, host, key)
                found += connection.execute(_BASELINE_BLOB, at).fetchall()
                connection.execute("DELETE FROM baseline WHERE playbook = ? AND host = ? AND key = ?", at)
            drop_unused(connection, {blob for (blob,) in found})
        return len(found)

    def silence(self, host: str, check: str, *, until: datetime, why: str, by: str, now: datetime) -> Silence:
        """Silence checks on hosts (names or patterns) until then."""
        with self._database.change() as connection:
            number = connection.execute(
                "INSERT INTO silence (host, key, until, why, by, made_at) VALUES (?, ?, ?, ?, ?, ?)",
                (host, check, time_to(until), why, by, time_to(now)),
            ).lastrowid
        assert number is not None
        return Silence(number=number, host=host, check=check, until=until, why=why, by=by, made_at=now)

    def silences(self, now: datetime | None = None) -> list[Silence]:
        """Those that hold then, or all that there ever were, the oldest first."""
        every = [_silence(row) for row in self._database.rows(f"{_SILENCES} ORDER BY number")]
        return every if now is None else [one for one in every if one.holds_at(now)]

    def end_silence(self, number: int, *, now: datetime) -> Silence:
        """Take a silence back; one that is over stays as it is. Raises HistoryError where there is none of that
        number."""
        with self._database.change() as connection:
            connection.execute(
                "UPDATE silence SET ended_at = ? WHERE number = ? AND ended_at IS NULL AND until > ?",
                (time_to(now), number, time_to(now)),
            )
        row = self._database.one(f"{_SILENCES} WHERE number = ?", number)
        if row is None:
            hint = "`checkrunner silences --all` lists them"
            raise HistoryError(f"it has no silence {number}", str(self._database.path), hint=hint)
        return _silence(row)

    def suppressions(self, now: datetime, playbook: str = "") -> list[Suppression]:
        """Checks that are not run on hosts now, of a playbook or of all."""
        rows = self._database.rows(
            "SELECT playbook, host, key, strikes, since, until, reason FROM strike"
            " WHERE until > ? AND (? = '' OR playbook = ?) ORDER BY playbook, key, host",
            time_to(now),
            playbook,
            playbook,
        )
        return [_suppression(row) for row in rows]

    def strikes(self, playbook: str = "") -> list[tuple[str, str, str, int, str]]:
        """What did harm and may be run all the same: playbook, host, check, how often in a row, and what happened
        last."""
        rows = self._database.rows(
            "SELECT playbook, host, key, strikes, reason FROM strike WHERE (? = '' OR playbook = ?)"
            " ORDER BY playbook, key, host",
            playbook,
            playbook,
        )
        return [(of, host, key, strikes, reason) for of, host, key, strikes, reason in rows]

    def resume(self, cells: Iterable[tuple[str, str, str]]) -> int:
        """Let checks run again (playbook, host and key of each), and forget the harm that they did; returns how many
        of them had done any."""
        with self._database.change() as connection:
            before = connection.total_changes
            connection.executemany("DELETE FROM strike WHERE playbook = ? AND host = ? AND key = ?", list(cells))
            return connection.total_changes - before


def _when(stored: int) -> datetime:
    when = time_from(stored)
    assert when is not None
    return when


def baseline_from(row: Sequence[Any], path: Path) -> Baseline:
    """A row of `People.baseline_rows` of the file, its lines unpacked. Raises HistoryError where they are damaged."""
    playbook, host, key, data, run, accepted_at, by, why = row
    return Baseline(
        playbook=playbook,
        host=host,
        check=key,
        lines=tuple(unpacked_json(data, path)),
        run=run,
        accepted_at=_when(accepted_at),
        by=by,
        why=why,
    )


def _silence(row: Sequence[Any]) -> Silence:
    number, host, key, until, why, by, made_at, ended_at = row
    return Silence(
        number=number,
        host=host,
        check=key,
        until=_when(until),
        why=why,
        by=by,
        made_at=_when(made_at),
        ended_at=time_from(ended_at),
    )


def _suppression(row: Sequence[Any]) -> Suppression:
    playbook, host, key, strikes, since, until, reason = row
    return Suppression(
        playbook=playbook,
        host=host,
        check=key,
        strikes=strikes,
        since=_when(since),
        until=_when(until),
        reason=reason,
    )
