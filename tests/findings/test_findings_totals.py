from __future__ import annotations

import re
from pathlib import Path

import pytest

from checkrunner.findings.exit_code import EXIT_CODES, exit_code
from checkrunner.findings.redact import RULES
from checkrunner.findings.totals import count
from checkrunner.model.report import Totals
from checkrunner.model.results import HostState, VerdictState

DOCS = Path(__file__).parents[2] / "docs" / "report.md"


def totals(hosts: int = 1, reached: int = 1, not_run: int = 0, **verdicts: int) -> Totals:
    return Totals(
        hosts=hosts,
        planned=sum(verdicts.values()),
        done=sum(verdicts.values()) - not_run,
        skipped=0,
        not_run=not_run,
        verdict={VerdictState(name): number for name, number in verdicts.items()},
        execution={},
        host={HostState.REACHED: reached},
        capture={},
    )


@pytest.mark.parametrize(
    ("made", "ended", "code"),
    [
        (totals(ok=3), "normal", 0),
        (totals(ok=3, skipped=2), "normal", 0),
        (totals(ok=3, warn=1), "normal", 1),
        (totals(ok=3, warn=1, crit=1), "normal", 2),
        (totals(crit=1, unknown=1), "normal", 2),
        (totals(warn=1, unknown=1), "normal", 3),
        (totals(ok=1, not_run=1), "normal", 3),
        (totals(hosts=2, ok=1), "normal", 3),
        (totals(ok=1), "deadline", 0),
        (totals(crit=1), "deadline", 2),
        (totals(crit=1), "interrupted", 130),
        (count([]), "normal", 0),
    ],
)
def test_exit_code(made: Totals, ended: str, code: int) -> None:
    assert exit_code(made, ended) == code
    assert code in EXIT_CODES


def test_docs_list_the_exit_codes() -> None:
    page = DOCS.with_name("exit-codes.md").read_text()
    rows = dict(re.findall(r"^\| (\d+) \| (.+) \|$", page, re.MULTILINE))

    assert rows == {str(code): meaning for code, meaning in EXIT_CODES.items()}


def test_docs_list_the_redactions() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+?) \| `(.+)` \|$", DOCS.with_name("secrets.md").read_text(), re.MULTILINE)

    assert [(name, about, example.replace("\\|", "|")) for name, about, example in rows] == [
        (rule.name, rule.description, rule.example) for rule in RULES
    ]
