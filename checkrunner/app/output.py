"""Where a report goes: checked before anything connects, written so that a crash leaves no half file."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from checkrunner.model.errors import SettingsError
from checkrunner.model.report import Report
from checkrunner.render import renderer

__all__ = ["ReportOutput", "place_of", "prepare_output", "replace_file", "write_file", "write_screen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOutput:
    """A renderer for stdout and, if wanted, a file that gets the JSON report."""

    format_name: str
    file: Path | None


def prepare_output(format_name: str, file: str | None) -> ReportOutput:
    """Check format and file. Raises UnknownNameError and SettingsError: a run's result must have a place to go."""
    renderer(format_name)
    path = None
    if file is not None:
        if file == "-":
            why = "stdout has the JSON report already" if format_name == "json" else "for JSON on stdout: --format json"
            raise SettingsError("output", file, "flag", f"it names a file, not stdout; {why}")
        path = place_of("output", file)
    return ReportOutput(format_name=format_name, file=path)


def place_of(name: str, file: str) -> Path:
    """The file of the flag `name`. Raises SettingsError where none could be written."""
    path = Path(file)
    folder = path.parent
    if path.is_dir():
        raise SettingsError(name, file, "flag", "it is a directory")
    if not folder.is_dir():
        raise SettingsError(name, file, "flag", f"there is no directory {str(folder)!r}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise SettingsError(name, file, "flag", "it cannot be written")
    return path


def write_file(output: ReportOutput, report: Report) -> None:
    """Write the file, if one is wanted. Do it before the screen, so that the report is safe whatever becomes of that.

    Raises OSError: a disk can run full during a run.
    """
    if output.file is not None:
        json = renderer("json")
        replace_file(output.file, lambda out: json.render(report, out))


def write_screen(output: ReportOutput, report: Report, stdout: TextIO, *, color: bool | None) -> None:
    """Write the report in the wanted format. Raises OSError, BrokenPipeError where the reader is gone."""
    renderer(output.format_name, color=color).render(report, stdout)
    stdout.flush()


def replace_file(path: Path, write: Callable[[TextIO], object]) -> None:
    """Write a file anew: whoever reads it gets the old one or the whole new one. Raises OSError."""
    if path.exists() and not path.is_file():  # a pipe or /dev/stdout: nothing to replace
        with path.open("w", encoding="utf-8") as out:
            write(out)
        return
    # Not mkstemp, whose files are for the owner alone: a report gets the mode that the umask gives any new file.
    name = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(handle, "w", encoding="utf-8") as out:
            write(out)
        name.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            name.unlink()
        raise
