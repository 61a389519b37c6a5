"""Reports compared with files named ``CASE.EXITCODE.FORMAT``.

To accept new output: ``CHECKRUNNER_UPDATE_GOLDEN=1 pytest tests/golden`` and read the diff before committing it.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import jsonschema
import pytest
from report_cases import CASES, fleet

from checkrunner.render import RENDERERS, renderer
from checkrunner.render.document import to_document
from checkrunner.render.json import json_text
from checkrunner.render.schema import report_schema
from checkrunner.testing import check_renderer

FOLDER = Path(__file__).parent
FORMS = sorted(set(RENDERERS) - {"html"})
"""A page is looked at in a browser, not in a diff."""

FILES = sorted(path for path in FOLDER.glob("*.*.*") if path.suffix[1:] in RENDERERS)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", sorted(CASES))
def test_golden(case: str, form: str) -> None:
    report = CASES[case]()
    out = io.StringIO()
    renderer(form, color=False, width=100).render(report, out)
    path = FOLDER / f"{case}.{report.run.exit_code}.{form}"
    if os.environ.get("CHECKRUNNER_UPDATE_GOLDEN"):
        assert not os.environ.get("CI"), "golden files are accepted by a person"
        path.write_text(out.getvalue(), encoding="utf-8")

    assert path.read_text(encoding="utf-8") == out.getvalue()


@pytest.mark.parametrize("form", sorted(RENDERERS))
@pytest.mark.parametrize("case", sorted(CASES))
def test_every_format_keeps_the_contract(case: str, form: str) -> None:
    check_renderer(renderer(form), CASES[case]())


def test_no_golden_file_is_left_over() -> None:
    known = {f"{case}.{made().run.exit_code}.{form}" for case, made in CASES.items() for form in FORMS}

    assert {path.name for path in FILES} == known


@pytest.mark.parametrize("case", sorted(CASES))
def test_golden_reports_are_valid(case: str) -> None:
    jsonschema.Draft202012Validator(report_schema()).validate(to_document(CASES[case]()))


@pytest.mark.parametrize("case", sorted(CASES))
def test_no_secret_is_in_a_report(case: str) -> None:
    assert "hunter2" not in json_text(CASES[case]())


def test_docs_show_the_golden_report() -> None:
    """The worked example of the manual is a real report."""
    docs = (FOLDER.parents[1] / "docs" / "report.md").read_text(encoding="utf-8")

    assert (FOLDER / "trouble.2.terminal").read_text(encoding="utf-8") in docs
    disk = json.loads((FOLDER / "trouble.2.json").read_text(encoding="utf-8"))["findings"][0]
    assert json.dumps(disk, indent=2, ensure_ascii=False) in docs
    assert (FOLDER / "squeezed.2.terminal").read_text(encoding="utf-8") in docs
    squeezed = json.loads((FOLDER / "squeezed.2.json").read_text(encoding="utf-8"))
    shown = {name: squeezed[name] for name in ("omissions", "budget")}
    assert json.dumps(shown, indent=2, ensure_ascii=False) in docs


def test_a_squeezed_report_says_what_was_left_out() -> None:
    made = CASES["squeezed"]()

    assert made.budget.used <= 700
    assert {one.what for one in made.omissions} == {"finding", "line", "detail"}
    assert [one.novelty for one in made.findings] == ["known", "known", "new"]
    assert made.findings[1].explained_by == made.findings[0].id


@pytest.mark.parametrize(("hosts", "checks", "most"), [(10_000, 8, 1000), (1, 10, 4000)])
def test_a_healthy_fleet_is_a_small_report(hosts: int, checks: int, most: int) -> None:
    assert len(json_text(fleet(hosts, checks)).encode()) < most
