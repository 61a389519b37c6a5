"""Values: how outputs are read, what is taken from them, and what is said where that cannot be done."""

from __future__ import annotations

import json
import re
import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_factory import FAILED, TRUNCATED
from values_factory import JUDGE, check, extract, judged, levels, parse_as, said, value

from checkrunner.judge.extracts import MOST_ENTRIES, found_in_lines
from checkrunner.judge.jc_parsers import missing_parser
from checkrunner.judge.parsed import UnreadError
from checkrunner.judge.parsing import PARSERS, Reading, decoded, parse
from checkrunner.judge.value_problems import value_problems
from checkrunner.model.results import Execution, SliceMode, Stream
from checkrunner.model.values import MOST_PARSED_BYTES, ParseAs


def taken(way: str, stdout: str | bytes, /, **fields: Any) -> Any:
    """What is extracted, or why nothing is."""
    how = {key: fields.pop(key) for key in ("delimiter", "pattern") if key in fields}
    found = value(check(extract(**fields), parse=parse_as(way, **how)), stdout)
    return found.error or found.value


OS_RELEASE = 'NAME="Debian GNU/Linux"\n# a comment\nVERSION_ID="12"\nID=debian\n'
MEMINFO = "MemTotal:       16374876 kB\nMemAvailable:    8187438 kB\nHugePages_Total:       0\n"
CPUINFO = "processor\t: 0\ncpu MHz\t\t: 2400.000\n\nprocessor\t: 1\ncpu MHz\t\t: 3600.500\n\n"


@pytest.mark.parametrize(
    ("kind", "stdout", "fields", "expected"),
    [
        ("json", '{"a": {"b": [1, 2, 3]}}', {"jmespath": "a.b", "agg": "max"}, 3),
        ("json", '{"up": true}', {"jmespath": "up", "kind": "bool"}, True),
        ("json", '[{"n": "x", "v": 1}, {"n": "y", "v": 2}]', {"column": "v", "agg": "list"}, (1, 2)),
        ("json", '[{"n": "x", "v": 1}, {"n": "y", "v": 2}]', {"column": "v", "where": "n == 'y'"}, 2),
        ("json", '{"v": 1}\n{"v": 5}\n', {"jmespath": "[].v", "agg": "sum"}, 6),
        ("json", '\ufeff{"v": "5GiB"}\r\n', {"jmespath": "v", "unit": "B"}, 5 << 30),
        ("yaml", "a: {b: [1, 2]}\n", {"jmespath": "a.b", "agg": "mean"}, 1.5),
        ("yaml", "v: 1\n---\nv: 2\n", {"jmespath": "[].v", "agg": "list"}, (1, 2)),
        ("yaml", "at: 2026-01-02\n", {"jmespath": "at", "kind": "text"}, "2026-01-02"),
        ("csv", "name, memory.used [MiB]\ngpu0, 1024 MiB\n", {"column": "memory.used [MiB]", "unit": "MiB"}, 1 << 30),
        ("csv", "a;b\n1;2,5\n", {"column": "b"}, 2.5),
        ("csv", "a\tb\n1\t2\n", {"column": "b"}, 2),
        ("csv", 'a,b\n"x,y",7\n', {"column": "b"}, 7),
        ("csv", "a:b\n1:2\n", {"column": "b", "delimiter": ":"}, 2),
        ("kv", OS_RELEASE, {"column": "NAME", "kind": "text"}, "Debian GNU/Linux"),
        ("kv", OS_RELEASE, {"column": "VERSION_ID"}, 12),
        ("kv", MEMINFO, {"column": "MemAvailable", "unit": "KiB"}, 8187438 * 1024),
        ("kv", CPUINFO, {"column": "cpu MHz", "agg": "max"}, 3600.5),
        ("kv", CPUINFO, {"column": "cpu MHz", "where": "processor == 1"}, 3600.5),
        ("kv", "a=1\na=3\n", {"column": "a", "agg": "sum"}, 4),
        ("kv", "url=http://x:80/?a=b\n", {"column": "url", "kind": "text"}, "http://x:80/?a=b"),
        ("kv", "a -> 1\n", {"column": "a", "delimiter": "->"}, 1),
        ("kv", "a=1\nb=2\n", {"jmespath": "b"}, 2),
        ("table", "NAME  SIZE\nsda   10G\n", {"column": "SIZE", "unit": "B"}, 10 << 30),
        ("table", "NAME  SIZE\nsda   10G\n", {"column": "size", "unit": "B"}, 10 << 30),
        ("table", "NAME  USE%\nsda   91%\nsdb   5%\n", {"column": "USE%", "where": "NAME == 'sdb'"}, 5),
        ("table", "NAME  USE%\nsda   91%\nsdb   5%\n", {"column": "NAME", "where": "USE_pct > 90", "kind": "text"}, "sda"),
        ("table", "NAME  USE%\nsda   91%\nsdb   -\n", {"column": "USE%", "agg": "list"}, (91,)),
        ("table", "NAME  USE%\nsda   91%\nsdb   5%\n", {"jmespath": "length(@)"}, 2),
        ("lines", "a\nb\nc\n", {"jmespath": "length(@)"}, 3),
        ("lines", "a\nb\nc", {"jmespath": "@", "agg": "count"}, 3),
        ("lines", "ok\nERROR x\nERROR y\n", {"jmespath": "[?contains(@, 'ERROR')]", "agg": "count"}, 2),
        ("lines", "", {"jmespath": "length(@)"}, 0),
        ("regex", "eth0 up 5\nlo down 0\n", {"column": "n", "where": "name == 'lo'", "pattern": r"(?P<name>\w+) \w+ (?P<n>\d+)"}, 0),
        ("jc:uptime", " 11:35 up 1 day,  3 users,  load average: 0.10, 0.02, 0.00\n", {"jmespath": "load_1m"}, 0.1),
    ],
)  # fmt: skip
def test_every_way_of_reading(kind: str, stdout: str, fields: dict[str, Any], expected: Any) -> None:
    assert taken(kind, stdout, **fields) == (pytest.approx(expected) if isinstance(expected, float) else expected)


@pytest.mark.parametrize(
    ("kind", "stdout", "fields", "says"),
    [
        ("json", "oops", {"jmespath": "a"}, "line 1 is not JSON: Expecting value at 'oops'"),
        ("json", '{"a": 1', {"jmespath": "a"}, "line 1 is not JSON: Expecting ',' delimiter at its end"),
        ("json", '{"a": NaN}', {"jmespath": "a"}, "nan is not a number"),
        ("json", '{"a": 1e999}', {"jmespath": "a"}, "inf is too large a number"),
        ("json", '{"a": ' + "9" * 5000 + "}", {"jmespath": "a"}, "too large a number"),
        ("json", '{"a": ' + "9" * 350 + "}", {"jmespath": "a"}, "too large a number"),
        ("json", '{"a": true}', {"jmespath": "a"}, "True is not a number"),
        ("json", '{"a": {"b": 1}}', {"jmespath": "a"}, "a mapping is there, not one value"),
        ("json", '{"a": 1}', {"jmespath": "b.c"}, "nothing was found"),
        ("json", '{"a": 1}', {"column": "b"}, "column 'b' is not in the JSON: a"),
        ("json", "[" * 100_000, {"jmespath": "a"}, "the output is nested too deeply"),
        ("json", '{"a": "x"}', {"jmespath": "a"}, "'x' is not a number; of a text say `type: text`"),
        ("json", '{"a": "maybe"}', {"jmespath": "a", "kind": "bool"}, "'maybe' is neither true nor false"),
        ("json", '{"a": ["1s", "5B"]}', {"jmespath": "a", "agg": "list"}, "different units: s, B"),
        ("json", '{"a": 1}', {"jmespath": "sort(a)"}, "invalid type for value"),
        ("yaml", "a: [1", {"jmespath": "a"}, "is not YAML"),
        ("yaml", "a: &x 1\nb: *x\n", {"jmespath": "a"}, "line 2 has an alias"),
        ("yaml", "b: 2\na: 1" + ":1" * 1000, {"jmespath": "a"}, "line 2 has a number of 2,001 characters"),
        ("yaml", "a: !cmd id\n", {"jmespath": "a"}, "could not determine a constructor for the tag '!cmd'"),
        ("yaml", "[" * 500, {"jmespath": "a"}, "more than 100 levels"),
        ("csv", "a,b\n1\n", {"column": "b"}, "record 2 has 1 fields, the line of names has 2"),
        ("csv", "a,b,a\n1,2,3\n", {"column": "b"}, "columns 1 and 3 are both called 'a'"),
        ("csv", 'a,b\n"1,2\n', {"column": "b"}, "it is not CSV"),
        ("csv", "a,b\n1,2\n", {"column": "c"}, "column 'c' is not in the table: a, b"),
        ("kv", "no pairs here\n", {"column": "a"}, "no line has a key and a value; the first is 'no pairs here'"),
        ("kv", "a=1\n", {"column": "b"}, "column 'b' is not in the keys: a"),
        ("kv", "a=1,234\n", {"column": "a"}, "LC_ALL=C"),
        ("table", "A B A\n1 2 3\n", {"column": "B"}, "columns 1 and 3 are both called 'A'"),
        ("table", "NAME SIZE\n", {"column": "SIZE"}, "the table, which has no rows"),
        ("table", "N U\na 1\n", {"column": "U", "where": "X > 1"}, "where: X > 1: 'X' is not defined"),
        ("lines", "", {"jmespath": "[0]", "kind": "text"}, "the output is empty"),
        ("regex", "x\n", {"column": "n", "pattern": r"(?P<n>\d+)"}, "nothing was found"),
        ("jc:uptime", "x", {"jmespath": "load_1m"}, "jc:uptime could not read it"),
        ("jc:upteim", "x", {"jmespath": "load_1m"}, "jc has no parser 'upteim'; did you mean 'uptime'?"),
        ("json", b"\x00\x01", {"jmespath": "a"}, "stdout is not text"),
    ],
)  # fmt: skip
def test_what_was_there_instead_is_said(kind: str, stdout: str | bytes, fields: dict[str, Any], says: str) -> None:
    found = taken(kind, stdout, **fields)

    assert isinstance(found, str)
    assert says in found
    assert "\n" not in found
    assert len(found) < 500


def test_what_cannot_be_read_is_unknown_and_said_once() -> None:
    what = check(
        extract("used", column="Use%"), extract("free", column="Avail"), parse=parse_as("table"),
        crit_if=("values.used > 90",),
    )  # fmt: skip

    assert said(judged(what, "")) == ("unknown", ["used, free: the output is empty"])
    state, messages = said(judged(what, "Use% Size\n5%   1G\n"))
    assert (state, messages) == ("unknown", ["free: column 'Avail' is not in the table: Use%, Size"])


def test_missing_counts_where_nothing_is_found_and_not_where_something_else_is() -> None:
    what = check(extract(jmespath="a", missing=0), parse=parse_as("json"))

    assert value(what, "{}").value == 0
    assert value(what, "").value == 0
    assert value(what, '{"a": "x"}').error == "'x' is not a number; of a text say `type: text`"
    assert value(what, "{").error.startswith("line 1 is not JSON")
    sized = check(extract(regex=r"free (\S+)", unit="B", missing="1KiB"))
    assert value(sized, "none\n").value == 1024


@pytest.mark.parametrize(
    ("agg", "expected"),
    [
        *(("first", 3), ("last", 1), ("min", 1), ("max", 3), ("sum", 6), ("mean", 2), ("median", 2), ("count", 3)),
        ("list", (3, 2, 1)),
    ],
)
def test_aggregates(agg: str, expected: Any) -> None:
    assert value(check(extract(regex=r"n=(\d+)", agg=agg)), "n=3\nx\nn=2\nn=1\n").value == expected


@given(st.lists(st.floats(min_value=-1e12, max_value=1e12, allow_nan=False), min_size=1, max_size=20), st.data())
def test_aggregates_of_numbers_are_within_them(numbers: list[float], data: st.DataObject) -> None:
    agg = data.draw(st.sampled_from(["first", "last", "min", "max", "mean", "median"]))
    found = value(check(extract(jmespath="@", agg=agg), parse=parse_as("json")), json.dumps(numbers)).value

    assert isinstance(found, float)
    assert min(numbers) - 1e-3 <= found <= max(numbers) + 1e-3


def test_patterns_are_answered_on_the_host() -> None:
    what = check(
        extract("a", regex=r"(\d+)"), extract("b", regex=r"x", agg="count"), extract("c", regex="y", agg="max")
    )

    queries = JUDGE.reads(what, {})

    assert [query.mode for query in queries] == [SliceMode.MATCH] * 3
    assert [query.max_lines for query in queries] == [1, 1, 1000]


def test_what_is_read_is_read_once_and_bounded() -> None:
    what = check(extract("a", jmespath="a"), extract("b", jmespath="b"), parse=parse_as("json"))

    (query,) = JUDGE.reads(what, {})

    assert (query.mode, query.max_bytes, query.last) == (SliceMode.BYTES, MOST_PARSED_BYTES, MOST_PARSED_BYTES)
    assert JUDGE.reads(check(extract(jmespath="length(@)"), parse=parse_as("lines")), {}) == ()
    assert JUDGE.reads(check(extract("a", regex="{{ p }}")), {"p": "up"})[0].pattern == "up"


def test_groups_of_a_pattern() -> None:
    assert value(check(extract("load", regex=r"(?P<x>\d+) (?P<load>\d+)")), "1 2").value == 2
    assert value(check(extract(regex=r"(?P<x>\d+) (?P<value>\d+)")), "1 2").value == 2
    assert value(check(extract(regex=r"\d+")), "a 7").value == 7
    assert value(check(extract(regex=r"(?P<value>\d+) is in (?P<unit>\w+)", unit="B")), "5 is in KiB").value == 5120
    named = check(extract(regex=r"(?P<label>\w+): (?P<value>\d+)", agg="max"), levels=(levels(warn="1"),))
    assert said(judged(named, "a: 1\nb: 5\n"))[1] == ["v was 5 (b), a warning above 1"]


def test_the_other_stream() -> None:
    assert value(check(extract(regex=r"(\d+)", stream=Stream.STDERR)), "1", stderr="2\n").value == 2
    assert (
        value(check(extract(jmespath="a"), parse=parse_as("json", stream=Stream.STDERR)), stderr='{"a": 5}').value == 5
    )


@pytest.mark.parametrize("kind", ["json", "regex"])
@pytest.mark.parametrize(
    ("out", "says"), [(TRUNCATED, "stdout was cut after"), (FAILED, "the capture of stdout failed")]
)
def test_of_an_output_that_was_cut_nothing_is_read(kind: str, out: dict[str, Any], says: str) -> None:
    what = check(extract(jmespath="a"), parse=parse_as("json")) if kind == "json" else check(extract(regex=r"(\d)"))

    judgement = judged(what, '{"a": 1}', out=out)

    assert judgement.values[0].value is None
    assert says in judgement.values[0].error
    assert judgement.verdict.state == "unknown"


def test_of_a_long_output_nothing_is_parsed_but_patterns_are_found() -> None:
    long = '{"a": 1}\n' * (MOST_PARSED_BYTES // 9 + 1)

    found = value(check(extract(jmespath="a"), parse=parse_as("json")), long)
    assert found.error == f"stdout has {len(long):,} bytes, more than the 262,144 that are parsed"
    assert value(check(extract(regex=r"(\d)")), long).value == 1
    assert value(check(extract(regex=r"(\d)", agg="count")), long).value == len(long) // 9
    assert "29,128 lines match" in value(check(extract(regex=r"(\d)", agg="sum")), long * 1).error


def test_a_list_is_bounded() -> None:
    numbers = json.dumps(list(range(MOST_ENTRIES + 1)))

    assert "1,001 entries were found" in taken("json", numbers, jmespath="@", agg="list")


def test_a_line_that_was_cut_is_read_only_where_that_does_not_matter() -> None:
    early, late = "n=5 " + "x" * 20_000, "x" * 20_000 + "n=5"

    assert value(check(extract(regex=r"n=(\d+)")), early).value == 5
    assert "is too long" in value(check(extract(regex=r"n=(\d+)")), late).error
    assert "is too long" in value(check(extract(regex=r"n=(\d+)")), "n=" + "5" * 20_000).error


def test_a_host_that_does_not_answer() -> None:
    assert value(check(extract(regex=r"(\d)")), "1", silent=True).error == "the host did not answer"


def test_what_a_host_says_of_a_pattern_that_it_gave_up() -> None:
    found = value(check(extract(regex=r"(a+)+$")), "aaa!", refusal="it takes longer than 3 s on a piece of the output")
    assert found.error == "the host did not look for `(a+)+$`: it takes longer than 3 s on a piece of the output"


@pytest.mark.parametrize("way", [None, "regex"])
def test_a_pattern_that_takes_too_long_here_is_given_up(way: str | None) -> None:
    # The host finds it at once: in the line as a whole, which is cut on its way.
    pattern = r"(?P<v>(?:\w+ ?)+)END"
    what = {"column": "v"} if way else {"regex": pattern}
    parse = parse_as(way, pattern=pattern) if way else None
    found = value(check(extract(kind="text", **what), parse=parse), "word " * 5_000 + "END")
    assert "takes more than 2 seconds" in found.error


def test_a_pattern_that_takes_too_long_in_whole_lines_is_given_up() -> None:
    with pytest.raises(UnreadError, match="takes more than 2 seconds"):
        found_in_lines("v", re.compile(r"(a+)+$"), ["a" * 40 + "!"])


def test_an_answer_that_is_too_short() -> None:
    found = value(check(extract(jmespath="a"), parse=parse_as("json")), '{"a": 1}', out={"captured_bytes": 20})

    assert found.error == "of 20 bytes of stdout the host sent 8"


@pytest.mark.parametrize(
    "fields",
    [
        {"execution": Execution.TIMED_OUT, "rc": None},
        {"execution": Execution.NOT_RUN, "rc": None, "missing": ("df",)},
        {"rc": 127},
    ],
)
def test_where_nothing_was_looked_at_there_are_no_values(fields: dict[str, Any]) -> None:
    judgement = judged(check(extract(regex=r"(\d)"), levels=(levels(crit="0"),)), "5", **fields)

    assert judgement.verdict.state in {"unknown", "skipped"}
    assert len(judgement.verdict.reasons) == 1
    assert judgement.values[0].value is None
    assert judgement.values[0].error


def test_bytes_that_are_no_utf8_do_not_keep_the_rest_from_being_read() -> None:
    latin = "NAME  SIZE\ncaf\u00e9  5\nb     7\n".encode("latin-1")

    found = value(check(extract(column="SIZE", agg="sum"), parse=parse_as("table")), latin)

    assert (found.value, found.error) == (12, "")
    assert decoded(b"\xef\xbb\xbfa\r\nb") == "a\nb"


def test_values_in_expressions() -> None:
    what = check(
        extract("used", regex=r"(\d+)%"), extract("names", regex=r"(\w+)$", kind="text", agg="list"),
        crit_if=("values.used > most and 'b' in values.names",),
    )  # fmt: skip

    assert said(judged(what, "50% a\n10% b\n", names={"most": 40})) == (
        "crit",
        [
            "crit_if: values.used > most and 'b' in values.names (values.used = 50, most = 40, values.names = ['a', 'b'])"
        ],
    )
    assert said(judged(what, "30% a\n", names={"most": 40}))[0] == "ok"


def test_a_value_that_an_output_chose_is_never_a_template() -> None:
    what = check(extract(regex=r"(.*)", kind="text"), crit_if=("values.v == 'x'",), levels=())

    judgement = judged(what, "{{ 7 * 7 }}\n")

    assert judgement.values[0].value == "{{ 7 * 7 }}"
    assert said(judgement)[0] == "ok"


def test_columns_by_several_spellings() -> None:
    table = "Mounted on   Use%\n/            5%\n"

    for condition in ("Mounted_on == '/'", "row['Mounted on'] == '/'", "Use_pct == 5", "row['Use%'] == '5%'"):
        assert taken("table", table, column="Use%", where=condition) == 5


@given(st.sampled_from(list(ParseAs)), st.text(max_size=80))
def test_no_output_breaks_a_parser(kind: ParseAs, text: str) -> None:
    reading = Reading(kind=kind, parser="uptime")
    try:
        found = parse(text, reading)
    except UnreadError:
        return
    assert kind in PARSERS
    assert isinstance(found.rows, list | tuple)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=10), st.sampled_from(["a", "@", "[]", "*", "[0]", "length(@)", "values(@)"]), st.sampled_from(["number", "text", "bool"]))  # fmt: skip
def test_whatever_json_holds_the_judgement_is_total(data: Any, query: str, kind: str) -> None:
    judgement = judged(check(extract(jmespath=query, kind=kind, agg="list"), parse=parse_as("json")), json.dumps(data))

    (found,) = judgement.values
    assert (found.value is None) is bool(found.error)
    assert (judgement.verdict.state == "unknown") is bool(found.error)


def test_what_is_wrong_whatever_the_output_is() -> None:
    what = check(
        extract("a", jmespath="a["), extract("b", regex="("), extract("c", jmespath="c", unit="%"),
        parse=parse_as("jc:nonsense"),
        levels=(levels("c", "5GiB", "20:10"), levels("a", "5GiB:")),
    )  # fmt: skip

    messages = [error.message for error in value_problems(what)]

    assert len(messages) == 5
    for message, word in zip(
        messages, ("nonsense", "JMESPath", "regular expression", "levels.c.warn", "levels.c.crit"), strict=True
    ):
        assert word in message


def test_an_empty_output() -> None:
    assert value(check(extract(regex="x", agg="list")), "").value == ()
    assert value(check(extract(regex="x", agg="count")), "").value == 0


def test_without_the_extra_jc_is_asked_for_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jc", None)
    missing_parser.cache_clear()
    try:
        (problem,) = value_problems(check(extract(jmespath="a"), parse=parse_as("jc:uptime")))
    finally:
        missing_parser.cache_clear()

    assert "pip install 'checkrunner[jc]'" in problem.message


def test_words_for_false_are_false_in_a_condition() -> None:
    table = "NAME  UP   N\na     no   1\nb     yes  2\n"

    assert taken("table", table, column="N", where="UP") == 2


def test_a_key_that_comes_again_and_again_takes_no_longer_than_others() -> None:
    began = time.process_time()
    assert taken("kv", "a=1\n" * (MOST_PARSED_BYTES // 4), column="a", agg="count") == MOST_PARSED_BYTES // 4
    assert time.process_time() - began < 3
