"""How words, times and evidence are written in the store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from checkrunner.findings.slices import segment
from checkrunner.model.history import Cell, CheckVersion, Evidence, Selection
from checkrunner.model.results import (
    Execution,
    HostState,
    Reason,
    Slice,
    SliceLine,
    SliceMode,
    SliceQuery,
    Stream,
    VerdictState,
    evidence_id,
)

__all__ = [
    "EXECUTIONS",
    "HOST_STATES",
    "VERDICTS",
    "cell_from",
    "cell_row",
    "checks_from",
    "checks_to",
    "evidence_from",
    "evidence_to",
    "plain",
    "selection_from",
    "selection_to",
    "time_from",
    "time_to",
]

VERDICTS = (
    VerdictState.OK,
    VerdictState.WARN,
    VerdictState.CRIT,
    VerdictState.UNKNOWN,
    VerdictState.SKIPPED,
)
"""A word is stored as its place here, as with the two below: a new one comes behind the others."""

EXECUTIONS = (
    Execution.DONE,
    Execution.TIMED_OUT,
    Execution.KILLED,
    Execution.STUCK,
    Execution.WAITING_INPUT,
    Execution.LOST,
    Execution.NOT_RUN,
)

HOST_STATES = (
    HostState.REACHED,
    HostState.UNREACHABLE,
    HostState.UNSUPPORTED,
    HostState.THROTTLED,
    HostState.AUTH_FAILED,
    HostState.HOST_KEY_MISMATCH,
    HostState.NO_SHELL,
    HostState.LOST,
    HostState.NOT_TRIED,
)

_VERDICT_CODES = {word: at for at, word in enumerate(VERDICTS)}
_EXECUTION_CODES = {word: at for at, word in enumerate(EXECUTIONS)}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def time_to(when: datetime | None) -> int | None:
    """Microseconds since 1970, exact."""
    return None if when is None else (when - _EPOCH) // _MICROSECOND


def time_from(stored: int | None) -> datetime | None:
    """The time of a column that may be empty."""
    return None if stored is None else _EPOCH + stored * _MICROSECOND


def plain(text: str) -> str:
    """A text that SQLite can take. Lone surrogates come from names of files, and from what hosts wrote as JSON: each
    is written out, so that names that differ stay different."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def selection_to(selection: Selection) -> str:
    """A text that is the same for equal selections."""
    return json.dumps(asdict(selection), sort_keys=True)


def selection_from(stored: str) -> Selection:
    """The selection of a text."""
    fields = json.loads(stored)
    return Selection(**{**fields, "tags": tuple(fields["tags"]), "skip_tags": tuple(fields["skip_tags"])})


def checks_to(checks: Mapping[str, CheckVersion]) -> list[dict[str, Any]]:
    """The checks of a run as plain data."""
    return [asdict(version) for version in checks.values()]


def checks_from(stored: Sequence[Mapping[str, Any]]) -> dict[str, CheckVersion]:
    """The same back."""
    return {fields["key"]: CheckVersion(**fields) for fields in stored}


def cell_row(cell: Cell) -> tuple[int | str | None, ...]:
    """A cell as columns of `state`, behind run and id."""
    return (
        _VERDICT_CODES[cell.verdict],
        _EXECUTION_CODES[cell.execution],
        cell.reasons,
        cell.finding,
        int(cell.blind),
        None if cell.was is None else _VERDICT_CODES[cell.was],
        time_to(cell.since),
        cell.trail,
    )


def cell_from(row: Sequence[Any]) -> Cell:
    """The same back."""
    verdict, execution, reasons, finding, blind, was, since, trail = row
    return Cell(
        verdict=VERDICTS[verdict],
        execution=EXECUTIONS[execution],
        reasons=reasons,
        finding=finding,
        blind=bool(blind),
        was=None if was is None else VERDICTS[was],
        since=time_from(since),
        trail=trail,
    )


def evidence_to(evidence: Evidence, host: str, check: str) -> dict[str, Any]:
    """Evidence as plain data. What names host and check alone is left out, so that equal evidence is equal data."""
    return {
        "r": [[reason.subject, reason.expected, reason.actual, reason.message] for reason in evidence.reasons],
        "s": [_slice_to(piece, host, check) for piece in evidence.slices],
        "n": list(evidence.notes),
    }


def evidence_from(stored: Mapping[str, Any], host: str, check: str) -> Evidence:
    """The same back, for the host and check that it is of."""
    return Evidence(
        reasons=tuple(
            Reason(subject=subject, expected=expected, actual=actual, message=message)
            for subject, expected, actual, message in stored["r"]
        ),
        slices=tuple(_slice_from(piece, host, check) for piece in stored["s"]),
        notes=tuple(stored["n"]),
    )


def _id_of(piece: Slice, host: str, check: str) -> str:
    return evidence_id(segment(host), segment(check), piece.stream, piece.ranges) if piece.lines else ""


def _slice_to(piece: Slice, host: str, check: str) -> dict[str, Any]:
    own = piece.evidence == _id_of(piece, host, check)
    return {
        "stream": str(piece.stream),
        "query": {**asdict(piece.query), "mode": str(piece.query.mode), "stream": str(piece.query.stream)},
        "lines": [[line.number, line.text, line.cut_bytes, line.count, line.last, line.rank] for line in piece.lines],
        "total": piece.total_lines,
        "more": [piece.more_lines, piece.more_shapes],
        "prefix": piece.prefix,
        "why": piece.why,
        **({} if own else {"evidence": piece.evidence}),
    }


def _slice_from(stored: Mapping[str, Any], host: str, check: str) -> Slice:
    query = {**stored["query"], "mode": SliceMode(stored["query"]["mode"]), "stream": Stream(stored["query"]["stream"])}
    piece = Slice(
        stream=Stream(stored["stream"]),
        query=SliceQuery(**query),
        lines=tuple(
            SliceLine(number=number, text=text, cut_bytes=cut, count=count, last=last, rank=rank)
            for number, text, cut, count, last, rank in stored["lines"]
        ),
        total_lines=stored["total"],
        more_lines=stored["more"][0],
        more_shapes=stored["more"][1],
        prefix=stored["prefix"],
        why=stored["why"],
    )
    return replace(piece, evidence=stored.get("evidence", _id_of(piece, host, check)))
