"""A team's inventory through the real command line: templates in connection settings, hosts that cannot be looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Done, call_here

INVENTORY = """\
[linux]
here
[linux:vars]
ansible_connection="{{ 'local' if site == 'a' else 'ssh' }}"
ansible_host="{{ inventory_hostname }}.{{ domain }}"
ansible_user="{{ default_user }}"
ansible_port="{{ 22 if site == 'a' else 2222 }}"
ansible_password="{{ vault_password }}"
[windows]
win[1:3] ansible_connection=winrm ansible_host="{{ of_ansible_alone }}"
[all:vars]
site=a
"""
PLAY = "- hosts: all\n  checks: [{id: up, run: 'true'}]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "inv.ini").write_text(INVENTORY)
    (tmp_path / "play.yml").write_text(PLAY)
    return tmp_path


def cli(folder: Path, *args: str) -> Done:
    done = call_here(args, folder=folder, columns=200)
    assert "Traceback" not in done.stderr
    return done


def test_hosts_are_looked_at_where_others_cannot_be(folder: Path) -> None:
    done = cli(folder, "run", "play.yml", "-i", "inv.ini", "--format", "json")
    report = json.loads(done.stdout)

    assert done.returncode == 3, done.stderr
    assert report["totals"]["host"] == {"reached": 1, "unsupported": 3}
    assert report["totals"]["verdict"] == {"ok": 1, "unknown": 3}
    (left,) = report["incomplete"]
    assert (left["hosts"], left["state"], left["phase"]) == ("win[1-3]", "unsupported", "connect")
    assert left["reason"] == "the connection 'winrm' is not supported"
    assert "--limit" in left["hint"]


def test_hosts_that_are_left_out_say_nothing(folder: Path) -> None:
    done = cli(folder, "run", "play.yml", "-i", "inv.ini", "--limit", "all:!windows")

    assert done.returncode == 0, done.stderr
    assert "unsupported" not in done.stdout


def test_a_setting_without_a_value_ends_before_anything_connects(folder: Path) -> None:
    for verb in ("run", "lint"):
        done = cli(folder, verb, "play.yml", "-i", "inv.ini", "-e", "site=b")

        assert done.returncode == 64
        shown = done.stdout + done.stderr
        assert "inv.ini:6:1: error: 'default_user' is not defined (ansible_user of host here)" in shown
        assert 'ansible_user="{{ default_user }}"' in shown
        assert "inv.ini:8:1: error: 'vault_password' is not defined (ansible_password of host here)" in shown


def test_settings_are_listed_as_written(folder: Path) -> None:
    explained = cli(folder, "hosts", "-i", "inv.ini", "--explain", "here").stdout
    listed = cli(folder, "inventory", "-i", "inv.ini", "--host", "here").stdout

    assert "at {{ inventory_hostname }}.{{ domain }} port {{ 22 if site == 'a' else 2222 }} as {{ default_user }}" in (
        explained
    )
    assert json.loads(listed)["ansible_password"] == "{{ vault_password }}"
    assert json.loads(listed)["ansible_port"] == "{{ 22 if site == 'a' else 2222 }}"
    assert cli(folder, "hosts", "-i", "inv.ini", "windows").stdout.split() == ["win1", "win2", "win3"]
