"""The linux-health playbook on this machine, through the real command line: verdicts, slices, conditions, skips."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from house_tree import ROOT

CALM: Mapping[str, object] = {
    "load_per_core_warn": 10**6,
    "memory_available_warn": 0,
    "swap_used_warn": 101,
    "disk_free_warn": 0,
    "kernel_log_hours": 0,
    "zombies_warn": 10**6,
    "clock_offset_warn": 10**6,
    "listening_sockets_warn": 10**6,
}
NOTHING_IS_EVER_ENOUGH: Mapping[str, object] = {
    "load_per_core_warn": -2,
    "load_per_core_crit": -1,
    "memory_available_warn": 101,
    "memory_available_crit": 0,
    "disk_free_warn": 101,
    "disk_free_crit": 101,
    "listening_sockets_warn": -1,
}


def checkrunner(folder: Path, *arguments: str) -> dict[str, Any]:
    """The JSON report of a run; its exit code says whether it looked at all."""
    done = subprocess.run(
        [sys.executable, "-m", "checkrunner", "run", "linux-health", "--format", "json", "-q", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode in {0, 1, 2, 3}, done.stdout + done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["run"]["exit_code"] == done.returncode
    return report


def run(folder: Path, *arguments: str, **variables: object) -> dict[str, Any]:
    """A run on this machine, whose every number is far from every limit that `variables` do not change."""
    return checkrunner(folder, "-e", json.dumps({**CALM, **variables}), *arguments)


def finding(report: Mapping[str, Any], check: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = [f for f in report["findings"] if f["check"] == check]
    assert found, f"no finding of {check} in {[f['check'] for f in report['findings']]}"
    return found[0]


def text(found: Mapping[str, Any]) -> str:
    return "\n".join(line[1] for part in found["slices"] for line in part["lines"])


def test_a_calm_machine_raises_no_alarm(tmp_path: Path) -> None:
    # Units and clock are this machine's own affair and have no limit to move.
    report = run(tmp_path, "--skip-tags", "services,time")

    assert report["totals"]["verdict"].get("warn", 0) == 0, report["findings"]
    assert report["totals"]["verdict"].get("crit", 0) == 0, report["findings"]


def test_top_processes_are_left_out_while_all_is_well(tmp_path: Path) -> None:
    report = run(tmp_path, "-t", "cpu,memory")

    assert report["totals"]["skipped"] >= 2
    assert "RSS_KB" not in json.dumps(report["findings"])


@pytest.mark.parametrize(
    ("check", "verdict", "tag"),
    [
        ("load", "crit", "cpu"),
        ("memory", "warn", "memory"),
        ("disk-space", "crit", "disk"),
        ("listening-sockets", "warn", "network"),
    ],
)
def test_limits_decide(check: str, verdict: str, tag: str, tmp_path: Path) -> None:
    found = finding(run(tmp_path, "-t", tag, **NOTHING_IS_EVER_ENOUGH), check)

    assert found["verdict"] == verdict
    assert found["why"]
    assert found["fix"]
    if check != "listening-sockets":
        assert text(found).startswith(verdict.upper())


def test_trouble_with_memory_shows_who_uses_it(tmp_path: Path) -> None:
    report = run(tmp_path, "-t", "memory", **NOTHING_IS_EVER_ENOUGH)

    shown = finding(report, "top-memory")
    assert "RSS_KB" in text(shown)
    assert shown["verdict"] == "ok"


def test_a_group_can_have_limits_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "inventory.ini").write_text(
        "[calm]\nmachine1 ansible_connection=local\n[strict]\nmachine2 ansible_connection=local\n"
        "[all:vars]\nmemory_available_warn=0\n[strict:vars]\nmemory_available_warn=101\n",
        encoding="utf-8",
    )
    others = {name: value for name, value in CALM.items() if name != "memory_available_warn"}
    report = checkrunner(tmp_path, "-i", "inventory.ini", "-t", "memory", "-e", json.dumps(others))

    alarms = [f for f in report["findings"] if f["check"] == "memory" and f["verdict"] != "ok"]
    assert [f["hosts"] for f in alarms] == ["machine2"]


def test_what_is_not_there_is_skipped_and_named(tmp_path: Path) -> None:
    report = run(tmp_path, "-t", "container,time,services")

    lacking = not Path("/run/systemd/system").exists()
    if lacking:
        assert "/run/systemd/system" in json.dumps(report)
    assert report["totals"]["verdict"].get("crit", 0) == 0
