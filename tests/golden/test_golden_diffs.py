"""What `diff` says of pairs of runs, compared with files named ``diffs/CASE.EXITCODE.FORMAT``.

To accept new output: ``CHECKRUNNER_UPDATE_GOLDEN=1 pytest tests/golden`` and read the diff before committing it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from outcome_factory import host, planned, stopped
from view_factory import came_to, fleet, versions, view

from checkrunner.findings.drift import drift_of
from checkrunner.model.errors import UnreachableError
from checkrunner.model.history import RunView
from checkrunner.model.results import HostState
from checkrunner.render.diff import diff_document, diff_json, diff_lines
from checkrunner.render.schema_drift import diff_schema
from checkrunner.render.style import Style

FOLDER = Path(__file__).parent / "diffs"
Pair = tuple[RunView, RunView]


def pair(before: RunView, after: RunView) -> Pair:
    return replace(before, number=12), replace(after, number=13)


def regression() -> Pair:
    before = view(fleet(web1="disk:o load:c", web2="disk:o load:c", web3="disk:o load:w"))
    error = UnreachableError("web3: no route to host")
    away = host(
        "web3",
        *(stopped("web3", planned(key), "the host was not reached", error) for key in ("disk", "load")),
        state=HostState.UNREACHABLE,
        error=error,
    )
    after = view([*fleet(web1="disk:c load:o", web2="disk:c load:c"), away], minute=5, before=before)
    return pair(before, after)


def recovery() -> Pair:
    before = view(fleet(web1="disk:c load:w", web2="disk:c load:c"))
    return pair(before, view(fleet(web1="disk:o load:o", web2="disk:o load:w"), minute=5, before=before))


def no_change() -> Pair:
    before = view(fleet(web1="disk:c load:o"))
    return pair(before, view(fleet(web1="disk:c load:o"), minute=5, before=before))


def renamed_check() -> Pair:
    before = view(fleet(web1="df:c load:o"), ("df", "load"))
    checks = versions("space", command="c-df", rules="r-df") | versions("load")
    return pair(before, view(fleet(web1="space:u load:o"), checks, minute=5, before=before, playbook_digest="2"))


def other_hosts() -> Pair:
    before = view(fleet(web1="disk:o", db1="disk:o"))
    return pair(before, view(fleet(web1="disk:w", web2="disk:c"), minute=5, of={"limit": "web*"}))


def incomplete_run() -> Pair:
    before = view(fleet(web1="disk:o load:o", web2="disk:o load:o"))
    cut = [
        host("web1", came_to("web1", "disk", "c"), stopped("web1", planned("load"), "interrupted")),
        host(
            "web2",
            *(stopped("web2", planned(key), "interrupted") for key in ("disk", "load")),
            state=HostState.NOT_TRIED,
        ),
    ]
    return pair(before, view(cut, minute=5, before=before, ended="interrupted"))


def changed_threshold() -> Pair:
    before = view(fleet(web1="disk:o load:o", web2="disk:o load:o"))
    checks = versions("disk", rules="80") | versions("load")
    return pair(
        before,
        view(fleet(web1="disk:w load:o", web2="disk:o load:w"), checks, minute=5, before=before, playbook_digest="2"),
    )


def loops_and_silence() -> Pair:
    before = view(fleet(web1="disk[/]:o disk[/var]:o disk[/srv]:o load:o"))
    return pair(before, view(fleet(web1="disk[/]:c disk[/var]:c load:w"), minute=5, before=before))


CASES: dict[str, Callable[[], Pair]] = {
    made.__name__: made
    for made in (
        *(regression, recovery, no_change, renamed_check, other_hosts, incomplete_run, changed_threshold),
        loops_and_silence,
    )
}


@pytest.mark.parametrize("form", ["json", "terminal"])
@pytest.mark.parametrize("case", CASES)
def test_golden_diff(case: str, form: str) -> None:
    before, after = CASES[case]()
    drift = drift_of(before, after, silent=lambda _, check: check == "load" and case == "loops_and_silence")
    reasons = {at: "stdout has 1 line, expected none" for at, one in enumerate(drift.changes) if one.check == "disk"}
    if form == "json":
        text = diff_json(before, after, drift) + "\n"
    else:
        lines = diff_lines(before, after, drift, reasons, style=Style(False), width=100)
        text = "".join(f"{line}\n" for line in lines)
    path = FOLDER / f"{case}.{int(drift.is_worse)}.{form}"
    if os.environ.get("CHECKRUNNER_UPDATE_GOLDEN"):
        assert not os.environ.get("CI"), "golden files are accepted by a person"
        path.write_text(text, encoding="utf-8")

    assert path.read_text(encoding="utf-8") == text
    document = diff_document(before, after, drift)
    jsonschema.Draft202012Validator(diff_schema()).validate(document)
    assert json.loads(json.dumps(document)) == document


def test_no_golden_diff_is_left_over() -> None:
    assert {path.name.split(".")[0] for path in FOLDER.iterdir()} == set(CASES)
    assert len(list(FOLDER.iterdir())) == 2 * len(CASES)


def test_docs_show_golden_diffs() -> None:
    docs = (FOLDER.parents[2] / "docs" / "drift.md").read_text(encoding="utf-8")

    for name in ("regression.1.terminal", "changed_threshold.1.terminal"):
        assert (FOLDER / name).read_text(encoding="utf-8") in docs
    report = (FOLDER.parent / "changed.2.terminal").read_text(encoding="utf-8")
    assert report.split("\n\nCRIT")[0] in docs
