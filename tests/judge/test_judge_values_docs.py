"""docs/values.md against the code: each row of its tables is judged here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from values_factory import check, extract, parse_as, value

from checkrunner.judge.extracts import MOST_ENTRIES, MOST_TEXT
from checkrunner.judge.levels import parse_range
from checkrunner.model.quantities import QuantityError, quantity
from checkrunner.model.values import MOST_PARSED_BYTES, Aggregate, Lookup, ParseAs

PAGE = (Path(__file__).parents[2] / "docs" / "values.md").read_text(encoding="utf-8")


def table(name: str) -> list[list[str]]:
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", PAGE, re.DOTALL)
    assert found, f"the page has no part {name!r}"
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in found[1].strip().splitlines()[2:]]


@pytest.mark.parametrize("row", table("readings"), ids=lambda row: f"{row[0]} {row[2]}")
def test_readings(row: list[str]) -> None:
    kind, output, written, expected = row
    fields: dict[str, Any] = yaml.safe_load(written)
    fields["kind"] = fields.pop("type", "number")
    what = check(extract(**fields), parse=None if kind == "-" else parse_as(kind))

    found = value(what, output.replace("⏎", "\n") + "\n")

    shown = list(found.value) if isinstance(found.value, tuple) else found.value
    assert found.error == ""
    assert expected in {
        str(shown),
        f"{shown:.10g}" if isinstance(shown, float) else "",
        str(int(shown)) if isinstance(shown, float) else "",
    }


@pytest.mark.parametrize("row", table("quantities"), ids=lambda row: f"{row[0]} {row[1]}")
def test_quantities(row: list[str]) -> None:
    text, unit, number, base, _ = row
    if number == "error":
        with pytest.raises(QuantityError):
            quantity(text, unit)
        return

    found = quantity(text, unit)

    assert found.number == pytest.approx(float(number))
    assert found.unit == base


@pytest.mark.parametrize("row", table("ranges"), ids=lambda row: row[0])
def test_ranges(row: list[str]) -> None:
    written, _, raised, calm = row
    level = parse_range(written, None)

    assert all(level.raises(float(number.strip(" `"))) for number in raised.split(","))
    assert not any(level.raises(float(number.strip(" `"))) for number in calm.split(","))


def test_every_word_is_on_the_page_and_so_are_the_limits() -> None:
    for word in (*ParseAs, *Lookup, *Aggregate):
        assert f"`{word}" in PAGE, word
    assert (MOST_PARSED_BYTES, MOST_TEXT, MOST_ENTRIES) == (256 << 10, 4096, 1000)
    for limit in ("256 KiB", "4,096 characters", "1,000"):
        assert limit in PAGE
