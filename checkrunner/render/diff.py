"""Two runs compared: for a person, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from checkrunner.model.drift import DIFF_SCHEMA, Drift
from checkrunner.model.history import RunView
from checkrunner.render.document_drift import drift_facts
from checkrunner.render.document_parts import filled, time_of
from checkrunner.render.drift import change_lines, mind_lines, quiet_texts
from checkrunner.render.layout import count_of, wrapped
from checkrunner.render.safe import safe, safe_json
from checkrunner.render.since import moment
from checkrunner.render.style import Style

__all__ = ["diff_document", "diff_json", "diff_lines", "write_lines"]


def diff_lines(
    before: RunView, after: RunView, drift: Drift, reasons: Mapping[int, str], *, style: Style, width: int
) -> Iterator[str]:
    """Each thing that got worse, a line about what got better, and what the two runs do not have in common. Nothing
    where there is none of these. `reasons` says of changes, by their places, why it is now so on the first host."""
    if not (drift.changes or drift.unlike or drift.left_out):
        return
    color = "red" if drift.worse else "green"
    what = f"{count_of(drift.worse, 'thing')} got worse" if drift.worse else "Nothing got worse"
    yield style(color, what) + safe(f" from run {_named(before)} to {_named(after)}")
    listed = [(at, change) for at, change in enumerate(drift.changes) if change.is_worse]
    for at, change in listed:
        yield from change_lines(change, after.started_at, style, width)
        if why := reasons.get(at):
            yield from (style("dim", line) for line in wrapped(why, width, first="      ", rest="      "))
    if left := drift.worse - len(listed):
        yield f"  - {left:,} more"
    for text in quiet_texts(drift):
        yield from wrapped(text, width, first="  - ", rest="    ")
    yield from mind_lines(drift, style, width)


def diff_document(before: RunView, after: RunView, drift: Drift) -> dict[str, Any]:
    """As plain data, valid against `render.schema_drift.diff_schema`."""
    return {
        "schema": DIFF_SCHEMA,
        "before": _run(before),
        "after": _run(after),
        **drift_facts(drift),
    }


def diff_json(before: RunView, after: RunView, drift: Drift) -> str:
    """The same in one line."""
    return json.dumps(diff_document(before, after, drift), ensure_ascii=False, separators=(",", ":"))


def write_lines(lines: Iterator[str], out: TextIO) -> None:
    """Write lines in the stream's encoding, whatever it has no signs for."""
    encoding = getattr(out, "encoding", None) or "utf-8"
    for line in lines:
        out.write(line.encode(encoding, "replace").decode(encoding) + "\n")


def _named(view: RunView) -> str:
    """``12 (2026-11-30 14:05 UTC)``."""
    return f"{view.number or view.id} ({moment(view.started_at)})"


def _run(view: RunView) -> dict[str, Any]:
    return {
        **filled(number=view.number),
        "id": safe_json(view.id),
        "started_at": time_of(view.started_at),
        "playbook": safe_json(view.playbook),
        **filled(
            playbook_digest=view.playbook_digest[:16],
            limit=view.selection.limit,
            tags=[safe_json(tag) for tag in view.selection.tags],
            skip_tags=[safe_json(tag) for tag in view.selection.skip_tags],
        ),
        "ended": safe_json(view.ended),
        "complete": view.complete,
        "exit_code": view.exit_code,
        "hosts": len(view.hosts),
        "checks": len(view.cells),
    }
