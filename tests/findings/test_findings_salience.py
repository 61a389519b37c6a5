"""What is promised of the choice of lines, whatever comes."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrunner.findings.salience import (
    LONGEST_TEXT,
    Ranking,
    Row,
    Selection,
    fit,
    rank,
    seen_text,
    shape_of,
)
from checkrunner.findings.tokens import TokenEstimate

COUNTER = TokenEstimate()
PIECES = [
    "error", "failed", "0", "errors=0", "INFO", "[error]", "WARN", "2026-11-30", "21:22:01,500", "sshd[812]:", "#", "...",
    "/var/log/x.log", "10.0.0.1:80", "0x7fff", "deadbeef01", "100%", "at", "a.b.C(C.java:1)", "File", '"x",', "line", "3,",
    '{"level":"error","msg":"no space left"}', "Use%", "SIZE", "NAME", "ok", "é", "█", "-", "=====", "Caused", "by:",
]  # fmt: skip
words = st.one_of(
    st.sampled_from(PIECES), st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=12)
)
lines = st.lists(st.lists(words, max_size=14).map(" ".join), max_size=40)


def rows_of(texts: list[str]) -> list[Row]:
    return [Row(number, text) for number, text in enumerate(texts, 1)]


def ranked(texts: list[str], most: int = 1000) -> Ranking:
    return rank(rows_of(texts), total_lines=len(texts), most=most)


def shown(texts: list[str], budget: int = 500) -> list[str]:
    chosen = fit(ranked(texts), budget, COUNTER)
    return [entry.text for entry in chosen.shown]


def cost(selection: Selection) -> int:
    return sum(COUNTER.count(seen_text(one.entry, one.text)) + 1 for one in selection.shown)


def comes_from(text: str, line: str) -> bool:
    """Whether each word of the text is in the line, but for gaps and what a gap has cut a word to."""
    return all(part in line for word in text.split() for part in word.split("..."))


@given(lines, st.integers(1, 400))
def test_a_budget_is_never_exceeded(texts: list[str], budget: int) -> None:
    chosen = fit(ranked(texts), budget, COUNTER)

    assert cost(chosen) == chosen.used <= budget


@given(lines, st.integers(1, 400))
def test_each_row_is_a_line_and_its_text_comes_from_it(texts: list[str], budget: int) -> None:
    ranking = ranked(texts)

    for entry in ranking.entries:
        assert comes_from(entry.text, texts[entry.number - 1])
        assert comes_from(entry.short, texts[entry.number - 1])
        assert len(entry.text) <= LONGEST_TEXT
        assert entry.text.strip()
    numbers = [one.entry.number for one in fit(ranking, budget, COUNTER).shown]
    assert numbers == sorted(set(numbers))


@given(lines, st.integers(1, 400), st.integers(1, 30))
def test_what_is_shown_and_what_is_left_out_are_all_lines(texts: list[str], budget: int, most: int) -> None:
    ranking = ranked(texts, most)
    chosen = fit(ranking, budget, COUNTER)

    assert sum(entry.count for entry in ranking.entries) + ranking.more_lines == len(texts)
    assert sum(one.entry.count for one in chosen.shown) + chosen.more_lines == len(texts)
    assert len(ranking.entries) <= most
    assert [entry.rank for entry in ranking.entries] == list(range(1, len(ranking.entries) + 1))
    assert all(entry.number <= entry.last <= len(texts) for entry in ranking.entries)


@given(lines)
def test_the_same_lines_are_ranked_the_same_way(texts: list[str]) -> None:
    assert ranked(texts) == ranked(list(texts))


@given(lines)
def test_more_of_the_same_adds_no_shapes(texts: list[str]) -> None:
    once, twice = ranked(texts), ranked([text for text in texts for _ in range(2)])

    assert len(twice.entries) <= len(once.entries) + 1  # a head of a table that comes twice is a row, too


@given(st.lists(words, max_size=20).map(" ".join))
def test_a_shape_is_the_same_for_the_same_line_and_bounded(text: str) -> None:
    assert shape_of(text) == shape_of(text)
    assert len(shape_of(text)) <= 300
    assert shape_of(shape_of(text)) == shape_of(text) or "#" in shape_of(text) or "/" in text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Nov 30 21:22:01 web1 sshd[812]: refused", "Dec  1 01:02:03 web1 sshd[7]: refused"),
        ("2026-11-30T21:22:01Z took 12 ms for 10.0.0.1", "2027-01-02T03:04:05Z took 9 ms for 10.9.8.7"),
        ("cannot open /var/lib/a/b", "cannot open /srv/c"),
        ("id 0x7fffabc done", "id 0x1 done"),
        ("session 0a1b2c3d4e5f closed", "session ffee00112233 closed"),
    ],
)
def test_shapes_are_equal_but_for_what_varies(one: str, other: str) -> None:
    assert shape_of(one) == shape_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0 errors in 5 files", "3 errors in 5 files"),
        ("exit code 0", "exit code 1"),
        ("failed=0 ok=5", "failed=2 ok=5"),
        ('"GET /x HTTP/1.1" 200 12', '"GET /x HTTP/1.1" 503 12'),
        ("status=200", "status=503"),
        ("0% packet loss", "60% packet loss"),
        ("disk sda failed", "disk sdb failed"),
    ],
)
def test_shapes_differ_where_a_number_or_a_name_decides(one: str, other: str) -> None:
    assert shape_of(one) != shape_of(other)


def test_the_rare_trouble_is_found_among_what_is_always_said() -> None:
    texts = [f"2026-11-30 21:{i // 60:02}:{i % 60:02} INFO worker {i} took {i * 7} ms" for i in range(600)]
    texts[431] = "2026-11-30 21:07:11 ERROR worker 431 lost its connection to db-2:5432: Connection refused"

    chosen = fit(ranked(texts), 60, COUNTER)

    assert [(one.entry.number, one.entry.rank) for one in chosen.shown] == [(1, 2), (432, 1)]
    assert chosen.shown[1].text.startswith("ERROR worker 431 lost its connection")
    assert "2026" not in chosen.shown[1].text
    assert chosen.shown[0].entry.count == 599


def test_the_level_outranks_words_of_the_message() -> None:
    texts = [
        *["10:00:01 INFO retrying after error: connection failed"] * 3,
        *["10:00:02 ERROR quota of tenant blue"] * 3,
        "10:00:03 FATAL cannot go on",
    ]

    assert [entry.text.split()[0] for entry in ranked(texts).entries] == ["FATAL", "ERROR", "INFO"]


def test_no_component_takes_all_the_room() -> None:
    noisy = [f"10:00:{i:02} web: request {name} failed" for i, name in enumerate("abcdefghij" * 5)]
    texts = [*noisy, "10:01:00 kernel: I/O error on sda", "10:01:01 db: disk full"]

    assert {entry.number for entry in ranked(texts, 4).entries} > {51, 52}


def test_a_word_of_which_there_are_many_in_its_place_is_a_name() -> None:
    names = ["anna", "bert", "carl", "dora", "emil", "fred", "gina", "hugo", "ines", "jack", "kira", "lars"]

    mild = ranked([f"session of user {name} was opened by root" for name in names[:5]])
    few = ranked([f"service of user {name} failed to start again" for name in names[:5]])
    many = ranked([f"service of user {name} failed to start again" for name in names])

    assert [entry.count for entry in mild.entries] == [5]
    assert [entry.count for entry in few.entries] == [1] * 5
    assert [entry.count for entry in many.entries] == [12]


def test_what_is_known_is_no_news() -> None:
    texts = ["error: cache is cold", "error: pool is empty"]
    known = {shape_of(texts[0])}

    assert [e.number for e in rank(rows_of(texts), total_lines=2, known=known).entries] == [2, 1]


def test_the_end_of_a_command_that_failed_counts() -> None:
    texts = [f"step {name} is done" for name in "abcdefghijklmnopqrstuvwxyz"] + ["nothing to be had of mirror blue"]

    (first, *_) = rank(rows_of(texts), total_lines=len(texts), rc=2).entries

    assert first.number == len(texts)


def test_counts_and_numbers_of_groups_from_elsewhere_are_kept() -> None:
    rows = [Row(3, "INFO fine", count=1000, last=2000), Row(77, "ERROR disk 5 died", count=4, last=1990)]

    ranking = rank(rows, total_lines=1100)

    assert [(e.number, e.count, e.last) for e in ranking.entries] == [(77, 4, 1990), (3, 1000, 2000)]
    assert ranking.more_lines == 96


def test_a_row_of_a_table_comes_with_its_head() -> None:
    table = """\
Filesystem Size Used Avail Use% Mounted on
udev 7.8G 0 7.8G 0% /dev
/dev/sda2 98G 45G 48G 49% /
/dev/sdb1 500G 496G 4.0G 100% /var/lib/db
/dev/sda1 511M 6.1M 505M 2% /boot"""

    ranking = ranked(table.splitlines(), 2)

    assert [entry.number for entry in ranking.entries] == [1, 4]


def test_a_stack_trace_is_its_exceptions_and_the_first_frame_of_ones_own() -> None:
    trace = [
        "java.lang.IllegalStateException: no lease",
        "\tat java.base/java.util.Optional.orElseThrow(Optional.java:403)",
        "\tat com.acme.Lease.renew(Lease.java:88)",
        *(f"\tat com.acme.Deep{i}.call(Deep{i}.java:{i})" for i in range(50)),
        "Caused by: java.net.SocketTimeoutException: Read timed out",
        "\tat java.base/sun.nio.ch.NioSocketImpl.timedRead(NioSocketImpl.java:278)",
        "\t... 53 more",
    ]

    ranking = ranked(["start", *trace, "end"])

    assert {entry.number for entry in ranking.entries[:3]} == {2, 4, 55}
    assert len(ranking.entries) <= 7


def test_of_a_python_traceback_the_last_frame_of_ones_own_tells() -> None:
    texts = [
        "Traceback (most recent call last):",
        '  File "/srv/app/main.py", line 10, in <module>',
        "    main()",
        '  File "/srv/app/db.py", line 42, in connect',
        "    return socket.create_connection(address)",
        '  File "/usr/lib/python3.11/socket.py", line 851, in create_connection',
        "    raise exceptions[0]",
        "ConnectionRefusedError: [Errno 111] Connection refused",
    ]

    assert {entry.number for entry in ranked(texts).entries[:3]} == {1, 4, 8}


def test_json_lines_show_level_message_and_cause_first() -> None:
    texts = [f'{{"ts":"2026-11-30T21:00:{i:02}Z","level":"info","msg":"served","n":{i}}}' for i in range(50)]
    texts[20] = (
        '{"ts":"2026-11-30T21:00:20Z","level":"error","caller":"db.go:7","msg":"query failed","err":"too many clients"}'
    )

    first = ranked(texts).entries[0]

    assert first.text == 'error query failed "err":"too many clients"'


@pytest.mark.parametrize("word", ["error", "no space left on device", "SIGSEGV", "status=503"])
@pytest.mark.parametrize("before", [0, 90, 300, 1500])
def test_no_cut_takes_the_word_of_trouble(word: str, before: int) -> None:
    line = f"{'calm ' * (before // 5)}{word} {'quiet ' * 80}end"

    (entry,) = ranked([line]).entries

    assert word in entry.text
    assert word.split()[0] in entry.short
    assert word.split()[0] in fit(ranked([line]), 40, COUNTER).shown[0].text


def test_a_tight_budget_shows_more_kinds_of_trouble_in_shorter_texts() -> None:
    kinds = ["mount", "lease", "quota", "route", "clock", "certificate"]
    texts = [
        f"ERROR {kind} of node-{i:04d} failed at /srv/data/{i:08d}/{kind}/{'x' * 40} with id {i:032x}"
        for i, kind in enumerate(kinds * 3)
    ]

    chosen = fit(ranked(texts), 120, COUNTER)

    assert {kind for kind in kinds if any(kind in one.text for one in chosen.shown)} == set(kinds)
    assert all("x" * 40 in one.text for one in fit(ranked(texts), 1000, COUNTER).shown)


def test_a_budget_too_small_for_any_line_shows_a_part_of_one_or_nothing() -> None:
    ranking = ranked(["ERROR the configuration of the second controller is wrong"])

    assert all(fit(ranking, budget, COUNTER).used <= budget for budget in range(1, 12))
    assert fit(ranking, 10, COUNTER).shown
    assert fit(ranked([]), 5, COUNTER).shown == ()


def seconds(texts: list[str]) -> float:
    before = time.process_time()
    ranked(texts, 24)
    return time.process_time() - before


@pytest.mark.parametrize(
    "make",
    [
        lambda i, r: " ".join(r.choices(["alpha", "beta", "gamma", "delta", "epsilon"], k=12)) + f" {i}",
        lambda i, r: f"ERROR {r.random()} " + "no error " * 30,
        lambda i, r: "=0" * 200 + str(i),
        lambda i, r: '{"a":"' * 40 + str(i),
        lambda i, r: f"word{r.choice('abcdef')} failed " + "/" * 300,
        lambda i, r: "".join(r.choices("abcdefgh", k=9)) + " error " + "".join(r.choices("abcdefgh", k=9)),
    ],
)
def test_time_is_linear_in_the_number_of_lines(make: object) -> None:
    generator = random.Random(3)
    texts = [make(i, generator) for i in range(8000)]  # type: ignore[operator]  # a lambda of the list above
    seconds(texts[:100])

    few, many = max(seconds(texts[:1000]), 0.002), seconds(texts)

    assert many < 8 * few * 4 + 0.2


@settings(max_examples=20)
@given(st.text(alphabet='aA0 ."=:/{}[]\\-_%', max_size=3000))
def test_no_line_takes_long(text: str) -> None:
    assert seconds([text]) < 0.25


def test_a_number_far_from_the_others_is_shown() -> None:
    texts = [f"64 bytes from 10.0.0.1: icmp_seq={n} ttl=64 time=0.{300 + n} ms" for n in range(200)]
    texts[149] = "64 bytes from 10.0.0.1: icmp_seq=149 ttl=64 time=1843 ms"

    ranking = ranked(texts)

    assert [(entry.number, entry.count) for entry in ranking.entries] == [(150, 1), (1, 199)]


def test_a_zero_where_no_other_line_has_one_is_shown() -> None:
    texts = ["NAME SIZE TYPE", *(f"sd{chr(97 + n)} 10.9T disk" for n in range(26))]
    texts[20] = "sdt 0B disk"

    assert 21 in {entry.number for entry in ranked(texts, 3).entries}


def test_numbers_that_are_spread_are_all_alike() -> None:
    generator = random.Random(4)
    texts = [f"request {n} took {generator.randint(1, 900)} ms on shard {generator.randint(0, 9)}" for n in range(300)]

    assert [entry.count for entry in ranked(texts).entries] == [300]


def test_a_counter_of_errors_that_is_not_zero_stands_out() -> None:
    texts = [f"     rx_queue_{n}_packets: {n * 991}" for n in range(40)]
    texts += ["     rx_errors: 0", "     rx_crc_errors_phy: 4812207", "     max_errors: 3"]

    first, *others = ranked(texts).entries

    assert first.text == "rx_crc_errors_phy: 4812207"
    assert all(entry.severity < first.severity for entry in others)


def test_a_queue_of_connections_that_is_full_is_trouble() -> None:
    texts = [
        "State Recv-Q Send-Q Local",
        "LISTEN 0 128 0.0.0.0:22",
        "LISTEN 129 128 0.0.0.0:8443",
        "ESTAB 500 0 10.0.0.1:22",
    ]

    assert [entry.number for entry in ranked(texts).entries[:2]] == [1, 3]


def test_jobs_that_are_done_are_not_short_of_anything() -> None:
    texts = [
        "NAME READY STATUS RESTARTS AGE",
        "job-a 0/1 Completed 0 3d",
        "api-b 1/2 Running 0 3d",
        "api-c 2/2 Running 0 3d",
    ]

    assert [entry.number for entry in ranked(texts).entries[:2]] == [1, 3]
