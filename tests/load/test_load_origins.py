from __future__ import annotations

from pathlib import Path

import pytest

from checkrunner.load.inventory import load_inventory_with_origins, localhost
from checkrunner.load.origins import InventoryOrigins, explain
from checkrunner.model.errors import UnknownNameError, UsageError
from checkrunner.model.sources import Secret


def test_every_variable_says_where_it_comes_from(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(
        "[web]\nh v=host only=1\n[web:vars]\nv=web\n[all:vars]\nv=all\nansible_password=hunter2\n[top:children]\nweb\n",
        encoding="utf-8",
    )
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "group_vars" / "top.yml").write_text("v: file\n", encoding="utf-8")
    found = explain(*load_inventory_with_origins([str(path)]), "h")

    assert found.groups == ("all", "top", "web")
    assert (found.host.source.path, found.host.source.line) == (str(path), 2)
    variables = {variable.name: variable for variable in found.variables}
    assert list(variables) == ["ansible_password", "only", "v"]
    v = variables["v"]
    assert (v.value, v.origin, v.source.line, v.source.column) == ("host", "host h", 2, 3)
    assert [(origin, ref.path.removeprefix(f"{tmp_path}/"), ref.line) for origin, ref in v.overridden] == [
        ("group top (group_vars)", "group_vars/top.yml", 1),
        ("group web", "hosts", 4),
        ("group all", "hosts", 6),
    ]
    assert variables["ansible_password"].value == Secret("hunter2")
    assert variables["only"].overridden == ()


def test_what_is_explained_is_what_the_host_has(tmp_path: Path) -> None:
    inventory, origins = load_inventory_with_origins([str(Path(__file__).parent / "golden" / "ini" / "hosts")])

    for name, host in inventory.hosts.items():
        assert {v.name: v.value for v in explain(inventory, origins, name).variables} == dict(host.vars)


def test_unknown_names_have_a_near_miss(tmp_path: Path) -> None:
    inventory, origins = load_inventory_with_origins(["web1,web2"])

    with pytest.raises(UnknownNameError, match="Did you mean 'web2'"):
        explain(inventory, origins, "wbe2")


def test_the_local_inventory_has_no_origins() -> None:
    found = explain(localhost(), InventoryOrigins(), "localhost")

    assert (found.groups, found.variables) == (("ungrouped",), ())


def test_a_group_is_told_from_an_unknown_name(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("[web]\na\nb\n[none]\n", encoding="utf-8")
    inventory, origins = load_inventory_with_origins([str(path)])

    with pytest.raises(UsageError, match=r"'web' is a group, not a host\. Its hosts: a, b"):
        explain(inventory, origins, "web")
    with pytest.raises(UsageError, match="It has no hosts"):
        explain(inventory, origins, "none")


def test_a_host_says_how_it_came_into_its_groups(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yml"
    path.write_text(
        "all:\n  children:\n    web:\n      hosts:\n        h:\n    top:\n      children:\n        web:\n"
        "    also:\n      hosts: {h: }\n",
        encoding="utf-8",
    )
    inventory, origins = load_inventory_with_origins([str(path)])

    ways = {(group, child): ref.line for group, child, ref in explain(inventory, origins, "h").ways}

    assert ways == {("web", None): 5, ("also", None): 10, ("top", "web"): 8}
