"""A run and the store of runs: asked for what earlier runs showed, and given what this one came to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from checkrunner.app.counting import budget_of
from checkrunner.app.prepare import Prepared
from checkrunner.app.run import make_redactor, run_prepared
from checkrunner.findings.novelty import Witnesses
from checkrunner.findings.redact import PatternRedactor
from checkrunner.model.errors import HistoryError
from checkrunner.model.history import RunView
from checkrunner.model.plan import HostOutcome
from checkrunner.model.report import Report
from checkrunner.model.seams import Driver, Observer
from checkrunner.model.sources import Secret
from checkrunner.render.json import json_text
from checkrunner.settings import Settings

if TYPE_CHECKING:  # loaded where a history is kept
    from checkrunner.app.keeping import Keeping
    from checkrunner.findings.view import Series
    from checkrunner.history.past import StoredPast

__all__ = ["Recorded", "run_recorded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A run and its number in the store: None where it is not in it. `trouble` says why, where it should be."""

    report: Report
    number: int | None = None
    trouble: str = ""


def run_recorded(
    prepared: Prepared,
    observer: Observer,
    *,
    password: Secret | None = None,
    redactor: PatternRedactor | None = None,
    interrupted: Callable[[], bool] = lambda: False,
    driver: Driver | None = None,
    keep: Callable[[Sequence[HostOutcome]], None] = lambda _: None,
    kind: str = "run",
) -> Recorded:
    """Run it as `run_prepared` does, with what the store knows of earlier runs, and store it. A store that cannot be
    used keeps no run from being made: the report then warns of it. Raises what `run_prepared` raises."""
    redactor = redactor or make_redactor(prepared, password)
    recording = _Recording(prepared, redactor, kind)

    def kept(outcomes: Sequence[HostOutcome]) -> None:
        recording.outcomes = outcomes
        keep(outcomes)

    report = run_prepared(
        prepared,
        observer,
        password=password,
        redactor=redactor,
        interrupted=interrupted,
        driver=driver,
        keep=kept,
        past=recording.past,
        keeping=recording.keeping,
        keep_view=recording.keep_view if recording.past else None,
        series=recording.series,
        witnesses=recording.witnesses,
    )
    return recording.saved(report)


class _Recording:
    """The store before a run and after it. It is closed while the run lasts: others may clean it up meanwhile."""

    def __init__(self, prepared: Prepared, redactor: PatternRedactor, kind: str) -> None:
        self._settings = settings = prepared.request.settings
        self._redactor = redactor
        self._kind = kind
        self._view: RunView | None = None
        self.outcomes: Sequence[HostOutcome] = ()
        self.witnesses = Witnesses()
        self.series: Series | None = None
        self.past: StoredPast | None = None
        self.keeping: Keeping | None = None
        self._trouble = ""
        if settings.history is None:
            return
        from checkrunner.app.series import series_of

        self.series = series_of(prepared, redactor)
        try:
            self.past = _past(settings, self.series)
        except HistoryError as error:
            self._trouble = f"{error}; this run is not stored"
            return
        except Exception as error:  # noqa: BLE001 - what is damaged may do anything; the hosts are to be looked at all the same
            self._trouble = f"the history cannot be read, and this run is not stored, for a fault in it: {error!r}"
            return
        options = settings.keep_options()
        if options.which != "none":
            from checkrunner.app.keeping import Keeping

            self.keeping = Keeping(options)

    def keep_view(self, view: RunView) -> None:
        self._view = view

    def saved(self, report: Report) -> Recorded:
        """Store the run."""
        number = None
        if self.past is not None:
            try:
                number = self._save(report)
            except HistoryError as error:
                self._trouble = f"{error}; this run is not stored"
            except KeyboardInterrupt:  # the report is there, and is what was wanted
                self._trouble = "the run was interrupted while it was stored; it is not stored"
            except Exception as error:  # noqa: BLE001 - hosts were asked for this report: no fault in storing it may lose it
                self._trouble = f"this run is not stored, for a fault in checkrunner: {error!r}"
        if self._trouble:
            report = self._with_warning(report)
        return Recorded(report=report, number=number, trouble=self._trouble)

    def _save(self, report: Report) -> int:
        from checkrunner.app.recording import open_store
        from checkrunner.app.records import record_of

        assert self._view is not None
        kept = self.keeping.outputs(self.outcomes, self._redactor) if self.keeping else ()
        record = record_of(
            self.outcomes,
            report=report,
            report_text=json_text(report),
            view=self._view,
            kind=self._kind,
            mask=self._redactor.redact,
            kept=kept,
            witnessed=self.witnesses.by_host,
        )
        with open_store(self._settings, create=True) as store:
            return store.save(record, now=datetime.now(UTC))

    def _with_warning(self, report: Report) -> Report:
        from checkrunner.findings.budget import fit

        budget = budget_of(self._settings)
        warned = replace(report, warnings=(*report.warnings, self._redactor.redact(self._trouble)))
        return fit(warned, budget["budget_tokens"], json_text, budget["counter"])


def _past(settings: Settings, series: Series) -> StoredPast:
    from checkrunner.app.recording import open_store
    from checkrunner.history.past import StoredPast

    with open_store(settings, create=True) as store:
        return StoredPast(store, series.playbook, series.selection, datetime.now(UTC))
