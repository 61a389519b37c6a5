"""Numbers with units: what is read, into which unit, and what is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.model.quantities import (
    BINARY_PREFIXES,
    DECIMAL_PREFIXES,
    TIMES,
    Quantity,
    QuantityError,
    base_unit,
    plain_number,
    quantity,
    show_quantity,
)

GIB = 1 << 30


def assert_is(found: Quantity, number: float, unit: str) -> None:
    assert found.number == pytest.approx(number)
    assert found.unit == unit


@pytest.mark.parametrize(
    ("text", "unit", "number", "base"),
    [
        ("42", "", 42, ""),
        ("-3.5", "", -3.5, ""),
        ("+1e3", "", 1000, ""),
        (".5", "%", 0.5, "%"),
        ("80%", "", 80, "%"),
        ("80 %", "%", 80, "%"),
        ("5GiB", "", 5 * GIB, "B"),
        ("5 GiB", "B", 5 * GIB, "B"),
        ("5Gi", "", 5 * GIB, "B"),
        ("5G", "B", 5 * GIB, "B"),
        ("5GB", "B", 5e9, "B"),
        ("5G", "", 5e9, ""),
        ("1.5k", "", 1500, ""),
        ("1.5K", "B", 1536, "B"),
        ("16 kB", "B", 16_000, "B"),
        ("16 kB", "KiB", 16_384, "B"),  # as the kernel writes it
        ("16", "KiB", 16_384, "B"),
        ("16", "kB", 16_000, "B"),
        ("12", "bytes", 12, "B"),
        ("200ms", "", 0.2, "s"),
        ("200", "ms", 0.2, "s"),
        ("200 us", "ms", 0.0002, "s"),
        ("1d2h", "", 93_600, "s"),
        ("1h 30min", "s", 5400, "s"),
        ("5 days, 3 hours", "s", 442_800, "s"),
        ("5m", "", 300, "s"),
        ("-1h30m", "s", -5400, "s"),
        ("12:34", "s", 754, "s"),
        ("1:02:03", "s", 3723, "s"),
        ("2-01:00:00", "s", 176_400, "s"),
        ("65.0\u00b0C", "\u00b0C", 65, "\u00b0C"),
        ("+65", "rpm", 65, "rpm"),
        ("2.4GHz", "Hz", 2.4e9, "Hz"),
        ("10 MiB/s", "B/s", 10 * (1 << 20), "B/s"),
        ("3 mA", "A", 0.003, "A"),
        ("1.2k", "requests", 1200, "requests"),
        ("1,234,567", "", 1_234_567, ""),
        ("1,234.5", "", 1234.5, ""),
        ("1.234,5", "", 1234.5, ""),
        ("12,5", "", 12.5, ""),
        ("0,125", "", 0.125, ""),
        (" 7 ", "", 7, ""),
    ],
)
def test_what_is_read(text: str, unit: str, number: float, base: str) -> None:
    assert_is(quantity(text, unit), number, base)


@pytest.mark.parametrize(
    ("text", "unit", "says"),
    [
        ("", "", "'' is not a number"),
        ("-", "", "not a number"),
        ("nan", "", "not a number"),
        ("inf", "", "not a number"),
        ("1e999", "", "too large"),
        ("1e400GiB", "", "too large"),
        ("9" * 500, "", "not a number"),
        ("1.2.3", "", "not a number"),
        ("10.0.0.1", "", "not a number"),
        ("0x10", "", "not a number"),
        ("\u0662", "", "not a number"),  # a digit, but not one of ours
        ("5 apples", "", "not a number"),
        ("5MiB", "s", "not a number in s"),
        ("200ms", "B", "not a number in B"),
        ("65 F", "\u00b0C", "not a number in \u00b0C"),
        ("0.5", "", None),
        ("12:34", "", "not a number"),  # minutes or hours: only where a time is expected
        ("1h1h", "s", "not a number"),
        ("1m2h", "s", "not a number"),
        ("1,234", "", "can be 1234 or 1.234: have the command run with LC_ALL=C"),
        ("12,345", "", "can be 12345 or 12.345"),
    ],
)
def test_what_is_refused(text: str, unit: str, says: str | None) -> None:
    if says is None:
        assert quantity(text, unit).number == 0.5
        return
    with pytest.raises(QuantityError, match=says.replace("(", r"\(")) as caught:
        quantity(text, unit)
    assert len(str(caught.value)) < 200


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["", "B", "s", "%", "rpm"]))
def test_a_plain_number_is_read_back(number: float, unit: str) -> None:
    assert quantity(repr(number), unit) == Quantity(number, unit)


@given(st.floats(min_value=-1e15, max_value=1e15, allow_nan=False))
def test_plain_numbers_have_no_exponent(number: float) -> None:
    text = plain_number(number)

    assert set(text) <= set("-0123456789.")
    assert float(text) == pytest.approx(number, rel=1e-9, abs=1e-18)


@given(
    st.integers(min_value=0, max_value=10**6),
    st.sampled_from(sorted({*BINARY_PREFIXES, *DECIMAL_PREFIXES})),
    st.sampled_from(["", " "]),
)
def test_prefixes_of_bytes(number: int, prefix: str, space: str) -> None:
    factor = {**BINARY_PREFIXES, **DECIMAL_PREFIXES}[prefix]

    assert_is(quantity(f"{number}{space}{prefix}B"), number * factor, "B")
    assert_is(quantity(f"{number}{space}{prefix}B", f"{prefix}B"), number * factor, "B")


@given(st.integers(min_value=0, max_value=10**6), st.sampled_from(sorted(TIMES)))
def test_units_of_time(number: int, unit: str) -> None:
    assert_is(quantity(f"{number} {unit}", "s"), number * TIMES[unit], "s")
    assert base_unit(unit) == "s"


@given(st.text(max_size=30), st.sampled_from(["", "B", "KiB", "s", "ms", "%", "rpm", "B/s"]))
def test_any_text_is_a_finite_number_or_refused(text: str, unit: str) -> None:
    try:
        found = quantity(text, unit)
    except QuantityError:
        return
    assert math.isfinite(found.number)
    assert found.unit == base_unit(unit) or not unit


@pytest.mark.parametrize(
    ("number", "unit", "shown"),
    [
        (5 * GIB, "B", "5GiB"),
        (1536, "B", "1.5KiB"),
        (12, "B", "12B"),
        (0.2, "s", "200ms"),
        (2.5, "s", "2.5s"),
        (93_600, "s", "1d2h"),
        (-7200, "s", "-2h"),
        (0, "s", "0s"),
        (93.25, "%", "93.25%"),
        (65, "rpm", "65 rpm"),
        (3, "", "3"),
        (1e20, "B", "86.74EiB"),
    ],
)
def test_what_people_read(number: float, unit: str, shown: str) -> None:
    assert show_quantity(number, unit) == shown


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["", "B", "s", "%", "rpm"]))
def test_every_number_can_be_shown(number: float, unit: str) -> None:
    assert 0 < len(show_quantity(number, unit)) < 400
