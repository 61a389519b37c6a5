"""Patterns of a user: what they fit is masked, in time that ends; and a redactor that many share."""

from __future__ import annotations

import threading

import pytest

from checkrunner.findings import own
from checkrunner.findings.redact import PatternRedactor
from checkrunner.model.sources import Secret
from checkrunner.testing import check_redactor


def redact(text: str, *patterns: str) -> str:
    return PatternRedactor(own=patterns).redact(text)


def test_all_or_a_group_is_masked() -> None:
    assert redact("id ACME-12345678, ok", r"ACME-\d{8}") == "id <secret>, ok"
    assert redact('"pin": "4711", "x": 1', '"pin": "([0-9]+)"') == '"pin": "<secret>", "x": 1'
    assert redact("member bob, born", "(member) (?P<secret>[a-z]+), born") == "member <secret>, born"
    assert redact("a1 b2", "a[0-9]", "b[0-9]") == "<secret> <secret>"


def test_a_group_that_takes_no_part_masks_nothing() -> None:
    assert redact("xy", "x(z)?y") == "xy"


def test_lines_are_looked_at_one_by_one() -> None:
    assert redact("begin\nsecret\nend", r"begin[^x]*end") == "begin\nsecret\nend"
    assert redact("a\nab\n", "^a$") == "<secret>\nab\n"


def test_they_count_as_own_unless_they_are_more() -> None:
    redactor = PatternRedactor(own=["K-[0-9]+", "hunter[0-9]"], key=b"k")
    redactor.redact("K-1 K-2 K-1 password=hunter2")

    assert redactor.counts() == {"assignment": 1, "own": 2}


def test_twice_is_once() -> None:
    redactor = PatternRedactor([Secret("hunter2")], own=["secret", "[a-z]+[0-9]+", "<", "[0-9]"], key=b"k")

    check_redactor(redactor, ["a1 secret <secret:k3f9> b2", "password=x1", "<<1>>", "secret hunter2\0"])


def test_what_takes_too_long_masks_its_line_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "_FIRST_S", 0.05)
    redactor = PatternRedactor(own=["(a+)+b"])
    slow = "a" * 60

    shown = redactor.redact(f"before aab\n{slow} c\nafter aab\n{slow} d")

    assert shown == "before <secret>b\n<secret>\nafter <secret>b\n<secret>"
    assert redactor.troubles == ["redact '(a+)+b' took too long on 2 line(s), which are masked as a whole"]


def test_patience_ends_sooner_once_much_of_it_was_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "_FIRST_S", 0.1)
    monkeypatch.setattr(own, "_LEAST_S", 0.02)
    patterns = own.OwnPatterns(["(a+)+b"], 0)
    patterns._left_s = 0.15
    text = "\n".join(["a" * 60] * 5)

    assert len(list(patterns.spots(text))) == 5
    assert patterns.given_up == {"(a+)+b": 5}


def test_many_threads_share_one() -> None:
    redactor = PatternRedactor([Secret("known-value")], own=["K-[0-9]+"], key=b"k")
    texts = [f"password=pw{at % 50} K-{at % 20} known-value" for at in range(400)]
    shown: list[list[str]] = [[] for _ in range(8)]

    def work(at: int) -> None:
        mine = texts[at * 50 :] + texts[: at * 50]
        out = [redactor.redact(text) for text in mine]
        shown[at] = out[len(texts) - at * 50 :] + out[: len(texts) - at * 50]

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(one == shown[0] for one in shown)
    assert redactor.counts() == {"known": 1, "assignment": 50, "own": 20}
