from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.load.quantities import NotationError
from checkrunner.load.ranges import expand_range, host_names


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("web", ["web"]),
        ("web[1:3]", ["web1", "web2", "web3"]),
        ("web[01:03].x", ["web01.x", "web02.x", "web03.x"]),
        ("web[08:10]", ["web08", "web09", "web10"]),
        ("web[1:10:4]", ["web1", "web5", "web9"]),
        ("[:2]", ["0", "1", "2"]),
        ("[0:2]", ["0", "1", "2"]),
        ("db-[a:c]", ["db-a", "db-b", "db-c"]),
        ("db-[a:e:2]", ["db-a", "db-c", "db-e"]),
        ("[y:B]", ["y", "z", "A", "B"]),
        ("[5:5]", ["5"]),
        ("r[1:2]-n[a:b]", ["r1-na", "r1-nb", "r2-na", "r2-nb"]),
        ("[99:101]", ["99", "100", "101"]),
    ],
)
def test_ranges_mean_what_they_mean_in_ansible(pattern: str, expected: list[str]) -> None:
    assert expand_range(pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "offset", "message", "hint"),
    [
        ("web[5:1]", 3, "is empty", "[1:5]"),
        ("[c:a]", 0, "is empty", "[a:c]"),
        ("[B:y]", 0, "is empty", ""),
        ("web[1:5:0]", 3, "step '0'", ""),
        ("web[1:5:-1]", 3, "step '-1'", ""),
        ("web[1:5:x]", 3, "step 'x'", ""),
        ("web[1:5:]", 3, "step ''", ""),
        ("web[1:010]", 3, "different length", "[001:010]"),
        ("web[01:100]", 3, "different length", "[001:100]"),
        ("web[001:10]", 3, "different length", "[001:010]"),
        ("[ab:cd]", 0, "is not a range", "one letter"),
        ("[a:5]", 0, "is not a range", ""),
        ("[:f]", 0, "is not a range", ""),
        ("web[1:]", 3, "has no end", ""),
        ("web[]", 3, "is not a range", ""),
        ("web[1]", 3, "is not a range", "[1:10]"),
        ("web[1-5]", 3, "is not a range", "[1:5]"),
        ("web[1:2:3:4]", 3, "is not a range", ""),
        ("web[1:2", 3, "bracket without its partner", ""),
        ("web1:2]", 6, "bracket without its partner", ""),
        ("[1:2000000]", 0, "more than", ""),
        ("[1:1000][1:1000]", 8, "more than", ""),
        (f"[1:{'9' * 5000}]", 0, "is not a range", ""),
        (f"[1:2:{'9' * 5000}]", 0, "has the step", ""),
        ("[\u0661:\u0663]", 0, "is not a range", ""),
    ],
)
def test_what_is_no_range_is_an_error(pattern: str, offset: int, message: str, hint: str) -> None:
    with pytest.raises(NotationError) as caught:
        expand_range(pattern)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.offset == offset


@given(st.integers(0, 3000), st.integers(0, 300), st.integers(1, 40), st.integers(0, 6))
def test_numeric_ranges(first: int, more: int, step: int, width: int) -> None:
    last = first + more
    low, high = str(first).zfill(width), str(last).zfill(width)
    if low.startswith("0") and len(low) > 1 and len(low) != len(high):
        width = len(high)
        low = str(first).zfill(width)
    padded = low[0] == "0" and len(low) > 1

    names = expand_range(f"n[{low}:{high}:{step}]x")

    assert names == [f"n{str(n).zfill(len(low) if padded else 0)}x" for n in range(first, last + 1, step)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("text", "names", "port"),
    [
        ("web", ["web"], None),
        ("web:2222", ["web"], 2222),
        ("web[1:2]:2222", ["web1", "web2"], 2222),
        ("web[1:2]", ["web1", "web2"], None),
        ("10.0.0.1:22", ["10.0.0.1"], 22),
        ("10.0.0.[1:2]", ["10.0.0.1", "10.0.0.2"], None),
        ("fe80::1", ["fe80::1"], None),
        ("[fe80::1]", ["fe80::1"], None),
        ("[fe80::1]:2222", ["fe80::1"], 2222),
        ("[web1]:2222", ["web1"], 2222),
        ("[web[1:2]]:2222", ["web1", "web2"], 2222),
        ("[10.0.0.1]:0022", ["10.0.0.1"], 22),
        ("[1:2]-x:22", ["1-x", "2-x"], 22),
        ("_a-b.c_d:22", ["_a-b.c_d"], 22),
        ("fe80::1%eth0", ["fe80::1%eth0"], None),
        ("2001:db8::[1:2]", ["2001:db8::1", "2001:db8::2"], None),
        ("bücher.example", ["bücher.example"], None),
    ],
)
def test_host_entries(text: str, names: list[str], port: int | None) -> None:
    assert host_names(text) == (names, port)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("web:", "ends in ':'"),
        ("web:0", "'0' is not a port"),
        ("web:70000", "'70000' is not a port"),
        ("web:ssh", "'ssh' is not a port"),
        (":22", "no host"),
        ("", "is empty"),
        ("[1:3]:22", "neither a host nor a range"),
        ("[1:2]x[3:4]:22", "neither a host nor a range"),
        ("h[:3]:22", "cannot be written with a port"),
        ("h-:22", "cannot be written with a port"),
        ("h..x:22", "cannot be written with a port"),
        ("a:b:c", "neither host:port nor an IPv6 address"),
        ("[fe80::1]:x", "'x' is not a port"),
        ("root@web", "cannot hold '@'"),
        ("a/b", "cannot hold '/'"),
        ("a b", "cannot hold ' '"),
    ],
)
def test_host_entries_that_are_none(text: str, message: str) -> None:
    with pytest.raises(NotationError) as caught:
        host_names(text)
    assert message in caught.value.message
