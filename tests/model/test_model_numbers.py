"""What a number is expected to be."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrunner.model.numbers import parse_number, show_number

NUMBERS = st.integers(-1000, 1000) | st.floats(-1000, 1000).map(lambda value: round(value, 3))
OPERATORS = st.sampled_from(["==", "=", "!=", ">=", "<=", ">", "<"])


def plain(value: float) -> str:
    return str(value) if value == int(value) else f"{value:.3f}"


@settings(deadline=None)
@given(OPERATORS, NUMBERS, NUMBERS, st.sampled_from(["", " ", "  "]))
def test_comparisons_mean_what_they_say(operator: str, bound: float, value: float, space: str) -> None:
    python = "==" if operator == "=" else operator
    meant = eval(f"{value!r} {python} {bound!r}")
    assert parse_number(f"{operator}{space}{plain(bound)}").accepts(value) is meant


@settings(deadline=None)
@given(NUMBERS, NUMBERS, NUMBERS)
def test_ranges_include_their_ends(a: float, b: float, value: float) -> None:
    low, high = sorted((a, b))
    assert parse_number(f"{plain(low)}..{plain(high)}").accepts(value) is (low <= value <= high)


@settings(deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=5), NUMBERS)
def test_lists_accept_any_of_theirs(values: list[float], value: float) -> None:
    assert parse_number(values).accepts(value) is (value in values)


@settings(deadline=None)
@given(OPERATORS, st.integers(0, 50), st.integers(0, 60))
def test_what_holds_from_a_lower_bound_on(operator: str, bound: int, least: int) -> None:
    spec = parse_number(f"{operator} {bound}")
    seen = {spec.accepts(value) for value in range(least, 200)}
    assert spec.accepts_from(least) is (seen.pop() if len(seen) == 1 else None)


@settings(deadline=None)
@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 60))
def test_ranges_from_a_lower_bound_on(a: int, b: int, least: int) -> None:
    low, high = sorted((a, b))
    spec = parse_number(f"{low}..{high}")
    assert spec.accepts_from(least) is (False if least > high else None)


@settings(deadline=None)
@given(OPERATORS, NUMBERS)
def test_the_text_means_the_same(operator: str, bound: float) -> None:
    spec = parse_number(f"{operator} {plain(bound)}")
    again = parse_number(spec.text)
    assert all(spec.accepts(v) is again.accepts(v) for v in (bound - 1, bound, bound + 1))


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (0, "0"),
        (2.0, "2"),
        ("0", "0"),
        ("== 3", "3"),
        (">=3", ">= 3"),
        ("1 .. 5", "1..5"),
        ([0, 1], "0 or 1"),
        ([0, ">= 5"], "0 or >= 5"),
        ("< 0.5", "< 0.5"),
    ],
)
def test_the_text(written: object, text: str) -> None:
    assert parse_number(written).text == text


@pytest.mark.parametrize(
    "written",
    ["", "x", ">", "> x", "5..1", "1..", "..3", "=> 3", "1, 2", True, None, [], {}, math.nan, math.inf, "> 1e999"],
)
def test_what_cannot_be_read(written: object) -> None:
    with pytest.raises(ValueError, match=r"write 0|smaller number"):
        parse_number(written)


@pytest.mark.parametrize(
    ("value", "text"), [(3, "3"), (3.0, "3"), (0.5, "0.5"), (1.23456, "1.235"), (1e-7, "1e-07"), (10.0, "10")]
)
def test_numbers_as_people_write_them(value: float, text: str) -> None:
    assert show_number(value) == text
