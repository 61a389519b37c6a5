"""Runs out of the store."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from typing import Any

from checkrunner.history.blobs import read_blob, read_json
from checkrunner.history.codes import (
    HOST_STATES,
    VERDICTS,
    cell_from,
    checks_from,
    evidence_from,
    selection_from,
    selection_to,
    time_from,
)
from checkrunner.history.database import Database
from checkrunner.model.errors import HistoryError
from checkrunner.model.history import (
    CELL_LETTERS,
    NOT_PLANNED_LETTER,
    NOTED_LETTER,
    Cell,
    Detail,
    Evidence,
    HostCell,
    KeptOutput,
    RunSummary,
    RunView,
    Selection,
)
from checkrunner.model.results import Stream, VerdictState

__all__ = ["Reader"]

_RUN = (
    "SELECT number, run.id, kind, started_at, elapsed_s, playbook, selection, playbook_digest, ended, complete,"
    " exit_code, hosts, verdicts, drift, worse, checks FROM run JOIN series ON series.id = run.series"
)
_BACK = re.compile(r"-([1-9][0-9]{0,5})")
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
_NEAR = 5


class Reader:
    """Answers about the runs of a store. A number that no run has raises HistoryError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def runs(self, *, playbook: str = "", limit: int = 20) -> list[RunSummary]:
        """The last runs, the newest first."""
        where = " WHERE playbook = ?" if playbook else ""
        values = (playbook,) if playbook else ()
        rows = self._database.rows(f"{_RUN}{where} ORDER BY number DESC LIMIT ?", *values, limit)
        return [_summary(row) for row in rows]

    def count(self, *, playbook: str = "") -> int:
        """How many runs there are."""
        of = "SELECT count(*) FROM run JOIN series ON series.id = run.series WHERE ? IN ('', playbook)"
        return self._database.number(of, playbook)

    def summary(self, number: int) -> RunSummary:
        """One run of that list."""
        return _summary(self._run(number))

    def find(self, word: str) -> int:
        """The number of the run that a word stands for."""
        text = word.strip()
        back = 1 if text == "last" else int(match[1]) if (match := _BACK.fullmatch(text)) else 0
        if back:
            row = self._database.one("SELECT number FROM run ORDER BY number DESC LIMIT 1 OFFSET ?", back - 1)
            if row is not None:
                return int(row[0])
            count = self._database.number("SELECT count(*) FROM run")
            raise self._missing(f"{text} is not there: it has {count} run{'' if count == 1 else 's'}")
        if _NUMBER.fullmatch(text) and self._database.one("SELECT 1 FROM run WHERE number = ?", int(text)):
            return int(text)
        begins = _escaped(text) + "%" if text else ""
        found = self._database.rows(
            "SELECT number, id FROM run WHERE id LIKE ? ESCAPE '\\' ORDER BY number DESC", begins
        )
        if len(found) == 1:
            return int(found[0][0])
        if found:
            names = ", ".join(str(name) for _, name in found[:_NEAR]) + (", ..." if len(found) > _NEAR else "")
            raise HistoryError(
                f"{len(found)} runs begin with {text!r}", str(self._database.path), hint=f"They are {names}"
            )
        raise self._missing(f"no run is called {word!r}")

    def last(
        self, playbook: str, selection: Selection, *, before: int | None = None, ended: str = "normal"
    ) -> int | None:
        """The newest run of a series that ended so, earlier than `before`; None where there is none. With `ended` ""
        it may have ended anyhow."""
        return (
            self._database.number(
                "SELECT max(number) FROM run JOIN series ON series.id = run.series"
                " WHERE playbook = ? AND selection = ? AND (? = '' OR ended = ?) AND (? IS NULL OR number < ?)",
                playbook,
                selection_to(selection),
                ended,
                ended,
                before,
                before,
            )
            or None
        )

    def view(self, number: int) -> RunView:
        """The run as others are compared with it. Cost: about two microseconds a cell."""
        run = self._run(number)
        summary = _summary(run)
        names = self._names()
        states = [cell_from(row[1:]) for row in self._states(number)]
        hosts = {
            names[host]: HostCell(state=HOST_STATES[state], since=time_from(since), trail=trail)
            for host, state, since, trail in self._database.rows(
                "SELECT host, state, since, trail FROM host_cell WHERE run = ? ORDER BY place", number
            )
        }
        rows = self._database.rows("SELECT host, key, state FROM cell WHERE run = ?", number)
        return RunView(
            id=summary.id,
            number=number,
            started_at=summary.started_at,
            playbook=summary.playbook,
            playbook_digest=run[7],
            selection=summary.selection,
            ended=summary.ended,
            complete=summary.complete,
            exit_code=summary.exit_code,
            hosts=hosts,
            checks=checks_from(read_json(self._database, run[15])),
            cells={(names[host], names[key]): states[state] for host, key, state in rows},
        )

    def report_text(self, number: int) -> str:
        """The report as JSON, as the run wrote it."""
        self._run(number)
        row = self._database.one("SELECT data FROM report WHERE run = ?", number)
        try:
            return zlib.decompress(row[0]).decode() if row else ""
        except (zlib.error, ValueError) as error:
            raise HistoryError(f"the report of run {number} is damaged", str(self._database.path)) from error

    def detail(self, number: int) -> Detail:
        """What came of each check on each host."""
        view = self.view(number)
        used = {key for _, key in view.cells}
        keys = [key for key in view.checks if key in used] + sorted(used - view.checks.keys())
        cells, letters = view.cells, _Letters()
        return Detail(
            hosts=tuple(view.hosts),
            states=tuple(cell.state for cell in view.hosts.values()),
            checks=tuple(keys),
            names=tuple(view.checks[key].name if key in view.checks else key for key in keys),
            rows=tuple("".join([letters.of(cells.get((host, key))) for key in keys]) for host in view.hosts),
        )

    def evidence(self, number: int, host: str, check: str) -> Evidence:
        """Why the check was not ok there; empty where it was."""
        blob = self._piece("evidence", number, host, check)
        return Evidence() if blob is None else evidence_from(read_json(self._database, blob), host, check)

    def baselined(self, number: int, host: str, check: str) -> tuple[str, ...] | None:
        """The output of a check that is compared with a baseline."""
        blob = self._piece("baselined", number, host, check)
        return None if blob is None else tuple(read_json(self._database, blob))

    def baselined_cells(self, number: int) -> list[tuple[str, str]]:
        """Of which hosts and checks there is such an output, in the order of hosts."""
        self._run(number)
        rows = self._database.rows(
            "SELECT h.text, k.text FROM baselined b JOIN host_cell c ON c.run = b.run AND c.host = b.host"
            " JOIN name h ON h.id = b.host JOIN name k ON k.id = b.key WHERE b.run = ? ORDER BY c.place, k.id",
            number,
        )
        return [(host, key) for host, key in rows]

    def outputs(self, number: int) -> list[KeptOutput]:
        """All outputs that were kept of the run, with what is in them."""
        self._run(number)
        rows = self._database.rows(
            "SELECT h.text, k.text, stream, o.data, tail, total_bytes, total_lines, truncated, note FROM output o"
            " JOIN name h ON h.id = o.host JOIN name k ON k.id = o.key WHERE o.run = ?"
            " ORDER BY o.host, o.key, stream DESC",
            number,
        )
        return [self._output(row) for row in rows]

    def output(self, number: int, host: str, check: str, stream: Stream) -> KeptOutput | None:
        """What was kept of one."""
        self._run(number)
        row = self._database.one(
            "SELECT h.text, k.text, stream, o.data, tail, total_bytes, total_lines, truncated, note FROM output o"
            " JOIN name h ON h.id = o.host JOIN name k ON k.id = o.key"
            " WHERE o.run = ? AND h.text = ? AND k.text = ? AND stream = ?",
            number,
            host,
            check,
            str(stream),
        )
        return self._output(row) if row else None

    def kept_streams(self, number: int) -> dict[tuple[str, str], list[Stream]]:
        """Of which outputs there is something to read."""
        rows = self._database.rows(
            "SELECT h.text, k.text, stream FROM output o JOIN name h ON h.id = o.host JOIN name k ON k.id = o.key"
            " JOIN blob b ON b.id = o.data WHERE o.run = ? AND length(b.data) > 1 ORDER BY stream DESC",
            number,
        )
        found: dict[tuple[str, str], list[Stream]] = {}
        for host, key, stream in rows:
            found.setdefault((host, key), []).append(Stream(stream))
        return found

    def _output(self, row: Sequence[Any]) -> KeptOutput:
        host, check, stream, data, tail, total_bytes, total_lines, truncated, note = row
        return KeptOutput(
            host=host,
            check=check,
            stream=Stream(stream),
            data=read_blob(self._database, data),
            tail=read_blob(self._database, tail),
            total_bytes=total_bytes,
            total_lines=total_lines,
            truncated=bool(truncated),
            note=note,
        )

    def _piece(self, table: str, number: int, host: str, check: str) -> int | None:
        self._run(number)
        return (
            self._database.number(
                f"SELECT blob FROM {table} t JOIN name h ON h.id = t.host JOIN name k ON k.id = t.key"
                " WHERE t.run = ? AND h.text = ? AND k.text = ?",
                number,
                host,
                check,
            )
            or None
        )

    def _run(self, number: int) -> tuple[Any, ...]:
        row = self._database.one(f"{_RUN} WHERE number = ?", number)
        if row is None:
            raise self._missing(f"it has no run {number}")
        return row

    def _states(self, number: int) -> list[tuple[Any, ...]]:
        return self._database.rows(
            "SELECT id, verdict, execution, reasons, finding, blind, was, since, trail FROM state"
            " WHERE run = ? ORDER BY id",
            number,
        )

    def _names(self) -> dict[int, str]:
        return dict(self._database.rows("SELECT id, text FROM name"))

    def _missing(self, message: str) -> HistoryError:
        rows = self._database.rows("SELECT number, id FROM run ORDER BY number DESC LIMIT ?", _NEAR)
        known = ", ".join(f"{number} ({name})" for number, name in rows)
        hint = f"The newest are {known}; see checkrunner history" if known else "It has no run yet"
        return HistoryError(message, str(self._database.path), hint=hint)


class _Letters:
    """Cells as letters; the same few cells come again and again."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {id(None): NOT_PLANNED_LETTER}

    def of(self, cell: Cell | None) -> str:
        """The letter of a cell that is kept alive by others."""
        letter = self._known.get(id(cell))
        if letter is None:
            assert cell is not None
            noted = cell.verdict is VerdictState.OK and cell.finding
            letter = self._known[id(cell)] = NOTED_LETTER if noted else CELL_LETTERS[cell.verdict]
        return letter


def _summary(row: Sequence[Any]) -> RunSummary:
    began = time_from(row[3])
    assert began is not None
    return RunSummary(
        number=row[0],
        id=row[1],
        kind=row[2],
        started_at=began,
        elapsed_s=row[4],
        playbook=row[5],
        selection=selection_from(row[6]),
        ended=row[8],
        complete=bool(row[9]),
        exit_code=row[10],
        hosts=row[11],
        verdicts=dict(zip(VERDICTS, json.loads(row[12]), strict=False)),
        drift=row[13],
        worse=row[14],
    )


def _escaped(text: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", text)
