from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from checkrunner.app.failure import failure_report
from checkrunner.app.output import ReportOutput, prepare_output, write_files, write_screen
from checkrunner.model.errors import SettingsError, UnknownNameError
from checkrunner.model.report import Report


def write_report(output: ReportOutput, report: Report, screen: io.StringIO) -> None:
    assert write_files(output, report) == []
    write_screen(output, report, screen, color=None)


def test_screen_and_file_get_the_same_report(tmp_path: Path) -> None:
    screen = io.StringIO()
    file = tmp_path / "report.json"

    write_report(prepare_output("json", [str(file)]), failure_report("no", 64), screen)

    assert file.read_text() == screen.getvalue()
    assert json.loads(screen.getvalue())["run"]["error"] == "no"


def test_a_file_is_replaced_as_a_whole_and_readable_as_files_are(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text("old " * 10_000)
    before = os.umask(0o027)
    try:
        write_report(prepare_output("terminal", [str(file)]), failure_report("no", 64), io.StringIO())
    finally:
        os.umask(before)

    assert json.loads(file.read_text())["run"]["exit_code"] == 64
    assert file.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["report.json"]


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_report(prepare_output("terminal", ["/dev/null"]), failure_report("no", 64), io.StringIO())

    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("name", ["missing/report.json", "."])
def test_a_file_that_cannot_be_is_said_before_the_run(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SettingsError, match="setting output"):
        prepare_output("json", [name])


def test_an_unknown_format_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'terminal'"):
        prepare_output("terminl")
