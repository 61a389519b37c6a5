from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from outcome_factory import check, output, result

from checkrunner.findings.redact import NullRedactor, PatternRedactor
from checkrunner.findings.slices import early_queries, queries, show
from checkrunner.model.plan import Command, PlannedCheck, Step
from checkrunner.model.playbook import Check, Expectation, SliceRule, SliceWhen
from checkrunner.model.results import (
    MOST_SLICE_BYTES,
    MOST_SLICE_LINES,
    Execution,
    Probe,
    ProbeKind,
    ProbeResult,
    RawLine,
    RawSlice,
    Result,
    SliceMode,
    SliceQuery,
    Stream,
    Verdict,
    VerdictState,
    is_evidence_id,
)
from checkrunner.model.sources import Secret, Template

CRIT = Verdict(state=VerdictState.CRIT)
TAIL = SliceQuery(mode=SliceMode.TAIL, max_lines=10)
TELLING = SliceQuery(mode=SliceMode.SALIENT, max_lines=64, max_bytes=16384, line_bytes=300)
STDERR = replace(TELLING, stream=Stream.STDERR)


def render(template: Template) -> str:
    return template.text.replace("{{ x }}", "42")


def step_of(made: Check, **fields: Any) -> Step:
    fields.setdefault("command", Command(shell="true"))
    return Step(planned=PlannedCheck(key=made.id, play="p", check=made), **fields)


def ask(made: Check, outcome: Result, verdict: Verdict = CRIT, **fields: Any) -> tuple[SliceQuery, ...]:
    return queries(made, step_of(made, **fields), outcome, verdict, render)


def test_declared_slices_are_rendered_and_bounded() -> None:
    rules = (
        SliceRule(mode=SliceMode.HEAD, max_lines=3),
        SliceRule(mode=SliceMode.MATCH, pattern=Template(text="error {{ x }}"), context=2, stream=Stream.STDERR),
        SliceRule(mode=SliceMode.LINES, first=4, last=9, max_lines=10**9, max_bytes=10**12),
        SliceRule(mode=SliceMode.TAIL, when=SliceWhen.ALWAYS),
    )
    made = check(slices=rules)

    asked = ask(made, result(stdout=output(), stderr=output()))

    assert asked == (
        SliceQuery(mode=SliceMode.HEAD, max_lines=3),
        SliceQuery(mode=SliceMode.MATCH, stream=Stream.STDERR, pattern="error 42", before=2, after=2),
        SliceQuery(mode=SliceMode.LINES, first=4, last=9, max_lines=MOST_SLICE_LINES, max_bytes=MOST_SLICE_BYTES),
    )
    assert early_queries(made, render) == (SliceQuery(mode=SliceMode.TAIL),)


@pytest.mark.parametrize(
    ("verdict", "asked"),
    [
        (Verdict(state=VerdictState.OK), 0),
        (Verdict(state=VerdictState.OK, noted=True), 1),
        (Verdict(state=VerdictState.WARN), 1),
        (Verdict(state=VerdictState.UNKNOWN), 1),
        (Verdict(state=VerdictState.SKIPPED), 0),
    ],
)
def test_declared_slices_are_for_trouble(verdict: Verdict, asked: int) -> None:
    made = check(slices=(SliceRule(mode=SliceMode.HEAD),))

    assert len(ask(made, result(stdout=output()), verdict)) == asked


def test_a_failed_check_without_slices_gets_what_is_telling_in_both_streams() -> None:
    assert ask(check(), result(stdout=output(), stderr=output())) == (STDERR, TELLING)
    assert ask(check(), result(stdout=output())) == (TELLING,)
    assert ask(check(), result(stderr=output())) == (STDERR,)


@pytest.mark.parametrize(
    "fields", [{"binary": True, "bytes": 4096}, {"binary": True, "invalid_utf8_bytes": 5}, {"invalid_utf8_bytes": 20}]
)
def test_of_binary_output_only_a_little_is_shown(fields: dict[str, Any]) -> None:
    (query,) = ask(check(), result(stdout=output(**fields)))

    assert (query.mode, query.max_lines) == (SliceMode.HEAD, 1)
    assert query.line_bytes <= 60


def test_a_log_with_zeros_in_it_is_still_text() -> None:
    assert ask(check(), result(stdout=output(6000, binary=True, bytes=210_000))) == (TELLING,)


def test_a_few_bytes_of_another_encoding_are_still_text() -> None:
    assert ask(check(), result(stdout=output(invalid_utf8_bytes=2))) == (TELLING,)
    assert ask(check(), result(stdout=output(invalid_utf8_bytes=6))) == (TELLING,)


@pytest.mark.parametrize(
    ("shown", "total", "why"),
    [
        (1, 1, "the one line of stdout"),
        (2, 2, "all 2 lines of stdout"),
        (1, 9, "last line of stdout"),
        (2, 9, "last 2 lines of stdout"),
    ],
)
def test_a_slice_says_how_much_of_the_output_it_is(shown: int, total: int, why: str) -> None:
    made = RawSlice(query=TAIL, lines=raw(*[b"x"] * shown).lines, total_lines=total)

    assert show("a", "disk", step_of(check()), made, NullRedactor()).why == why


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (result(), CRIT),
        (result(execution=Execution.NOT_RUN, stdout=output()), CRIT),
        (result(stdout=output()), Verdict(state=VerdictState.OK)),
        (result(stdout=output()), Verdict(state=VerdictState.OK, noted=True)),
        (result(stdout=output(lines=2, captured_bytes=0)), CRIT),
    ],
)
def test_nothing_is_asked_where_there_is_nothing(outcome: Result, verdict: Verdict) -> None:
    assert ask(check(), outcome, verdict) == ()


def test_nothing_is_asked_twice() -> None:
    rule = SliceRule(mode=SliceMode.HEAD)
    made = check(slices=(rule, rule, SliceRule(mode=SliceMode.HEAD, when=SliceWhen.ALWAYS)))
    early = early_queries(made, render)

    assert len(ask(made, result(stdout=output()))) == 1
    assert ask(made, result(stdout=output()), early=early) == ()


@pytest.mark.parametrize(
    ("op", "count", "decides"), [("not_matches", 3, True), ("not_matches", 0, False), ("matches", 3, False)]
)
def test_lines_that_must_not_be_there_are_shown(op: str, count: int, decides: bool) -> None:
    made = check(expect=(Expectation(subject="stdout", op=op, value=Template(text="err{{ x }}")),))
    probe = Probe(name="p0", kind=ProbeKind.MATCHES, stream=Stream.STDOUT, text="err42")
    outcome = result(stdout=output(), probes={"p0": ProbeResult(name="p0", count=count, first_line=1)})

    asked = ask(made, outcome, probes=(probe,))

    match = SliceQuery(mode=SliceMode.MATCH, pattern="err42", max_lines=200, max_bytes=16384, line_bytes=300)
    assert asked == ((match,) if decides else (TELLING,))


def raw(*lines: bytes, mode: SliceMode = SliceMode.TAIL, **fields: Any) -> RawSlice:
    first = 0 if mode is SliceMode.BYTES else 12
    query = SliceQuery(mode=mode, **fields)
    numbered = tuple(RawLine(number=first + at, data=data) for at, data in enumerate(lines))
    return RawSlice(query=query, lines=numbered, total_lines=99, more_lines=4)


def test_show_makes_a_slice_with_evidence() -> None:
    piece = show("web01", "disk", step_of(check()), raw(b"\x1b[31m97%\x1b[0m", b"password=x"), PatternRedactor())

    assert piece.evidence == "web01/disk/stdout:12-13"
    assert piece.text == "97%\npassword=<secret>"
    assert (piece.total_lines, piece.more_lines, piece.why) == (99, 4, "last 2 lines of stdout")


def test_of_many_lines_that_decided_the_most_telling_are_shown_and_the_others_counted() -> None:
    lines = [b"job %d: error: disk full" % at for at in range(30)] + [b"job 7: FATAL: cannot write the journal"]
    few, many = raw(*lines[:10], mode=SliceMode.MATCH, pattern="err|FATAL"), raw(*lines, mode=SliceMode.MATCH)

    as_they_are = show("h", "c", step_of(check()), few, PatternRedactor())
    chosen = show("h", "c", step_of(check()), many, PatternRedactor())

    assert (len(as_they_are.lines), as_they_are.more_lines) == (10, 4)
    assert {line.rank for line in as_they_are.lines} == {0}
    assert any("FATAL" in line.text for line in chosen.lines)
    assert len(chosen.lines) < 10
    assert sum(line.count for line in chosen.lines) + chosen.more_lines == len(lines) + many.more_lines
    assert chosen.why == "lines of stdout that match ''"


def test_secrets_of_the_environment_are_masked_whatever_the_redactor() -> None:
    command = Command(shell="true", env={"TOKEN": Secret("s3cr3t-value"), "PLAIN": "97", "API_KEY": "by-name"})
    query = raw(b"got s3cr3t-value 97 by-name", mode=SliceMode.MATCH, pattern="s3cr3t-value")

    piece = show("h", "c", step_of(check(), command=command), query, NullRedactor())

    assert piece.text == "got <secret> 97 <secret>"
    assert piece.why == "lines of stdout that match '<secret>'"


def test_a_secret_in_a_pattern_is_gone_before_the_pattern_is_cut() -> None:
    command = Command(shell="true", env={"TOKEN": Secret("first-half-second-half")})
    query = raw(b"x", mode=SliceMode.MATCH, pattern="x" * 60 + "first-half-second-half")

    why = show("h", "c", step_of(check(), command=command), query, NullRedactor()).why

    assert "first" not in why
    assert "<secret>" in why


def test_a_private_key_is_masked_over_the_lines_of_a_slice() -> None:
    body = b"MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0buVyb2IWXcQzS4NnXQ2gB4S0zB7x"

    piece = show("h", "c", step_of(check()), raw(b"-----BEGIN PRIVATE KEY-----", body, body), PatternRedactor())

    assert [line.text for line in piece.lines] == ["-----BEGIN PRIVATE KEY-----", "<secret>", "<secret>"]


def test_a_redactor_that_loses_lines_is_used_line_by_line() -> None:
    class Joining(NullRedactor):
        def redact(self, text: str, known: Sequence[Secret | str] = ()) -> str:
            return super().redact(text, known).replace("\n", "")

    assert show("h", "c", step_of(check()), raw(b"a", b"b"), Joining()).text == "a\nb"


def test_bytes_have_no_line_numbers_and_no_evidence() -> None:
    piece = show("h", "c", step_of(check()), raw(b"a\nb", mode=SliceMode.BYTES, last=3), PatternRedactor())

    assert [(line.number, line.text) for line in piece.lines] == [(0, "a"), (0, "b")]
    assert piece.evidence == ""


def test_an_empty_answer_is_an_empty_slice() -> None:
    piece = show("h", "c", step_of(check()), raw(), PatternRedactor())

    assert (piece.lines, piece.evidence) == ((), "")


@pytest.mark.parametrize("name", ["web01", "a/b", "ü x", "fe80::1"])
def test_evidence_ids_have_their_form_for_any_host(name: str) -> None:
    assert is_evidence_id(show(name, "disk", step_of(check()), raw(b"x"), PatternRedactor()).evidence)


def test_what_is_cut_is_masked_as_far_as_it_is_seen() -> None:
    known = Command(shell="true", env={"TOKEN": Secret("known-value-of-the-check")})
    lines = (
        RawLine(number=1, data=b"error: token ghp_a1B2", cut_bytes=40),
        RawLine(number=2, data=b"it says known-val", cut_bytes=40),
        RawLine(number=3, data=b"cannot reach postgres://app:hunt", cut_bytes=40),
        RawLine(number=4, data=b'{"password": "hunter2 and', cut_bytes=40, tail=b' the rest", "user": "bob"}'),
        RawLine(number=5, data=b"DB_PASSWORD=hunter2", cut_bytes=40, tail=b"summer HOST=db1"),
        RawLine(number=6, data=b"GET http://web1:80", cut_bytes=40),
    )
    query = SliceQuery(mode=SliceMode.HEAD)
    cut = RawSlice(query=query, lines=lines, total_lines=6)

    piece = show("h", "c", replace(step_of(check()), command=known), cut, PatternRedactor())

    assert [line.text for line in piece.lines] == [
        "error: token <secret>",
        "it says <secret>",
        "cannot reach postgres://app:<secret>",
        '{"password": "<secret>", "user": "bob"}',
        "DB_PASSWORD=<secret>\u2026 HOST=db1",
        "GET http://web1:80",
    ]
