from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.model.errors import CheckrunnerError, LoadError, NoHostsError, PlaybookError
from checkrunner.model.sources import SourceRef
from checkrunner.render.layout import count_of, duration, wrapped
from checkrunner.render.problems import error_text, print_error, print_problem

AT = SourceRef(path="play.yml", line=12, column=5)


def test_a_load_error_points_at_its_place() -> None:
    error = PlaybookError("unknown key 'runn'", source=AT, line_text="  - runn: df", hint="Did you mean 'run'?")

    assert error_text(error) == (
        "play.yml:12:5: error: unknown key 'runn'\n  12 |   - runn: df\n     |     ^\n  hint: Did you mean 'run'?"
    )


def test_other_errors_are_one_or_two_lines() -> None:
    assert error_text(NoHostsError("no host matches 'db*'", hint="Try hosts.")) == (
        "error: no host matches 'db*'\n  hint: Try hosts."
    )
    assert error_text(LoadError("cannot be read")) == "error: cannot be read"


def test_problems_that_are_no_exceptions_look_the_same() -> None:
    out = io.StringIO()

    print_problem("warning", "`{{` in shell text", out, source=AT, line_text="  a {{", hint="raw: true")

    assert out.getvalue() == (
        "play.yml:12:5: warning: `{{` in shell text\n  12 |   a {{\n     |     ^\n  hint: raw: true\n"
    )


@pytest.mark.parametrize(("column", "marked"), [(1, True), (16, False)])
def test_a_secret_in_the_line_is_not_shown_and_moves_no_caret(column: int, marked: bool) -> None:
    at = SourceRef(path="inv", line=1, column=column)
    error = LoadError("pw hunter2 is odd", source=at, line_text="h pass=hunter2 x", hint="not hunter2")

    text = error_text(error, mask=lambda text: text.replace("hunter2", "***"))

    assert f"inv:1:{column}: error: pw *** is odd\n  1 | h pass=*** x" in text
    assert text.endswith("  hint: not ***")
    assert ("^" in text) is marked


def test_a_long_line_is_shown_around_its_fault() -> None:
    error = LoadError("odd", source=SourceRef(path="p", line=1, column=501), line_text="a" * 500 + "B" + "c" * 500)

    _, line, caret = error_text(error).split("\n")

    assert line[caret.index("^")] == "B"
    assert len(line) < 180


@given(st.text(max_size=60), st.integers(0, 80), st.text(max_size=20), st.booleans())
def test_any_text_is_harmless(line: str, column: int, message: str, color: bool) -> None:
    error = LoadError(message, source=SourceRef(path=message, line=3, column=column), line_text=line, hint=line)

    text = error_text(error, color=False)

    assert [c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs"} and c != "\n"] == []


@pytest.mark.parametrize(("color", "escapes"), [(None, False), (False, False), (True, True)])
def test_colour_is_for_terminals_or_on_demand(color: bool | None, escapes: bool) -> None:
    out = io.StringIO()

    print_error(CheckrunnerError("x"), out, color=color)
    print_problem("warning", "y", out, color=color)

    assert ("\x1b[" in out.getvalue()) is escapes
    assert out.getvalue().count("\n") == 2


@given(st.text(), st.integers(10, 60))
def test_wrapping_keeps_the_words_and_the_width(text: str, width: int) -> None:
    lines = list(wrapped(text, width, first="- ", rest="  "))

    assert all(len(line) <= width or len(line.split()) <= 2 or not line.isascii() for line in lines)
    assert all(line.startswith(("- ", "  ")) for line in lines)


def test_quantities_in_words() -> None:
    assert [duration(value) for value in (0.04, 9.94, 12.4, 65, 3700)] == [
        "0.0 s",
        "9.9 s",
        "12 s",
        "1 min 05 s",
        "1 h 01 min",
    ]
    assert [count_of(1, "host"), count_of(0, "host"), count_of(12345, "check")] == [
        "1 host",
        "0 hosts",
        "12,345 checks",
    ]
