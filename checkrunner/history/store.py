"""The store of runs: a file that any number of processes may use at once."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from checkrunner.history.database import Database
from checkrunner.history.people import People
from checkrunner.history.reading import Reader
from checkrunner.history.retention import AT_A_TIME, delete_runs, free_pages, outdated, oversized
from checkrunner.history.saving import prepare, write
from checkrunner.model.errors import HistoryError
from checkrunner.model.history import (
    Baseline,
    Detail,
    Evidence,
    KeptOutput,
    RunRecord,
    RunSummary,
    RunView,
    Selection,
    Silence,
    Suppression,
)
from checkrunner.model.options import HistoryOptions
from checkrunner.model.results import Stream

__all__ = ["Store"]


class Store:
    """Runs by number, and what people said of their checks. Everything may raise HistoryError: for a file that cannot
    be used, and for a run that is not there. Times are arguments."""

    def __init__(self, database: Database, options: HistoryOptions) -> None:
        self._database = database
        self._options = options
        self._reader = Reader(database)
        self._people = People(database)

    @classmethod
    def open(cls, path: str | Path, *, options: HistoryOptions | None = None, create: bool = False) -> Store:
        """Open the file, and bring it to the version that this program knows. `create` makes it where it is not
        there."""
        return cls(Database(Path(path), create=create), options or HistoryOptions())

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; idempotent."""
        self._database.close()

    # -- runs

    def save(self, record: RunRecord, *, now: datetime) -> int:
        """Store a run, all of it or nothing, and let go what is beyond the limits. Returns its number.

        Cost: some three microseconds a cell; what is compressed before takes longer where much is not ok.
        """
        prepared = prepare(record)
        with self._database.change() as connection:
            try:
                number = write(connection, prepared, self._options, now)
            except sqlite3.IntegrityError as error:
                raise HistoryError(f"it has run {record.view.id} already", str(self.path)) from error
            gone = delete_runs(connection, outdated(connection, self._options, now, AT_A_TIME, after=number))
        # The run is stored, whatever comes of this: the next one tries it again.
        with contextlib.suppress(HistoryError):
            self._shrink(AT_A_TIME - gone)
            free_pages(self._database)
        return number

    def prune(self, now: datetime) -> int:
        """Let go all that is beyond the limits, and give the room back. Returns how many runs that were."""
        gone = 0
        while True:
            with self._database.change() as connection:
                numbers = outdated(connection, self._options, now, AT_A_TIME)
                gone += delete_runs(connection, numbers)
            if not numbers:
                break
        gone += self._shrink(None)
        free_pages(self._database, all_of_them=True)
        return gone

    def _shrink(self, most: int | None) -> int:
        """Delete the oldest runs until the file has no more than it may."""
        gone = 0
        while most is None or gone < most:
            with self._database.change() as connection:
                number = oversized(connection, self._options)
                if number is None:
                    break
                gone += delete_runs(connection, [number])
        return gone

    def runs(self, *, playbook: str = "", limit: int = 20) -> Sequence[RunSummary]:
        """The last runs, of a playbook or of all, the newest first."""
        return self._reader.runs(playbook=playbook, limit=limit)

    def count(self, *, playbook: str = "") -> int:
        """How many runs there are, of a playbook or of all."""
        return self._reader.count(playbook=playbook)

    def summary(self, number: int) -> RunSummary:
        """One run of that list."""
        return self._reader.summary(number)

    def find(self, word: str) -> int:
        """The number of the run that a word stands for: a number, an id or the beginning of one, ``last``, or ``-2``
        for the one before the last."""
        return self._reader.find(word)

    def last(
        self, playbook: str, selection: Selection, *, before: int | None = None, ended: str = "normal"
    ) -> int | None:
        """The newest run of a series that ended so ("": anyhow), earlier than `before`; None where there is none."""
        return self._reader.last(playbook, selection, before=before, ended=ended)

    def view(self, number: int) -> RunView:
        """The run as others are compared with it."""
        return self._reader.view(number)

    def report_text(self, number: int) -> str:
        """The report as JSON, as the run wrote it."""
        return self._reader.report_text(number)

    def detail(self, number: int) -> Detail:
        """What came of each check on each host."""
        return self._reader.detail(number)

    def evidence(self, number: int, host: str, check: str) -> Evidence:
        """Why the check was not ok there; empty where it was."""
        return self._reader.evidence(number, host, check)

    def outputs(self, number: int) -> Sequence[KeptOutput]:
        """All outputs that were kept of the run, with what is in them."""
        return self._reader.outputs(number)

    def output(self, number: int, host: str, check: str, stream: Stream) -> KeptOutput | None:
        """What was kept of an output; None where nothing was."""
        return self._reader.output(number, host, check, stream)

    def kept_streams(self, number: int) -> Mapping[tuple[str, str], Sequence[Stream]]:
        """Of which outputs of the run there is something to read, by host and check."""
        return self._reader.kept_streams(number)

    # -- baselines

    def baselined(self, number: int, host: str, check: str) -> tuple[str, ...] | None:
        """The output that a check had which is compared with a baseline; None where there is none."""
        return self._reader.baselined(number, host, check)

    def baselined_cells(self, number: int) -> Sequence[tuple[str, str]]:
        """Hosts and checks of which the run has such an output."""
        return self._reader.baselined_cells(number)

    def accept_baselines(
        self, number: int, cells: Iterable[tuple[str, str]], *, now: datetime, by: str = "", why: str = ""
    ) -> Sequence[Baseline]:
        """Take the outputs that a run had of these hosts' checks for how they should be. Returns what is accepted now:
        those of which the run has no output are not among them."""
        return self._people.accept_baselines(number, cells, now=now, by=by, why=why)

    def baselines(self, playbook: str = "") -> Sequence[Baseline]:
        """The accepted ones, of a playbook or of all."""
        return self._people.baselines(playbook)

    def drop_baselines(self, playbook: str, cells: Iterable[tuple[str, str]]) -> int:
        """Forget the baselines of these hosts' checks; returns how many there were."""
        return self._people.drop_baselines(playbook, cells)

    # -- silences and suppressions

    def silence(self, host: str, check: str, *, until: datetime, why: str, by: str, now: datetime) -> Silence:
        """Silence checks on hosts (names, or patterns with ``*``) until then."""
        return self._people.silence(host, check, until=until, why=why, by=by, now=now)

    def silences(self, now: datetime | None = None) -> Sequence[Silence]:
        """Those that hold then; without a time all that there ever were."""
        return self._people.silences(now)

    def end_silence(self, number: int, *, now: datetime) -> Silence:
        """Take a silence back."""
        return self._people.end_silence(number, now=now)

    def suppressions(self, now: datetime, playbook: str = "") -> Sequence[Suppression]:
        """Checks that are not run on hosts now, of a playbook or of all. They come of `RunRecord.harmed`: a check that
        did harm in so many runs in a row is suppressed, and one that ran without doing any begins anew."""
        return self._people.suppressions(now, playbook)

    def strikes(self, playbook: str = "") -> Sequence[tuple[str, str, str, int, str]]:
        """What did harm when it was last run: playbook, host, check, how often in a row, and what happened last."""
        return self._people.strikes(playbook)

    def resume(self, cells: Iterable[tuple[str, str, str]]) -> int:
        """Let checks run again (playbook, host and check of each) and forget the harm that they did; returns how many
        of them had done any."""
        return self._people.resume(cells)

    # -- what the next run needs

    def reading(self) -> AbstractContextManager[None]:
        """What is read within this is of one time, whatever others write meanwhile."""
        return self._database.reading()

    def baseline_rows(self, playbook: str) -> Sequence[tuple[Any, ...]]:
        """Baselines as they are stored, for `people.baseline_from`."""
        return self._people.baseline_rows(playbook)

    def shape_rows(self, playbook: str) -> Sequence[tuple[Any, ...]]:
        """Shapes of lines of healthy outputs, as they are stored: host, check, blob."""
        return self._database.rows(
            "SELECT host, key, data FROM shape JOIN blob ON blob.id = shape.blob WHERE playbook = ?", playbook
        )
