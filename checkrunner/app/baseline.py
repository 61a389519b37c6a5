"""Outputs that are compared with a baseline: the joint of what was read, the past, the judge and the slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from checkrunner.findings.baseline import new_lines, output_lines, without_tags
from checkrunner.findings.past import NoPast
from checkrunner.findings.slices import mask_of
from checkrunner.judge.baseline import (
    SUBJECT,
    baseline_query,
    compared,
    is_comparable,
    judged,
    uncompared,
    unreadable,
)
from checkrunner.judge.parsed import UnreadError
from checkrunner.model.errors import HistoryError, TemplateError
from checkrunner.model.plan import Judgement, Step
from checkrunner.model.playbook import Check
from checkrunner.model.results import RawSlice, Result, Verdict
from checkrunner.model.seams import Past, Redactor
from checkrunner.model.sources import Template

__all__ = ["against_baseline", "is_told"]


def against_baseline(
    host: str,
    step: Step,
    result: Result,
    judgement: Judgement,
    reads: Sequence[RawSlice | None],
    past: Past,
    redactor: Redactor,
    render: Callable[[Template], str],
) -> Judgement:
    """The judgement with what the baseline says, the lines that are new, and the output that may be accepted. Total."""
    if not is_comparable(result, judgement.verdict):
        return judgement
    why = unreadable(result)
    raw = _read(step, reads)
    if not why and (raw is None or raw.error):
        why = "stdout could not be read" + (f": {raw.error}" if raw else "")
    if why or raw is None:
        return replace(judgement, verdict=uncompared(judgement.verdict, why, f"could not be compared: {why}"))
    key = step.planned.key
    lines = output_lines(raw, mask_of(step, redactor))
    output = without_tags(lines)
    try:
        baseline = past.baseline(host, key)
    except HistoryError as error:
        return replace(judgement, verdict=uncompared(judgement.verdict, "damaged", str(error)), output=output)
    if baseline is None:
        return replace(judgement, verdict=_without(judgement.verdict, step.planned.check, past), output=output)
    rule = step.planned.check.baseline
    assert rule is not None
    try:
        ignore = [render(pattern) for pattern in rule.ignore]
        found = compared(baseline.lines, output, ignore=ignore, ordered=rule.ordered)
    except (TemplateError, UnreadError) as error:
        message = str(error.message if isinstance(error, TemplateError) else error)
        verdict = uncompared(judgement.verdict, message, f"could not be compared: {message}")
        return replace(judgement, verdict=verdict, output=output)
    verdict = judged(judgement.verdict, step.planned.check.severity, found, baseline)
    slices = (new_lines(host, key, lines, found.more),) if found.more else ()
    # Equal outputs are kept once, however many hosts there are.
    same = output == baseline.lines
    return replace(judgement, verdict=verdict, slices=slices, output=baseline.lines if same else output)


def is_told(check: Check, verdict: Verdict) -> bool:
    """Whether all that is wrong was found by the comparison: its lines are then shown, and others tell nothing."""
    return not check.slices and all(reason.subject == SUBJECT for reason in verdict.reasons)


def _read(step: Step, reads: Sequence[RawSlice | None]) -> RawSlice | None:
    """The answer to the query for the whole output."""
    asked = step.early[len(step.early) - step.reads :]
    return next((raw for query, raw in zip(asked, reads, strict=False) if query == baseline_query()), None)


def _without(verdict: Verdict, check: Check, past: Past) -> Verdict:
    """Nobody has said yet what is right here."""
    if isinstance(past, NoPast):
        message = "there is none, since no history of runs is kept here"
    else:
        message = f"none is accepted yet; accept what is there: checkrunner baseline accept --check {check.id}"
    return uncompared(verdict, "none", message)
