from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.load.inventory import load_inventory
from checkrunner.load.patterns import Reason, reasons, select
from checkrunner.load.terms import join_patterns
from checkrunner.model.errors import NoHostsError, UsageError
from checkrunner.model.inventory import Group, Host, Inventory
from checkrunner.nodesets import NodeSetError, node_set

HOSTS = ("web1", "web2", "web3", "db1", "db2", "host-10", "host-11", "fe80::1", "x.example.com")
GROUPS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "all": ((), ("ungrouped", "web", "prod", "empty")),
    "web": (("web3", "web1", "web2"), ()),
    "db": (("db1", "db2", "web2"), ()),
    "prod": (("x.example.com",), ("db", "web")),
    "empty": ((), ()),
    "ungrouped": (("host-10", "host-11", "fe80::1"), ()),
}
ALL = ["host-10", "host-11", "fe80::1", "web3", "web1", "web2", "x.example.com", "db1", "db2"]
INVENTORY = Inventory(
    hosts={name: Host(name=name, address=name) for name in HOSTS},
    groups={name: Group(name=name, hosts=hosts, children=below) for name, (hosts, below) in GROUPS.items()},
)


def names(pattern: str, limit: str | None = None) -> list[str]:
    return [host.name for host in select(INVENTORY, pattern, limit)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("all", ALL),
        ("*", ALL),
        ("web", ["web3", "web1", "web2"]),
        ("web1", ["web1"]),
        ("db:web1", ["db1", "db2", "web2", "web1"]),
        ("db,web1", ["db1", "db2", "web2", "web1"]),
        ("web1,web1,web1", ["web1"]),
        ("web1:web1 db1", ["web1", "db1"]),
        (" web1 , db1 ", ["web1", "db1"]),
        ("web:&db", ["web2"]),
        ("web:!db", ["web3", "web1"]),
        ("!db:web", ["web3", "web1"]),
        ("!web:!db", ["host-10", "host-11", "fe80::1", "x.example.com"]),
        ("&db", ["web2", "db1", "db2"]),
        ("prod", ["x.example.com", "db1", "db2", "web2", "web3", "web1"]),
        ("ungrouped", ["host-10", "host-11", "fe80::1"]),
        ("web?", ["web1", "web2", "web3"]),
        ("*.example.com", ["x.example.com"]),
        ("[wd]*", ["web3", "web1", "web2", "db1", "db2"]),
        ("host-1[01]*", ["host-10", "host-11"]),
        ("~web[12]", ["web1", "web2"]),
        ("~(db|x)", ["db1", "db2", "web2", "x.example.com"]),
        ("~(?:db1|db2)$:web1", ["db1", "db2", "web1"]),
        ("~web[12]{1,2},db1", ["web1", "web2", "db1"]),
        ("fe80::1", ["fe80::1"]),
        ("fe80::1,web1", ["fe80::1", "web1"]),
        ("all,!fe80::1,!prod", ["host-10", "host-11"]),
        ("web[0]", ["web3"]),
        ("web[-1]", ["web2"]),
        ("web[0:1]", ["web3", "web1"]),
        ("web[0:2]", ["web3", "web1", "web2"]),
        ("web[1-2]", ["web1", "web2"]),
        ("web[1:]", ["web1", "web2"]),
        ("web[1:99]", ["web1", "web2"]),
        ("prod[0]", ["x.example.com"]),
        ("all[-1]", [ALL[-1]]),
        ("web*[0]", ["web3"]),
        ("all:!web[0]:!prod:!ungrouped:db1", None),
        ("empty:web1", ["web1"]),
        ("all:!nosuch*:&web", ["web3", "web1", "web2"]),
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
        ("all", "web", ["web3", "web1", "web2"]),
        ("web", "db", ["web2"]),
        ("web", "!web2", ["web3", "web1"]),
        ("prod", "web[0:1]", ["web3", "web1"]),
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
        ("web[2:1]", "runs backwards", "web[1:2]"),
        ("web[1:0]", "runs backwards", "web[0:1]"),
        ("web[0:-1]", "matches none", "web[0:]"),
        ("host-1[0-5]", "called 'host-1'", "Write host-10,host-11"),
        ("host-[1x]*[9]", "has 2 hosts", "count from 0"),
        ("web:22", "called 'web:22'", "an address or a port: write web,22"),
        ("web:&prod,db", "called 'web:&prod'", "does not separate: write web,&prod"),
        ("web db,x.example.com", "called 'web db'", "Separate them by commas: web,db"),
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
    assert names("localhost,web1") == ["localhost", "web1"]
    assert names("127.0.0.1,localhost") == ["127.0.0.1"]


def test_a_localhost_of_the_inventory_is_taken_as_it_is() -> None:
    inventory = load_inventory(["localhost,"])

    assert [host.transport for host in select(inventory, "localhost")] == ["ssh"]


def test_a_localhost_of_another_name_is_meant_by_all_of_its_names() -> None:
    inventory = load_inventory(["127.0.0.1,web1"])

    assert [host.name for host in select(inventory, "localhost")] == ["127.0.0.1"]


def test_a_host_wins_over_a_group_of_its_name_except_after_a_sign(tmp_path: Path) -> None:
    (tmp_path / "h").write_text("[web]\na\nweb\n[other]\nweb\n", encoding="utf-8")
    inventory = load_inventory([str(tmp_path / "h")])

    assert [host.name for host in select(inventory, "web")] == ["web"]
    assert [host.name for host in select(inventory, "all:&web")] == ["a", "web"]
    with pytest.raises(NoHostsError):
        select(inventory, "all:!web")


def test_limits_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "failed hosts.txt"
    path.write_text("# from the last run\nweb1\n\n  db1  \nhost-10,host-11\n", encoding="utf-8")

    assert names("all", f"@{path}") == ["host-10", "host-11", "web1", "db1"]
    assert names("all", f"web3,@{path},!db1") == ["host-10", "host-11", "web3", "web1"]


def test_limit_files_that_do_not_help(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n# nobody\n", encoding="utf-8")
    (tmp_path / "typo").write_text("web1\nwbe2\n", encoding="utf-8")

    with pytest.raises(UsageError, match=r"nope.*cannot be read: No such file"):
        names("all", f"@{tmp_path / 'nope'}")
    (tmp_path / "latin").write_bytes(b"w\xe4b\n")
    with pytest.raises(UsageError, match=r"latin' is not UTF-8 text"):
        names("all", f"@{tmp_path / 'latin'}")
    with pytest.raises(NoHostsError, match="names no host"):
        names("all", f"@{tmp_path / 'empty'}")
    with pytest.raises(NoHostsError, match="Did you mean 'web2'"):
        names("all", f"@{tmp_path / 'typo'}")


def test_the_nearest_name_is_in_another_case() -> None:
    with pytest.raises(NoHostsError, match="Did you mean 'web1'"):
        names("WEB1")


def test_the_nearest_of_very_many_names_begins_like_the_pattern() -> None:
    hosts = {name: Host(name=name, address=name) for name in (f"n{number:05}-a" for number in range(6000))}
    many = Inventory(hosts=hosts, groups={"all": Group(name="all", hosts=tuple(hosts))})

    with pytest.raises(NoHostsError, match="Did you mean 'n05"):
        select(many, "n05O12-a")
    with pytest.raises(NoHostsError, match="Known: n00000-a"):
        select(many, "zebra")


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
        assert sorted(names(sep.join(terms))) == sorted(expected)
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


@pytest.mark.parametrize("pattern", ["nodeset:web[1-3]!web2", " nodeset:web1,web3", "nodeset:web[1-9]&web[1,3]"])
def test_node_sets_are_patterns_as_a_whole(pattern: str) -> None:
    assert names(pattern) == ["web1", "web3"]
    assert names("web", pattern) == ["web3", "web1"]


def test_node_sets_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "nodes").write_text("nodeset:web[1-2]\ndb1\n", encoding="utf-8")

    assert names("all", f"@{tmp_path / 'nodes'}") == ["web1", "web2", "db1"]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("nodeset:web[1-5]", "2 of its 5 names are not in the inventory: web4, web5"),
        ("nodeset:wbe1", "its name is not in the inventory: wbe1. Did you mean 'web1'"),
        ("nodeset:web[1-", "is no node set"),
        ("nodeset:web[3-1]", "is no node set"),
        ("nodeset:web[1-3]!web[1-3]", "is empty"),
        ("nodeset:@racks", "names a group"),
        ("nodeset:web*", "has a wildcard: it is no node set"),
        ("nodeset:web[0-999999]", "stands for more than 100000 names"),
        ("nodeset:web[0-99999999999999999999]", "stands for more than 100000 names"),
        ("nodeset:a[1-999]b[1-999]", "stands for more than 100000 names"),
        ("web,nodeset:db1", "cannot follow"),
        ("web[1,3],db", "node sets are written nodeset:"),
    ],
)
def test_node_sets_that_select_nobody(pattern: str, message: str) -> None:
    with pytest.raises((NoHostsError, UsageError), match=f"(?i){re.escape(message)}"):
        names(pattern)


def test_many_names_in_one_node_set() -> None:
    assert len(node_set("a[1-40000],b[1-40000]")) == 80_000


@pytest.mark.parametrize(
    ("patterns", "joined"),
    [
        (["web:&prod"], "web:&prod"),
        (["web:&prod", "db"], "web,&prod,db"),
        (["fe80::1", "web[0:1]"], "fe80::1,web[0:1]"),
        (["nodeset:web[1-2]", "db1"], "web1,web2,db1"),
        (["web[", "db1"], "web[,db1"),
    ],
)
def test_a_list_of_patterns_is_one(patterns: list[str], joined: str) -> None:
    assert join_patterns(patterns) == joined


def test_why_a_host_is_selected() -> None:
    assert reasons(INVENTORY, "w*:&prod:!db", "web1") == (
        Reason(term="w*", groups=("web",)),
        Reason(term="&prod", groups=("prod",)),
    )
    assert reasons(INVENTORY, "web1:!db", "web1") == (Reason(term="web1", is_name=True),)
    assert reasons(INVENTORY, "!db", "web1") == (Reason(term="all"),)
    assert reasons(INVENTORY, "nodeset:web[1-2]", "web1") == (Reason(term="nodeset:web[1-2]", is_name=True),)
    assert reasons(INVENTORY, "web", "db1", is_limit=True) == ()


@given(st.text("a12[]-,/!&^ %:", max_size=14))
def test_any_text_is_a_node_set_or_says_why(text: str) -> None:
    try:
        assert node_set(text)
    except NodeSetError as exc:
        assert exc.message  # noqa: PT017 - both endings are right


def test_the_nearest_of_many_names_is_one_that_begins_alike() -> None:
    many = load_inventory(["host-[0000:9999],"])

    with pytest.raises(NoHostsError, match="Did you mean 'host-12"):
        select(many, "host-12x4")
    with pytest.raises(NoHostsError, match="Known: host-0000"):
        select(many, "zzz")
