"""What parts of a report take of a budget, each measured once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from checkrunner.findings.tokens import TokenEstimate
from checkrunner.model.characters import is_hidden
from checkrunner.model.report import Budget, Finding, Report, RunInfo, Totals
from checkrunner.model.seams import TokenCounter

__all__ = ["NOTHING", "Scale", "settled"]

_MOST_ROUNDS = 6
_LONGEST = 20_000
NOTHING = Report(
    run=RunInfo(
        id="",
        version="",
        playbook="",
        playbook_digest="",
        inventory=(),
        limit=None,
        started_at=datetime(2000, 1, 1, tzinfo=UTC),
        elapsed_s=0,
        ended="normal",
        complete=True,
        exit_code=0,
    ),
    totals=Totals(hosts=0, planned=0, done=0, skipped=0, not_run=0, verdict={}, execution={}, host={}, capture={}),
)
"""A report in which single parts are weighed."""


class Scale:
    """Weighs parts of reports in tokens. What it says of a part is what the part adds to a document, or a little more:
    joints of two parts take less than their ends do."""

    def __init__(self, to_text: Callable[[Report], str], counter: TokenCounter | None = None) -> None:
        self.counter = counter or TokenEstimate()
        self.to_text = to_text
        self._empty = self.report(NOTHING)
        self._texts: dict[str, int] = {}

    def report(self, report: Report) -> int:
        """A whole report as it is."""
        return self.counter.count(self.to_text(report))

    def finding(self, finding: Finding) -> int:
        """A finding, without the name of its play."""
        return self.report(replace(NOTHING, findings=(replace(finding, play=""),))) - self._empty + 1

    def other(self, part: Report) -> int:
        """What a report has that has nothing else (see `NOTHING`)."""
        return self.report(replace(part, totals=NOTHING.totals)) - self._empty + 1

    def text(self, text: str) -> int:
        """A text as JSON has it, quotes included."""
        if len(text) > _LONGEST:
            return self.text(text[:_LONGEST]) * len(text) // _LONGEST + 1
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = self.counter.count(_as_json(text)) + 1
        return known


def _as_json(text: str) -> str:
    """The text as documents have it: what is hidden from the eye stands as an escape."""
    if text.isascii():
        return json.dumps(text)
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "".join(
        json.dumps(char)[1:-1] if is_hidden(char) else char for char in json.dumps(whole, ensure_ascii=False)
    )


def settled(report: Report, scale: Scale, limit: int | None) -> Report:
    """The report with the entry about its own size, that entry included."""
    used = 0
    for _ in range(_MOST_ROUNDS):
        report = replace(report, budget=Budget(limit=limit, used=used, counter=scale.counter.name))
        size = scale.report(report)
        if size == used:
            break
        used = max(used, size)
    return report
