from __future__ import annotations

import io
import json
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from report_factory import reports

from checkrunner.model.characters import is_hidden
from checkrunner.model.errors import UnknownNameError
from checkrunner.model.report import Budget, Finding, Incomplete, Omission, Report, RunInfo, Totals, Variant
from checkrunner.model.results import Reason, Slice
from checkrunner.render import RENDERERS, renderer
from checkrunner.render.document import to_document
from checkrunner.render.json import json_text
from checkrunner.render.schema import report_schema
from checkrunner.render.terminal import TerminalRenderer

SCHEMA = report_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
lenient = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@given(reports)
@lenient
def test_every_report_is_one_line_of_valid_json(report: Report) -> None:
    for ascii_only in (False, True):
        text = json_text(report, ascii_only=ascii_only)

        assert [char for char in text if is_hidden(char)] == []
        text.encode("ascii" if ascii_only else "utf-8")
        document = json.loads(text)
        assert document == to_document(report)
        VALIDATOR.validate(document)
        assert not any("\ud800" <= char <= "\udfff" for warning in document["warnings"] for char in warning)


@given(reports)
@lenient
def test_terminal_text_is_harmless_and_plain(report: Report) -> None:
    out = io.StringIO()

    TerminalRenderer(color=False, width=80).render(report, out)

    odd = [c for c in out.getvalue() if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and c != "\n"]
    assert odd == []
    out.getvalue().encode("utf-8")


@given(reports)
@lenient
def test_colour_only_adds_escape_sequences_of_our_own(report: Report) -> None:
    plain, colored = io.StringIO(), io.StringIO()
    TerminalRenderer(color=False, width=80).render(report, plain)
    TerminalRenderer(color=True, width=80).render(report, colored)

    text = colored.getvalue()
    for code in ("0", "1", "2", "1;31", "32", "33", "35", "36"):
        text = text.replace(f"\x1b[{code}m", "")
    assert text == plain.getvalue()


def described(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, part in schema.get("properties", {}).items():
        yield f"{path}/{name}", part
        yield from described(part, f"{path}/{name}")
        if isinstance(part.get("items"), dict):
            yield f"{path}/{name}/*", part["items"]
    for name, part in schema.get("$defs", {}).items():
        yield f"{path}/$defs/{name}", part
        yield from described(part, f"{path}/$defs/{name}")


def test_every_field_of_the_schema_is_described() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    bare = [path for path, part in described(SCHEMA) if not part.get("description") and "$ref" not in part]
    assert bare == []


@pytest.mark.parametrize(
    ("kind", "part", "not_shown"),
    [
        (Report, SCHEMA, set()),
        (RunInfo, SCHEMA["properties"]["run"], set()),
        (Totals, SCHEMA["properties"]["totals"], set()),
        (Budget, SCHEMA["properties"]["budget"], set()),
        (Finding, SCHEMA["$defs"]["finding"], {"names", "unnamed"}),
        (Reason, SCHEMA["$defs"]["reason"], set()),
        (Slice, SCHEMA["$defs"]["slice"], {"query"}),
        (Variant, SCHEMA["$defs"]["variant"], {"names", "unnamed"}),
        (Incomplete, SCHEMA["$defs"]["incomplete"], {"names", "unnamed"}),
        (Omission, SCHEMA["$defs"]["omission"], set()),
    ],
)
def test_the_schema_knows_every_field_of_the_model(kind: Any, part: dict[str, Any], not_shown: set[str]) -> None:
    assert {field.name for field in fields(kind)} - not_shown <= set(part["properties"])


def test_renderers_are_found_by_name() -> None:
    assert {name: type(renderer(name)).__name__ for name in RENDERERS} == {
        "html": "HtmlRenderer",
        "json": "JsonRenderer",
        "junit": "JunitRenderer",
        "markdown": "MarkdownRenderer",
        "nagios": "NagiosRenderer",
        "prometheus": "PrometheusRenderer",
        "terminal": "TerminalRenderer",
    }
    with pytest.raises(UnknownNameError, match="json"):
        renderer("jsno")


@pytest.mark.parametrize("name", sorted(RENDERERS))
def test_plain_reports_do_not_import_rich(name: str, tmp_path: Path) -> None:
    code = (
        "import sys, io; from datetime import datetime, UTC; from checkrunner.render import renderer\n"
        "from checkrunner.model.report import *\n"
        "run = RunInfo(id='', version='', playbook='', playbook_digest='', inventory=(), limit=None, elapsed_s=0,\n"
        "  started_at=datetime(2026, 1, 1, tzinfo=UTC), ended='normal', complete=True, exit_code=0)\n"
        "zero = Totals(hosts=0, planned=0, done=0, skipped=0, not_run=0, verdict={}, execution={}, host={}, capture={})\n"
        f"renderer({name!r}).render(Report(run=run, totals=zero), io.StringIO())\n"
        "sys.exit(any(m.split('.')[0] in ('rich', 'ClusterShell') for m in sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_stream_that_is_not_utf8_gets_escapes_or_replacements(tmp_path: Path) -> None:
    report = next_report()
    for name, expected in (("json", "\\u00fc"), ("terminal", "?")):
        path = tmp_path / name
        with path.open("w", encoding="ascii") as out:
            renderer(name).render(report, out)
        assert expected in path.read_text()


def next_report() -> Report:
    run = RunInfo(
        id="1", version="1", playbook="ü.yml", playbook_digest="", inventory=(), limit=None, elapsed_s=1.23456,
        started_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), ended="normal", complete=True, exit_code=0,
    )  # fmt: skip
    zero = Totals(hosts=0, planned=0, done=0, skipped=0, not_run=0, verdict={}, execution={}, host={}, capture={})
    return Report(run=run, totals=zero)


def test_the_document_is_compact() -> None:
    assert to_document(next_report())["run"] == {
        "id": "1", "version": "1", "playbook": "ü.yml", "started_at": "2026-01-02T03:04:05Z", "elapsed_s": 1.235,
        "ended": "normal", "complete": True, "exit_code": 0,
    }  # fmt: skip
