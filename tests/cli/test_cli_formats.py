"""The formats of `run` and `report`: files in any number, and runs of the history."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import junitparser
import pytest
from command_line import ROOT, Done, call_here
from prometheus_client.parser import text_string_to_metric_families

from checkrunner.findings.fold import names_in
from checkrunner.history.store import Store
from checkrunner.load.report import read_report
from checkrunner.model.history import Cell, CheckVersion, HostCell, RunRecord, RunView
from checkrunner.model.results import HostState, VerdictState

TROUBLE = (ROOT / "tests" / "golden" / "trouble.2.json").read_text(encoding="utf-8")
PLAYBOOK = """
- hosts: all
  checks:
    - {id: disk, run: "echo '91% | x'; exit 1"}
    - {id: fine, run: "true"}
"""
FORMATS = ("html", "json", "junit", "markdown", "nagios", "prometheus", "terminal")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "r.json").write_text(TROUBLE, encoding="utf-8")
    (tmp_path / "p.yml").write_text(PLAYBOOK, encoding="utf-8")
    return tmp_path


def call(folder: Path, *arguments: str) -> Done:
    return call_here(arguments, folder=folder)


def test_a_run_writes_any_number_of_files_each_in_its_format(folder: Path) -> None:
    names = ("x.json", "x.md", "x.html", "x.xml", "x.prom", "x.txt", "nagios:x", "x.log")

    done = call(folder, "run", "p.yml", "-q", "--format", "nagios", *(word for name in names for word in ("-o", name)))

    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == (folder / "x").read_text()
    assert done.stdout.startswith("CHECKRUNNER CRITICAL - 1 host: 1 critical, 1 ok; disk on localhost: rc was 1")
    assert json.loads((folder / "x.json").read_text())["run"]["exit_code"] == 2
    assert (folder / "x.log").read_text() == (folder / "x.json").read_text()
    assert (folder / "x.md").read_text().startswith("## CRITICAL: 1 critical, 1 ok\n")
    assert (folder / "x.html").read_text().startswith("<!doctype html>")
    assert (folder / "x.txt").read_text().startswith("CRITICAL  1 critical, 1 ok\n")
    suites = {suite.name: suite.tests for suite in junitparser.JUnitXml.fromfile(str(folder / "x.xml"))}
    assert suites == {"disk": 1, "fine": 1, "hosts": 1, "run": 1}
    status = [
        (sample.labels["check"], sample.value)
        for family in text_string_to_metric_families((folder / "x.prom").read_text())
        for sample in family.samples
        if sample.name == "checkrunner_check_status"
    ]
    assert status == [("disk", 2), ("fine", 0)]
    assert not [path for path in folder.iterdir() if path.name.startswith(".x")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "-"], "it names a file, not stdout; for JSON on stdout: --format json"),
        (["-o", "nagios:-"], "for nagios on stdout: --format nagios"),
        (["-o", "x", "-o", "junit:./x"], "another report goes there already"),
        (["-o", "x.md", "--perfdata", "x.md"], "--output writes there already"),
        (["-o", "x.md", "-o", "none/x.md"], "there is no directory 'none'"),
        (["-o", "html:."], "it is a directory"),
        (["--format", "markdwon"], "Did you mean 'markdown'?"),
        (["--check", "--format", "junit"], "--format junit does not go with --check"),
        (["--check", "-o", "x"], "--output does not go with --check"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_runs(folder: Path, arguments: list[str], said: str) -> None:
    before = sorted(folder.iterdir())

    done = call(folder, "run", "p.yml", *arguments)

    assert (done.returncode, said in done.stderr) == (64, True), done.stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("form", ["json", "junit", "nagios", "prometheus"])
def test_a_run_that_cannot_start_answers_in_the_format_for_a_program(folder: Path, form: str) -> None:
    done = call(folder, "run", "none.yml", f"--format={form}")

    assert (done.returncode, "none.yml" in done.stderr) == (64, True)
    begin = {"json": '{"schema"', "junit": "<?xml", "nagios": "CHECKRUNNER UNKNOWN - ", "prometheus": "# HELP"}
    assert done.stdout.startswith(begin[form])
    assert form == "prometheus" or "none.yml" in done.stdout


def test_a_report_is_written_in_other_formats(folder: Path) -> None:
    shown = {name: call(folder, "report", "r.json", "--format", name) for name in FORMATS}
    files = call(folder, "report", "r.json", *(word for name in FORMATS for word in ("-o", f"{name}:{name}.out")))

    assert (files.returncode, files.stdout, files.stderr) == (0, "", "")
    for name, done in shown.items():
        assert (done.returncode, done.stderr) == (2 if name == "nagios" else 0, "")
        assert done.stdout == (folder / f"{name}.out").read_text(encoding="utf-8")


def test_both_a_file_and_stdout_may_get_it(folder: Path) -> None:
    done = call(folder, "report", "r.json", "-o", "x.md", "--format", "json")

    assert done.stdout == TROUBLE
    assert (folder / "x.md").read_text(encoding="utf-8").startswith("## CRITICAL: 4 critical")
    refused = call(folder, "report", "r.json", "-o", "x.md", "--for-llm")
    assert (refused.returncode, "Leave out --output, or --for-llm" in refused.stderr) == (64, True)


@pytest.fixture
def stored(folder: Path) -> Path:
    """A history with one run: the report of trouble, of which the disk of web01 and that of a host that is fine."""
    report = read_report(TROUBLE, "r.json", names_in=names_in)
    began = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    hosts = {name: HostCell(state=HostState.REACHED, since=began) for name in ("web01", "fine01")}
    view = RunView(
        id=report.run.id,
        started_at=began,
        playbook="/p.yml",
        playbook_digest="d",
        hosts=hosts,
        checks={"disk-space": CheckVersion(key="disk-space", name="Disks", play="p", command="c", rules="r")},
        cells={
            ("web01", "disk-space"): Cell(verdict=VerdictState.CRIT, since=began),
            ("fine01", "disk-space"): Cell(verdict=VerdictState.OK, since=began),
        },
    )
    with Store.open(folder / "history.db", create=True) as store:
        store.save(RunRecord(report=report, report_text=TROUBLE, view=view), now=began)
    return folder


def test_a_run_of_the_history_is_shown_with_what_its_report_does_not_name(stored: Path) -> None:
    for words in (["1"], ["last"], ["20260102T030405"], ["--", "-1"]):
        done = call(stored, "report", "--history", "history.db", "--format", "json", *words)
        assert (done.stdout, done.stderr) == (TROUBLE, "")
    metrics = call(stored, "report", "last", "--history", "history.db", "--format", "prometheus").stdout
    assert (
        'checkrunner_check_status{playbook="linux-health",limit="web*",check="disk-space",host="fine01"} 0' in metrics
    )
    assert call(stored, "report", "last", "--history", "history.db", "--for-llm").returncode == 0


def test_a_file_wins_over_a_run_of_its_name_and_that_is_said(stored: Path) -> None:
    (stored / "1").write_text(TROUBLE.replace("web01", "other"), encoding="utf-8")

    done = call(stored, "report", "1", "--format", "json")

    assert done.stdout == (stored / "1").read_text(encoding="utf-8")
    assert "'1' is taken for the file of that name; a run is also called by its id" in done.stderr


@pytest.mark.parametrize("word", ["7", "last", "20270101T000000Z-abcdef"])
def test_a_run_that_is_not_there_is_said_to_be_no_file_either(folder: Path, word: str) -> None:
    done = call(folder, "report", word)

    assert (done.returncode, done.stdout) == (64, "")
    assert f"There is no file {word!r} either" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_one_place_that_is_full_does_not_keep_the_others_from_their_report(folder: Path) -> None:
    done = call(folder, "report", "r.json", "-o", "/dev/full", "-o", "x.md")

    assert done.returncode == 64
    assert "the report could not be written to /dev/full: No space left" in done.stderr
    assert (folder / "x.md").exists()
