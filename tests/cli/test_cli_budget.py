"""The promise of `--budget-tokens`, through the real command line on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checkrunner.findings.tokens import TokenEstimate

ROOT = Path(__file__).parents[2]


def run(folder: Path, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT), **environ}
    command = [sys.executable, "-m", "checkrunner", "run", "play.yml", "-q", *args]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=50, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    checks: list[dict[str, Any]] = [
        {
            "id": f"c{at}",
            "run": f"seq -f 'disk {at} lost block %.0f of a long list of blocks' 30; false",
            "slice": {"tail": 30},
            "why": "Blocks are not to be lost. " * 5,
        }
        for at in range(30)
    ]
    (tmp_path / "play.yml").write_text(json.dumps([{"hosts": "all", "checks": checks}]))
    return tmp_path


def test_a_report_takes_no_more_than_it_may_and_says_what_is_left_out(folder: Path) -> None:
    sizes = {}
    for limit in (1000, 3000):
        done = run(folder, "--format", "json", "--budget-tokens", str(limit), "-o", f"{limit}.json")
        report = json.loads(done.stdout)
        left = {one["what"]: one["count"] for one in report["omissions"] if one["why"] == "the budget"}

        assert done.returncode == 2, done.stderr
        assert TokenEstimate().count(done.stdout.rstrip("\n")) == report["budget"]["used"] <= limit
        assert report["budget"]["used"] > 0.85 * limit
        assert report["budget"]["limit"] == limit
        assert report["totals"]["verdict"] == {"crit": 30}
        assert len(report["findings"]) + left.get("finding", 0) == 30
        assert (folder / f"{limit}.json").read_text() == done.stdout
        sizes[limit] = len(report["findings"])
    assert 0 < sizes[1000] < sizes[3000]


def test_there_is_a_budget_unless_it_is_taken_away(folder: Path) -> None:
    usual = json.loads(run(folder, "--format", "json").stdout)
    whole = json.loads(run(folder, "--format", "json", CHECKRUNNER_BUDGET_TOKENS="0").stdout)

    assert usual["budget"]["limit"] == 4000
    assert (len(whole["findings"]), whole["omissions"], "limit" in whole["budget"]) == (30, [], False)
    assert len(whole["findings"][29]["slices"][0]["lines"]) == 30


def test_the_terminal_shows_the_same_findings(folder: Path) -> None:
    done = run(folder, "--budget-tokens", "1000")

    assert "x finding: the budget (" in done.stdout
    assert done.stdout.count("\nCRIT  c") < 30


def test_a_budget_that_nothing_fits_into_is_refused(folder: Path) -> None:
    done = run(folder, "--budget-tokens", "100")

    assert done.returncode == 64
    assert "expected 0 for no limit, or a number from 500" in done.stderr
