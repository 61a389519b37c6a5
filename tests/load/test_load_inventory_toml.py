"""The TOML form: what is wrong in it is said with its line. What it means is compared with Ansible elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrunner.load.inventory import load_inventory, load_inventory_with_origins
from checkrunner.load.origins import explain
from checkrunner.model.errors import InventoryError


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "hosts.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "hint"),
    [
        ("[web\n", 1, 5, "TOML: expected ']'", ""),
        ("a = 1\na = 2\n", 2, 6, "TOML: cannot overwrite a value", ""),
        ("a = \n", 1, 5, "TOML: invalid value", ""),
        ("[a.hosts]\nh = {", 2, 0, "TOML: ", ""),
        ("# only this\n[a]\nhosts = 1\n", 3, 1, "'hosts' of group 'a' is a table", "[a.hosts]"),
        ("web = 1\n", 1, 1, "group 'web' is a table", "[name.hosts]"),
        ("[web]\nhost = {}\n", 2, 1, "unknown key 'host'", "'hosts'"),
        ("[web]\nchildren = 'db'\n", 2, 1, "is a list of names", "children = ["),
        ("[web.hosts]\nh = 1\n", 2, 1, "the variables of host 'h'", "h = {}"),
        ("[web.hosts]\nx = {}\n\n'h[5:1]' = {}\n", 4, 3, "is empty", "[1:5]"),
        ("[a]\nchildren = ['b']\n[b]\nchildren = ['a']\n", 4, 14, "'b' contains itself: b > a > b", ""),
        ("plugin = 'x'\n", 1, 1, "plugin", "ansible-inventory"),
        ("[g.vars]\nansible_group_priority = 'x'\n", 2, 1, "whole number", ""),
    ],
)
def test_errors_name_the_line(tmp_path: Path, text: str, line: int, column: int, message: str, hint: str) -> None:
    with pytest.raises(InventoryError) as caught:
        load_inventory([write(tmp_path, text)])
    error = caught.value

    assert message in error.message
    assert hint in error.hint
    assert (error.source.line, error.source.column) == (line, column)
    assert error.line_text or not error.source.line


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("9" * 5000, "a number has too many digits"),
        ("0x" + "f" * 5000, "a number has too many digits"),
        ("[" * 5000, "is nested too deeply"),
        ("[" * 200 + "]" * 200, "is nested too deeply"),
    ],
    ids=["digits", "hexadecimal digits", "depth", "readable depth"],
)
def test_what_is_too_much_is_an_error(tmp_path: Path, value: str, message: str) -> None:
    with pytest.raises(InventoryError, match=message):
        load_inventory([write(tmp_path, f"[g.vars]\nx = {value}\n")])


def test_variables_know_their_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "[g.vars]\nx = 1\n[g.hosts.h]\ny = 2\n[g.hosts.k]\ny = 3\n")
    inventory, origins = load_inventory_with_origins([path])
    found = {variable.name: str(variable.source) for variable in explain(inventory, origins, "k").variables}

    assert found == {"x": f"{path}:2:1", "y": f"{path}:6:1"}
