from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from checkrunner.findings.textview import LINE_BYTES, line_view, text_view, visible
from checkrunner.model.results import RawLine

nasty = st.lists(
    st.sampled_from(
        [
            b"\x1b[",
            b"31m",
            b"K",
            b"\x1b]0;",
            b"\x07",
            b"\x1b\\",
            b"\r",
            b"\b",
            b"\t",
            b"abc",
            "é€😀".encode(),
            b"\xff",
            b"\xe2\x82",
            b"\x00",
            b"\x7f",
            "\u202e\u200b\u2028\x9b\x9d\x85".encode(),
            b"\x1b",
            b"\n",
            b"\x1bP",
            b"1;2H",
        ]
    )
).map(b"".join)


@given(st.one_of(st.binary(max_size=200), nasty))
@example(b"\x1b[1K\r\x1b[2K")
@settings(max_examples=500, deadline=None)
def test_any_bytes_become_text_without_controls(data: bytes) -> None:
    text = text_view(data)

    assert [c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}] == []
    assert len(text.splitlines()) <= 1
    assert visible(text) == text


@given(st.text(alphabet=st.characters(categories=("L", "N", "P", "Sm", "Zs"))))
def test_printable_text_stays_as_it_is(text: str) -> None:
    assert text_view(text.encode()) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        (b"dos\r", "dos"),
        (b" 10%\r 20%\r100%", "100%"),
        (b"abcdef\rXY", "XYcdef"),
        (b"downloading 90%\r\x1b[Kdone", "done"),
        (b"downloading 90%\r\x1b[2Kdone", "done"),
        (b"abc\x1b[1Kd", "   d"),
        (b"b\bbo\bol\bld\bd", "bold"),
        (b"\b\bx", "x"),
        (b"a\tb", "a       b"),
        (b"12345678\tb", "12345678        b"),
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1b]0;no end of this", "0;no end of this"),
        (b"\x1bPq#0\x1b\\sixel", "sixel"),
        ("\x9b31mc1".encode(), "c1"),
        (b"\x1b(Bcharset", "charset"),
        (b"cut \x1b[3", "cut "),
        (b"a\0b", "a\u2400b"),
        (b"bell\x07", "bell"),
        (b"del\x7f", "del\u2421"),
        (b"caf\xe9", "caf\ufffd"),
        ("user\u202egpj.exe".encode(), "user<U+202E>gpj.exe"),
        ("pass\u200bword".encode(), "pass<U+200B>word"),
        ("tag\U000e0041".encode(), "tag<U+E0041>"),
        ("größe €".encode(), "größe €"),
    ],
)
def test_what_a_terminal_leaves(data: bytes, text: str) -> None:
    assert text_view(data) == text


@given(st.text(alphabet="aé€😀", min_size=1, max_size=40), st.integers(1, 40))
def test_a_cut_never_tears_a_character(text: str, at: int) -> None:
    data = text.encode()

    line = line_view(RawLine(number=3, data=data), line_bytes=at)

    assert "\ufffd" not in line.text
    assert text.startswith(line.text)
    assert len(line.text.encode()) + line.cut_bytes == len(data)


def test_a_cut_on_the_host_is_counted_with_the_torn_character() -> None:
    line = line_view(RawLine(number=7, data="ab€".encode()[:4], cut_bytes=100))

    assert (line.number, line.text, line.cut_bytes) == (7, "ab", 102)


def test_a_bad_byte_that_is_not_at_a_cut_stays_visible() -> None:
    assert line_view(RawLine(number=1, data=b"ab\xe2\x82")).text == "ab\ufffd"


def test_a_very_long_line_is_cut_with_the_count() -> None:
    line = line_view(RawLine(number=1, data=b"x" * 1_000_000))

    assert line.text == "x" * LINE_BYTES
    assert line.cut_bytes == 1_000_000 - LINE_BYTES


@pytest.mark.parametrize(
    "data", [b"\x1b[" * 50_000, b"\x1b]" * 50_000, b"\x1b]0;" + b"a" * 100_000, b"\x1b[" + b"1;" * 50_000, b"a\r" * 50_000,
             b"\t\r" * 50_000, b"\x1b" * 100_000, b"\t" * 20_000]
)  # fmt: skip
def test_hostile_lines_take_linear_time(data: bytes) -> None:
    start = time.process_time()
    text_view(data)

    assert time.process_time() - start < 5
