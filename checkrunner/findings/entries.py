"""What stands in a report beside its findings, entry by entry: in short, alone, and put back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from checkrunner.findings.portions import briefly, clipped, few_hosts
from checkrunner.findings.scale import NOTHING
from checkrunner.model.report import CheckValues, Finding, Incomplete, Message, Omission, Report, Suppressed, Wait

__all__ = ["alone", "bulk", "bulk_of", "shortened", "with_entries"]

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


def alone(kind: str, entry: Any) -> Report:
    """A report with nothing but this entry."""
    return with_entries(NOTHING, {kind: [entry]})


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
    return bulk((*others, report.suppressed, report.warnings, report.omissions, report.findings))
