"""`run --help-params`, and values of parameters on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Done, call_here

PLAYBOOK = """\
- hosts: all
  params:
    threshold: {type: percent, default: 90, help: Where a disk is too full.}
    level: {choices: [quick, full], default: quick}
    name: {required: true}
  checks:
    - {id: a, run: "echo {{ name }} {{ threshold }}", slice: {head: 1, when: always}}
"""


def run(folder: Path, *arguments: str) -> Done:
    return call_here(["run", "play.yml", *arguments], folder=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "play.yml").write_text(PLAYBOOK, encoding="utf-8")
    return tmp_path


def test_parameters_are_listed_for_people(folder: Path) -> None:
    done = run(folder, "--help-params")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "Parameters of play.yml, to be set with -e NAME=VALUE or -e @FILE:",
        "",
        "  threshold  percent  default 90%",
        "      Where a disk is too full.",
        "  level      string   default quick; one of quick, full",
        "  name       string   required",
    ]


def test_parameters_are_listed_for_programs(folder: Path) -> None:
    found = json.loads(run(folder, "--help-params", "--format", "json").stdout)

    assert [param["name"] for param in found] == ["threshold", "level", "name"]
    assert found[0] == {
        "name": "threshold",
        "type": "percent",
        "default": 90,
        "required": False,
        "choices": [],
        "help": "Where a disk is too full.",
    }


def test_a_playbook_without_any_says_so(folder: Path) -> None:
    (folder / "play.yml").write_text("- hosts: all\n  checks: [{run: id}]\n", encoding="utf-8")

    assert run(folder, "--help-params").stdout == "play.yml has no parameters.\n"


def test_a_run_gets_finished_values_or_does_not_start(folder: Path) -> None:
    good = run(folder, "-e", "name=x threshold=85%", "-q")
    unset = run(folder, "-q")
    wrong = run(folder, "-e", "name=x", "-e", "level=all", "-q", "--format", "json")

    assert "1 | x 85" in good.stdout
    assert (unset.returncode, unset.stdout) == (64, "")
    assert "the parameter name must be set" in unset.stderr
    assert wrong.returncode == 64
    assert "none of its choices" in json.loads(wrong.stdout)["run"]["error"]
