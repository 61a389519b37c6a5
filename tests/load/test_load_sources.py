"""Directories, programs and repeated sources are to us what they are to Ansible; so are variables beside them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import golden_inventories as golden
import pytest
from oracle import Call, Oracle, list_call

from checkrunner.load.inventory import load_inventory, load_inventory_with_origins
from checkrunner.load.secrets import SecretReader
from checkrunner.model.errors import InventoryError

MARKED = "[par:children]\nchi\n[chi]\nhost hv=own a=host\n[par:vars]\nk=par\n[all:vars]\nk=all\n"
PRINTED = """#!/bin/sh
cat <<'JSON'
{"_meta": {"hostvars": {"a": {"x": 1, "l": [1, {"y": null}], "t": "{{ x }}"}, "b[1:2]": {"f": 1.5, "b": true}}},
 "web": {"hosts": ["a", "b[1:2]", "c:22", "a"], "vars": {"g": 1, "ansible_group_priority": 5}, "children": ["kid"]},
 "kid": ["k1", "a"], "legacy": {"foo": "bar"}, "none": {}, "emptyhosts": {"hosts": []},
 "all": {"vars": {"av": 1, "g": 2}, "children": ["web", "later"]}, "extra": {"hosts": ["z"], "foo": 1},
 "ungrouped": {"hosts": ["lone"]}, "later": {"vars": {"q": "x"}}}
JSON
"""
ASKED = """#!/bin/sh
case $1 in
--list) echo '{"g": {"hosts": ["p", "q", "r"]}, "ungrouped": ["lone"], "all": ["p", "s"]}' ;;
--host) case $2 in p) echo '{"hp": 1, "ansible_host": "192.0.2.1"}' ;; q) ;; r) echo ' ' ;; *) echo '{}' ;; esac ;;
esac
"""


def level(name: str) -> dict[str, str]:
    """Files of variables that say where they come from."""
    groups = {
        f"{name}/group_vars/{group}.yml": f"k: {name}-{group}\n{group}_from: {name}\n{name}_{group}: 1\n"
        for group in ("all", "par", "chi")
    }
    return {**groups, f"{name}/host_vars/host.yml": f"hv: {name}\nhost_from: {name}\n"}


LEVELS = {**level("A"), **level("B"), **level("P"), "A/h": MARKED, "A/h2": MARKED, "B/h": MARKED, "B/other": "[x]\ny\n"}
LEFT_OUT = (
    ".hidden", "a.cfg", "b.txt", "c.md", "d.rst", "e.bak", "f.orig", "g.retry", "h.yml~", "i.swp", "j.pyc", "k.pyo",
    "l.rpm", "m~", "vars_plugins/x", ".dir/x",
)  # fmt: skip
READ = {"i.ini": "h_ini n=1\n", "noext.conf": "h_conf n=1\n", "zz": "common w=2\n[late]\nh_ini\n", "t u": "h_space\n"}


@dataclass(frozen=True)
class Case:
    """Files (those that begin with #! are executable), sources, and the directory of a playbook."""

    files: Mapping[str, str]
    sources: tuple[str, ...]
    playbook_dir: str | None = None


CASES = {
    "one": Case(LEVELS, ("A/h",)),
    "two": Case(LEVELS, ("A/h", "B/h")),
    "two the other way": Case(LEVELS, ("B/h", "A/h")),
    "one directory twice": Case(LEVELS, ("A/h", "B/h", "A/h2")),
    "one file twice": Case(LEVELS, ("A/h", "B/h", "A/h")),
    "beside the playbook": Case(LEVELS, ("A/h",), "P"),
    "beside the playbook alone": Case({**level("P"), "h": MARKED}, ("h",), "P"),
    "playbook beside the inventory": Case(LEVELS, ("A/h",), "A"),
    "playbook beside the weaker of two": Case(LEVELS, ("A/h", "B/h"), "A"),
    "playbook beside the stronger of two": Case(LEVELS, ("A/h", "B/h"), "B"),
    "a list and a playbook": Case(LEVELS, ("host,", "B/other"), "P"),
    "a list alone": Case(LEVELS, ("host,third",), "P"),
    "a directory": Case({**{f"inv/{name}": text for name, text in READ.items()}, "inv/01": "common w=1\n"}, ("inv",)),
    "what is left out": Case({"inv/hosts": "h\n", **{f"inv/{name}": "left_out\n" for name in LEFT_OUT}}, ("inv",)),
    "a directory in a directory": Case(
        {"inv/b/hosts": "h x=1\n", "inv/a": "h x=2\n", "inv/c.d/hosts": "h x=3 y=3\n", "inv/b/group_vars/all": "no: 1\n"},
        ("inv",),
    ),
    "a directory and its variables": Case({"inv/a": MARKED, **{f"inv{k[1:]}": v for k, v in level("V").items()}}, ("inv",)),
    "a directory among files": Case({**LEVELS, "inv/a": "host k=dir\n", "inv/group_vars/chi": "k: dirs\n"}, ("A/h", "inv/", "B/h")),
    "a program": Case({"run": PRINTED}, ("run",)),
    "a program that is asked for each host": Case({"run": ASKED}, ("run",)),
    "a program in a directory": Case({"inv/b": PRINTED, "inv/a": "a x=before y=1\n", "inv/c": "[web]\nk1 z=1\n"}, ("inv",)),
    "a program and its variables": Case({"run": PRINTED, "group_vars/web": "g: file\n", "host_vars/a": "x: file\n"}, ("run",)),
    "programs and files": Case({"run": PRINTED, "ask": ASKED, "h": "[g]\nk1\n"}, ("ask", "h", "run")),
    "variables in many files": Case(
        {
            "hosts": "[web]\nh\n[db]\nh\nd.yml\n[app]\nh\n[x]\nh\n",
            "group_vars/web/sub/f.yml": "a: sub\n", "group_vars/web/sub.d/f.yml": "b: no\n", "group_vars/web/plain": "c: 1\n",
            "group_vars/web/x.json": '{"d": 1e2}', "group_vars/web/x.txt": "e: no\n", "group_vars/web/a.yml~": "f: no\n",
            "group_vars/web/.a.yml": "g: no\n", "group_vars/web.yml/x.yml": "h: no\n", "group_vars/db/a": "i: 1\n",
            "group_vars/db.yml": "j: no\n", "group_vars/app.yml": "k: 1\n", "group_vars/app.json": "l: no\n",
            "group_vars/x.yml/q.yml": "m: 1\n", "group_vars/x.yaml": "n: no\n", "group_vars/all/z.yml": "o: z\n",
            "group_vars/all/a.yml": "o: a\np: a\n", "host_vars/d.yml": "q: 1\n", "host_vars/d.yml.yml": "r: no\n",
        },
        ("hosts",),
    ),
}  # fmt: skip


def lay_out(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    return folder


def question(case: Case, folder: Path) -> Call:
    # Without a directory for the playbook it is the current one, so that must have nothing.
    return list_call(*case.sources, cwd=folder, more=["--playbook-dir", case.playbook_dir or "nowhere"])


def test_sources_are_to_us_what_they_are_to_ansible(
    oracle: Oracle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [lay_out(tmp_path / str(number), case.files) for number, case in enumerate(CASES.values())]
    (tmp_path / "nowhere").mkdir()
    for folder in folders:
        (folder / "nowhere").mkdir()
    answers = oracle.batch(question(case, folder) for case, folder in zip(CASES.values(), folders, strict=True))
    wrong: dict[str, list[str]] = {}
    counted = golden.count([answer.json() for answer in answers])
    for (name, case), folder, answer in zip(CASES.items(), folders, answers, strict=True):
        assert not answer.unread, f"{name}: {answer.stderr}"
        monkeypatch.chdir(folder)
        inventory = load_inventory(case.sources, playbook_dir=case.playbook_dir)
        found = golden.differences(inventory, answer.json())
        wrong |= {name: found} if found else {}

    assert wrong == {}
    assert counted.inventories == len(CASES)
    assert counted.pairs > 200, counted


def test_the_current_directory_is_beside_the_playbook_of_ansibles_tools(oracle: Oracle, tmp_path: Path) -> None:
    lay_out(tmp_path, {**LEVELS, "group_vars/all": "here: 1\n"})
    said = oracle.list("A/h", cwd=tmp_path)

    assert said["_meta"]["hostvars"]["host"]["here"] == 1  # which is why it is the default of `hosts`


def program(tmp_path: Path, body: str, name: str = "prog") -> str:
    return str(lay_out(tmp_path, {name: f"#!/bin/sh\n{body}\n"}) / name)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("echo no json", r"--list prints no JSON \(line 1, column 1: Expecting value\)"),
        ("echo '[]'", "what --list prints is not a mapping, it is a list"),
        ("echo '{\"g\": 5}'", "group 'g' is not a mapping, it is a number"),
        ('echo \'{"g": {"hosts": "a"}}\'', "g.hosts is not a list, it is a text"),
        ('echo \'{"g": {"vars": [1]}}\'', "g.vars is not a mapping, it is a list"),
        ('echo \'{"g": {"hosts": [1]}}\'', "g.hosts holds 1, which is no name"),
        ('echo \'{"g": {"hosts": [""]}}\'', "g.hosts holds '', which is no name"),
        ('echo \'{"_meta": {"hostvars": []}, "g": ["a"]}\'', "_meta.hostvars is not a mapping, it is a list"),
        ("printf '\\377'", "--list prints no UTF-8 text"),
        ('echo \'{"g": ["a\\ud800"]}\'', "a text with '.ud800' in it, which is half a character"),
        ('echo \'{"g": {"vars": {"a": \'"$(printf %05000d 9 | tr 0 9)"\'}}}\'', "a number with too many digits"),
        ("printf %05000d 0 | tr 0 '['", "JSON that is nested too deeply"),
        (f"""echo '{{"g": {{"vars": {{"a": {"[" * 900}{"]" * 900}}}}}}}'""", "JSON that is nested too deeply"),
        ("echo boom >&2; exit 3", "the program ended with exit code 3: boom"),
        ("kill -9 $$", "the program was ended by signal 9"),
        (
            'case $1 in --list) echo \'{"g": ["a"]}\';; *) echo who >&2; exit 4;; esac',
            "the program ended with exit code 4: who",
        ),
        ("while echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; do :; done | cat", "wrote more than 64 MiB"),
        ('echo \'{"a": {"children": ["b"]}, "b": {"children": ["a"]}}\'', "contains itself"),
    ],
)
def test_a_program_that_gives_no_inventory(tmp_path: Path, body: str, message: str) -> None:
    source = program(tmp_path, body)
    with pytest.raises(InventoryError, match=message) as caught:
        load_inventory([source])

    assert caught.value.source.path == source


def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    source = program(tmp_path, "exec sleep 60")
    with pytest.raises(InventoryError, match=r"did not end within 0\.3 s") as caught:
        load_inventory([source], secrets=SecretReader(timeout_s=0.3))

    assert "program_timeout" in caught.value.hint


def test_what_a_program_leaves_running_is_not_waited_for(tmp_path: Path) -> None:
    source = program(tmp_path, 'echo \'{"g": ["a"], "_meta": {"hostvars": {}}}\'; sleep 3 &')

    assert list(load_inventory([source], secrets=SecretReader(timeout_s=2)).hosts) == ["a"]


def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    source = program(tmp_path, "")
    Path(source).write_text("#!/no/such/interpreter\n", encoding="utf-8")
    with pytest.raises(InventoryError, match=r"cannot be started: there is no such program"):
        load_inventory([source])


def test_a_file_that_is_executable_and_no_program_is_read(tmp_path: Path) -> None:
    path = lay_out(tmp_path, {"hosts": "[g]\na x=1\n"}) / "hosts"
    path.chmod(0o755)

    assert dict(load_inventory([str(path)]).hosts["a"].vars) == {"x": 1}


def test_a_program_that_is_not_executable(tmp_path: Path) -> None:
    path = Path(program(tmp_path, "echo hello you"))
    path.chmod(0o644)
    with pytest.raises(InventoryError) as caught:
        load_inventory([str(path)])

    assert "chmod +x" in str(caught.value)


def test_a_program_warns_of_hosts_that_it_does_not_have(tmp_path: Path) -> None:
    source = program(
        tmp_path, 'echo \'{"g": ["a"], "odd": {"v": 1}, "_meta": {"hostvars": {"ghost": {}, "gone": {}}}}\''
    )
    _, origins = load_inventory_with_origins([source])

    assert f"{source}: _meta.hostvars of 'ghost' and 1 more are not used: no group has such a host" in origins.warnings
    assert any("group 'odd' has no hosts" in warning for warning in origins.warnings)


def test_marked_texts_of_a_program_are_no_templates(tmp_path: Path) -> None:
    from checkrunner.model.sources import Template

    source = program(tmp_path, 'echo \'{"g": {"hosts": ["a"], "vars": {"u": {"__ansible_unsafe": "{{ x }}"}}}}\'')
    value = load_inventory([source]).hosts["a"].vars["u"]

    assert isinstance(value, Template)
    assert (value.text, value.is_static) == ("{{ x }}", True)


def test_a_directory_that_has_no_inventory(tmp_path: Path) -> None:
    lay_out(tmp_path, {"group_vars/all": "a: 1\n", "readme.md": "x\n"})
    with pytest.raises(InventoryError, match="the directory holds no inventory") as caught:
        load_inventory([str(tmp_path)])

    assert caught.value.hint == "Left out by their names, as in Ansible: group_vars, readme.md."


def test_a_wrong_file_in_a_directory_is_an_error_at_its_place(tmp_path: Path) -> None:
    lay_out(tmp_path, {"inv/good": "h\n", "inv/sub/bad": "[web]\na b c\n"})
    with pytest.raises(InventoryError) as caught:
        load_inventory([str(tmp_path / "inv")])

    assert (caught.value.source.path, caught.value.source.line) == (str(tmp_path / "inv/sub/bad"), 2)


def test_a_directory_that_leads_back_to_itself_ends(tmp_path: Path) -> None:
    lay_out(tmp_path, {"inv/hosts": "h\n"})
    (tmp_path / "inv/loop").symlink_to(tmp_path / "inv")

    assert list(load_inventory([str(tmp_path / "inv")]).hosts) == ["h"]


def test_a_link_that_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    lay_out(tmp_path, {"inv/hosts": "h\n"})
    (tmp_path / "inv/gone").symlink_to(tmp_path / "nothing")
    with pytest.raises(InventoryError, match="cannot be read"):
        load_inventory([str(tmp_path / "inv")])


def test_variables_beside_the_playbook_without_an_inventory(tmp_path: Path) -> None:
    lay_out(
        tmp_path, {"group_vars/all.yml": "a: 1\n", "host_vars/localhost.yml": "b: 2\n", "group_vars/other": "c: 3\n"}
    )
    inventory, origins = load_inventory_with_origins([], playbook_dir=str(tmp_path))

    host = inventory.hosts["localhost"]
    assert (host.vars["a"], host.vars["b"], host.transport) == (1, 2, "local")
    assert origins.warnings == ()  # files of other inventories may be there


def test_where_a_variable_beside_the_playbook_comes_from(tmp_path: Path) -> None:
    lay_out(tmp_path, LEVELS)
    inventory, origins = load_inventory_with_origins([str(tmp_path / "A/h")], playbook_dir=str(tmp_path / "P"))
    (found,) = [v for v in origins.variables(inventory.hosts["host"]) if v.name == "k"]

    assert found.value == "P-chi"
    assert found.origin == "group chi (group_vars beside the playbook)"
    assert found.source.path == str(tmp_path / "P/group_vars/chi.yml")
    assert [where for where, _ in found.overridden] == [
        "group par (group_vars beside the playbook)",
        "group chi (group_vars)",
        "group par (group_vars)",
        "group all (group_vars beside the playbook)",
        "group all (group_vars)",
        "group par",
        "group all",
    ]


def test_a_pipe_in_a_directory_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "hosts")

    with pytest.raises(InventoryError, match="hosts: is neither a file nor a directory"):
        load_inventory([str(tmp_path)])


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("hosts.in", "Did you mean '{folder}/hosts.ini'?"),
        ("web[1-3]", "A node set is written -i 'nodeset:{folder}/web[1-3]'."),
        ("nowhere/else", ""),
    ],
)
def test_a_source_that_is_not_there(tmp_path: Path, source: str, hint: str) -> None:
    (tmp_path / "hosts.ini").write_text("web1\n")

    with pytest.raises(InventoryError, match="there is no such inventory file") as caught:
        load_inventory([f"{tmp_path}/{source}"])

    assert caught.value.hint == hint.format(folder=tmp_path)


def test_an_empty_source_is_an_error() -> None:
    with pytest.raises(InventoryError, match="an empty text is no inventory"):
        load_inventory([""])
