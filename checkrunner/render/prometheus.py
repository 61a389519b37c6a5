"""The report as metrics for Prometheus, in the text format that node_exporter's textfile collector reads.

Every series has the label `playbook`, and `limit` where there is one, so that files of several sweeps lie side by side.
There are no times in it: the collector refuses them, and says itself how old a file is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TextIO

from checkrunner.model.drift import ChangeKind
from checkrunner.model.history import Detail
from checkrunner.model.report import NumberRange, Report, ValueSummary
from checkrunner.model.results import Execution, HostState, VerdictState
from checkrunner.render.cells import Cells, keys_of
from checkrunner.render.safe import for_stream, safe

__all__ = ["PrometheusRenderer"]

_PREFIX = "checkrunner_"
_STATUS = {"o": "0", "n": "0", "w": "1", "c": "2", "u": "3"}
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", '"': '\\"'})
_Sample = tuple[dict[str, str], float]


class PrometheusRenderer:
    """Metrics in UTF-8. With a detail each check on each host has its status; without one only those that the findings
    name."""

    def __init__(self, *, color: bool | None = None, width: int | None = None) -> None:
        """Metrics have neither colour nor width; both are taken so that all formats are made in one way."""
        del color, width

    def render(self, report: Report, out: TextIO, detail: Detail | None = None) -> None:
        """Write the metrics."""
        for part in _Metrics(report, Cells(report, detail)).parts():
            out.write(for_stream(part, out))


class _Metrics:
    def __init__(self, report: Report, cells: Cells) -> None:
        self._report = report
        self._cells = cells
        run = report.run
        self._all = _labels({"playbook": run.playbook, **({"limit": run.limit} if run.limit else {})})

    def parts(self) -> Iterator[str]:
        yield from self._of_run()
        yield from self._counts()
        yield from self._drift()
        yield from self._of_hosts()
        yield from self._of_checks()
        yield from self._silenced()
        yield from self._values()

    def _of_run(self) -> Iterator[str]:
        run = self._report.run
        yield self._metric(
            "run_info",
            "The run that these metrics are of; always 1.",
            [({"version": run.version, "ended": run.ended}, 1)],
        )
        for name, text, number in (
            ("run_timestamp_seconds", "When the run began, in seconds since 1970.", run.started_at.timestamp()),
            ("run_duration_seconds", "How long the run took.", run.elapsed_s),
            ("run_exit_code", "The exit code of the run: 0 ok, 1 warnings, 2 critical, 3 incomplete.", run.exit_code),
            ("run_complete", "Whether everything could be looked at.", int(run.complete)),
        ):
            yield self._metric(name, text, [({}, number)])

    def _counts(self) -> Iterator[str]:
        totals, report = self._report.totals, self._report
        yield self._metric(
            "hosts", "Hosts of the run by how far it got with them.",
            [({"state": str(state)}, totals.host.get(state, 0)) for state in HostState],
        )  # fmt: skip
        yield self._metric(
            "checks", "Checks on hosts by verdict.",
            [({"verdict": str(state)}, totals.verdict.get(state, 0)) for state in VerdictState],
        )  # fmt: skip
        yield self._metric(
            "executions", "Checks on hosts by how their command ended.",
            [({"execution": str(state)}, totals.execution.get(state, 0)) for state in Execution],
        )  # fmt: skip
        yield self._metric(
            "findings", "Findings that nobody has silenced, by verdict.",
            [
                ({"verdict": str(state)}, sum(one.verdict is state and one.silenced is None for one in report.findings))
                for state in VerdictState
            ],
        )  # fmt: skip
        yield self._metric(
            "findings_silenced",
            "Findings that are silenced for now.",
            [({}, sum(one.silenced is not None for one in report.findings))],
        )
        suppressed = sum(entry.host_count for entry in report.suppressed)
        yield self._metric(
            "checks_suppressed", "Checks on hosts that are not run because they did harm.", [({}, suppressed)]
        )

    def _drift(self) -> Iterator[str]:
        drift = self._report.drift
        if drift is None:
            return
        counts = dict.fromkeys(ChangeKind, 0)
        for change in drift.changes:
            counts[change.kind] += change.host_count
        yield self._metric(
            "changes", "What became of checks on hosts since the run before, as far as the report lists it.",
            [({"kind": str(kind)}, number) for kind, number in counts.items()],
        )  # fmt: skip

    def _of_hosts(self) -> Iterator[str]:
        yield self._metric(
            "host_reached", "Whether the host could be looked at.",
            [({"host": host}, int(reached)) for host, reached in self._cells.hosts().items()],
        )  # fmt: skip

    def _of_checks(self) -> Iterator[str]:
        """By far the largest part: written without what the others take for each sample."""
        name = f"{_PREFIX}check_status"
        hosts: dict[str, str] = {}
        head = _head(name, "What the check says of the host: 0 ok, 1 warn, 2 crit, 3 could not look.")
        for check in self._cells.checks():
            start = f'{name}{{{self._all},{_labels({"check": check.key})},host="'
            lines = []
            for host, letter in check.cells:
                if letter in _STATUS:
                    shown = hosts.get(host)
                    if shown is None:
                        shown = hosts[host] = _escaped(host)
                    lines.append(f'{start}{shown}"}} {_STATUS[letter]}\n')
            if lines:
                yield head + "".join(lines)
                head = ""

    def _silenced(self) -> Iterator[str]:
        """To leave out of an alert what nobody wants to be told of."""
        silenced = [finding for finding in self._report.findings if finding.silenced]
        labels = {(key, host): None for finding in silenced for key in keys_of(finding) for host in finding.names}
        yield self._metric(
            "check_silenced",
            "Checks on hosts that are in trouble and silenced for now; always 1.",
            (({"check": key, "host": host}, 1) for key, host in labels),
        )

    def _values(self) -> Iterator[str]:
        known = [(entry.check, value) for entry in self._report.metrics for value in entry.values]
        yield self._metric(
            "value", "A value of a check over all hosts: the smallest, the median and the largest.",
            (sample for check, value in known for sample in _numbers(check, value)),
        )  # fmt: skip
        yield self._metric(
            "value_hosts",
            "On how many hosts the value could be read.",
            (_of_value(check, value, value.hosts) for check, value in known),
        )
        yield self._metric(
            "value_hosts_unread", "On how many hosts the value could not be read.",
            (_of_value(check, value, value.unread) for check, value in known),
        )  # fmt: skip

    def _metric(self, name: str, text: str, samples: Iterable[_Sample]) -> str:
        name = _PREFIX + name
        lines = []
        for labels, number in samples:
            own = f",{_labels(labels)}" if labels else ""
            lines.append(f"{name}{{{self._all}{own}}} {_number(number)}\n")
        return _head(name, text) + "".join(lines) if lines else ""


def _head(name: str, text: str) -> str:
    return f"# HELP {name} {text}\n# TYPE {name} gauge\n"


def _of_value(check: str, value: ValueSummary, number: float, **more: str) -> _Sample:
    return {"check": check, "value": value.name, **more}, number


def _numbers(check: str, value: ValueSummary) -> Iterator[_Sample]:
    what = value.value
    if isinstance(what, NumberRange):
        ends = {"min": what.minimum, "median": what.median, "max": what.maximum}
    elif isinstance(what, int | float):
        ends = dict.fromkeys(("min", "median", "max"), float(what))
    else:
        return
    for stat, number in ends.items():
        yield _of_value(check, value, number, unit=value.unit, stat=stat)


def _labels(labels: dict[str, str]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(text: str) -> str:
    return safe(text).translate(_ESCAPES)


def _number(number: float) -> str:
    if isinstance(number, int):
        return str(int(number))
    if math.isfinite(number):
        return repr(number)
    return "NaN" if math.isnan(number) else "+Inf" if number > 0 else "-Inf"
