from __future__ import annotations

import re

import pytest

from checkrunner.load.quantities import (
    NotationError,
    check_pattern,
    duration,
    lines_range,
    number_condition,
    slug,
    variable_name,
)


@pytest.mark.parametrize(
    ("raw", "seconds"),
    [("30", 30), ("1.5", 1.5), ("30s", 30), ("2m", 120), ("1h", 3600), ("500ms", 0.5), ("2 m", 120), ("168h", 604800)],
)
def test_durations(raw: str, seconds: float) -> None:
    assert duration(raw, raw) == seconds


@pytest.mark.parametrize("raw", ["", "0", "0s", "-1", "1:30", "1d", "abc", "169h", "1e3", "inf", "nan", "m"])
def test_what_is_no_duration(raw: str) -> None:
    with pytest.raises(NotationError):
        duration(raw, raw)


def test_a_boolean_is_no_duration() -> None:
    with pytest.raises(NotationError):
        duration(True, "1")


@pytest.mark.parametrize(
    ("value", "raw", "expected"),
    [
        (3, "3", 3),
        (0.5, "0.5", 0.5),
        (">= 3", ">= 3", ">= 3"),
        ("<5", "<5", "< 5"),
        ("!=0", "!=0", "!= 0"),
        ("== 4", "== 4", 4),
        ("= 4", "= 4", 4),
        ("4", "4", 4),
        ("1..5", "1..5", "1..5"),
        (" 0.5 .. 2 ", " 0.5 .. 2 ", "0.5..2"),
        ("> -1", "> -1", "> -1"),
    ],
)
def test_number_conditions(value: object, raw: str, expected: object) -> None:
    assert number_condition(value, raw) == expected


@pytest.mark.parametrize("raw", ["", "x", "> x", "5..1", "=> 3", "1,2", "< 3 and > 1", "3s", ">= {{ x }}", "1...5"])
def test_what_is_no_number_condition(raw: str) -> None:
    with pytest.raises(NotationError):
        number_condition(raw, raw)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True])
def test_odd_numbers_are_no_conditions(value: object) -> None:
    with pytest.raises(NotationError):
        number_condition(value, str(value))


def test_a_variable_in_a_condition_is_answered_with_an_expression() -> None:
    with pytest.raises(NotationError) as caught:
        number_condition(">= {{ x }}", ">= {{ x }}")
    assert "expression" in caught.value.hint


@pytest.mark.parametrize(("raw", "expected"), [("3-10", (3, 10)), ("5", (5, 5)), ("3 - 10", (3, 10))])
def test_line_ranges(raw: str, expected: tuple[int, int]) -> None:
    assert lines_range(raw, raw) == expected


@pytest.mark.parametrize("raw", ["0", "0-3", "10-3", "a-b", "3-", "-3", "", "1-2-3"])
def test_what_is_no_line_range(raw: str) -> None:
    with pytest.raises(NotationError):
        lines_range(raw, raw)


@pytest.mark.parametrize(
    "pattern",
    ["a+", r"a\++", "[*+]+", r"\d{2,3}", "(?:a|b)+?", "(?i)x", r"[]+]+", r"[^]+]+", "(?P<n>x)(?P=n)", r"\\+", "[[a]"],
)
def test_patterns_that_every_host_knows(pattern: str) -> None:
    check_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "offset", "what"),
    [
        ("a++", 1, "possessive"),
        ("xa*+", 2, "possessive"),
        ("a?+", 1, "possessive"),
        ("ab{2,3}+", 2, "possessive"),
        ("x(?>a)", 1, "atomic"),
        (r"a\N{BULLET}", 1, "escape"),
        ("a(b", 1, "not a regular expression"),
        ("*a", 0, "not a regular expression"),
        ("", 0, "empty"),
        ("a(?i)b", 1, "not a regular expression"),
    ],
)
def test_patterns_that_some_host_does_not_know(pattern: str, offset: int, what: str) -> None:
    with pytest.raises(NotationError, match=re.escape(what)) as caught:
        check_pattern(pattern)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Root disk: space left?", "root-disk-space-left"),
        ("Größe des Dateisystems", "groe-des-dateisystems"),
        ("Café été", "cafe-ete"),
        ("日本語", ""),
        ("--", ""),
        ("a" * 80, "a" * 64),
    ],
)
def test_slugs(name: str, expected: str) -> None:
    assert slug(name) == expected


@pytest.mark.parametrize("name", ["a", "_a", "load_5", "A"])
def test_variable_names(name: str) -> None:
    assert variable_name(name) == name


@pytest.mark.parametrize("name", ["", "5a", "a-b", "a b", "rc", "stdout", "and", "größe", "inventory_hostname"])
def test_what_is_no_variable_name(name: str) -> None:
    with pytest.raises(NotationError):
        variable_name(name)
