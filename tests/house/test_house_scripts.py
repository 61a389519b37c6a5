"""The scripts behind `make`: what they say and how they end, with their programs replaced by ones that tell."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from house_tree import ROOT

SCRIPTS = ROOT / "scripts"


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def run(path: Path, *arguments: str, search: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(path), *arguments], env={"PATH": search}, capture_output=True, text=True, timeout=30
    )


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A checkout with the demo's script, and a set-up that has nothing to do."""
    program(tmp_path / "scripts/setup", ":")
    return Path(shutil.copy(SCRIPTS / "demo", tmp_path / "scripts/demo"))


@pytest.mark.parametrize(
    ("code", "said"), [(0, "all is well"), (1, "warnings"), (2, "critical"), (3, "not everything could be looked at")]
)
def test_the_demo_shows_whatever_the_verdict(demo: Path, code: int, said: str) -> None:
    program(demo.parents[1] / ".venv/bin/checkrunner", f"exit {code}")

    done = run(demo, search="/usr/bin:/bin")

    assert done.returncode == 0
    assert f"exit code {code}" in done.stdout
    assert said in done.stdout


@pytest.mark.parametrize("code", [4, 64, 70, 130])
def test_the_demo_fails_where_there_is_nothing_to_show(demo: Path, code: int) -> None:
    program(demo.parents[1] / ".venv/bin/checkrunner", f"exit {code}")

    assert run(demo, search="/usr/bin:/bin").returncode == code


def test_the_demo_runs_the_shipped_playbook_and_keeps_the_report(demo: Path) -> None:
    program(demo.parents[1] / ".venv/bin/checkrunner", 'echo "$@"')

    assert run(demo, search="/usr/bin:/bin").stdout.splitlines()[0] == "run linux-health -o report.json"


@pytest.mark.parametrize(
    ("manager", "commands"),
    [
        ("apt-get", ["apt-get update -q", "apt-get install -qy --no-install-recommends tcsh fish"]),
        ("dnf", ["dnf install -qy tcsh fish"]),
        ("apk", ["apk add -q tcsh fish"]),
        ("zypper", ["zypper -n install tcsh fish"]),
    ],
)
def test_packages_are_installed_by_whichever_manager_there_is(
    tmp_path: Path, manager: str, commands: list[str]
) -> None:
    program(tmp_path / "id", "echo 0")
    program(tmp_path / "env", '[ "${1#*=}" = "$1" ] || shift; exec "$@"')
    program(tmp_path / manager, f'echo "{manager} $@" >>{tmp_path}/log')

    done = run(SCRIPTS / "packages", "tcsh", "fish", search=str(tmp_path))

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "log").read_text(encoding="utf-8").splitlines() == commands


def test_packages_are_named_where_we_may_not_install_them(tmp_path: Path) -> None:
    program(tmp_path / "id", "echo 1000")
    program(tmp_path / "sudo", "exit 1")
    program(tmp_path / "apt-get", f"touch {tmp_path}/ran")

    done = run(SCRIPTS / "packages", "openssh-server", "tcsh", search=str(tmp_path))

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("package manager: openssh-server tcsh")
    assert not (tmp_path / "ran").exists()


def test_a_failed_installation_is_said(tmp_path: Path) -> None:
    program(tmp_path / "id", "echo 0")
    program(tmp_path / "dnf", "echo no such package >&2; exit 1")

    done = run(SCRIPTS / "packages", "fish", search=str(tmp_path))

    assert done.returncode == 1
    assert "no such package" in done.stderr
    assert "Please install" in done.stderr
