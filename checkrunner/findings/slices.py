"""Which parts of an output are asked for, and how an answer becomes a slice that may be shown.

What a check declares comes first; a check that is not ok and declares nothing gets a default. Pure: the asking itself
is done by the session.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from checkrunner.findings.secret_names import secret_values
from checkrunner.findings.secret_tags import outside_tags
from checkrunner.findings.textview import line_view, masked_lines
from checkrunner.model.plan import Step
from checkrunner.model.playbook import Check, SliceRule, SliceWhen
from checkrunner.model.results import (
    MOST_SLICE_BYTES,
    MOST_SLICE_LINES,
    Execution,
    Output,
    Probe,
    ProbeKind,
    RawLine,
    RawSlice,
    Result,
    Slice,
    SliceLine,
    SliceMode,
    SliceQuery,
    Stream,
    Verdict,
    VerdictState,
    evidence_id,
)
from checkrunner.model.seams import Redactor
from checkrunner.model.sources import Secret, Template

__all__ = [
    "CANDIDATES",
    "DECIDING_LINES",
    "SHAPES",
    "Render",
    "early_queries",
    "evidence_of",
    "is_binary",
    "is_troubled",
    "mask_of",
    "queries",
    "segment",
    "shapes",
    "show",
    "witness_queries",
]

Render = Callable[[Template], str]
"""Renders a template of the check for the host at hand."""

CANDIDATES = 24
"""Lines of a salient slice: the budget chooses among them, by their rank."""
DECIDING_LINES = 10
_MOST_DECIDING = 200
SHAPES = 64
"""Shapes that a host is asked for. More than are shown: what it knows of them is coarse."""
_SHAPE_BYTES = 16 << 10
_MOST_WITNESSED = 16 << 20
_SHAPE_LINE_BYTES = 300
_TEXT_SHARE = 3
"""Text of another encoding has fewer bytes that are not UTF-8 than one in so many, where its alphabet is Latin."""
_TEXT_SHARE_WITH_NULS = 32
_TEXT_LINE = 1000
"""Text with NUL bytes in it has lines no longer than this on average."""
_BINARY_BYTES = 40


def early_queries(check: Check, render: Render) -> tuple[SliceQuery, ...]:
    """The slices that the check wants whatever its verdict (``when: always``): they are sent with the command."""
    return _declared(check, SliceWhen.ALWAYS, render)


def queries(check: Check, step: Step, result: Result, verdict: Verdict, render: Render) -> tuple[SliceQuery, ...]:
    """The slices to fetch after the verdict: those declared for a failure, when the verdict is not ok or is noted.

    A check that is not ok and declares no slice gets of stdout the lines that decided, if there are any; else, and of
    stderr, those that tell most. Nothing is asked of an empty stream or a command that did not run, or twice.
    """
    if not is_troubled(verdict) or result.execution is Execution.NOT_RUN:
        return ()
    if check.slices:
        wanted = _declared(check, SliceWhen.FAIL, render)
    elif verdict.state is VerdictState.OK:
        wanted = ()
    else:
        wanted = _default(check, step, result, render)
    return tuple(
        query
        for query in dict.fromkeys(wanted)
        if query not in step.early and _something_in(result.output(query.stream))
    )


def show(host: str, key: str, step: Step, raw: RawSlice, redactor: Redactor, rc: int | None = None) -> Slice:
    """Make a slice of what the host sent: text view, secrets masked (the step's answers, those in its environment,
    known by type or name, whatever `redactor` does), evidence id. Where the lines have no numbers (`SliceMode.BYTES`)
    there is no evidence id. Of a salient slice it chooses among the lines that the host sent; `rc` is the command's."""
    mask = mask_of(step, redactor)
    query = raw.query
    lines = masked_lines([line_view(line) for line in _split(raw)], mask)
    shown = Slice(
        stream=query.stream,
        query=query,
        lines=lines,
        total_lines=raw.total_lines,
        more_lines=raw.more_lines,
        why=_why(query, raw, mask),
    )
    if query.mode is SliceMode.SALIENT or _are_too_many(step.planned.check, shown):
        shown = _chosen(step.planned.check, shown, raw, rc)
    ranges = shown.ranges
    evidence = evidence_id(segment(host), segment(key), query.stream, ranges) if ranges else ""
    return replace(shown, evidence=evidence)


def shapes(step: Step, raw: RawSlice, redactor: Redactor) -> frozenset[str]:
    """The shapes of the lines of a salient slice that nobody is to see: of a host where the check is fine."""
    from checkrunner.findings.salience import shape_of  # as below

    lines = masked_lines([line_view(line) for line in raw.lines], mask_of(step, redactor))
    return frozenset(shape_of(line.text) for line in lines)


def is_troubled(verdict: Verdict) -> bool:
    """Whether there is something to be said of it: it is not ok, or is noted."""
    return verdict.noted or verdict.state not in {VerdictState.OK, VerdictState.SKIPPED}


def mask_of(step: Step, redactor: Redactor) -> Callable[[str], str]:
    """What masks an output of the step: also the secrets that it was given."""
    env = step.command.env
    given = [*env.values(), *(prompt.answer for prompt in step.command.prompts)]
    secrets: list[Secret | str] = [value for value in given if isinstance(value, Secret)]
    secrets += secret_values(env)
    return lambda text: redactor.redact(text, secrets)


def witness_queries(check: Check, result: Result, verdict: Verdict) -> tuple[SliceQuery, ...]:
    """What to ask of a host where the check is fine, to know what is no news where it is not: nothing of a check that
    says itself what to show, or whose output would take long to read."""
    size = result.stdout.captured_bytes + result.stderr.captured_bytes
    if check.slices or check.task is not None or verdict.noted or size > _MOST_WITNESSED:
        return ()
    outputs = {Stream.STDERR: result.stderr, Stream.STDOUT: result.stdout}
    return tuple(_salient(name) for name, out in outputs.items() if _something_in(out) and not is_binary(out))


def _chosen(check: Check, made: Slice, raw: RawSlice, rc: int | None) -> Slice:
    """Of the shapes that the host found those that tell something, in reading order, each with its rank."""
    # Few runs come here, and the start of all would pay for it.
    from checkrunner.findings.salience import Row, rank

    rows = [Row(line.number, line.text, line.count, line.last, line.cut_bytes) for line in made.lines]
    declared = (rule.max_lines for rule in check.slices if rule.mode is made.query.mode and rule.stream is made.stream)
    most = next(declared, CANDIDATES)
    whole = made.query.mode is SliceMode.SALIENT
    # Of lines that match a pattern, the others are no part of the slice.
    total = raw.total_lines if whole else len(rows)
    ranking = rank(rows, total_lines=total, stream=made.stream, rc=rc, most=most)
    lines = [
        SliceLine(
            number=entry.number,
            text=entry.text,
            cut_bytes=entry.cut_bytes,
            count=entry.count,
            last=entry.last,
            rank=entry.rank,
            shape=sys.intern(entry.shape),
        )
        for entry in ranking.entries
    ]
    shown = replace(
        made,
        lines=tuple(sorted(lines, key=lambda line: line.number)),
        more_lines=ranking.more_lines + (0 if whole else raw.more_lines),
        more_shapes=ranking.more_shapes + raw.more_shapes,
        prefix=ranking.prefix,
    )
    return replace(shown, why=shown.what) if whole else shown


def _are_too_many(check: Check, made: Slice) -> bool:
    """Whether the lines that decided are more than are shown as they are: then the most telling of them are."""
    return made.query.mode is SliceMode.MATCH and not check.slices and len(made.lines) > DECIDING_LINES


def evidence_of(host: str, key: str, stream: Stream, numbers: Sequence[int]) -> str:
    """The evidence id of these lines; "" for none."""
    lines = tuple(SliceLine(number=number, text="") for number in numbers)
    made = Slice(stream=stream, query=SliceQuery(mode=SliceMode.LINES), lines=lines, total_lines=0)
    return evidence_id(segment(host), segment(key), stream, made.ranges) if lines else ""


def segment(name: str) -> str:
    """Evidence ids have three parts between slashes."""
    return name.replace("%", "%25").replace("/", "%2F") if "/" in name else name


def _split(raw: RawSlice) -> Sequence[RawLine]:
    if raw.query.mode is not SliceMode.BYTES:
        return raw.lines
    return [RawLine(number=0, data=part) for line in raw.lines for part in line.data.split(b"\n")]


def _declared(check: Check, when: SliceWhen, render: Render) -> tuple[SliceQuery, ...]:
    return tuple(_query(rule, render) for rule in check.slices if rule.when is when)


def _query(rule: SliceRule, render: Render) -> SliceQuery:
    if rule.mode is SliceMode.SALIENT:
        return _salient(rule.stream)
    return SliceQuery(
        mode=rule.mode,
        stream=rule.stream,
        first=rule.first,
        last=rule.last,
        pattern=_text(rule.pattern, render) if rule.pattern is not None else "",
        before=rule.context,
        after=rule.context,
        max_lines=max(1, min(rule.max_lines, MOST_SLICE_LINES)),
        max_bytes=max(1, min(rule.max_bytes, MOST_SLICE_BYTES)),
    )


def _text(template: Template, render: Render) -> str:
    return template.text if template.is_static else render(template)


def _default(check: Check, step: Step, result: Result, render: Render) -> tuple[SliceQuery, ...]:
    deciding = [
        query
        for probe in step.probes
        if (query := _deciding(check, probe, result, render)) is not None and query.stream is Stream.STDOUT
    ]
    salient = [_telling(result.output(stream), stream) for stream in (Stream.STDERR, Stream.STDOUT)]
    return (*deciding, *(salient[:1] if deciding else salient))


def is_binary(output: Output) -> bool:
    """Whether the output is no text: a good part of it is not UTF-8, or it has NUL bytes and hardly any lines. NUL
    bytes alone make no text binary: a log has them after a crash."""
    if output.invalid_utf8_bytes * (_TEXT_SHARE_WITH_NULS if output.binary else _TEXT_SHARE) > output.bytes:
        return True
    return output.binary and output.bytes > _TEXT_LINE * output.lines


def _telling(output: Output, stream: Stream) -> SliceQuery:
    """The lines that tell something; of binary output, which tells nobody anything, the beginning of its first line."""
    if is_binary(output):
        return SliceQuery(mode=SliceMode.HEAD, stream=stream, max_lines=1, line_bytes=_BINARY_BYTES)
    return _salient(stream)


def _salient(stream: Stream) -> SliceQuery:
    return SliceQuery(
        mode=SliceMode.SALIENT, stream=stream, max_lines=SHAPES, max_bytes=_SHAPE_BYTES, line_bytes=_SHAPE_LINE_BYTES
    )


def _deciding(check: Check, probe: Probe, result: Result, render: Render) -> SliceQuery | None:
    """The lines that a text which must not be there was found in. A text that is missing has no lines to show, and
    one that is there as expected decided nothing."""
    answer = result.probes.get(probe.name)
    if answer is None or answer.count == 0 or probe.kind is not ProbeKind.MATCHES:
        return None
    unwanted = any(
        expectation.op == "not_matches"
        and expectation.subject == probe.stream
        and isinstance(value, Template)
        and _text(value, render) == probe.text
        for expectation in check.expect
        for value in (expectation.value if isinstance(expectation.value, list | tuple) else (expectation.value,))
    )
    if not unwanted:
        return None
    return SliceQuery(
        mode=SliceMode.MATCH,
        stream=probe.stream,
        pattern=probe.text,
        max_lines=_MOST_DECIDING,
        max_bytes=_SHAPE_BYTES,
        line_bytes=_SHAPE_LINE_BYTES,
    )


def _something_in(output: Output) -> bool:
    return output.captured_bytes > 0


_SPACES = re.compile(r"\s+")


def _why(query: SliceQuery, raw: RawSlice, mask: Callable[[str], str]) -> str:
    """What the slice is a part of, in words. A pattern is masked first: half of a secret would not be known."""
    shown = len(raw.lines)
    lines = "line" if shown == 1 else f"{shown} lines"
    match query.mode:
        case SliceMode.HEAD | SliceMode.TAIL if shown == raw.total_lines:
            return f"the one line of {query.stream}" if shown == 1 else f"all {lines} of {query.stream}"
        case SliceMode.HEAD:
            return f"first {lines} of {query.stream}"
        case SliceMode.TAIL:
            return f"last {lines} of {query.stream}"
        case SliceMode.SALIENT:
            return ""  # said when they are chosen
        case SliceMode.LINES:
            return f"lines {query.first}-{query.last} of {query.stream}"
        case SliceMode.BYTES | SliceMode.PACKED:
            return f"bytes {query.first}-{query.last} of {query.stream}"
        case SliceMode.MATCH:
            pattern = _SPACES.sub(" ", mask(query.pattern))
            pattern = pattern if len(pattern) <= 80 else pattern[: outside_tags(pattern, 77)] + "..."
            around = max(query.before, query.after)
            return f"lines of {query.stream} that match {pattern!r}" + (f", with {around} around" if around else "")
