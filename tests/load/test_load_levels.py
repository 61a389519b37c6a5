"""Thresholds as they are written: every unit that values can have."""

from __future__ import annotations

import pytest

from checkrunner.load.quantities import NotationError, level_range


@pytest.mark.parametrize(
    "text",
    ["90", "90%", "90 %", "10:", "~:5", "@1:2", "-5:.5", "5GiB:10GiB", "200ms", "10 minutes:", "1d2h:", "90°C", "~:1e3 °C"],
)  # fmt: skip
def test_thresholds(text: str) -> None:
    level_range(text)


@pytest.mark.parametrize("text", ["", "@", ":", "@:", "~", ">80", "a:b", "GiB", "1:2:3", "5~", "90%:@3"])
def test_what_is_no_threshold(text: str) -> None:
    with pytest.raises(NotationError, match="is no threshold"):
        level_range(text)
