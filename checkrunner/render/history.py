"""The runs of the store as a list, and what came of single checks in one: for a person, and as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from checkrunner.model.history import RunSummary, StoredResult
from checkrunner.model.report import Finding
from checkrunner.model.results import Severity, VerdictState
from checkrunner.render.document import reason_facts, slice_facts
from checkrunner.render.document_parts import filled, time_of
from checkrunner.render.finding_lines import FindingLines
from checkrunner.render.layout import count_of, duration, wrapped
from checkrunner.render.safe import safe, safe_json
from checkrunner.render.since import moment
from checkrunner.render.style import Style

__all__ = ["RESULTS_SCHEMA", "RUNS_SCHEMA", "result_lines", "results_json", "run_lines", "runs_json"]

RUNS_SCHEMA = "checkrunner/history/1"
RESULTS_SCHEMA = "checkrunner/results/1"

_HEAD = ("RUN", "WHEN (UTC)", "TOOK", "HOSTS", "OK", "WARN", "CRIT", "UNKN", "SKIP", "EXIT", "DRIFT", "PLAYBOOK")
_LEFT = frozenset({1, 10, 11})
"""Columns of words; the others are numbers, which end at the same column."""

_EXITS = {0: "green", 1: "yellow"}
_COUNTED = (VerdictState.OK, VerdictState.WARN, VerdictState.CRIT, VerdictState.UNKNOWN, VerdictState.SKIPPED)


def run_lines(runs: Sequence[RunSummary], *, of: int, style: Style) -> Iterator[str]:
    """A line for each run, the newest first, and one for what is left out; `of` is how many there are."""
    if not runs:
        yield "no run is stored"
        return
    rows = [_HEAD, *map(_row, runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for at, row in enumerate(rows):
        cells = [
            cell.ljust(width) if place in _LEFT else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        if at:
            run = runs[at - 1]
            cells[9] = style(_EXITS.get(run.exit_code, "red"), cells[9])
            cells[10] = style("red", cells[10]) if run.worse else cells[10]
        line = "  ".join(cells).rstrip()
        yield line if at else style("bold", line)
    if of > len(runs):
        yield style("dim", f"{len(runs):,} of {count_of(of, 'run')}; --limit shows more")


def _row(run: RunSummary) -> tuple[str, ...]:
    drift = f"{run.worse:,} worse" if run.worse else run.drift or "-"
    return (
        str(run.number),
        f"{moment(run.started_at)[:-4]}",
        duration(run.elapsed_s),
        f"{run.hosts:,}",
        *(f"{run.verdicts.get(verdict, 0):,}" for verdict in _COUNTED),
        str(run.exit_code),
        drift,
        safe(_what(run)),
    )


def _what(run: RunSummary) -> str:
    """The playbook and what of it was run, and what was unusual about the run."""
    chosen = run.selection
    words = [run.playbook]
    words += [f"-l {chosen.limit}"] if chosen.limit else []
    words += [f"-t {','.join(chosen.tags)}"] if chosen.tags else []
    words += [f"--skip-tags {','.join(chosen.skip_tags)}"] if chosen.skip_tags else []
    words += [f"-e ({chosen.params})"] if chosen.params else []
    notes = [run.kind] if run.kind != "run" else []
    notes += [run.ended] if run.ended != "normal" else []
    return " ".join(words) + (f" ({', '.join(notes)})" if notes else "")


def runs_json(runs: Sequence[RunSummary], *, of: int) -> str:
    """The same in one line."""
    return _json({"schema": RUNS_SCHEMA, "count": of, "runs": [_run(run) for run in runs]})


def _run(run: RunSummary) -> dict[str, Any]:
    chosen = run.selection
    return {
        "number": run.number,
        "id": safe_json(run.id),
        "kind": safe_json(run.kind),
        "started_at": time_of(run.started_at),
        "elapsed_s": run.elapsed_s,
        "playbook": safe_json(run.playbook),
        **filled(
            limit=chosen.limit,
            tags=[safe_json(tag) for tag in chosen.tags],
            skip_tags=[safe_json(tag) for tag in chosen.skip_tags],
            params=chosen.params,
        ),
        "ended": safe_json(run.ended),
        "complete": run.complete,
        "exit_code": run.exit_code,
        "hosts": run.hosts,
        "verdicts": {str(verdict): run.verdicts.get(verdict, 0) for verdict in _COUNTED},
        **filled(drift=run.drift, worse=run.worse),
    }


def result_lines(
    run: RunSummary,
    results: Sequence[StoredResult],
    rest: Sequence[tuple[VerdictState, str, int]],
    *,
    noun: str,
    style: Style,
    width: int,
) -> Iterator[str]:
    """What came of single checks. `rest` are those that are only named, by verdict; `noun` is what they are names of:
    ``host`` or ``check``."""
    yield style("bold", f"run {run.number}") + safe(f" ({run.id}) of {run.playbook}, {moment(run.started_at)}")
    lines = FindingLines(style, width, checks={}, plays=False, began=run.started_at)
    for result in results:
        yield ""
        yield from lines.of(_finding(result))
        for text in _besides(run, result):
            yield from (style("dim", line) for line in wrapped(text, width, first=" " * 6, rest=" " * 8))
    if rest:
        yield ""
    for verdict, names, count in rest:
        yield from wrapped(f"{verdict}: {names} ({count_of(count, noun)})", width, rest="  ")


def _finding(result: StoredResult) -> Finding:
    """The result as a finding of one host, which is what it is shown as."""
    cell = result.cell
    return Finding(
        id=cell.finding,
        check=result.check,
        name=result.name,
        play=result.play,
        hosts=result.host,
        names=(result.host,),
        severity=Severity.CRITICAL,
        verdict=cell.verdict,
        execution=cell.execution,
        reasons=result.evidence.reasons,
        slices=result.evidence.slices,
        notes=result.evidence.notes,
        since=cell.since,
        changes=cell.changes if cell.is_flapping else 0,
    )


def _besides(run: RunSummary, result: StoredResult) -> Iterator[str]:
    cell = result.cell
    if cell.blind:
        yield f"nobody looked; when somebody did last, it was {cell.was}" if cell.was else "nobody has looked yet"
    # Whoever copies it hands it to a shell, and what an item is called may be an output's word.
    what = shlex.join([str(run.number), result.host, result.check])
    for stream in result.kept:
        yield f"{stream} was kept: checkrunner read {what} --stream {stream}"


def results_json(
    run: RunSummary, results: Sequence[StoredResult], rest: Sequence[tuple[VerdictState, str, int]], *, noun: str
) -> str:
    """The same in one line."""
    return _json(
        {
            "schema": RESULTS_SCHEMA,
            "run": _run(run),
            "results": [_result(result) for result in results],
            "others": [
                {"verdict": str(verdict), f"{noun}s": safe_json(names), "count": count}
                for verdict, names, count in rest
            ],
        }
    )


def _result(result: StoredResult) -> dict[str, Any]:
    cell = result.cell
    return {
        "host": safe_json(result.host),
        "host_state": str(result.state),
        "check": safe_json(result.check),
        **filled(name=result.name, play=result.play),
        "verdict": str(cell.verdict),
        "execution": str(cell.execution),
        **filled(
            since=time_of(cell.since),
            changes=cell.changes,
            flapping=cell.is_flapping,
            not_looked=cell.blind,
            was=str(cell.was or ""),
            finding=cell.finding,
            reasons=[reason_facts(reason) for reason in result.evidence.reasons],
            slices=[slice_facts(piece) for piece in result.evidence.slices],
            kept=[str(stream) for stream in result.kept],
        ),
    }


def _json(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
