"""Patterns of a user are looked at before anything starts: what is wrong with one is said with its place."""

from __future__ import annotations

import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.ownpatterns import check_pattern
from checkrunner.patience import can_wait


@pytest.mark.parametrize(
    "pattern",
    ["ACME-[0-9]{8}", "member (?P<secret>[a-z]+), born", '"pin": "([0-9]+)"', "(?i)kennwort: *(.+)", r"\bK\d+\b", "x"],
)
def test_good_ones_pass(pattern: str) -> None:
    assert check_pattern(pattern) == pattern


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("ACME-[0-9", "no regular expression: unterminated character set, at position 6: ACME- >>> [0-9"),
        ("a" * 50 + "(b" + "c" * 50, "at position 51: ..." + "a" * 20 + " >>> (b" + "c" * 18 + "..."),
        ("*", "nothing to repeat, at position 1"),
        ("a{2,1}", "min repeat greater than max repeat"),
        ("x*", "fits an empty text"),
        ("", "fits an empty text"),
        ("^$", "fits an empty text"),
        ("a|", "fits an empty text"),
        ("(a+)+$", "takes more than 2 seconds"),
        (r"(\w+\s?)*$x", "takes more than 2 seconds"),
        ("(?P<secret>)x", "its group secret is empty"),
        ("x" * 20_000, "may have 10,000 characters"),
        ("a{99999999999999999999}", "too large"),
    ],
)
def test_bad_ones_are_told(pattern: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        check_pattern(pattern)


@given(st.text("ab[](){}*+?.\\|^$1,", max_size=6))
def test_any_text_passes_or_is_told(pattern: str) -> None:
    try:
        check_pattern(pattern)
    except ValueError:
        return
    assert re.compile(pattern).search("") is None


def test_elsewhere_than_in_the_main_thread_time_is_not_looked_at() -> None:
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.extend([can_wait(), check_pattern("(a+)+$")]))
    thread.start()
    thread.join()

    assert can_wait()
    assert found == [False, "(a+)+$"]
