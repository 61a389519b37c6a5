"""Where a report goes: checked before anything connects, written so that a crash leaves no half file."""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from checkrunner.model.errors import SettingsError
from checkrunner.model.history import Detail
from checkrunner.model.report import Report
from checkrunner.render import DETAILED, EXTENSIONS, RENDERERS, renderer

__all__ = [
    "ReportFile",
    "ReportOutput",
    "place_of",
    "prepare_files",
    "prepare_output",
    "replace_file",
    "write_files",
    "write_screen",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFile:
    """A file and the format that it gets."""

    path: Path
    format_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOutput:
    """The format of stdout, "" where it gets nothing, and the files besides."""

    format_name: str
    files: tuple[ReportFile, ...] = ()

    @property
    def wants_detail(self) -> bool:
        """Whether any of the formats tells what came of each check on each host."""
        return not DETAILED.isdisjoint({self.format_name, *(file.format_name for file in self.files)})


def prepare_output(format_name: str, files: Sequence[str] = ()) -> ReportOutput:
    """Check format and files. Raises UnknownNameError and SettingsError: a run's result must have a place to go."""
    if format_name:
        renderer(format_name)
    return ReportOutput(format_name=format_name, files=prepare_files(files, stdout=format_name))


def prepare_files(words: Sequence[str], *, stdout: str = "") -> tuple[ReportFile, ...]:
    """The files of `-o`: each a path, whose end says the format, or ``FORMAT:PATH``. `stdout` is the format that stdout
    gets. Raises SettingsError."""
    files: list[ReportFile] = []
    for word in words:
        form, colon, rest = word.partition(":")
        named = bool(colon) and form in RENDERERS
        name = rest if named else word
        if name in {"-", ""}:
            raise SettingsError("output", word, "flag", _not_stdout(form if named else "json", stdout))
        path = place_of("output", name)
        if any(_is_same(path, file.path) for file in files):
            raise SettingsError("output", word, "flag", "another report goes there already")
        files.append(ReportFile(path=path, format_name=form if named else EXTENSIONS.get(path.suffix.lower(), "json")))
    return tuple(files)


def _not_stdout(form: str, stdout: str) -> str:
    shown = "JSON" if form == "json" else form
    if form == stdout:
        return f"it names a file, not stdout; stdout has the {shown} report already"
    return f"it names a file, not stdout; for {shown} on stdout: --format {form}"


def _is_same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve() and (one.is_file() or not one.exists())


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


def write_files(output: ReportOutput, report: Report, detail: Detail | None = None) -> list[tuple[str, OSError]]:
    """Write the files; returns the ones that could not be written: a disk can run full during a run. Do it before the
    screen, so that the report is safe whatever becomes of that."""
    failed = []
    for file in output.files:
        write = functools.partial(renderer(file.format_name, color=False).render, report, detail=detail)
        try:
            replace_file(file.path, write)
        except OSError as error:
            failed.append((str(file.path), error))
    return failed


def write_screen(
    output: ReportOutput, report: Report, stdout: TextIO, *, color: bool | None, detail: Detail | None = None
) -> None:
    """Write the report in the wanted format, if one is. Raises OSError, BrokenPipeError where the reader is gone."""
    if output.format_name:
        renderer(output.format_name, color=color).render(report, stdout, detail)
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
