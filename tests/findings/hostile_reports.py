"""Reports that no run should make, for what has to hold whatever comes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from typing import Any

from hypothesis import strategies as st
from outcome_factory import reason, run_info

from checkrunner.model.drift import Change, ChangeKind, Drift
from checkrunner.model.report import (
    CheckValues,
    Finding,
    Incomplete,
    Message,
    NumberRange,
    Omission,
    Report,
    Silenced,
    Suppressed,
    Totals,
    ValueSummary,
    Variant,
    Wait,
)
from checkrunner.model.results import (
    CaptureState,
    Execution,
    HostState,
    Severity,
    Slice,
    SliceLine,
    SliceMode,
    SliceQuery,
    Stream,
    VerdictState,
)

__all__ = ["Hostile", "finding", "hostile", "texts", "totals", "worst_run"]

_HOSTILE = (
    "x" * 10_000,
    "é" * 600,
    "\u202e" * 100,
    '{}[]"\\' * 100,
    "日本語" * 150,
    "\x00\x07\x1b[31m" * 50,
    "\U0001f642" * 90,
    "1 22 333 " * 100,
    "\n" * 90,
    "\ud800" * 100,
    "",
)
texts = st.one_of(st.text(max_size=12), st.sampled_from(_HOSTILE))
counts = st.integers(0, 10**9)
hosts = st.lists(texts, min_size=1, max_size=4).map(tuple) | st.integers(1, 3000).map(
    lambda number: tuple(f"node{at * 7:05d}" for at in range(number))
)


times = st.datetimes(timezones=st.just(UTC)).filter(lambda time: time.year >= 1000)
silences = st.none() | st.builds(Silenced, until=times, why=texts, by=texts)


@st.composite
def slices(draw: st.DrawFn) -> Slice:
    mode = draw(st.sampled_from([SliceMode.SALIENT, SliceMode.TAIL, SliceMode.MATCH]))
    shown = draw(st.lists(texts, max_size=12))
    lines = tuple(
        SliceLine(
            number=at + 1,
            text=text.replace("\n", " "),
            count=draw(st.integers(1, 10**6)) if mode is SliceMode.SALIENT else 1,
            rank=len(shown) - at if mode is SliceMode.SALIENT else 0,
        )
        for at, text in enumerate(shown)
    )
    evidence = f"{draw(texts).replace('/', '')}/disk/stdout:1-9" if draw(st.booleans()) else ""
    return Slice(
        stream=Stream.STDOUT,
        query=SliceQuery(mode=mode),
        lines=lines,
        total_lines=draw(counts),
        more_lines=draw(counts),
        more_shapes=draw(counts),
        prefix=draw(texts),
        why=draw(texts),
        evidence=evidence,
    )


def finding(number: int, **fields: Any) -> Finding:
    given: dict[str, Any] = {
        "id": f"{number:012x}",
        "check": f"check-{number}",
        "name": f"Check {number}",
        "play": "health",
        "severity": Severity.CRITICAL,
        "verdict": VerdictState.CRIT,
        "execution": Execution.DONE,
        "hosts": f"web{number}",
        "names": (f"web{number}",),
        "reasons": (reason(f"rc was {number}, expected 0"),),
    }
    return Finding(**{**given, **fields})


@st.composite
def findings(draw: st.DrawFn) -> tuple[Finding, ...]:
    made = []
    for number in range(draw(st.integers(0, 6))):
        names = draw(hosts)
        made.append(
            finding(
                number,
                check=draw(texts),
                name=draw(texts),
                play=draw(st.sampled_from(["health", "other", "p" * 5000])),
                severity=draw(st.sampled_from(Severity)),
                verdict=draw(st.sampled_from(VerdictState)),
                execution=draw(st.sampled_from(Execution)),
                hosts=draw(texts),
                names=names,
                reasons=tuple(draw(st.lists(st.builds(reason, texts, texts, texts, texts), max_size=3))),
                result=draw(st.dictionaries(texts, texts | counts, max_size=3)),
                seen=draw(st.dictionaries(st.sampled_from(["on", "name", "prompt"]), texts, max_size=2)),
                values=tuple(draw(st.lists(st.builds(ValueSummary, name=texts, value=texts | counts), max_size=3))),
                because=draw(texts),
                items=tuple(draw(st.lists(texts, max_size=3))),
                item_count=draw(st.integers(0, 3)),
                slices=tuple(draw(st.lists(slices(), max_size=2))),
                variants=tuple(
                    draw(
                        st.lists(
                            st.builds(
                                Variant, hosts=texts, names=hosts, slices=st.lists(slices(), max_size=1).map(tuple)
                            ),
                            max_size=2,
                        )
                    )
                ),
                folded_by=draw(st.sampled_from(["", "equal", "masked", "near"])),
                explained_by=draw(st.sampled_from(["", "0" * 12])),
                novelty=draw(st.sampled_from(["", "new", "known"])),
                silenced=draw(silences),
                since=draw(st.sampled_from([None, run_info().started_at])),
                changes=draw(st.sampled_from([0, 5])),
                notes=tuple(draw(st.lists(texts, max_size=3))),
                why=draw(texts),
                fix=draw(texts),
            )
        )
    often = draw(st.sampled_from([1, 1, 20]))
    return tuple(replace(one, id=f"{at:012x}") for at, one in enumerate(made * often))


def totals(number: int = 9_999_999) -> Totals:
    """Every word of every axis."""
    return Totals(
        hosts=number,
        planned=number,
        done=number,
        skipped=number,
        not_run=number,
        verdict=dict.fromkeys(VerdictState, number),
        execution=dict.fromkeys(Execution, number),
        host=dict.fromkeys(HostState, number),
        capture=dict.fromkeys(CaptureState, number),
    )


def worst_run(text: str = "é\u202e\U0001f642" * 300) -> Any:
    """A run that tells too much of itself."""
    return run_info(
        id=text,
        version=text,
        playbook=text,
        playbook_digest="0123456789abcdef" * 4,
        inventory=(text,) * 500,
        limit=text,
        error=text,
        elapsed_s=123456.789,
        waits=tuple(Wait(place=text, hosts=10**6, longest_s=1e6, waited_s=1e6) for _ in range(50)),
    )


drifts = st.builds(
    Drift,
    against=texts,
    against_started_at=st.just(run_info().started_at),
    unlike=st.lists(texts, max_size=4).map(tuple),
    changes=st.lists(
        st.builds(
            Change,
            kind=st.sampled_from(ChangeKind),
            check=texts,
            name=texts,
            hosts=texts,
            names=hosts,
            items=st.lists(texts, max_size=3).map(tuple),
            item_count=st.integers(0, 3),
            before=texts,
            after=texts,
            since=st.sampled_from([None, run_info().started_at]),
            finding=texts,
            note=texts,
        ),
        max_size=9,
    ).map(tuple),
    unchanged=counts,
    worse=counts,
    left_out=counts,
)
ranges = st.builds(NumberRange, minimum=counts, median=counts, maximum=counts, max_host=texts, min_host=texts)
_reports = st.builds(
    Report,
    run=st.one_of(st.just(run_info()), texts.map(worst_run)),
    totals=st.sampled_from([0, 5, 9_999_999]).map(totals),
    findings=findings(),
    incomplete=st.lists(
        st.builds(
            Incomplete,
            hosts=texts,
            names=hosts,
            state=st.sampled_from(HostState),
            phase=texts,
            reason=texts,
            hint=texts,
            silenced=silences,
        ),
        max_size=9,
    ).map(tuple),
    suppressed=st.lists(
        st.builds(Suppressed, hosts=texts, names=hosts, check=texts, until=times, strikes=counts, reason=texts),
        max_size=5,
    ).map(tuple),
    drift=st.one_of(st.none(), drifts),
    metrics=st.lists(
        st.builds(
            CheckValues,
            check=texts,
            values=st.lists(st.builds(ValueSummary, name=texts, value=texts | counts | ranges), max_size=9).map(tuple),
        ),
        max_size=5,
    ).map(tuple),
    messages=st.lists(
        st.builds(Message, check=texts, name=texts, text=texts, hosts=texts, names=hosts), max_size=20
    ).map(tuple),
    warnings=st.lists(texts, max_size=9).flatmap(lambda some: st.sampled_from([1, 100]).map(lambda n: tuple(some * n))),
    omissions=st.lists(
        st.builds(Omission, what=texts, count=counts, why=texts, where=texts, tokens=counts), max_size=30
    ).map(tuple),
    redacted=st.dictionaries(texts, counts, max_size=4),
)


class Hostile:
    """A report that is not printed where a test fails."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def __repr__(self) -> str:
        return f"a report of {len(self.report.findings)} findings"


hostile = _reports.map(Hostile)
