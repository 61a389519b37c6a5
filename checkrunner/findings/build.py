"""Outcomes of all hosts to the report of the run: counted, folded, ranked, nothing left out silently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from checkrunner.findings.budget import fit
from checkrunner.findings.exit_code import exit_code
from checkrunner.findings.grouping import Group, group
from checkrunner.findings.heldback import HeldBack
from checkrunner.findings.incomplete import fold_incomplete
from checkrunner.findings.leftout import folded_omissions
from checkrunner.findings.making import Making
from checkrunner.findings.novelty import Witnesses, put_news_first
from checkrunner.findings.past import NoPast
from checkrunner.findings.rank import ranked
from checkrunner.findings.redact import NullRedactor
from checkrunner.findings.report_limits import ReportLimits, Texts, Titles, as_written, name_as_written
from checkrunner.findings.silences import unsilenced
from checkrunner.findings.suppressions import fold_suppressed
from checkrunner.findings.totals import count, looked_everywhere
from checkrunner.model.drift import Drift
from checkrunner.model.history import RunView
from checkrunner.model.plan import HostOutcome
from checkrunner.model.report import Report, RunInfo, Totals
from checkrunner.model.seams import Past, Redactor, TokenCounter

if TYPE_CHECKING:  # what compares runs is loaded where there is something to compare
    from checkrunner.findings.view import Series

__all__ = ["ReportLimits", "Texts", "Titles", "build_report"]


def build_report(
    outcomes: Sequence[HostOutcome],
    *,
    run: RunInfo,
    warnings: Sequence[str] = (),
    redactor: Redactor | None = None,
    texts: Texts | None = None,
    titles: Titles | None = None,
    to_text: Callable[[Report], str] | None = None,
    limits: ReportLimits | None = None,
    budget_tokens: int | None = None,
    counter: TokenCounter | None = None,
    past: Past | None = None,
    witnesses: Witnesses | None = None,
    series: Series | None = None,
    keep_view: Callable[[RunView], None] | None = None,
) -> Report:
    """The report. `run.complete` and `run.exit_code` are computed here, whatever `run` says.

    `warnings` are about the run as a whole; what concerns a host is in its outcome's notes. `redactor` masks reasons,
    notes and warnings (slices arrive masked). `texts` renders why and fix for the exemplar of
    a finding; without it they are shown as written. So with `titles`, which has to be the same for all of a finding.
    `to_text` is the JSON renderer, for the size in `budget`; `budget_tokens` is what that may be as `counter` counts it
    (see `budget.fit`). `past` tells new findings from known ones, and what
    is silenced: that does not count for the exit code. `witnesses`: hosts where a check
    is fine; what lines are there, too, are told last.

    With `series`, which says what the run can be compared with, findings tell since when they are so and the report
    what changed, where `past` knows an earlier run. `keep_view` gets what later runs are compared with.

    Cost: linear in the outcomes; a healthy one costs about a microsecond, others what masking their slices costs.
    """
    outcomes = put_news_first(outcomes, past, witnesses)
    past = past or NoPast()
    held = HeldBack(outcomes)
    building = Making(
        redactor or NullRedactor(), texts or as_written, titles or name_as_written, limits or ReportLimits(), held
    )
    totals = count(outcomes)
    most = building.limits
    found = group(outcomes, variants=most.variants, of_items=most.item_variants, silence=past.silence)
    groups = ranked(found, past)
    run = replace(run, complete=looked_everywhere(totals), exit_code=_exit_code(outcomes, totals, run, past))
    before = past.view() if series else None
    view = _view(outcomes, run, series, before, groups) if series and (before or keep_view) else None
    if before is not None and view is not None:
        building.cells, building.hosts = view.cells, view.hosts
    findings = tuple(building.finding(entry) for entry in groups)
    incomplete = tuple(building.incomplete(entry) for entry in fold_incomplete(outcomes, past.silence))
    building.captures(outcomes)
    report = Report(
        run=replace(run, error=building.text(run.error), waits=building.waits(run.waits)),
        totals=totals,
        findings=findings,
        incomplete=incomplete,
        suppressed=tuple(building.suppressed(entry) for entry in fold_suppressed(outcomes, past)),
        drift=_drift(before, view, past, building) if before and view else None,
        metrics=building.metrics(outcomes),
        messages=building.messages(outcomes),
        warnings=building.warnings(warnings, outcomes),
        omissions=folded_omissions(building.omissions),
        redacted=redactor.counts() if redactor else {},
    )
    if view is not None and keep_view is not None:
        keep_view(view)
    return fit(report, budget_tokens, to_text, counter) if to_text else report


def _exit_code(outcomes: Sequence[HostOutcome], totals: Totals, run: RunInfo, past: Past) -> int:
    """That of what is not silenced."""
    told = unsilenced(outcomes, past)
    return exit_code(totals if told is outcomes else count(told), run.ended)


def _view(
    outcomes: Sequence[HostOutcome], run: RunInfo, series: Series, before: RunView | None, groups: Sequence[Group]
) -> RunView:
    from checkrunner.findings.view import view_of

    found = {(one.host, one.planned.key): entry.id for entry in groups for one in entry.outcomes}
    return view_of(outcomes, info=run, series=series, before=before, findings=found)


def _drift(before: RunView, view: RunView, past: Past, building: Making) -> Drift:
    from checkrunner.findings.drift import drift_of

    def silent(host: str, check: str) -> bool:
        return past.silence(host, check) is not None

    found = drift_of(before, view, silent=silent, was_silent=past.was_silenced, most=building.limits.changes)
    return building.drift(found)
