"""Which parts of an output are asked for, and how an answer becomes a slice that may be shown.

What a check declares comes first; a check that is not ok and declares nothing gets a default. Pure: the asking itself
is done by the session.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from checkrunner.findings.secret_names import secret_values
from checkrunner.findings.secret_tags import GAP
from checkrunner.findings.textview import line_view
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
    "DEFAULT_STDERR_LINES",
    "DEFAULT_STDOUT_LINES",
    "Render",
    "early_queries",
    "is_binary",
    "queries",
    "show",
]

Render = Callable[[Template], str]
"""Renders a template of the check for the host at hand."""

DEFAULT_STDERR_LINES = 5
DEFAULT_STDOUT_LINES = 10
_TEXT_SHARE = 8
"""Latin-1 text has fewer bytes that are not UTF-8 than one in so many."""
_BINARY_BYTES = 40


def early_queries(check: Check, render: Render) -> tuple[SliceQuery, ...]:
    """The slices that the check wants whatever its verdict (``when: always``): they are sent with the command."""
    return _declared(check, SliceWhen.ALWAYS, render)


def queries(check: Check, step: Step, result: Result, verdict: Verdict, render: Render) -> tuple[SliceQuery, ...]:
    """The slices to fetch after the verdict: those declared for a failure, when the verdict is not ok or is noted.

    A check that is not ok and declares no slice gets the last lines of stderr, and of stdout the lines that decided, or
    else the last ones. Nothing is asked of an empty stream or a command that did not run, or twice.
    """
    troubled = verdict.noted or verdict.state not in {VerdictState.OK, VerdictState.SKIPPED}
    if not troubled or result.execution is Execution.NOT_RUN:
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


def show(host: str, key: str, step: Step, raw: RawSlice, redactor: Redactor) -> Slice:
    """Make a slice of what the host sent: text view, secrets masked (the step's answers, those in its environment,
    known by type or name, whatever `redactor` does), evidence id. Where the lines have no numbers (`SliceMode.BYTES`)
    there is no evidence id."""
    env = step.command.env
    given = [*env.values(), *(prompt.answer for prompt in step.command.prompts)]
    secrets: list[Secret | str] = [value for value in given if isinstance(value, Secret)]
    secrets += secret_values(env)

    def mask(text: str) -> str:
        return redactor.redact(text, secrets)

    query = raw.query
    lines = _masked([line_view(line) for line in _split(raw)], mask)
    shown = Slice(
        stream=query.stream,
        query=query,
        lines=lines,
        total_lines=raw.total_lines,
        more_lines=raw.more_lines,
        why=mask(_why(query, raw)),
    )
    ranges = shown.ranges
    evidence = evidence_id(_segment(host), _segment(key), query.stream, ranges) if ranges else ""
    return Slice(
        stream=shown.stream,
        query=query,
        lines=lines,
        total_lines=shown.total_lines,
        more_lines=shown.more_lines,
        why=shown.why,
        evidence=evidence,
    )


def _segment(name: str) -> str:
    """Evidence ids have three parts between slashes."""
    return name.replace("%", "%25").replace("/", "%2F") if "/" in name else name


def _split(raw: RawSlice) -> Sequence[RawLine]:
    if raw.query.mode is not SliceMode.BYTES:
        return raw.lines
    return [RawLine(number=0, data=part) for line in raw.lines for part in line.data.split(b"\n")]


def _masked(lines: Sequence[SliceLine], mask: Callable[[str], str]) -> tuple[SliceLine, ...]:
    """Mask the lines together, since a key goes over several; a mask that loses count is used line by line. A `GAP`
    says where a line was cut."""
    cut = [line.text + GAP if line.cut_bytes and GAP not in line.text else line.text for line in lines]
    texts = mask("\n".join(cut)).split("\n") if lines else []
    if len(texts) != len(lines):
        texts = [mask(text).replace("\n", " ") for text in cut]
    texts = [text.rstrip(GAP).replace(GAP, "\u2026") for text in texts]
    return tuple(
        line if text == line.text else SliceLine(number=line.number, text=text, cut_bytes=line.cut_bytes)
        for line, text in zip(lines, texts, strict=True)
    )


def _declared(check: Check, when: SliceWhen, render: Render) -> tuple[SliceQuery, ...]:
    return tuple(_query(rule, render) for rule in check.slices if rule.when is when)


def _query(rule: SliceRule, render: Render) -> SliceQuery:
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
    out: list[SliceQuery] = []
    if _something_in(result.stderr):
        out.append(_end_of(result.stderr, Stream.STDERR, DEFAULT_STDERR_LINES))
    deciding = [
        query
        for probe in step.probes
        if (query := _deciding(check, probe, result, render)) is not None and query.stream is Stream.STDOUT
    ]
    return (*out, *(deciding or [_end_of(result.stdout, Stream.STDOUT, DEFAULT_STDOUT_LINES)]))


def is_binary(output: Output) -> bool:
    """Whether the output is no text: it has NUL bytes, or a good part of it is not UTF-8."""
    return output.binary or output.invalid_utf8_bytes * _TEXT_SHARE > output.bytes


def _end_of(output: Output, stream: Stream, lines: int) -> SliceQuery:
    """The last lines; of binary output, which tells nobody anything, the beginning of its first line."""
    if is_binary(output):
        return SliceQuery(mode=SliceMode.HEAD, stream=stream, max_lines=1, line_bytes=_BINARY_BYTES)
    return SliceQuery(mode=SliceMode.TAIL, stream=stream, max_lines=lines)


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
    return SliceQuery(mode=SliceMode.MATCH, stream=probe.stream, pattern=probe.text, max_lines=DEFAULT_STDOUT_LINES)


def _something_in(output: Output) -> bool:
    return output.captured_bytes > 0


_SPACES = re.compile(r"\s+")


def _why(query: SliceQuery, raw: RawSlice) -> str:
    """What the slice is a part of, in words."""
    shown = len(raw.lines)
    lines = "line" if shown == 1 else f"{shown} lines"
    match query.mode:
        case SliceMode.HEAD | SliceMode.TAIL if shown == raw.total_lines:
            return f"the one line of {query.stream}" if shown == 1 else f"all {lines} of {query.stream}"
        case SliceMode.HEAD:
            return f"first {lines} of {query.stream}"
        case SliceMode.TAIL:
            return f"last {lines} of {query.stream}"
        case SliceMode.LINES:
            return f"lines {query.first}-{query.last} of {query.stream}"
        case SliceMode.BYTES:
            return f"bytes {query.first}-{query.last} of {query.stream}"
        case SliceMode.MATCH:
            pattern = _SPACES.sub(" ", query.pattern)
            pattern = pattern if len(pattern) <= 80 else pattern[:77] + "..."
            around = max(query.before, query.after)
            return f"lines of {query.stream} that match {pattern!r}" + (f", with {around} around" if around else "")
