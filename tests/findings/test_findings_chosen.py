"""What becomes of the shapes that a host sent: text, secrets, rank, and what is left out."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from outcome_factory import check

from checkrunner.findings.redact import NullRedactor, PatternRedactor
from checkrunner.findings.slices import CANDIDATES, show
from checkrunner.model.plan import Command, PlannedCheck, Step
from checkrunner.model.playbook import SliceRule
from checkrunner.model.results import RawLine, RawSlice, Slice, SliceMode, SliceQuery, Stream
from checkrunner.model.sources import Secret

SALIENT = SliceQuery(mode=SliceMode.SALIENT, max_lines=64, max_bytes=16384, line_bytes=300)


def shown(*lines: RawLine, total: int, slices: tuple[SliceRule, ...] = (), **fields: Any) -> Slice:
    made = check(slices=slices)
    secrets = {"TOKEN": Secret("hunter2-hunter2")}
    step = Step(planned=PlannedCheck(key="log", play="p", check=made), command=Command(shell="true", env=secrets))
    raw = RawSlice(query=SALIENT, lines=lines, total_lines=total, **fields)
    return show("web1", "log", step, raw, fields.pop("redactor", None) or PatternRedactor())


def shape(number: int, data: bytes, count: int = 1, last: int = 0, **fields: Any) -> RawLine:
    return RawLine(number=number, data=data, count=count, last=last or number, **fields)


def test_lines_are_ranked_and_in_reading_order() -> None:
    made = shown(
        shape(1, b"service started on port 80"),
        shape(2, b"served request 1 in 3 ms", 9_997, 9_999),
        shape(77, b"ERROR: disk sda does not answer"),
        shape(10_000, b"done"),
        total=10_000,
    )
    assert [line.number for line in made.lines] == [1, 2, 77, 10_000]
    assert sorted(line.rank for line in made.lines) == [1, 2, 3, 4]
    assert next(line for line in made.lines if line.rank == 1).number == 77
    assert (made.lines[1].count, made.lines[1].last) == (9_997, 9_999)
    assert (made.more_lines, made.more_shapes) == (0, 0)
    assert made.evidence == "web1/log/stdout:1-2,77,10000"
    assert made.why == "the most telling lines of stdout"
    assert made.query == SALIENT


def test_what_the_host_left_out_is_counted_with_what_is_left_out_here() -> None:
    words = [f"{a}{b}" for a in "qwrtzp" for b in ("alpha", "beta", "gamma", "delta", "omega", "sigma")]
    lines = [shape(n, f"{word} {word[::-1]} said so".encode()) for n, word in enumerate(words, 1)]
    made = shown(*lines, total=1000, more_lines=900, more_shapes=50)
    assert len(made.lines) <= CANDIDATES
    assert made.more_lines == 1000 - sum(line.count for line in made.lines)
    assert made.more_shapes >= 50
    few = shown(*lines, total=1000, slices=(SliceRule(mode=SliceMode.SALIENT, max_lines=3),))
    assert len(few.lines) == 3


def test_a_small_output_is_shown_as_such() -> None:
    assert shown(shape(1, b"no such file"), total=1).why == "the one line of stdout"
    assert shown(shape(1, b"no such file"), shape(2, b"giving up"), total=2).why == "all 2 lines of stdout"


def test_a_secret_in_a_long_line_is_gone_before_anything_is_cut() -> None:
    secret = "hunter2-hunter2"
    line = f"ERROR login of bob {'x' * 150} with {secret} {'y' * 150} password=letmein99 refused".encode()
    made = shown(shape(1, line), total=1)
    assert len(made.lines[0].text) <= 200
    for part in (secret, "letmein99", "hunter2-"):
        assert part not in made.text


def test_a_word_that_the_cut_tore_is_not_shown() -> None:
    """Its beginning is not there: nobody could tell that it is the end of a secret."""
    made = shown(shape(1, b"ERROR key=hunt", cut_bytes=90, tail=b"er2-hunter2 was refused"), total=1)
    assert "er2-hunter2" not in made.text
    assert "was refused" in made.text
    assert made.lines[0].cut_bytes >= 90 + len(b"er2-hunter2")
    alone = shown(shape(1, b"ERROR key=hunt", cut_bytes=90, tail=b"er2-hunter2"), total=1)
    assert "hunter" not in alone.text


@given(st.lists(st.tuples(st.binary(max_size=80), st.integers(1, 9), st.binary(max_size=20)), min_size=1, max_size=40))
def test_any_bytes_add_up(rows: list[tuple[bytes, int, bytes]]) -> None:
    lines, at = [], 1
    for data, count, tail in rows:
        data, tail = data.replace(b"\n", b""), tail.replace(b"\n", b"")
        lines.append(shape(at, data, count, at + count - 1, tail=tail, cut_bytes=5 if tail else 0))
        at += count
    made = shown(*lines, total=at - 1 + 7, more_lines=7, more_shapes=2)
    assert [line.number for line in made.lines] == sorted({line.number for line in made.lines})
    assert sorted(line.rank for line in made.lines) == list(range(1, len(made.lines) + 1))
    assert made.more_lines == made.total_lines - sum(line.count for line in made.lines)
    assert all(len(line.text) <= 200 and "\n" not in line.text and "\0" not in line.text for line in made.lines)


def test_the_other_output() -> None:
    step = Step(planned=PlannedCheck(key="log", play="p", check=check()), command=Command(shell="true"))
    query = SliceQuery(mode=SliceMode.SALIENT, stream=Stream.STDERR)
    raw = RawSlice(query=query, lines=(shape(3, b"cannot open it"),), total_lines=3, more_lines=2, more_shapes=1)
    made = show("a", "b", step, raw, NullRedactor())
    assert made.evidence == "a/b/stderr:3"
    assert made.why == "the most telling lines of stderr"
