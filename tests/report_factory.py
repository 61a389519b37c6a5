"""Reports for tests: random ones, and one that shows everything."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from checkrunner.model.drift import Change, ChangeKind, Drift
from checkrunner.model.observation import Activity
from checkrunner.model.report import (
    Budget,
    Finding,
    Incomplete,
    NumberRange,
    Omission,
    Report,
    RunInfo,
    Totals,
    Variant,
)
from checkrunner.model.results import (
    CaptureState,
    Execution,
    HostState,
    Reason,
    Severity,
    Slice,
    SliceLine,
    SliceMode,
    SliceQuery,
    Stream,
    VerdictState,
)

__all__ = ["drifts", "reports"]

texts = st.text(st.characters(codec=None), max_size=20)
counts = st.integers(0, 10**7)
numbers = st.one_of(counts, st.floats())
moments = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds are naive by contract
names = st.lists(texts, min_size=1, max_size=3).map(tuple)

infos = st.builds(
    RunInfo,
    id=texts,
    version=texts,
    playbook=texts,
    playbook_digest=texts,
    inventory=st.lists(texts, max_size=2).map(tuple),
    limit=st.one_of(st.none(), texts),
    started_at=moments,
    elapsed_s=st.floats(0, 1e6),
    ended=st.sampled_from(["normal", "deadline", "interrupted", "error"]),
    complete=st.booleans(),
    exit_code=st.sampled_from([0, 1, 2, 3, 70, 130]),
    error=texts,
)
totals = st.builds(
    Totals,
    hosts=counts,
    planned=counts,
    done=counts,
    skipped=counts,
    not_run=counts,
    verdict=st.dictionaries(st.sampled_from(VerdictState), counts),
    execution=st.dictionaries(st.sampled_from(Execution), counts),
    host=st.dictionaries(st.sampled_from(HostState), counts),
    capture=st.dictionaries(st.sampled_from(CaptureState), counts),
)
lines = st.builds(
    SliceLine, number=counts, text=texts, cut_bytes=st.integers(0, 99), count=st.integers(1, 9), rank=st.integers(0, 3)
)
slices = st.builds(
    Slice,
    stream=st.sampled_from(Stream),
    query=st.builds(SliceQuery, mode=st.sampled_from(SliceMode)),
    lines=st.lists(lines, max_size=3).map(tuple),
    total_lines=counts,
    more_lines=counts,
    more_shapes=counts,
    prefix=texts,
    why=texts,
    evidence=texts,
)
variants = st.builds(Variant, hosts=texts, names=names, slices=st.lists(slices, max_size=1).map(tuple))
ranges = st.builds(NumberRange, minimum=numbers, median=numbers, maximum=numbers, max_host=texts)
findings = st.builds(
    Finding,
    id=texts,
    check=texts,
    name=texts,
    play=texts,
    severity=st.sampled_from(Severity),
    verdict=st.sampled_from(VerdictState),
    execution=st.sampled_from(Execution),
    hosts=texts,
    names=names,
    reasons=st.lists(st.builds(Reason, subject=texts, expected=texts, actual=texts, message=texts), max_size=2).map(
        tuple
    ),
    result=st.dictionaries(
        st.sampled_from(["rc", "signal", "elapsed_s", "stdout_lines", "state"]),
        st.one_of(numbers, texts, ranges, st.none(), st.booleans()),
        max_size=3,
    ),
    seen=st.fixed_dictionaries(
        {},
        optional={
            "kind": st.sampled_from([str(activity) for activity in Activity]),
            "name": texts,
            "on": texts,
            "fd": counts,
            "echo": st.booleans(),
            "since_s": st.one_of(counts, ranges),
            "prompt": texts,
        },
    ),
    slices=st.lists(slices, max_size=2).map(tuple),
    variants=st.lists(variants, max_size=2).map(tuple),
    folded_by=st.sampled_from(["", "equal", "masked", "near"]),
    explained_by=texts,
    novelty=st.sampled_from(["", "new", "known"]),
    since=st.one_of(st.none(), moments),
    changes=st.integers(0, 9),
    notes=st.lists(texts, max_size=2).map(tuple),
    why=texts,
    fix=texts,
)
incompletes = st.builds(
    Incomplete,
    hosts=texts,
    names=names,
    state=st.sampled_from(HostState),
    phase=texts,
    reason=texts,
    hint=texts,
    since=st.one_of(st.none(), moments),
)
omissions = st.builds(Omission, what=texts, count=counts, why=texts, where=texts, tokens=counts)
changes = st.builds(
    Change,
    kind=st.sampled_from(ChangeKind),
    check=texts,
    name=texts,
    hosts=texts,
    names=names,
    items=st.just(()),
    item_count=st.integers(0, 3),
    before=texts,
    after=texts,
    since=st.one_of(st.none(), moments),
    before_since=st.one_of(st.none(), moments),
    finding=texts,
    flapping=st.booleans(),
    silenced=st.booleans(),
    note=texts,
)
drifts = st.builds(
    Drift,
    against=texts,
    against_started_at=moments,
    unlike=st.lists(texts, max_size=2).map(tuple),
    changes=st.lists(changes, max_size=3).map(tuple),
    unchanged=counts,
    worse=counts,
    left_out=counts,
)
reports = st.builds(
    Report,
    run=infos,
    totals=totals,
    findings=st.lists(findings, max_size=3).map(tuple),
    incomplete=st.lists(incompletes, max_size=2).map(tuple),
    drift=st.one_of(st.none(), drifts),
    warnings=st.lists(texts, max_size=2).map(tuple),
    omissions=st.lists(omissions, max_size=2).map(tuple),
    redacted=st.dictionaries(texts, counts, max_size=2),
    budget=st.builds(Budget, limit=st.one_of(st.none(), counts), used=counts, counter=texts),
)
