"""Patterns that find no end are given up, and the others cost nothing."""

from __future__ import annotations

import re
import signal
import threading

import pytest

from checkrunner.patience import LONGEST_PATTERN, TooLongError, patiently


def search(pattern: str, text: str) -> re.Match[str] | None:
    return patiently(pattern, len(text), lambda: re.search(pattern, text))


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(a*)*b", "(.*a){20}b", "a?" * 60 + "a" * 60 + "c$"])
def test_what_finds_no_end_is_given_up(pattern: str) -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(TooLongError, match="takes more than 2 seconds"):
        search(pattern, "a" * 60 + "c")
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_a_short_text_does_not_make_a_long_pattern_short() -> None:
    with pytest.raises(TooLongError, match="takes more than 2 seconds"):
        search("a?" * 2000 + "b", "a" * 8)


def test_the_others_find_what_they_find() -> None:
    assert search("b+", "a" * 1000 + "bb") is not None
    assert search(r"(\w+\s*)+", "many words " * 1000) is not None
    assert search("nothing", "a" * 10_000) is None


def test_a_pattern_has_a_length() -> None:
    with pytest.raises(TooLongError, match="may have 10,000 characters"):
        search("a" * (LONGEST_PATTERN + 1), "a")


def test_without_signals_only_what_is_short_or_simple() -> None:
    found: list[object] = []

    def work() -> None:
        for pattern, text in (("b", "a" * 1000), ("b+", "a" * 1000), ("(a+)+$", "aaab"), ("(a+)+$", "a" * 60 + "b")):
            try:
                found.append(search(pattern, text))
            except TooLongError as error:
                found.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found[:3] == [None, None, None]
    assert "outside of the main thread" in str(found[3])
