"""Levels against the definition in the guidelines of Nagios plugins."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from values_factory import check, extract, judged, levels, parse_as, said, value

from checkrunner.judge.levels import Range, parse_range, raised
from checkrunner.model.quantities import plain_number

numbers = st.one_of(
    st.integers(min_value=-(10**9), max_value=10**9).map(float),
    st.floats(min_value=-1e9, max_value=1e9, allow_nan=False).map(lambda n: float(plain_number(n))),
)


@pytest.mark.parametrize(
    ("text", "alerts"),  # the guidelines' own table: range definition, when an alert is generated
    [
        ("10", lambda x: x < 0 or x > 10),
        ("10:", lambda x: x < 10),
        ("~:10", lambda x: x > 10),
        ("10:20", lambda x: x < 10 or x > 20),
        ("@10:20", lambda x: 10 <= x <= 20),
    ],
)
@given(number=st.one_of(numbers, st.sampled_from([-1.0, 0.0, 9.99, 10.0, 10.01, 19.99, 20.0, 20.01])))
def test_the_table_of_the_guidelines(text: str, alerts: object, number: float) -> None:
    assert callable(alerts)
    assert parse_range(text).raises(number) is alerts(number)


@given(st.booleans(), st.one_of(st.none(), st.just(-math.inf), numbers), st.one_of(st.none(), numbers), numbers)
def test_every_range_means_what_the_definition_says(
    inside: bool, start: float | None, end: float | None, number: float
) -> None:
    """``[@]start:end``; start may be left out with its colon if it is 0, ``~`` is minus infinity, no end is infinity."""
    assume(start is not None or end is not None)
    low, high = 0.0 if start is None else start, math.inf if end is None else end
    assume(low <= high)
    written = "" if start is None else "~:" if start == -math.inf else f"{plain_number(start)}:"
    written = ("@" if inside else "") + written + ("" if end is None else plain_number(end))

    read = parse_range(written)

    assert read.low == pytest.approx(low)
    assert read.high == pytest.approx(high)
    assert read.raises(number) is ((low <= number <= high) if inside else not low <= number <= high)
    assert parse_range(read.text) == read, "it is written so that other programs read the same"


@pytest.mark.parametrize(
    ("text", "unit", "low", "high"),
    [
        ("90%", "%", 0, 90),
        ("5GiB:", "B", 5 << 30, math.inf),
        ("@100ms:2s", "s", 0.1, 2),
        ("~:1d2h", "s", -math.inf, 93_600),
        ("90%", "", 0, 90),
        ("1k:2k", "", 1000, 2000),
        (" 5 : 10 ", "", 5, 10),
        (":10", "", 0, 10),
        ("5GiB:", None, 5 << 30, math.inf),
    ],
)
def test_units(text: str, unit: str | None, low: float, high: float) -> None:
    read = parse_range(text, unit)

    assert (read.low, read.high) == (low, high)


@pytest.mark.parametrize(
    ("text", "unit", "says"),
    [
        ("", "", "write 90"),
        ("@", "", "write 90"),
        ("~", "", "write 90"),
        ("20:10", "", "20 is more than 10"),
        ("-5", "", "0 is more than -5"),
        ("5GiB", "%", "is not a number in %"),
        ("5GiB:", "", "give it a `unit`"),
        ("a:b", "", "is not a range"),
        ("1:2:3", "", "is not a range"),
        ("5:~", "", "is not a range"),
        ("5GiB:10s", None, "is in two units: B and s"),
    ],
)
def test_what_is_no_range(text: str, unit: str | None, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_range(text, unit)


@given(st.lists(st.tuples(numbers, st.text(max_size=3)), max_size=8), numbers, numbers)
def test_of_several_the_one_farthest_out_is_named(entries: list[tuple[float, str]], a: float, b: float) -> None:
    level = Range(min(a, b), max(a, b))
    beyond = [entry for entry in entries if level.raises(entry[0])]

    found = raised(level, entries)

    assert (found is None) is (not beyond)
    if found is not None:
        assert found[1] == len(beyond)
        assert level.distance(found[0][0]) == max(level.distance(entry[0]) for entry in beyond)


@pytest.mark.parametrize(
    ("stdout", "state", "message"),
    [
        ("50%", "ok", None),
        ("80%", "ok", None),
        ("80.5%", "warn", "used was 80.5%, a warning above 80%"),
        ("96%", "crit", "used was 96%, critical above 95%"),
        ("-1%", "crit", "used was -1%, critical below 0%"),
        ("80.0001%", "warn", "used was 80.0001%, a warning above 80%"),
    ],
)
def test_a_level_makes_the_verdict(stdout: str, state: str, message: str | None) -> None:
    what = check(extract("used", regex=r"(\S+)", unit="%"), levels=(levels("used", "80%", "95"),))

    assert said(judged(what, stdout)) == (state, [message] if message else [])


def test_a_value_carries_its_ranges_in_its_own_unit() -> None:
    what = check(extract("free", regex=r"(\S+)", unit="KiB"), levels=(levels("free", "5GiB:", "@0:1GiB"),))

    found = value(what, "2097152")

    assert (found.value, found.unit, found.warn, found.crit) == (2 << 30, "B", "5368709120:", "@1073741824")


def test_the_worst_entry_of_a_list_is_named() -> None:
    table = "NAME  USED\na     85%\nb     99%\nc     97%\n"
    what = check(
        extract("used", column="USED", agg="list"), parse=parse_as("table"), levels=(levels("used", "80%", "95%"),)
    )

    assert said(judged(what, table)) == ("crit", ["used was 99% (b), and 1 more, critical above 95%"])


def test_levels_may_be_templates_and_a_wrong_one_is_unknown() -> None:
    what = check(extract(regex=r"(\d+)"), levels=(levels(warn="{{ most }}"),))

    assert said(judged(what, "7", names={"most": 5})) == ("warn", ["v was 7, a warning above 5"])
    state, (message,) = said(judged(what, "7", names={"most": "many"}))
    assert (state, "is not a range" in message) == ("unknown", True)


def test_texts_have_no_levels() -> None:
    what = check(extract(regex=r"(\w+)", kind="text"), levels=(levels(warn="5"),))

    assert said(judged(what, "up")) == ("unknown", ["v is a text, and levels are for numbers"])


def test_the_worst_of_levels_and_expectations_wins() -> None:
    what = check(extract(regex=r"(\d+)"), levels=(levels(warn="5"),), crit_if=("values.v > 8",))

    assert said(judged(what, "7")) == ("warn", ["v was 7, a warning above 5"])
    assert said(judged(what, "9"))[0] == "crit"
    assert said(judged(what, "7", rc=3)) == (
        "crit",
        ["rc was 3, expected 0 (the default)", "v was 7, a warning above 5"],
    )
