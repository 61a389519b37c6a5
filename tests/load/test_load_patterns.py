from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.load.inventory import load_inventory
from checkrunner.load.patterns import select
from checkrunner.model.errors import NoHostsError, UsageError
from checkrunner.model.inventory import Group, Host, Inventory

HOSTS = ("web1", "web2", "web3", "db1", "db2", "host-10", "host-11", "fe80::1", "x.example.com")
GROUPS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "all": ((), ("web", "prod", "empty", "ungrouped")),
    "web": (("web3", "web1", "web2"), ()),
    "db": (("db1", "db2", "web2"), ()),
    "prod": (("x.example.com",), ("db", "web")),
    "empty": ((), ()),
    "ungrouped": (("host-10", "host-11", "fe80::1"), ()),
}
INVENTORY = Inventory(
    hosts={name: Host(name=name, address=name) for name in HOSTS},
    groups={name: Group(name=name, hosts=hosts, children=below) for name, (hosts, below) in GROUPS.items()},
)


def names(pattern: str, limit: str | None = None) -> list[str]:
    return [host.name for host in select(INVENTORY, pattern, limit)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("all", list(HOSTS)),
        ("*", list(HOSTS)),
        ("web", ["web1", "web2", "web3"]),
        ("web1", ["web1"]),
        ("db:web1", ["web1", "web2", "db1", "db2"]),
        ("db,web1", ["web1", "web2", "db1", "db2"]),
        ("web1,web1:web1", ["web1"]),
        (" web1 , db1 ", ["web1", "db1"]),
        ("web:&db", ["web2"]),
        ("web:!db", ["web1", "web3"]),
        ("!db:web", ["web1", "web3"]),
        ("!web:!db", ["host-10", "host-11", "fe80::1", "x.example.com"]),
        ("&db", ["web2", "db1", "db2"]),
        ("prod", ["web1", "web2", "web3", "db1", "db2", "x.example.com"]),
        ("ungrouped", ["host-10", "host-11", "fe80::1"]),
        ("web?", ["web1", "web2", "web3"]),
        ("*.example.com", ["x.example.com"]),
        ("[wd]*", ["web1", "web2", "web3", "db1", "db2"]),
        ("host-1[0-5]", ["host-10", "host-11"]),
        ("~web[12]", ["web1", "web2"]),
        ("~(db|x)", ["web2", "db1", "db2", "x.example.com"]),
        ("~(?:db1|db2)$:web1", ["web1", "db1", "db2"]),
        ("~web[12]{1,2},db1", ["web1", "web2", "db1"]),
        ("fe80::1", ["fe80::1"]),
        ("fe80::1,web1", ["web1", "fe80::1"]),
        ("all,!fe80::1,!prod", ["host-10", "host-11"]),
        ("web[0]", ["web3"]),
        ("web[-1]", ["web2"]),
        ("web[0:1]", ["web1", "web3"]),
        ("web[0:2]", ["web1", "web2", "web3"]),
        ("web[1:]", ["web1", "web2"]),
        ("web[1:99]", ["web1", "web2"]),
        ("prod[0]", ["x.example.com"]),
        ("all[-2]", ["fe80::1"]),
        ("web*[0]", ["web3"]),
        ("all:!web[0]:!prod:!ungrouped:db1", None),
        ("empty:web1", ["web1"]),
        ("all:!nosuch*:&web", ["web1", "web2", "web3"]),
    ],
)
def test_patterns(pattern: str, expected: list[str] | None) -> None:
    if expected is None:
        with pytest.raises(NoHostsError):
            names(pattern)
    else:
        assert names(pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "limit", "expected"),
    [
        ("all", "web", ["web1", "web2", "web3"]),
        ("web", "db", ["web2"]),
        ("web", "!web2", ["web1", "web3"]),
        ("prod", "web[0:1]", ["web1", "web3"]),
        ("localhost", "localhost", ["localhost"]),
    ],
)
def test_limits(pattern: str, limit: str, expected: list[str]) -> None:
    assert names(pattern, limit) == expected


@pytest.mark.parametrize(
    ("pattern", "message", "hint"),
    [
        ("webb", "the pattern 'webb' selects no host: nothing in the inventory is called 'webb'", "'web'"),
        ("web1:dbb", "in the pattern 'web1:dbb': nothing in the inventory is called 'dbb'", "'db"),
        ("all:!wbe1", "called 'wbe1'", "'web1'"),
        ("all:&nosuch", "called 'nosuch'", "Known: "),
        ("nosuch*", "matches none", "checkrunner hosts all"),
        ("~nosuch", "matches none", ""),
        ("empty", "the group has none", ""),
        ("web:!web", "selects no host", "leave nobody"),
        ("web[7]", "'web' has 3 hosts", "count from 0"),
        ("web[2:1]", "picks nobody", "count from 0"),
        ("web[-9]", "picks nobody", ""),
        ("host-[10:15]", "called 'host-'", "Write host-10,host-11 or a glob"),
        ("nost-[10:15]", "called 'nost-'", "by position"),
        ("", "is empty", "`all`"),
        (" , ", "is empty", "`all`"),
        ("web1:fe80::1", "called 'fe80'", "between commas"),
    ],
)
def test_who_selects_nobody_is_told_why(pattern: str, message: str, hint: str) -> None:
    with pytest.raises(NoHostsError) as caught:
        names(pattern)

    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(
    ("limit", "message", "hint"),
    [
        ("web9", "the limit 'web9' selects no host", "'web"),
        ("host-[10:15]", "called 'host-'", "Write host-10,host-11"),
        ("db1", "no host of the pattern 'web' is in the limit 'db1'", ""),
        ("web1,dbb", "in the limit 'web1,dbb'", "'db"),
        ("", "the limit '' is empty", ""),
    ],
)
def test_limits_that_leave_nobody(limit: str, message: str, hint: str) -> None:
    with pytest.raises(NoHostsError) as caught:
        names("web", limit)

    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("web[0", "without its partner"),
        ("~(web", "not a regular expression"),
        ("web:!", "no name after it"),
        ("web[1-2]", "glob of names or positions"),
    ],
)
def test_what_is_no_pattern(pattern: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        names(pattern)


def test_localhost_is_there_without_being_in_the_inventory() -> None:
    for name in ("localhost", "127.0.0.1", "::1"):
        (host,) = select(INVENTORY, name)
        assert (host.name, host.transport) == (name, "local")
    assert "localhost" not in names("all")
    assert names("localhost,web1") == ["web1", "localhost"]


def test_a_localhost_of_the_inventory_is_taken_as_it_is() -> None:
    inventory = load_inventory(["localhost,"])

    assert [host.transport for host in select(inventory, "localhost")] == ["ssh"]


def test_a_group_wins_over_a_host_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "h").write_text("[web]\na\nweb\n[other]\nweb\n", encoding="utf-8")
    inventory = load_inventory([str(tmp_path / "h")])

    assert [host.name for host in select(inventory, "web")] == ["a", "web"]


def test_limits_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "failed hosts.txt"
    path.write_text("# from the last run\nweb1\n\n  db1  \nhost-10,host-11\n", encoding="utf-8")

    assert names("all", f"@{path}") == ["web1", "db1", "host-10", "host-11"]
    assert names("all", f"web3,@{path},!db1") == ["web1", "web3", "host-10", "host-11"]


def test_limit_files_that_do_not_help(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n# nobody\n", encoding="utf-8")
    (tmp_path / "typo").write_text("web1\nwbe2\n", encoding="utf-8")

    with pytest.raises(UsageError, match=r"nope.*cannot be read: No such file"):
        names("all", f"@{tmp_path / 'nope'}")
    with pytest.raises(NoHostsError, match="names no host"):
        names("all", f"@{tmp_path / 'empty'}")
    with pytest.raises(NoHostsError, match="Did you mean 'web2'"):
        names("all", f"@{tmp_path / 'typo'}")


def test_an_empty_inventory_selects_nobody() -> None:
    empty = Inventory(hosts={}, groups={"all": Group(name="all"), "ungrouped": Group(name="ungrouped")})

    with pytest.raises(NoHostsError, match="the inventory has none"):
        select(empty, "all")


def members(group: str) -> set[str]:
    hosts, below = GROUPS[group]
    return set(HOSTS) if group == "all" else set(hosts).union(*(members(child) for child in below))


_atoms = st.sampled_from([*GROUPS, *(name for name in HOSTS if ":" not in name)])


def meaning(atom: str) -> set[str]:
    return members(atom) if atom in GROUPS else {atom}


@given(
    st.lists(_atoms, max_size=3),
    st.lists(_atoms, max_size=2),
    st.lists(_atoms, max_size=2),
    st.randoms(),
    st.sampled_from(":,"),
)
def test_patterns_are_set_algebra(plain: list[str], both: list[str], less: list[str], random: object, sep: str) -> None:
    terms = [*plain, *(f"&{atom}" for atom in both), *(f"!{atom}" for atom in less)]
    random.shuffle(terms)  # type: ignore[attr-defined]  # a random.Random, which hypothesis does not say
    expected = set().union(*map(meaning, plain)) if plain else set(HOSTS)
    for atom in both:
        expected &= meaning(atom)
    for atom in less:
        expected -= meaning(atom)

    if expected and terms:
        assert names(sep.join(terms)) == [name for name in HOSTS if name in expected]
    else:
        with pytest.raises(NoHostsError):
            names(sep.join(terms))


@given(_atoms, _atoms)
def test_a_limit_is_an_intersection(pattern: str, limit: str) -> None:
    expected = meaning(pattern) & meaning(limit)

    if expected:
        assert set(names(pattern, limit)) == expected
    else:
        with pytest.raises(NoHostsError):
            names(pattern, limit)


@given(st.text("web123:,!&[]~*?-() ", max_size=12))
def test_any_text_selects_hosts_or_says_why(pattern: str) -> None:
    try:
        assert names(pattern)
    except (NoHostsError, UsageError) as exc:
        assert str(exc)  # noqa: PT017 - both endings are right
