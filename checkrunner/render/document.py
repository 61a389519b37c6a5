"""Report to plain data: what JSON and its schema speak of.

Compact: values that are empty or at their default are left out, except those that a reader would look for first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from checkrunner.model.report import (
    Budget,
    CheckValues,
    Finding,
    Incomplete,
    Message,
    NumberRange,
    Omission,
    Report,
    RunInfo,
    Silenced,
    Stay,
    Suppressed,
    Totals,
    ValueSummary,
    Variant,
    Wait,
)
from checkrunner.model.results import Execution, Reason, Severity, Slice, SliceLine, SliceMode, VerdictState
from checkrunner.render.document_drift import drift_document
from checkrunner.render.document_parts import filled as _filled
from checkrunner.render.document_parts import hosts_of as _hosts
from checkrunner.render.document_parts import time_of as _time
from checkrunner.render.safe import safe_json

__all__ = ["reason_facts", "slice_facts", "to_document"]

_DIGITS = 16
"""So many of a digest tell one playbook from another."""


def to_document(report: Report) -> dict[str, Any]:
    """The report as dicts, lists, texts, numbers and booleans, valid against `render.schema.report_schema`.

    Host names come folded with their number; the names one by one are not part of the document. A play that all
    findings are of is told once.
    """
    plays = {finding.play for finding in report.findings}
    play = plays.pop() if len(plays) == 1 else ""
    return {
        "schema": report.schema,
        "run": _run(report.run),
        "totals": _totals(report.totals),
        **_filled(play=play),
        "findings": [_finding(finding, play) for finding in report.findings],
        "incomplete": [_incomplete(entry) for entry in report.incomplete],
        **_filled(
            suppressed=[_suppressed(entry) for entry in report.suppressed],
            drift=drift_document(report.drift) if report.drift else {},
            metrics=[_metrics(entry) for entry in report.metrics],
            messages=[_message(message) for message in report.messages],
        ),
        "warnings": [safe_json(warning) for warning in report.warnings],
        "omissions": [_omission(omission) for omission in report.omissions],
        **_filled(redacted={safe_json(kind): number for kind, number in report.redacted.items() if number}),
        "budget": _budget(report.budget),
    }


def _run(run: RunInfo) -> dict[str, Any]:
    return {
        "id": safe_json(run.id),
        "version": safe_json(run.version),
        "playbook": safe_json(run.playbook),
        **_filled(
            playbook_digest=run.playbook_digest[:_DIGITS],
            inventory=[safe_json(name) for name in run.inventory],
            limit=run.limit,
        ),
        "started_at": _time(run.started_at),
        "elapsed_s": _number(run.elapsed_s),
        "ended": safe_json(run.ended),
        "complete": run.complete,
        "exit_code": run.exit_code,
        **_filled(error=run.error, waits=[_wait(wait) for wait in run.waits], stay=_stay(run.stay)),
    }


def _stay(stay: Stay | None) -> dict[str, str]:
    return {"until": _time(stay.until), "directory": safe_json(stay.directory)} if stay else {}


def _wait(wait: Wait) -> dict[str, Any]:
    return {
        "place": safe_json(wait.place),
        "hosts": wait.hosts,
        "longest_s": _number(round(wait.longest_s, 3)),
        "waited_s": _number(round(wait.waited_s, 3)),
        **_filled(dropped=wait.dropped, connections=wait.connections, channels=wait.channels),
    }


def _totals(totals: Totals) -> dict[str, Any]:
    def axis(counts: Mapping[Any, int]) -> dict[str, int]:
        return {str(key): number for key, number in counts.items() if number}

    return {
        "hosts": totals.hosts,
        "planned": totals.planned,
        "done": totals.done,
        "skipped": totals.skipped,
        "not_run": totals.not_run,
        "verdict": axis(totals.verdict),
        "execution": axis(totals.execution),
        "host": axis(totals.host),
        "capture": axis(totals.capture),
    }


def _finding(finding: Finding, play: str) -> dict[str, Any]:
    document: dict[str, Any] = {"id": safe_json(finding.id), "check": safe_json(finding.check)}
    document.update(
        _filled(
            name=finding.name if finding.name != finding.check else "",
            play=finding.play if finding.play != play else "",
            because=finding.because,
            explained_by=finding.explained_by,
            novelty=finding.novelty,
            since=_time(finding.since),
            changes=finding.changes,
            severity="" if finding.severity is Severity.CRITICAL else str(finding.severity),
        )
    )
    document["verdict"] = str(finding.verdict)
    if finding.verdict is VerdictState.OK and finding.reasons:
        document["noted"] = True
    if finding.execution is not Execution.DONE:
        document["execution"] = str(finding.execution)
    document.update(_hosts(finding))
    if finding.item_count:
        document["items"] = [safe_json(item) for item in finding.items]
        document["item_count"] = finding.item_count
    document.update(
        _filled(
            silenced=_silenced(finding.silenced),
            folded_by=finding.folded_by,
            reasons=[reason_facts(reason) for reason in finding.reasons],
            result=_metadata(finding.result),
            seen=_metadata(finding.seen),
            values=[_value(value) for value in finding.values],
            slices=[slice_facts(piece) for piece in finding.slices],
            variants=[_variant(variant) for variant in finding.variants],
            notes=[safe_json(note) for note in finding.notes],
            why=finding.why,
            fix=finding.fix,
        )
    )
    return document


def _variant(variant: Variant) -> dict[str, Any]:
    return {**_hosts(variant), **_filled(slices=[slice_facts(piece) for piece in variant.slices])}


def _metrics(entry: CheckValues) -> dict[str, Any]:
    values = [_value(value) for value in entry.values]
    return {"check": safe_json(entry.check), **_filled(items=entry.items), "values": values}


def _message(message: Message) -> dict[str, Any]:
    return {
        "check": safe_json(message.check),
        **_filled(name=message.name if message.name != message.check else ""),
        **_hosts(message),
        "text": safe_json(message.text),
    }


def _value(value: ValueSummary) -> dict[str, Any]:
    return {
        "name": safe_json(value.name),
        "value": _exact(value.value),
        **_filled(unit=value.unit, warn=value.warn, crit=value.crit),
        "hosts": value.hosts,
        **_filled(unread=value.unread, different=value.different),
    }


def _exact(value: object) -> object:
    """A value's numbers are of any size: nine digits of them are kept."""
    if isinstance(value, NumberRange):
        return {
            "min": _exact(value.minimum),
            "median": _exact(value.median),
            "max": _exact(value.maximum),
            "min_host": safe_json(value.min_host),
            "max_host": safe_json(value.max_host),
        }
    if isinstance(value, tuple):
        return [_exact(item) for item in value]
    if isinstance(value, bool | str) or value is None:
        return safe_json(value) if isinstance(value, str) else value
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else float(f"{value:.9g}")


def reason_facts(reason: Reason) -> dict[str, Any]:
    """A reason as plain data."""
    return {
        **_filled(subject=reason.subject, expected=reason.expected, actual=reason.actual, message=reason.message),
    }


def slice_facts(piece: Slice) -> dict[str, Any]:
    """A slice as plain data. The evidence id holds the stream. What is said of a slice that was chosen by salience is
    always the same, and its lines count for all of the stream."""
    chosen = piece.query.mode is SliceMode.SALIENT
    return {
        **({} if piece.evidence else {"stream": str(piece.stream)}),
        **_filled(evidence=piece.evidence, why="" if chosen else piece.why, prefix=piece.prefix),
        "lines": [_line(line) for line in piece.lines],
        **({} if chosen else {"total_lines": piece.total_lines}),
        **_filled(more_lines=piece.more_lines, more_shapes=piece.more_shapes),
    }


def _line(line: SliceLine) -> list[Any]:
    """Without the numbers at the end that say what holds of most lines: nothing was cut, it is there once."""
    out: list[Any] = [line.number, safe_json(line.text)]
    if line.cut_bytes or line.count > 1:
        out.append(line.cut_bytes)
    if line.count > 1:
        out.append(line.count)
    return out


def _incomplete(entry: Incomplete) -> dict[str, Any]:
    return {
        **_hosts(entry),
        "state": str(entry.state),
        "phase": safe_json(entry.phase),
        "reason": safe_json(entry.reason),
        **_filled(hint=entry.hint, since=_time(entry.since), silenced=_silenced(entry.silenced)),
    }


def _silenced(entry: Silenced | None) -> dict[str, Any]:
    return {"until": _time(entry.until), "why": safe_json(entry.why), **_filled(by=entry.by)} if entry else {}


def _suppressed(entry: Suppressed) -> dict[str, Any]:
    return {
        "check": safe_json(entry.check),
        **_hosts(entry),
        "until": _time(entry.until),
        "strikes": entry.strikes,
        "reason": safe_json(entry.reason),
    }


def _omission(omission: Omission) -> dict[str, Any]:
    return {
        "what": safe_json(omission.what),
        "count": omission.count,
        "why": safe_json(omission.why),
        **_filled(where=omission.where, tokens=omission.tokens),
    }


def _budget(budget: Budget) -> dict[str, Any]:
    limit = {} if budget.limit is None else {"limit": budget.limit}
    return {**limit, "used": budget.used, "counter": safe_json(budget.counter)}


def _metadata(value: object) -> object:
    if isinstance(value, NumberRange):
        return {
            "min": _number(value.minimum),
            "median": _number(value.median),
            "max": _number(value.maximum),
            "max_host": safe_json(value.max_host),
        }
    if isinstance(value, Mapping):
        return {safe_json(str(name)): _metadata(part) for name, part in value.items()}
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, str):
        return safe_json(value)
    return [_metadata(item) for item in value] if isinstance(value, Iterable) else safe_json(str(value))


def _number(value: float) -> float | None:
    """At most three decimals, whole numbers without a point; JSON has no infinity."""
    if not math.isfinite(value):
        return None
    rounded = round(value, 3)
    return int(rounded) if rounded == int(rounded) else rounded
