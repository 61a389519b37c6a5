"""Texts cut to the columns of a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.render.safe import cut_to, safe, text_width


@given(st.text(max_size=60).map(safe), st.integers(3, 40))
def test_a_text_gets_no_wider_than_it_may(text: str, columns: int) -> None:
    cut = cut_to(text, columns)

    assert text_width(cut) <= columns
    assert cut == text or (cut.endswith("...") and text.startswith(cut[:-3]))
    assert (cut == text) == (text_width(text) <= columns)


@pytest.mark.parametrize(
    ("text", "cut"), [("網路錯誤" * 30, "網路錯..."), ("a" * 9, "a" * 9), ("a" * 11, "a" * 7 + "...")]
)
def test_wide_characters_take_two_columns(text: str, cut: str) -> None:
    assert cut_to(text, 10) == cut
