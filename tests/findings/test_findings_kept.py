"""What is kept of an output, and what can be read of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.findings import kept as kept_module
from checkrunner.findings.kept import kept_output, parts_of
from checkrunner.findings.reading import read_part
from checkrunner.findings.redact import PatternRedactor
from checkrunner.model.errors import UsageError
from checkrunner.model.history import KeptOutput
from checkrunner.model.readings import Want
from checkrunner.model.results import CaptureState, Output, RawLine, RawSlice, SliceQuery, Stream

KEY = [
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    *["b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW"] * 9,
]


def written(data: bytes, **changes: object) -> Output:
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    given = {"lines": lines, "bytes": len(data), "captured_bytes": len(data), **changes}
    return Output(**given)  # type: ignore[arg-type]  # by name


def answered(data: bytes, queries: Sequence[SliceQuery]) -> list[RawSlice]:
    """What an honest host answers."""
    return [
        RawSlice(
            query=query,
            lines=(RawLine(number=1 + data[: query.first].count(b"\n"), data=data[query.first : query.last]),),
            total_lines=0,
        )
        for query in queries
    ]


def kept_of(data: bytes, room: int, *, parts: int | None = None, **changes: object) -> KeptOutput:
    output = written(data, **changes)
    queries = parts_of(Stream.STDOUT, output, room)
    return kept_output(
        "web01",
        "log",
        Stream.STDOUT,
        output,
        answered(data, queries)[:parts],
        mask=PatternRedactor().redact,
    )


LINES = st.lists(st.sampled_from(["", "up", "down 7", "x" * 40, "größe", "a b c"]), max_size=60)


@given(LINES, st.integers(1, 400), st.integers(1, 90), st.booleans())
def test_lines_are_whole_and_have_their_numbers(lines: list[str], room: int, part: int, ended: bool) -> None:
    data = ("\n".join(lines) + ("\n" if ended and lines else "")).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_module, "PART_BYTES", part)
        kept = kept_of(data, room)
    wanted = data.decode().split("\n")[: written(data).lines]
    reading = read_part(kept, Want())
    assert kept.total_lines == len(wanted)
    assert kept.total_bytes == len(data)
    if len(data) <= room:
        assert [row.text for row in reading.rows] == wanted
        assert (reading.missing, kept.tail) == (None, b"")
    for row in reading.rows:
        text = wanted[row.number - 1]
        begin, torn, end = row.text.partition("\u2026")
        assert row.text == text or (torn and text.startswith(begin.rstrip("\ufffd")) and text.endswith(end))
    if reading.missing:
        first, last = reading.missing
        assert {row.number for row in reading.rows} == set(range(1, len(wanted) + 1)) - set(range(first, last + 1))


def test_of_a_large_output_both_ends_are_kept() -> None:
    data = b"".join(b"line %d\n" % number for number in range(1, 1001))
    kept = kept_of(data, 200)
    assert len(kept.data + kept.tail) <= 200
    reading = read_part(kept, Want())
    assert reading.missing is not None
    assert [row.text for row in reading.rows[:2]] == ["line 1", "line 2"]
    assert (reading.rows[-1].number, reading.rows[-1].text) == (1000, "line 1000")
    assert kept.note == ""


def test_what_came_before_it_was_dropped_is_kept_and_said_to_be_less() -> None:
    data = b"".join(b"line %d\n" % number for number in range(1, 1001))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_module, "PART_BYTES", 1000)
        kept = kept_of(data, 1 << 20, parts=2)
        without = kept_of(data, 3000, parts=3)
    assert kept.data.decode().splitlines() == [f"line {number}" for number in range(1, kept.data.count(b"\n") + 1)]
    assert kept.note == "2,000 of its 8,893 bytes could be fetched"
    assert kept.total_lines == 1000
    assert without.tail == b""
    assert "could be fetched" in without.note


def test_secrets_are_masked_also_where_the_middle_is_missing() -> None:
    inside = [f"word {number}" for number in range(40)]
    text = [
        "password=hunter2",
        "\x1b[1mtoken\x1b[0m=ghp_\x1b[1mabcdefghijklmnopqrstuvwxyz0123456789",
        *inside,
        *KEY,
        *inside,
    ]
    data = "\n".join([*text, *KEY[1:], "-----END OPENSSH PRIVATE KEY-----", "end"]).encode()
    for room in (len(data), 500, 900):
        kept = kept_of(data, room)
        shown = kept.data + kept.tail
        for secret in (b"hunter2", b"abcdefghijkl", b"b3BlbnNza"):
            assert secret not in shown
        assert shown.startswith(b"password=<secret>")


def test_it_is_text_as_a_terminal_would_have_left_it() -> None:
    kept = kept_of(b"10%\r100%\n\x1b[31mred\x1b[0m\nnul\x00l\xff\n", 1000)
    assert [row.text for row in read_part(kept, Want()).rows] == ["100%", "red", "nul\u2400l\ufffd"]


def test_a_capture_that_is_not_all_says_so() -> None:
    kept = kept_of(b"one\ntwo\nthr", 100, lines=9000, bytes=90_000, state=CaptureState.TRUNCATED)
    assert (kept.truncated, kept.total_lines, kept.total_bytes) == (True, 3, 11)


def test_of_one_long_line_both_ends_are_kept() -> None:
    kept = kept_of(b"first " + b"x" * 900 + b" last", 40)
    (row,) = read_part(kept, Want()).rows
    assert (row.number, kept.total_lines) == (1, 1)
    assert row.text == "first xxxxxxxxxxxxxx\u2026last"


def test_a_host_that_lies_about_numbers_is_held_to_what_it_sent() -> None:
    output = written(b"x\n" * 500)
    queries = parts_of(Stream.STDOUT, output, 100)
    parts = [RawSlice(query=query, lines=(RawLine(number=0, data=b"x\n" * 25),), total_lines=7) for query in queries]
    kept = kept_output("h", "c", Stream.STDOUT, output, parts, mask=str)
    numbers = [row.number for row in read_part(kept, Want()).rows]
    assert numbers == sorted(set(numbers))


KEPT = kept_of(b"".join(b"line %d\n" % number for number in range(1, 101)), 120)


@pytest.mark.parametrize(
    ("want", "numbers"),
    [
        (Want(head=2), [1, 2]),
        (Want(tail=2), [99, 100]),
        (Want(tail=0), []),
        (Want(ranges=((2, 3), (99, 0))), [2, 3, 99, 100]),
        (Want(match="line .*(3|98)$"), [3, 98]),
        (Want(match="^line 3$", context=1), [2, 3, 4]),
        (Want(match="line 9[56]$", context=3), [94, 95, 96, 97, 98, 99]),
        (Want(match="nothing"), []),
    ],
)
def test_parts_are_read_by_line_and_by_pattern(want: Want, numbers: list[int]) -> None:
    reading = read_part(KEPT, want)
    assert [row.number for row in reading.rows] == numbers
    assert all(row.text == f"line {row.number}" for row in reading.rows)
    assert reading.evidence.startswith("web01/log/stdout:") is bool(numbers)


def test_lines_that_were_not_kept_are_nobodys_neighbours() -> None:
    assert read_part(KEPT, Want()).missing == (9, 93)
    reading = read_part(KEPT, Want(match="^line 8$", context=2))
    assert [(row.number, row.hit) for row in reading.rows] == [(6, False), (7, False), (8, True)]
    assert reading.hits == 1


@given(st.text("xy", min_size=1, max_size=9), st.text("xy", max_size=9), st.integers(0, 4), st.integers(0, 12))
def test_neighbours_are_the_lines_that_are_near_one_that_matches(head: str, tail: str, missing: int, near: int) -> None:
    data, end = ("".join(f"{letter}\n" for letter in text).encode() for text in (head, tail))
    total = len(head) + len(tail) + (missing if tail else 0)
    kept = KeptOutput(host="h", check="c", stream=Stream.STDOUT, data=data, tail=end, total_bytes=99, total_lines=total)
    rows = read_part(kept, Want()).rows
    matching = [row.number for row in rows if row.text == "x"]
    wanted = [row.number for row in rows if any(abs(row.number - number) <= near for number in matching)]
    found = read_part(kept, Want(match="x", context=near))
    assert ([row.number for row in found.rows], found.hits) == (wanted, len(matching))
    assert [row.number for row in found.rows if row.hit] == matching


def test_many_lines_that_match_have_many_neighbours_at_no_more_cost() -> None:
    lines = 100_000
    kept = KeptOutput(
        host="h", check="c", stream=Stream.STDOUT, data=b"x\n" * lines, total_bytes=2 * lines, total_lines=lines
    )
    assert len(read_part(kept, Want(match="x", context=lines)).rows) == lines


def test_bytes_are_those_of_what_was_kept() -> None:
    assert read_part(KEPT, Want(span=(0, 6))).text == "line 1"
    assert read_part(KEPT, Want(span=(-4, None))).text == "100\n"


@pytest.mark.parametrize("pattern", ["(", "(a+)+$"])
def test_a_pattern_that_cannot_be_used_is_refused(pattern: str) -> None:
    kept = kept_of(b"a" * 60 + b"!\n", 1000)
    with pytest.raises(UsageError, match="--match"):
        read_part(kept, Want(match=pattern))
