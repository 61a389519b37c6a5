from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.load.quantities import NotationError, duration
from checkrunner.model.characters import is_hidden, one_line
from checkrunner.model.durations import seconds_of
from checkrunner.model.setting_values import parse_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 30.0),
        (" 1.5h ", 5400.0),
        ("200 ms", 0.2),
        ("2m", 120.0),
        ("", None),
        ("-1", None),
        ("1d", None),
        ("1:30", None),
        (".5", None),
        ("\u0663s", None),
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == seconds


@given(st.one_of(st.text(max_size=6), st.from_regex(r"[0-9]{1,4}(\.[0-9])? ?(ms|s|m|h)?", fullmatch=True)))
def test_playbooks_and_settings_read_the_same_durations(text: str) -> None:
    try:
        there = duration(text, text)
    except NotationError:
        return
    assert parse_seconds(text) == there


@given(st.text(), st.integers(3, 40))
def test_one_line_is_one_printable_line(text: str, most: int) -> None:
    shown = one_line(text, most)

    assert shown.isprintable()
    assert len(shown) <= most
    assert one_line(shown, most) == shown


def test_hidden_characters() -> None:
    assert all(map(is_hidden, "\x00\x1b\x9b\u202e\u200b\u2028\ud800\U000e0041\U000e0100"))
    assert not any(map(is_hidden, " aé漢\U0001f600\ufe0f"))
