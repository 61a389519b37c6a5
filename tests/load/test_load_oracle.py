"""The oracle of the inventory tests: batches say what the real program says."""

from __future__ import annotations

from pathlib import Path

from oracle import Call, Oracle

INI = "[web]\nweb[01:03] x=1\n[web:vars]\ny=[1, 2]\n[prod:children]\nweb\n"
YAML = "all: {hosts: {a: {x: 1.5}}, children: {g: {hosts: {b: }, vars: {z: 2024-01-02}}}}\n"
BROKEN = "[web:nonsense]\na\n"


def write(folder: Path) -> None:
    (folder / "hosts").write_text(INI)
    (folder / "hosts.yml").write_text(YAML)
    (folder / "broken").write_text(BROKEN)
    (folder / "group_vars").mkdir()
    (folder / "group_vars" / "web.yml").write_text("y: from the file\n")


def test_a_batch_says_what_the_real_program_says(oracle: Oracle, tmp_path: Path) -> None:
    write(tmp_path)
    calls = [
        Call(args, tmp_path)
        for args in (
            ["-i", "hosts", "--list"],
            ["-i", "hosts.yml", "-i", "hosts", "--list", "--export"],
            ["-i", "hosts", "--graph", "--vars"],
            ["-i", "hosts", "--host", "web02"],
            ["-i", "hosts", "--host", "nobody"],
            ["-i", "broken", "--list"],
            ["-i", "a,b", "--list", "--yaml"],
        )
    ]
    got = oracle.batch(calls)
    really = [oracle.really(call) for call in calls]
    assert [(a.rc, a.stdout, a.unread) for a in got] == [(a.rc, a.stdout, a.unread) for a in really]
    assert [a.unread for a in got] == [False, False, False, False, False, True, False]


def test_a_call_knows_nothing_of_the_one_before(oracle: Oracle, tmp_path: Path) -> None:
    write(tmp_path)
    call = Call(["-i", "hosts", "--list"], tmp_path)
    other = Call(["--list"], tmp_path, {"ANSIBLE_INVENTORY": "hosts.yml"})
    first, own, second = oracle.batch([call, other, call])
    assert first == second
    assert own.json()["_meta"]["hostvars"] == {"a": {"x": 1.5}, "b": {"z": "2024-01-02"}}
    assert first.json()["_meta"]["hostvars"]["web01"] == {"x": 1, "y": "from the file"}
