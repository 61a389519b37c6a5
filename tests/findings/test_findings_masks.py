from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.findings.masks import Masker, mask_names, mask_numbers, own_names
from checkrunner.model.inventory import Host


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("used 97% of 20G in 3.5 ms", "used #% of # in # ms"),
        ("2026-01-02T03:04:05.678Z up", "# up"),
        ("Jan  3 04:05:06 node7 sshd[123]: x", "#sshd[#]: x"),
        ("Fri Jan  3 04:05:06 2026 x", "# x"),
        ("at 0xffff8881 and deadbeef01 and 550e8400-e29b-41d4-a716-446655440000", "at # and # and #"),
        ("sda1 eth0 /mnt/data2 web01", "sda1 eth0 /mnt/data2 web01"),
        ("facade deadbeef cafe", "facade deadbeef cafe"),
        ("1,234 of 10:20:30", "# of #"),
        ("rc=1, 10.0.0.1:22", "rc=#, #"),
        ("  PID %CPU CMD\n   12  5.5 a  b\n31245 10.0 c", "PID %CPU CMD\n# # a b\n# # c"),
    ],
)
def test_what_varies_is_masked_and_names_are_not(text: str, masked: str) -> None:
    assert mask_numbers(text) == masked


def test_a_host_knows_its_own_names() -> None:
    names = own_names(Host(name="web01.example.com", address="10.0.0.1"))

    text = "web01.example.com (10.0.0.1), web01: web011 xweb01 web01-a, ssh 10.0.0.10"
    assert mask_names(text, names) == "<host> (<host>), <host>: web011 xweb01 web01-a, ssh 10.0.0.10"
    assert own_names(Host(name="10.0.0.1", address="10.0.0.1")) == ("10.0.0.1",)


@given(st.text(max_size=60))
def test_masking_twice_is_masking_once(text: str) -> None:
    masker = Masker()

    assert masker.mask(text) == mask_numbers(text) == masker.mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "1" * 100_000 + "x",
        "1." * 50_000 + "x",
        "a" * 100_000,
        "abcdef0" * 15_000 + "z",
        "Jan  1 01:01:01 " * 6_000,
        "-1" * 50_000,
    ],
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    start = time.process_time()

    mask_numbers(text)
    mask_names(text, ("1", "a"))

    assert time.process_time() - start < 5
