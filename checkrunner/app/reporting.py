"""The use case of `report`: a file that a run wrote, to what is shown of it or handed to a language model."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

from checkrunner.app.counting import counter_of, token_limit
from checkrunner.findings.budget import fit
from checkrunner.findings.fold import names_in
from checkrunner.findings.salience import Row, rank
from checkrunner.findings.tokens import TokenEstimate
from checkrunner.load.files import decoded, read_file
from checkrunner.load.report import read_report
from checkrunner.model.report import Finding, Report
from checkrunner.model.results import Slice, SliceMode
from checkrunner.render.context import context_text, head_text
from checkrunner.render.json import json_text
from checkrunner.settings import Settings

__all__ = ["STDIN", "Context", "context_of", "fitted_report", "load_report", "model_context"]

STDIN = "<stdin>"
_Writer = Callable[[Report], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a model gets, to the letter, and how many tokens that is; `limit` is None where there is none."""

    text: str
    tokens: int
    limit: int | None
    counter: TokenEstimate

    @property
    def size(self) -> str:
        """``1,234 tokens of 4,000 (estimate/2, o200k_base)``."""
        of = "" if self.limit is None else f" of {self.limit:,}"
        return f"{self.tokens:,} tokens{of} ({self.counter.method}, {self.counter.vocabulary})"


def load_report(path: str) -> Report:
    """The report in a file; ``-`` is standard input. Raises LoadError."""
    if path != "-":
        return read_report(read_file(path), path, names_in=names_in)
    return read_report(decoded(sys.stdin.buffer.read(), STDIN), STDIN, names_in=names_in)


def fitted_report(report: Report, settings: Settings) -> Report:
    """The report as it is, or in fewer tokens where a flag says how many. Raises UsageError members."""
    if settings.origins["budget_tokens"] != "flag":
        return report
    counter = counter_of(settings)
    return _fitted(report, token_limit(settings, counter), json_text, counter)


def model_context(report: Report, settings: Settings) -> Context:
    """What a model gets of a report: all of it is in as many tokens as are set, also where the report was made for
    more. Raises UsageError members where that cannot be."""
    counter = counter_of(settings)
    limit = token_limit(settings, counter, head_text())
    text = context_of(report, limit, counter)
    return Context(text=text, tokens=counter.count(text), limit=limit, counter=counter)


def context_of(report: Report, limit: int | None, counter: TokenEstimate) -> str:
    """The same for a limit that is known to do."""
    return context_text(_fitted(report, limit, context_text, counter))


def _fitted(report: Report, limit: int | None, write: _Writer, counter: TokenEstimate) -> Report:
    whole = fit(report, None, write, counter)
    if limit is None or whole.budget.used <= limit:
        return fit(report, limit, write, counter)
    ranked = replace(report, findings=tuple(map(_ranked, report.findings)))
    return fit(ranked, limit, write, counter)


def _ranked(finding: Finding) -> Finding:
    """Which lines are the most telling is not in a file: so it is judged once more, by what is there."""
    return replace(
        finding,
        slices=tuple(map(_ranked_lines, finding.slices)),
        variants=tuple(
            replace(variant, slices=tuple(map(_ranked_lines, variant.slices))) for variant in finding.variants
        ),
    )


def _ranked_lines(piece: Slice) -> Slice:
    if piece.query.mode is not SliceMode.SALIENT:
        return piece
    rows = [Row(line.number, line.text, count=line.count) for line in piece.lines]
    ranking = rank(rows, total_lines=sum(row.count for row in rows), stream=str(piece.stream), most=len(rows))
    ranks = {entry.number: entry.rank for entry in ranking.entries}
    last = len(rows) + 1
    return replace(piece, lines=tuple(replace(line, rank=ranks.get(line.number, last)) for line in piece.lines))
