"""Sources, their merging and precedence; what Ansible itself makes of the same files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkrunner.load.inventory import load_inventory, load_inventory_with_origins, localhost
from checkrunner.model.errors import InventoryError
from checkrunner.model.sources import SourceRef

GOLDEN = Path(__file__).parent / "golden"


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("source", ["ini/hosts", "yaml/hosts.yml"])
def test_variables_and_groups_are_those_of_ansible(source: str) -> None:
    expected = json.loads((GOLDEN / source).with_name("expected.json").read_text(encoding="utf-8"))
    inventory = load_inventory([str(GOLDEN / source)])
    found = {name: json.loads(json.dumps(dict(host.vars), default=str)) for name, host in inventory.hosts.items()}

    assert {name: values for name, values in found.items() if values} == expected["_meta"]["hostvars"]
    for name, group in inventory.groups.items():
        assert sorted(group.children) == sorted(expected.get(name, {}).get("children", [])), name
        if name != "all":
            assert list(group.hosts) == expected.get(name, {}).get("hosts", []), name


def test_localhost() -> None:
    inventory = localhost()

    assert [(host.name, host.transport) for host in inventory.hosts.values()] == [("localhost", "local")]
    assert set(inventory.groups) == {"all", "ungrouped"}


def test_a_list_of_hosts(tmp_path: Path) -> None:
    inventory = load_inventory(["web[01:02], db:2222,[fe80::1]:22,"])

    assert [(host.name, host.port) for host in inventory.hosts.values()] == [
        ("web01", None),
        ("web02", None),
        ("db", 2222),
        ("fe80::1", 22),
    ]


@pytest.mark.parametrize(("source", "message"), [(",", "is empty"), ("a,b[3:1]", "is empty: it runs"), ("a b,", "' '")])
def test_a_list_that_is_none(source: str, message: str) -> None:
    with pytest.raises(InventoryError, match=r"-i .*: ") as caught:
        load_inventory([source])
    assert message in caught.value.message


def test_later_sources_win_and_order_stays(tmp_path: Path) -> None:
    one = write(tmp_path / "one.yml", "web: {hosts: {a: {x: 1, y: 1}, b: }, vars: {g: 1}}\n")
    two = write(tmp_path / "two", "[web]\nc\na x=2\n[web:vars]\ng=2\n")
    inventory = load_inventory([one, two, "d,"])

    assert list(inventory.hosts) == ["d", "a", "b", "c"]  # as `all` lists them: its first group is `ungrouped`
    assert dict(inventory.hosts["a"].vars) == {"x": 2, "y": 1, "g": 2}
    assert inventory.sources == (one, two, "d,")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hosts", "---\nall: {hosts: {a: }}\n"),
        ("hosts", "# c\nall:\n  hosts:\n    a:\n"),
        ("hosts", '{"all": {"hosts": {"a": {}}}}'),
        ("hosts.yml", "[all]\na\n"),
        ("hosts.yaml", "# c\n[web:children]\nx\n[x]\na\n"),
        ("hosts.ini", "a\n"),
        ("hosts.cfg", "a b=c\n"),
        ("hosts", "\ufeffa\n"),
    ],
)
def test_the_form_is_seen_from_the_content(tmp_path: Path, name: str, text: str) -> None:
    assert list(load_inventory([write(tmp_path / name, text)]).hosts) == ["a"]


def test_precedence(tmp_path: Path) -> None:
    """all < parents < children (same depth by priority, then name) < host."""
    source = write(
        tmp_path / "h.yml",
        """\
all:
  vars: {v: all, only: all}
  children:
    p:
      vars: {v: p, p: p}
      children:
        z: {hosts: {h1: , h2: , h3: {v: host}}, vars: {v: z}}
        y: {hosts: {h1: }, vars: {v: y}}
        x: {hosts: {h2: }, vars: {v: x, ansible_group_priority: 10}}
    zz: {hosts: {h1: }, vars: {v: zz, p: zz}}
""",
    )
    hosts = load_inventory([source]).hosts

    assert [hosts[name].vars["v"] for name in ("h1", "h2", "h3")] == ["z", "x", "host"]
    assert hosts["h1"].vars["p"] == "zz"  # as deep as p, later in the alphabet
    assert hosts["h1"].vars["only"] == "all"
    assert "ansible_group_priority" not in hosts["h2"].vars


def test_files_of_variables(tmp_path: Path) -> None:
    source = write(tmp_path / "hosts", "[web]\na v=host w=host\nb\n[web:vars]\nv=inline\nu=inline\n")
    write(tmp_path / "group_vars" / "all.yml", "u: all file\nx: 1\n")
    write(tmp_path / "group_vars" / "web" / "1.yml", "v: web file\n")
    write(tmp_path / "group_vars" / "web" / "sub" / "2.json", '{"y": 2}')
    write(tmp_path / "group_vars" / "web" / ".hidden.yml", "y: 3\n")
    write(tmp_path / "group_vars" / "wbe.yml", "[not: read")
    write(tmp_path / "host_vars" / "a", "w: host file\n")
    write(tmp_path / "host_vars" / "b.yml", "")
    hosts = load_inventory([source]).hosts

    assert dict(hosts["a"].vars) == {"v": "host", "w": "host file", "u": "all file", "x": 1, "y": 2}
    assert dict(hosts["b"].vars) == {"v": "web file", "u": "all file", "x": 1, "y": 2}


def test_a_second_file_for_a_group_is_warned_of(tmp_path: Path) -> None:
    source = write(tmp_path / "hosts", "[web]\na\n")
    first = write(tmp_path / "group_vars" / "web.yml", "v: 1\n")
    second = write(tmp_path / "group_vars" / "web.json", '{"v": 2}')
    inventory, origins = load_inventory_with_origins([source])

    assert inventory.hosts["a"].vars["v"] == 1
    assert origins.warnings == (f"{second}: is not read, because {first} is there too",)


def test_errors_in_files_of_variables_name_the_file(tmp_path: Path) -> None:
    source = write(tmp_path / "hosts", "[web]\na\n")
    path = write(tmp_path / "group_vars" / "web.yml", "- a\n")

    with pytest.raises(InventoryError) as caught:
        load_inventory([source])
    assert caught.value.source == SourceRef(path=path, line=1, column=1)


def test_a_name_that_is_group_and_host_is_warned_of(tmp_path: Path) -> None:
    source = write(tmp_path / "hosts", "[web]\nweb\n")
    _, origins = load_inventory_with_origins([source])

    assert len(origins.warnings) == 1
    assert "'web' is a group and a host" in origins.warnings[0]


def test_one_host_in_many_groups_and_two_names_for_one_address(tmp_path: Path) -> None:
    inventory = load_inventory(
        [write(tmp_path / "h", "[a]\nh1\nh1\n[b]\nh1\nh2 ansible_host=10.0.0.1\nh3 ansible_host=10.0.0.1\n")]
    )

    assert list(inventory.hosts) == ["h1", "h2", "h3"]
    assert inventory.hosts["h1"].groups == ("a", "b")
    assert inventory.hosts["h2"].address == inventory.hosts["h3"].address == "10.0.0.1"


def test_what_is_no_inventory_file(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InventoryError, match="the directory holds no inventory"):
        load_inventory([str(tmp_path / "empty")])
    with pytest.raises(InventoryError, match="there is no such inventory file"):
        load_inventory([str(tmp_path / "nope")])
    with pytest.raises(InventoryError, match="write -i web1, "):
        load_inventory(["web1"])


def test_paths_with_spaces_and_other_letters(tmp_path: Path) -> None:
    path = write(tmp_path / "mein größtes inventar.yml", "all: {hosts: {a: {x: }}}\n")

    assert load_inventory([path]).hosts["a"].source.path == path


def test_ten_thousand_hosts_load_in_time_that_grows_linearly(tmp_path: Path) -> None:
    source = write(tmp_path / "h", "[web]\nweb[00001:10000]\n[web:vars]\nx=1\n[top:children]\nweb\n")
    inventory = load_inventory([source])

    assert len(inventory.hosts) == 10_000
    assert inventory.hosts["web10000"].groups == ("top", "web")


def test_a_folder_of_variables_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    source = write(tmp_path / "hosts", "a\n")
    (tmp_path / "group_vars").symlink_to("group_vars")

    with pytest.raises(InventoryError, match=r"group_vars: cannot be read: Too many levels of symbolic links"):
        load_inventory([source])


def test_links_that_lead_back_up_are_read_once(tmp_path: Path) -> None:
    source = write(tmp_path / "hosts", "[web]\na\n")
    write(tmp_path / "group_vars" / "web" / "1.yml", "v: 1\n")
    (tmp_path / "group_vars" / "web" / "up").symlink_to(tmp_path / "group_vars")
    (tmp_path / "group_vars" / "web" / "here").symlink_to(".")

    assert dict(load_inventory([source]).hosts["a"].vars) == {"v": 1}


def test_files_of_variables_that_nobody_reads_are_warned_of(tmp_path: Path) -> None:
    source = write(tmp_path / "hosts", "[web]\na1\n")
    group = write(tmp_path / "group_vars" / "wbe.yml", "v: 1\n")
    host = write(tmp_path / "host_vars" / "zzz", "v: 1\n")

    assert load_inventory_with_origins([source])[1].warnings == (
        f"{group}: is not read: the inventory has no group 'wbe'. Did you mean 'web'?",
        f"{host}: is not read: the inventory has no host 'zzz'",
    )


def test_settings_that_nothing_acts_on_are_warned_of_once(tmp_path: Path) -> None:
    text = "[web]\na ansible_usr=x ansible_python_interpreter=/p\nb ansible_usr=y ansible_host=h ansible_colour=1\n"
    source = write(tmp_path / "hosts", text)

    assert load_inventory_with_origins([source])[1].warnings == (
        (
            f"{source}:2:3: ansible_usr is no setting that is known: it is a variable like any other. "
            "Did you mean ansible_user? (and 1 more)"
        ),
        f"{source}:2:17: ansible_python_interpreter is not acted on: the host's python3 is found by itself",
        f"{source}:3:32: ansible_colour is no setting that is known: it is a variable like any other",
    )


@pytest.mark.parametrize(
    ("name", "meant"),
    [("usr", "user"), ("conection", "connection"), ("hst", "host"), ("ssh_comon_args", "ssh_common_args")],
)
def test_settings_with_typing_errors(name: str, meant: str, tmp_path: Path) -> None:
    source = write(tmp_path / "hosts", f"a ansible_{name}=x\n")

    assert f"Did you mean ansible_{meant}?" in load_inventory_with_origins([source])[1].warnings[0]


def test_a_user_in_a_list_of_hosts_has_its_own_place() -> None:
    with pytest.raises(InventoryError, match=r"`-u root`, or as `ansible_user`") as caught:
        load_inventory(["root@h:22,"])
    assert "Write -i h:22," in caught.value.hint
