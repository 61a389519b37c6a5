"""What stands in a report beside its findings, entry by entry: in short, alone, and put back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from checkrunner.findings.portions import briefly, clipped, few_hosts
from checkrunner.findings.scale import NOTHING
from checkrunner.model.drift import Change, Drift
from checkrunner.model.report import CheckValues, Finding, Incomplete, Message, Omission, Report, Suppressed, Wait

__all__ = ["alone", "briefest", "bulk", "bulk_of", "frame_of", "shortened", "with_entries"]

_CHARS = 100
_HOST_CHARS = 60
_VALUE_CHARS, _FINDING_CHARS = 60, 100
_FIELDS = {
    "incomplete": "incomplete",
    "suppressed": "suppressed",
    "message": "messages",
    "warning": "warnings",
    "value": "metrics",
    "limit": "omissions",
}

_IN_DRIFT = replace(NOTHING, drift=Drift(against="", against_started_at=NOTHING.run.started_at))


def shortened(kind: str, entry: Any) -> Any:
    """The entry with texts of bounded length; itself where they are short."""
    match entry:
        case Incomplete():
            return replace(
                entry,
                hosts=few_hosts(entry, _HOST_CHARS),
                reason=clipped(entry.reason, _CHARS),
                hint=clipped(entry.hint, _CHARS),
                phase=clipped(entry.phase, _CHARS // 4),
                silenced=briefly(entry.silenced, _CHARS // 2),
            )
        case Suppressed():
            return replace(
                entry,
                check=clipped(entry.check, _CHARS // 2),
                hosts=few_hosts(entry, _HOST_CHARS),
                reason=clipped(entry.reason, _CHARS),
            )
        case Change():
            return _short_change(entry)
        case Message():
            return replace(
                entry,
                check=clipped(entry.check, _CHARS // 2),
                name=clipped(entry.name, _CHARS // 2),
                hosts=few_hosts(entry, _HOST_CHARS),
                text=clipped(entry.text, _CHARS),
            )
        case CheckValues():
            return replace(entry, values=entry.values[:3])
        case Omission():
            return replace(entry, where=clipped(entry.where, _CHARS // 2))
        case Wait():
            return replace(entry, place=clipped(entry.place, _CHARS))
        case str() if kind != "digest":
            return clipped(entry, _CHARS)
        case tuple():  # the inventory's sources
            return tuple(clipped(source, _CHARS // 2) for source in entry[:2])
    return entry


def _short_change(entry: Change) -> Change:
    return replace(
        entry,
        check=clipped(entry.check, _CHARS // 2),
        name="",
        hosts=few_hosts(entry, _HOST_CHARS),
        items=entry.items if sum(map(len, entry.items)) <= _HOST_CHARS else (),
        before=clipped(entry.before, _CHARS // 4),
        after=clipped(entry.after, _CHARS // 4),
        before_since=None,
        finding=clipped(entry.finding, _CHARS // 4),
        note=clipped(entry.note, _CHARS // 2),
    )


def alone(kind: str, entry: Any) -> Report:
    """A report with nothing but this entry, and what has to stand around it."""
    return with_entries(frame_of(kind) or NOTHING, {kind: [entry]})


def frame_of(kind: str) -> Report | None:
    """What stands around entries of this kind, however many there are; None where nothing does."""
    return _IN_DRIFT if kind in {"unlike", "change"} else None


def briefest(drift: Drift, against: str) -> Drift:
    """That there is a drift, which is always told: all its changes are left out, and counted."""
    left = drift.left_out + len(drift.changes)
    return replace(drift, against=against, unlike=(), changes=(), left_out=left)


def with_entries(report: Report, kept: Mapping[str, Sequence[Any]]) -> Report:
    """The report with these entries, by kind, in place of its own."""
    changes: dict[str, Any] = {field: tuple(kept.get(kind, ())) for kind, field in _FIELDS.items()}
    if some := kept.get("redacted"):
        changes["redacted"] = some[0]
    run = replace(
        report.run,
        waits=tuple(kept.get("wait", ())),
        inventory=next(iter(kept.get("inventory", ())), ()),
        playbook_digest=next(iter(kept.get("digest", ())), ""),
    )
    if report.drift is not None:
        some = tuple(kept.get("change", ()))
        left = max(0, report.drift.left_out - len(some))
        changes["drift"] = replace(report.drift, unlike=tuple(kept.get("unlike", ())), changes=some, left_out=left)
    return replace(report, run=run, **changes)


def bulk(entry: object) -> int:
    """Its characters, about: those of its long texts."""
    match entry:
        case str():
            return len(entry)
        case Incomplete():
            return len(entry.reason) + len(entry.hint) + len(entry.hosts)
        case Suppressed():
            return len(entry.check + entry.reason + entry.hosts)
        case Message():
            return len(entry.text) + len(entry.hosts)
        case Change():
            return _FINDING_CHARS + len(entry.check + entry.name + entry.hosts + entry.note) + bulk(entry.items)
        case Drift():
            return len(entry.against) + bulk((*entry.unlike, *entry.changes))
        case CheckValues():
            return _VALUE_CHARS * len(entry.values)
        case Omission():
            return len(entry.where)
        case Wait():
            return len(entry.place)
        case Finding():
            slices = [*entry.slices, *(piece for variant in entry.variants for piece in variant.slices)]
            return (
                _FINDING_CHARS
                + len(entry.hosts + entry.why + entry.fix)
                + sum(len(reason.message) + len(reason.actual) for reason in entry.reasons)
                + sum(map(len, entry.notes))
                + sum(len(line.text) for piece in slices for line in piece.lines)
            )
        case Mapping() | tuple():
            return sum(map(bulk, entry))
    return 0


def bulk_of(report: Report) -> int:
    """The characters of a report, about."""
    run = report.run
    others = (run.inventory, run.waits, run.error, report.incomplete, report.metrics, report.messages)
    return bulk((*others, report.suppressed, report.drift, report.warnings, report.omissions, report.findings))
