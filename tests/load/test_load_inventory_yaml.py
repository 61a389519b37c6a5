from __future__ import annotations

from pathlib import Path

import pytest

from checkrunner.load.inventory import load_inventory
from checkrunner.model.errors import InventoryError
from checkrunner.model.inventory import Inventory


def load(tmp_path: Path, text: str) -> Inventory:
    path = tmp_path / "hosts.yml"
    path.write_text(text, encoding="utf-8")
    return load_inventory([str(path)])


def test_groups_hosts_and_vars(tmp_path: Path) -> None:
    inventory = load(
        tmp_path,
        """\
all:
  vars: {a: 1, on: yes}
  hosts:
    lone:
    "007": {b: no}
    "010":
  children:
    web:
      hosts:
        web[01:02]: {port: 2222}
        bücher:
      vars: {a: 2}
    top: {children: {web: , db: {hosts: db1}}}
""",
    )

    assert list(inventory.hosts) == ["lone", "007", "010", "web01", "web02", "bücher", "db1"]
    assert inventory.groups["web"].hosts == ("web01", "web02", "bücher")
    assert inventory.groups["top"].children == ("web", "db")
    assert inventory.groups["all"].children == ("ungrouped", "web", "top")
    assert inventory.hosts["web02"].groups == ("top", "web")
    assert inventory.hosts["web02"].port == 2222
    assert dict(inventory.hosts["bücher"].vars) == {"a": 2, "on": True}
    assert inventory.hosts["lone"].groups == ("ungrouped",)
    assert inventory.hosts["web01"].source.line == 10


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "hosts.json"
    path.write_text('{"all": {"hosts": {"h": {"x": [1]}}}}', encoding="utf-8")

    assert load_inventory([str(path)]).hosts["h"].vars["x"] == [1]


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "hint"),
    [
        ("---\n", 2, 1, "is empty", ""),
        ("all:\n  hosts:\n    010:\n", 3, 5, "010 is read as 8 here", '"010"'),
        ("on:\n  hosts: a\n", 1, 1, "on is read as True here", '"on"'),
        ("- web1\n", 1, 1, "this is a list", "`all:`"),
        ("- hosts: all\n  checks: []\n", 1, 1, "this is a list", "playbook"),
        ("'web1'\n", 1, 2, "this is 'web1'", "`all:`"),
        ("hosts:\n  web1:\n", 1, 1, "'hosts' is not the name of a group", "`all:`"),
        ("plugin: aws_ec2\n", 1, 1, "plugin", "ansible-inventory"),
        ("all: [a]\n", 1, 6, "group 'all' is a mapping", ""),
        ("all:\n  host:\n    a:\n", 2, 3, "unknown key 'host' in group 'all'", "'hosts'"),
        ("all:\n  web1:\n", 2, 3, "unknown key 'web1'", "`hosts:`"),
        ("all:\n  hosts:\n    - a\n", 3, 5, "'hosts' of group 'all' is a mapping, this is a list", "without a dash"),
        ("all:\n  hosts:\n    a: 3\n", 3, 8, "the variables of host 'a'", ""),
        ("all:\n  vars: x\n", 2, 9, "'vars' of group 'all'", ""),
        ("all:\n  hosts:\n    web[3:1]:\n", 3, 8, "is empty", "[1:3]"),
        ("all:\n  hosts:\n    a:\n    a:\n", 4, 5, "'a' is here twice", ""),
        ("a: {children: {b: {children: {a: }}}}\n", 1, 16, "'a' contains itself: a > b > a", ""),
        ("'': {hosts: x}\n", 1, 2, "the name of a group is empty", ""),
        ("all:\n  vars: {ansible_group_priority: x}\n", 2, 34, "whole number", ""),
        ("all:\n\thosts:\n", 2, 1, "", "spaces"),
    ],
)
def test_errors_name_place_and_remedy(
    tmp_path: Path, text: str, line: int, column: int, message: str, hint: str
) -> None:
    with pytest.raises(InventoryError) as caught:
        load(tmp_path, text)
    error = caught.value

    assert message in error.message
    assert hint in error.hint
    assert (error.source.line, error.source.column) == (line, column)


@pytest.mark.parametrize(
    ("value", "message"),
    [("[" * 5000 + "]" * 5000, "exceeded maximum nesting depth"), ("9" * 5000, "is not a valid int")],
    ids=["depth", "digits"],
)
def test_json_that_is_too_much_is_an_error_at_its_place(tmp_path: Path, value: str, message: str) -> None:
    with pytest.raises(InventoryError) as caught:
        load(tmp_path, f'{{"all": {{"vars": {{"x": {value}}}}}}}')

    assert caught.value.source.line == 1
    assert message in caught.value.message
