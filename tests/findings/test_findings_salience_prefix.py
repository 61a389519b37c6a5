"""What all lines of a log begin with is found by its columns, whatever stands between them."""

from __future__ import annotations

import pytest

from checkrunner.findings.salience import Row, rank
from checkrunner.findings.salience.prefix import Layouts
from checkrunner.findings.salience.shapes import Masks


def first_text(lines: list[str]) -> str:
    ranking = rank([Row(number, line) for number, line in enumerate(lines, 1)], total_lines=len(lines))
    return ranking.entries[0].text


def log(form: str, message: str, *, at: int = 17, count: int = 60) -> list[str]:
    """Lines of a form with its `{n}`, `{s}` (two digits) and `{m}` filled in; one of them says `message`."""
    usual = ["connected to peer {n}", "wrote {n} pages in {n} ms", "heartbeat", "checked all queues"]
    lines = [form.format(n=1000 + i * 37, s=f"{i % 60:02}", m=usual[i % 4].format(n=i * 31)) for i in range(count)]
    lines[at] = form.format(n=4711, s="17", m=message)
    return lines


MESSAGE = "lost the lease on volume blue"


@pytest.mark.parametrize(
    ("form", "left"),
    [
        ("Nov 30 21:22:{s} web1 app[{n}]: {m}", MESSAGE),
        ("2026-11-30T21:22:{s}.123456+01:00 web1 app[{n}]: {m}", MESSAGE),
        ("2026-11-30 21:22:{s},123 - {m}", MESSAGE),
        ("[Mon Nov 30 21:22:{s} 2026] {m}", MESSAGE),
        ("[   12.0000{s}] {m}", MESSAGE),
        ("[12345.0000{s}] {m}", MESSAGE),
        ("30/Nov/2026:21:22:{s} +0100 {m}", MESSAGE),
        ("179607{n} {m}", MESSAGE),
        ("2026/11/30 21:22:{s} [warn] {n}#{n}: *{n} {m}", f"[warn] *4711 {MESSAGE}"),
        ("11-30 21:22:{s}.111  {n}  {n} W {m}", f"W {MESSAGE}"),
        ("W1130 21:22:{s}.111111 {n} lease.go:12] {m}", f"W1130 {MESSAGE}"),
        ("26/11/30 21:22:{s} WARN storage.Lease: {m}", f"WARN {MESSAGE}"),
        ("2026-11-30 21:22:{s}.123 UTC [{n}] WARNING:  {m}", f"WARNING: {MESSAGE}"),
        ("time=2026-11-30T21:22:{s}Z level=warning {m}", f"level=warning {MESSAGE}"),
        ("2026-11-30 21:22:{s} {n} WARNING storage.lease [req-0a1b2c3d-{n}-4e5f-8a9b-0c1d2e3f4a5b - -] {m}", f"WARNING {MESSAGE}"),
    ],
)  # fmt: skip
def test_times_hosts_and_ids_are_not_shown(form: str, left: str) -> None:
    assert first_text(log(form, MESSAGE)) == left


def test_lines_in_between_do_not_hide_the_prefix() -> None:
    lines = log("2026-11-30 21:22:{s},123 ERROR {m}", "lost the lease: failed", count=80)
    mixed = [part for line in lines for part in (line, "    at some.place.Here(Here.java:10)", "continued")]

    assert first_text(mixed) == "ERROR lost the lease: failed"


def test_two_logs_in_one_output_have_a_prefix_each() -> None:
    one = log("Nov 30 21:22:{s} web1 app[{n}]: {m}", "lost the first lease")
    other = log("2026-11-30 21:22:{s},123 [worker-{n}] WARN {m}", "lost the second lease")
    ranking = rank([Row(number, line) for number, line in enumerate(one + other, 1)], total_lines=120)

    texts = {entry.text for entry in ranking.entries}

    assert {"lost the first lease", "WARN lost the second lease"} <= texts


def test_hosts_are_no_shapes() -> None:
    lines = [
        f"Nov 30 21:22:{n % 60:02} web{'ab'[n % 2]} {'app' if n % 3 else 'db'}[{n}]: lease {n} is gone"
        for n in range(90)
    ]

    ranking = rank([Row(number, line) for number, line in enumerate(lines, 1)], total_lines=90)

    assert {(entry.text, entry.count) for entry in ranking.entries} == {
        ("db lease 0 is gone", 30),
        ("app lease 1 is gone", 60),
    }
    assert ranking.prefix == "time, host"


def test_threads_of_several_words_are_one_word_and_no_shapes() -> None:
    threads = ["[main]", "[IPC Server handler 4 on 62270]", "[RMCommunicator Allocator]"]
    lines = [
        f"2026-11-30 21:22:{n % 60:02},123 WARN {threads[n % 3]} org.x.{'Client' if n % 2 else 'Server'}: lease {n} is gone"
        for n in range(90)
    ]

    ranking = rank([Row(number, line) for number, line in enumerate(lines, 1)], total_lines=90)

    assert {entry.text for entry in ranking.entries} == {
        "WARN org.x.Server: lease 0 is gone",
        "WARN org.x.Client: lease 1 is gone",
    }
    assert "thread" in ranking.prefix


def test_numbers_before_a_level_are_a_prefix() -> None:
    lines = [f"261130 2122{n % 60:02} {n * 7 % 900} INFO served {n} of them" for n in range(90)]
    lines[50] = "261130 212250 50 WARN got an exception"

    assert first_text(lines) == "WARN got an exception"


def test_a_table_has_no_prefix() -> None:
    table = ["NAME PID STATE"] + [f"proc{n} {n * 77} S" for n in range(40)]

    assert Layouts([line.split() for line in table], Masks()).in_words == ""


def test_what_stands_before_a_level_without_a_time_is_shown() -> None:
    lines = [f"src/a{n}.c:{n}:5: warning: unused variable 'x{n}'" for n in range(30)]

    assert first_text(lines).startswith("src/a0.c:0:5: warning: unused")


def test_what_every_line_says_is_not_taken_for_a_prefix() -> None:
    lines = [f"21:22:{n % 60:02} INFO request {n * 91} failed: disk {n % 7} is full" for n in range(100)]

    assert "failed: disk" in first_text(lines)


def test_an_odd_status_in_a_column_that_is_nearly_always_the_same_is_shown() -> None:
    units = ["disk", "fan", "power"]
    lines = [f"{n * 13} node-{n} {units[n % 3]} state {1796073000 + n} 1 running" for n in range(100)]
    lines[40] = "520 node-40 fan state 1796073040 -1 running"

    assert first_text(lines) == "fan -1 running"


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_few_lines_lose_their_times_at_most(count: int) -> None:
    lines = log("Nov 30 21:22:{s} web1 app[{n}]: {m}", "lost the lease", at=0, count=count)

    assert first_text(lines).endswith("app[4711]: lost the lease")
    assert "Nov 30" not in first_text(lines)
