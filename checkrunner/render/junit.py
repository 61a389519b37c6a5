"""The report as JUnit XML, for build servers: a suite for each check, in it a test for each host.

What a check found is a failure, what could not be looked at an error: so the two stay apart. Elements and attributes
are those that both common descriptions of the format know (Ant's and Jenkins'), in the order that the stricter one asks
for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC
from pathlib import PurePath
from typing import TextIO

from checkrunner.model.history import Detail
from checkrunner.model.report import Finding, Report
from checkrunner.render.cells import Cells, CheckCells
from checkrunner.render.choice import telling_reasons
from checkrunner.render.drift import drift_lines
from checkrunner.render.finding_facts import reason_text
from checkrunner.render.finding_lines import FindingLines
from checkrunner.render.headline import unseen_text
from checkrunner.render.safe import safe
from checkrunner.render.since import silenced_text
from checkrunner.render.style import Style

__all__ = ["JunitRenderer"]

_WIDTH = 120
_LONGEST_MESSAGE = 500
_FINE = "on"
_ELEMENTS = {"w": "failure", "c": "failure", "u": "error", "s": "skipped"}
_TYPES = {"w": "warn", "c": "crit", "u": "unknown"}
_NOT_XML = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ud800-\\udfff\\ufffe\\uffff]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


class JunitRenderer:
    """JUnit XML, in UTF-8 or, where the stream has another encoding, in ASCII. With a detail each check on each host is
    a test; without one only those that the findings name are."""

    def __init__(self, *, color: bool | None = None, width: int | None = None) -> None:
        """XML has neither colour nor width; both are taken so that all formats are made in one way."""
        del color, width

    def render(self, report: Report, out: TextIO, detail: Detail | None = None) -> None:
        """Write the document."""
        encoding = (getattr(out, "encoding", None) or "utf-8").lower().replace("-", "")
        for part in _Suites(report, Cells(report, detail)).parts():
            out.write(part if encoding.startswith("utf") else part.encode("ascii", "xmlcharrefreplace").decode())


class _Suites:
    def __init__(self, report: Report, cells: Cells) -> None:
        self._report = report
        self._cells = cells
        self._told: dict[str, str] = {}
        self._number = 0
        self._book = PurePath(report.run.playbook).stem or "checkrunner"
        self._lines = FindingLines(
            Style(False),
            _WIDTH,
            checks={finding.id: finding.check for finding in report.findings},
            plays=len({finding.play for finding in report.findings}) > 1,
            began=report.run.started_at,
        )

    def parts(self) -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
        for check in self._cells.checks():
            yield from self._suite(check)
        yield from self._hosts()
        yield from self._run()
        yield "</testsuites>\n"

    def _suite(self, check: CheckCells) -> Iterator[str]:
        tests = []
        elements: Counter[str] = Counter()
        of_class = f' classname="{_attribute(f"{self._book}.{check.key}")}" time="'
        for host, letter in check.cells:
            element, seconds, inner = ("", "0", "") if letter in _FINE else self._told_of(check.key, host, letter)
            elements[element] += 1
            tests.append(f'<testcase name="{_attribute(host)}"{of_class}{seconds}"')
            tests.append(f">{inner}</testcase>\n" if inner else "/>\n")
        yield from self._wrapped(check.key, elements, {"check": check.key, "name": check.name}, tests)

    def _told_of(self, key: str, host: str, letter: str) -> tuple[str, str, str]:
        """Of a test that did not pass: the name of its element, how long it took, and the element."""
        element, kind = _ELEMENTS[letter], _TYPES.get(letter, "")
        finding = self._cells.finding(key, host, letter)
        if finding is None:
            return self._not_seen(host, element, kind)
        message = "; ".join(map(reason_text, telling_reasons(finding))) or str(finding.verdict)
        if finding.silenced:
            element, message = "skipped", f"{kind}, {silenced_text(finding.silenced)}; {message}"
        return element, _seconds(finding), _element(element, kind, message, self._body(finding, host))

    def _not_seen(self, host: str, element: str, kind: str) -> tuple[str, str, str]:
        """The same where no finding says why."""
        message, body = "why is left out of the report; with --budget-tokens 0 nothing is", ""
        entry = self._cells.incomplete(host)
        if element == "skipped":
            message = "it was not to be run here"
        elif entry is not None:
            message, body = unseen_text(entry), f"To do: {entry.hint}" if entry.hint else ""
            if entry.silenced:
                element, message = "skipped", f"{silenced_text(entry.silenced)}; {message}"
        return element, "0", _element(element, kind, message, body)

    def _body(self, finding: Finding, host: str) -> str:
        """All that is known of it, but only once: a finding may be of thousands of hosts."""
        first = self._told.setdefault(finding.id, host)
        return "\n".join(self._lines.of(finding)) if first == host else f"The same as on {first}, where it is told"

    def _hosts(self) -> Iterator[str]:
        """A suite of the hosts: whether each of them could be looked at."""
        tests = []
        elements: Counter[str] = Counter()
        of_class = f' classname="{_attribute(self._book)}.hosts" time="0"'
        for host, reached in self._cells.hosts().items():
            element, _, inner = ("", "", "") if reached else self._not_seen(host, "error", "incomplete")
            elements[element] += 1
            tests.append(f'<testcase name="{_attribute(host)}"{of_class}')
            tests.append(f">{inner}</testcase>\n" if inner else "/>\n")
        if tests:
            yield from self._wrapped("hosts", elements, {}, tests)

    def _run(self) -> Iterator[str]:
        """A suite of one test, that the run came to its end: no document is without a test, and what the run as a whole
        has to say has a place."""
        run, totals = self._report.run, self._report.totals
        fine = run.ended == "normal"
        facts = {
            "run": run.id,
            "version": run.version,
            "playbook": run.playbook,
            "inventory": ", ".join(run.inventory),
            "limit": run.limit or "",
            "exit_code": str(run.exit_code),
            "complete": str(run.complete).lower(),
            "hosts": str(totals.hosts),
            **{f"verdict.{state}": str(number) for state, number in totals.verdict.items()},
        }
        inner = "" if fine else _element("error", run.ended, run.error or f"the run ended: {run.ended}", "")
        start = (
            f'<testcase name="ended normally" classname="{_attribute(self._book)}.run" time="{_decimal(run.elapsed_s)}"'
        )
        tests = [start, f">{inner}</testcase>\n" if inner else "/>\n"]
        yield from self._wrapped("run", Counter({"" if fine else "error": 1}), facts, tests, said=self._said())

    def _said(self) -> tuple[Iterable[str], Iterable[str]]:
        """What is told of the run as a whole, and what it warns of."""
        report = self._report
        return drift_lines(report.drift, report.run.started_at, Style(False), _WIDTH), report.warnings

    def _wrapped(
        self,
        name: str,
        elements: Mapping[str, int],
        facts: Mapping[str, str],
        tests: list[str],
        said: tuple[Iterable[str], Iterable[str]] = ((), ()),
    ) -> Iterator[str]:
        run = self._report.run
        began = run.started_at.astimezone(UTC)
        yield (
            f'<testsuite name="{_attribute(name) or "-"}" package="{_attribute(self._book)}" id="{self._number}"'
            f' hostname="localhost" timestamp="{began:%Y-%m-%dT%H:%M:%S}" tests="{sum(elements.values())}"'
            f' failures="{elements.get("failure", 0)}" errors="{elements.get("error", 0)}"'
            f' skipped="{elements.get("skipped", 0)}" time="{_decimal(run.elapsed_s)}">\n<properties>'
        )
        self._number += 1
        yield from (f'<property name="{fact}" value="{_attribute(value)}"/>' for fact, value in facts.items() if value)
        yield "</properties>\n"
        yield from tests
        out, err = map(_lines, said)
        yield f"<system-out>{out}</system-out>\n<system-err>{err}</system-err>\n</testsuite>\n"


def _element(name: str, kind: str, message: str, body: str) -> str:
    kind = f' type="{_attribute(kind)}"' if name != "skipped" else ""
    cut = message if len(message) <= _LONGEST_MESSAGE else message[: _LONGEST_MESSAGE - 3] + "..."
    return f'<{name}{kind} message="{_attribute(cut)}">{_lines(body.split(chr(10)))}</{name}>'


def _lines(lines: Iterable[str]) -> str:
    return _text("\n".join(map(safe, lines)))


def _seconds(finding: Finding) -> str:
    took = finding.result.get("elapsed_s")
    return _decimal(took) if isinstance(took, float | int) else "0"


def _decimal(seconds: float) -> str:
    """Never in powers of ten, which are no decimals."""
    return f"{seconds:.3f}" if 0 <= seconds < 1e9 else "0"


def _attribute(text: str) -> str:
    return _text(safe(text))


def _text(text: str) -> str:
    """Lines are kept; what no XML can hold is U+FFFD."""
    return _NOT_XML.sub("\ufffd", text).translate(_ENTITIES)
