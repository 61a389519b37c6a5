"""Where the values of a run go besides its report: performance data and metrics. Places are checked before anything
connects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TextIO

from checkrunner.app.output import ReportOutput, place_of, replace_file
from checkrunner.model.errors import SettingsError
from checkrunner.model.history import Detail
from checkrunner.model.plan import HostOutcome

__all__ = ["Exports", "prepare_exports"]

_STDOUT = "-"


@dataclass(slots=True, kw_only=True)
class Exports:
    """The places, None for what is not wanted; with `-` the lines go to stdout, in place of the report. `mask` is for
    the texts of `hosts`. `detail` is for the formats of the report that tell it, if there are any."""

    perfdata: str | None = None
    metrics: str | None = None
    wants_detail: bool = False
    mask: Callable[[str], str] = str
    hosts: Sequence[HostOutcome] = ()
    detail: Detail | None = None

    @property
    def take_stdout(self) -> bool:
        """Whether stdout is taken."""
        return _STDOUT in {self.perfdata, self.metrics}

    def keep(self, hosts: Sequence[HostOutcome]) -> None:
        """Keep what the hosts came to; what nobody wants is not kept."""
        if self.perfdata is not None or self.metrics is not None:
            self.hosts = hosts
        if self.wants_detail:
            from checkrunner.app.detail import detail_of

            self.detail = detail_of(hosts, self.mask)

    def write(self, began: datetime, stdout: TextIO) -> list[tuple[str, OSError]]:
        """Write what is wanted; returns the places that could not be written. Raises BrokenPipeError where the reader
        of stdout is gone."""
        if self.perfdata is None and self.metrics is None:
            return []
        from checkrunner.render.perfdata import metric_texts, perfdata_texts

        failed = []
        for place, lines in (
            (self.perfdata, perfdata_texts(self.hosts, self.mask)),
            (self.metrics, metric_texts(self.hosts, began, self.mask)),
        ):
            try:
                if place is not None:
                    _write(place, lines, stdout)
            except BrokenPipeError:
                raise
            except OSError as error:
                failed.append(("stdout" if place == _STDOUT else str(place), error))
        return failed


def _write(place: str, lines: Iterable[str], stdout: TextIO) -> None:
    def write(out: TextIO) -> None:
        out.writelines(f"{line}\n" for line in lines)

    if place == _STDOUT:
        write(stdout)
        stdout.flush()
    else:
        replace_file(Path(place), write)


def prepare_exports(perfdata: str | None, metrics: str | None, output: ReportOutput) -> Exports:
    """Check the places; `output` is where the report goes. Raises SettingsError."""
    taken = [file.path for file in output.files]
    if perfdata is not None and perfdata == metrics:
        raise SettingsError("metrics", metrics, "flag", "--perfdata writes there already")
    for name, place in (("perfdata", perfdata), ("metrics", metrics)):
        if place is not None and place != _STDOUT and place_of(name, place) in taken:
            raise SettingsError(name, place, "flag", "--output writes there already")
    return Exports(perfdata=perfdata, metrics=metrics, wants_detail=output.wants_detail)
