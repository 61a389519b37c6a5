from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.load.inventory import load_inventory, load_inventory_with_origins
from checkrunner.load.inventory_ini import literal
from checkrunner.model.errors import InventoryError
from checkrunner.model.inventory import Inventory


def load(tmp_path: Path, text: str) -> Inventory:
    path = tmp_path / "hosts"
    path.write_text(text, encoding="utf-8")
    return load_inventory([str(path)])


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("v=False", False),
        ("v=false", "false"),
        ("v=yes", "yes"),
        ("v=007", "007"),
        ("v=1_0", 10),
        ("v=56L", "56L"),
        ("v=1.50", 1.5),
        ("v=-3", -3),
        ("v=", ""),
        ("v=None", None),
        ("v='a b'", "a b"),
        ('v="a #b"', "a #b"),
        ("v=\"'03#pa33'\"", "03#pa33"),
        ("v='[1, 2]'", [1, 2]),
        ("v='(1, 2)'", [1, 2]),
        ("v='{\"a\": [None]}'", {"a": [None]}),
        ("v=a=b", "a=b"),
        ("v=1j", "1j"),
        ("v=...", "..."),
        ("v=1+2j", "(1+2j)"),
        ("v='[..., 2j]'", ["...", "2j"]),
        ("v=b'x'", "bx"),  # the shell-like split takes the quotes away first
        ("v=x  # comment", "x"),
        ("v=a#b", "a"),
        (r"v=C:\\dir", "C:\\dir"),
    ],
)
def test_values_of_host_lines(tmp_path: Path, line: str, value: object) -> None:
    assert load(tmp_path, f"web {line}\n").hosts["web"].vars["v"] == value


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("v=1", 1),
        ("v = 1", 1),
        ("v=1 # comment", 1),
        ("v=text # no comment", "text # no comment"),
        ("v='quoted'", "quoted"),
        ('v="a b" c', '"a b" c'),
        ("v=", ""),
        ("v=a = b", "a = b"),
        ("v=True", True),
        ("v=-o Foo=bar", "-o Foo=bar"),
    ],
)
def test_values_of_vars_sections(tmp_path: Path, line: str, value: object) -> None:
    assert load(tmp_path, f"[g]\nweb\n[g:vars]\n{line}\n").hosts["web"].vars["v"] == value


def test_a_cut_value_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("web p=a#b  q=1\ndb p='a#b' # fine, it's a comment\nx p=1 #fine\n", encoding="utf-8")
    _, origins = load_inventory_with_origins([str(path)])

    assert origins.warnings == (f"{path}:1:1: 'p' ends at '#', which starts a comment; quote the value",)


def test_sections_and_comments(tmp_path: Path) -> None:
    inventory = load(
        tmp_path,
        "; one\n# two\nfirst\n\n[web]  # three\n  web1  \n[ünï:children]\nweb\n[web]\nweb2\n[web:vars]\n# four\na=1\n",
    )

    assert list(inventory.hosts) == ["first", "web1", "web2"]
    assert inventory.groups["web"].hosts == ("web1", "web2")
    assert inventory.groups["ünï"].children == ("web",)
    assert inventory.groups["ungrouped"].hosts == ("first",)
    assert inventory.hosts["web2"].vars["a"] == 1


def test_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_bytes(b"[web]\r\nweb1 a=1\r\n[web:vars]\r\nb=x\r\n")

    assert dict(load_inventory([str(path)]).hosts["web1"].vars) == {"a": 1, "b": "x"}


def test_groups_may_be_declared_later(tmp_path: Path) -> None:
    inventory = load(tmp_path, "[top:vars]\nx=1\n[top:children]\nlow\n[low]\nh\n")

    assert inventory.hosts["h"].vars["x"] == 1
    assert inventory.hosts["h"].groups == ("low", "top")


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "hint"),
    [
        ("[web:vars]\na=1\n", 1, 1, "[web:vars] names the group 'web', which no section declares", "[web]"),
        ("[web]\n[webs:vars]\n", 2, 1, "'webs'", "'web'"),
        ("[a:children]\nnope\n[b]\n", 2, 1, "[a:children] names the group 'nope'", "[nope]"),
        ("[a:child]\n", 1, 1, "not a kind of section", "[a:children]"),
        ("[a b]\n", 1, 1, "not a section", "[group:vars]"),
        ("[]\n", 1, 1, "not a section", ""),
        ("[a:children]\nb\n[b:children]\na\n", 4, 1, "'b' contains itself: b > a > b", ""),
        ("[a:children]\na\n", 2, 1, "'a' contains itself: a > a", ""),
        ("[a:children]\nb\n[b:children]\nc\n[c:children]\na\n", 6, 1, "c > a > b > c", ""),
        ("web a\n", 1, 5, "name=value is expected here, this is 'a'", "One host a line"),
        ("web a = b\n", 1, 5, "name=value is expected", "no spaces around '='"),
        ("web ok=1 b\n", 1, 10, "this is 'b'", "quote"),
        ("web a='b\n", 1, 1, "quotes of this line do not match", ""),
        ("a=1\n", 1, 1, "a host name is expected here", "[group:vars]"),
        ("[g:vars]\nfoo\n[g]\n", 2, 1, "name=value is expected here", ""),
        ("[g:children]\na b\n", 2, 1, "the name of a group is expected", ""),
        ("  web[5:1]\n", 1, 6, "is empty", "[1:5]"),
        ("web[01:100]\n", 1, 4, "different length", "[001:100]"),
        ("x\nweb:\n", 2, 1, "'web:' is not a host name", "Is this YAML?"),
        ("x\nroot@web\n", 2, 5, "cannot hold '@'", "ansible_user"),
        ("'' x=1\n", 1, 1, "the name of a host is empty", ""),
        ("[web] ; comment\n", 1, 1, "something behind the section", "#"),
        ("[fe80::1]\n", 1, 1, "is not a section", "without brackets"),
        ("[g:children]\nall\n", 2, 1, "'all' cannot be a child", "always exists"),
        ("[g:children]\nungrouped\n", 2, 1, "'ungrouped' cannot be a child", "always exists"),
        ("[ungrouped:children]\ng\n[g]\nh\n", 2, 1, "'ungrouped' cannot have children", "another parent"),
        ("h[:5]:22\n", 1, 1, "cannot be written with a port", "ansible_port=22"),
        ("[g]\nh\n[g:vars]\nansible_group_priority=high\n", 4, 1, "whole number", ""),
    ],
)
def test_errors_name_the_line(tmp_path: Path, text: str, line: int, column: int, message: str, hint: str) -> None:
    with pytest.raises(InventoryError) as caught:
        load(tmp_path, text)
    error = caught.value

    assert message in error.message
    assert hint in error.hint
    assert (error.source.line, error.source.column) == (line, column)
    assert error.line_text


@given(st.text())
def test_literals_never_fail(text: str) -> None:
    literal(text)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s, max_size=3)))
def test_literals_come_back(value: object) -> None:
    assert literal(repr(value)) == value


def warnings(tmp_path: Path, text: str) -> tuple[str, ...]:
    path = tmp_path / "hosts"
    path.write_text(text, encoding="utf-8")
    return tuple(line.removeprefix(f"{path}:") for line in load_inventory_with_origins([str(path)])[1].warnings)


def test_a_port_that_does_not_count_is_warned_of(tmp_path: Path) -> None:
    said = warnings(tmp_path, "[a]\nh\nk:22\n[b]\nh:2222\nk:22\n")

    assert len(said) == 1
    assert said[0].startswith("5:1: the port 2222 is not used")


def test_variables_of_a_host_that_go_to_a_group_are_warned_of(tmp_path: Path) -> None:
    said = warnings(tmp_path, "[web]\nweb x=1\n[db]\ndb\n")

    assert said[0].startswith("2:5: 'x' is set for the whole group 'web'")
    assert [line for line in said if "whole group 'db'" in line] == []


@pytest.mark.parametrize("name", ["a,b", "a*", "!no", "[x", "~re", "@at"])
def test_a_group_that_no_pattern_can_name_is_warned_of(tmp_path: Path, name: str) -> None:
    said = warnings(tmp_path, f"[{name}]\nh\n")

    assert [line for line in said if "no pattern can name the group" in line]


def test_an_empty_file_names_no_hosts(tmp_path: Path) -> None:
    assert warnings(tmp_path, "# nothing yet\n\n; nor here\n") == (" is empty: it names no hosts",)


def test_a_number_that_cannot_be_written_is_a_text() -> None:
    text = "0x" + "f" * 5000

    assert literal(text) == text
    assert literal(f"[{text}]") == f"[{text}]"


def test_hosts_of_a_range_have_lists_of_their_own(tmp_path: Path) -> None:
    inventory = load(tmp_path, "h[1:2] l=\"{'a': [1]}\"\n")

    first, second = (host.vars["l"] for host in inventory.hosts.values())

    assert first == second == {"a": [1]}
    assert first is not second
    assert first["a"] is not second["a"]
