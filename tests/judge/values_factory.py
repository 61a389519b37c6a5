"""Checks with values, and hosts that answer what is read for them, made with few words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from judge_factory import output, text

from checkrunner.judge.judge import Judge
from checkrunner.model.plan import Command, Judgement, PlannedCheck, Step
from checkrunner.model.playbook import Check
from checkrunner.model.results import Execution, RawLine, RawSlice, Result, SliceMode, SliceQuery, Stream, Value
from checkrunner.model.sources import Template
from checkrunner.model.values import Aggregate, Extract, Levels, Lookup, Parse, ParseAs
from checkrunner.plan.texts import Templates

JUDGE = Judge(Templates())


def parse_as(kind: str, **fields: Any) -> Parse:
    word, _, parser = kind.partition(":")
    if "pattern" in fields:
        fields["pattern"] = text(fields["pattern"])
    return Parse(kind=ParseAs(word), parser=parser, **fields)


def extract(name: str = "v", *, agg: str = "first", where: str | None = None, **fields: Any) -> Extract:
    """``extract("used", column="Use%", agg="max")``."""
    (lookup,) = (word for word in Lookup if word in fields)
    query = text(fields.pop(lookup))
    return Extract(
        name=name, lookup=lookup, query=query, agg=Aggregate(agg), where=text(where) if where else None, **fields
    )


def levels(name: str = "v", warn: str | None = None, crit: str | None = None) -> Levels:
    def template(level: str | None) -> Template | None:
        return None if level is None else text(level)

    return Levels(name=name, warn=template(warn), crit=template(crit))


def check(*extracts: Extract, parse: Parse | None = None, **fields: Any) -> Check:
    for key in ("warn_if", "crit_if"):
        fields[key] = tuple(text(condition) for condition in fields.get(key, ()))
    return Check(id="c", name="c", run=text("true"), parse=parse, extracts=extracts, **fields)


def answer(query: SliceQuery, data: bytes) -> RawSlice:
    """What a host sends for a query of an output."""
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    if query.mode is SliceMode.BYTES:
        part = data[query.first : min(query.last, query.first + query.max_bytes)]
        return RawSlice(query=query, lines=(RawLine(number=0, data=part),), total_lines=len(lines))
    assert query.mode is SliceMode.MATCH
    found = [
        RawLine(number=number, data=line[: query.line_bytes], cut_bytes=max(0, len(line) - query.line_bytes))
        for number, line in enumerate(lines, 1)
        if re.search(query.pattern, line.removesuffix(b"\r").decode("utf-8", "replace"))
    ]
    more = max(0, len(found) - query.max_lines)
    return RawSlice(query=query, lines=tuple(found[: query.max_lines]), total_lines=len(lines), more_lines=more)


def judged(
    what: Check, stdout: str | bytes = "", *, names: Mapping[str, Any] | None = None, stderr: str = "", **fields: Any
) -> Judgement:
    """The judgement on an output, read as a host would have it read. `fields` are of the result; `out` of its stdout."""
    out = dict(fields.pop("out", {}))
    silent, refusal = fields.pop("silent", False), fields.pop("refusal", "")
    data = {Stream.STDOUT: stdout.encode() if isinstance(stdout, str) else stdout, Stream.STDERR: stderr.encode()}
    queries = JUDGE.reads(what, names or {})
    step = Step(
        planned=PlannedCheck(key="c", play="p", check=what),
        command=Command(shell="true"),
        early=queries,
        reads=len(queries),
    )
    given: dict[str, Any] = {"rc": 0, "execution": Execution.DONE, **fields}
    result = Result(
        seq=1,
        session="main",
        stdout=output(data[Stream.STDOUT], **out),
        stderr=output(stderr),
        **given,
    )
    raws = [
        None
        if silent
        else RawSlice(query=query, lines=(), total_lines=0, error=refusal)
        if refusal
        else answer(query, data[query.stream])
        for query in queries
    ]
    return JUDGE.judgement(step, result, names or {}, raws)


def value(what: Check, stdout: str | bytes = "", **fields: Any) -> Value:
    """The one value of a check."""
    (only,) = judged(what, stdout, **fields).values
    return only


def said(judgement: Judgement) -> tuple[str, list[str]]:
    """The verdict's state and the messages of its reasons."""
    return str(judgement.verdict.state), [reason.message for reason in judgement.verdict.reasons]
