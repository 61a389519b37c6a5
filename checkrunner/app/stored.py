"""What a word names whose report is wanted: a file that a run wrote, or a run of the store."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from checkrunner.app.reporting import load_report
from checkrunner.findings.fold import names_in
from checkrunner.load.report import read_report
from checkrunner.model.errors import HistoryError
from checkrunner.model.history import Detail
from checkrunner.model.report import Report
from checkrunner.settings import Settings

__all__ = ["Loaded", "load_run", "names_a_run"]

_RUN = re.compile(r"last|-?[0-9]+|[0-9]{8}T[0-9A-Za-z-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A report, and what came of each check on each host where that is known: a file does not hold it. `doubt` is a
    sentence for who may have meant something else; "" for none."""

    report: Report
    detail: Detail | None = None
    doubt: str = ""


def names_a_run(word: str) -> bool:
    """Whether the word has the form of a run's number or id, or counts back from the last one."""
    return _RUN.fullmatch(word) is not None


def load_run(word: str, settings: Settings, *, detail: bool = False) -> Loaded:
    """The report of a file, of standard input (``-``), or else of a run of the store; `detail` is read where it is
    wanted. A file wins over a run of the same name. Raises LoadError and HistoryError."""
    exists = word != "-" and Path(word).exists()
    if exists or not names_a_run(word):
        doubt = (
            f"{word!r} is taken for the file of that name; a run is also called by its id" if names_a_run(word) else ""
        )
        return Loaded(report=load_report(word), doubt=doubt)
    from checkrunner.app.recording import open_store

    try:
        with open_store(settings) as store:
            number = store.find(word)
            text = store.report_text(number)
            made = store.detail(number) if detail else None
    except HistoryError as error:
        error.hint = (
            f"{error.hint}. There is no file {word!r} either" if error.hint else f"There is no file {word!r} either"
        )
        raise
    return Loaded(report=read_report(text, f"run {number}", names_in=names_in), detail=made)
