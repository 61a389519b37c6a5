"""What changed between two runs, as plain data."""

from __future__ import annotations

from typing import Any

from checkrunner.model.drift import Change, Drift
from checkrunner.render.document_parts import filled, hosts_of, time_of
from checkrunner.render.safe import safe_json

__all__ = ["drift_document", "drift_facts"]


def drift_document(drift: Drift) -> dict[str, Any]:
    """Valid against `render.schema_drift.drift_schemas`."""
    started = time_of(drift.against_started_at)
    return {"against": safe_json(drift.against), "against_started_at": started, **drift_facts(drift)}


def drift_facts(drift: Drift) -> dict[str, Any]:
    """The same without the run that it is against."""
    return {
        "worse": drift.worse,
        **filled(
            unlike=[safe_json(sentence) for sentence in drift.unlike],
            changes=[_change(change) for change in drift.changes],
            unchanged=drift.unchanged,
            left_out=drift.left_out,
        ),
    }


def _change(change: Change) -> dict[str, Any]:
    items: dict[str, Any] = {}
    if change.item_count:
        items = {"items": [safe_json(item) for item in change.items], "item_count": change.item_count}
    return {
        "kind": str(change.kind),
        **filled(check=change.check, name=change.name if change.name != change.check else ""),
        **hosts_of(change),
        **items,
        **filled(
            before=change.before,
            after=change.after,
            since=time_of(change.since),
            before_since=time_of(change.before_since),
            finding=change.finding,
            flapping=change.flapping,
            silenced=change.silenced,
            note=change.note,
        ),
    }
