"""What lint found, as text, JSON and SARIF."""

from __future__ import annotations

import io
import json
from typing import Any

import jsonschema
import pytest

from checkrunner.model.problems import Level, Problem, Rule
from checkrunner.model.sources import SourceRef
from checkrunner.render.lint import lint_document, lint_sarif, print_lint, write_document
from checkrunner.render.schema_lint import lint_schema

RULES = {
    "a": Rule(id="a", level=Level.ERROR, title="All is well", help="Do something."),
    "b": Rule(id="b", level=Level.INFO, title="More", help="Do more."),
}

# The parts of SARIF 2.1.0 that are written here, as its own schema has them: what is required, of which type, with
# which words. Nothing else may be there.
_TEXT: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {"text": {"type": "string", "minLength": 1}},
}
_LOCATION: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"uri": {"type": "string", "format": "uri-reference", "pattern": "^[^ ]+$"}},
}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}
SARIF: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"enum": ["2.1.0"]},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["tool"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "additionalProperties": False,
                                "required": ["name"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "semanticVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "additionalProperties": False,
                                            "required": ["id"],
                                            "properties": {
                                                "id": {"type": "string"},
                                                "shortDescription": _TEXT,
                                                "fullDescription": _TEXT,
                                                "help": _TEXT,
                                                "defaultConfiguration": {
                                                    "type": "object",
                                                    "additionalProperties": False,
                                                    "properties": {"level": _LEVEL},
                                                },
                                            },
                                        },
                                    },
                                },
                            }
                        },
                    },
                    "invocations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "required": ["executionSuccessful"],
                            "properties": {
                                "executionSuccessful": {"type": "boolean"},
                                "exitCode": {"type": "integer"},
                            },
                        },
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "artifacts": {
                        "type": "array",
                        "uniqueItems": True,
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {"location": _LOCATION},
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "required": ["message"],
                            "properties": {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": -1},
                                "level": _LEVEL,
                                "message": _TEXT,
                                "locations": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "additionalProperties": False,
                                        "properties": {
                                            "physicalLocation": {
                                                "type": "object",
                                                "additionalProperties": False,
                                                "required": ["artifactLocation"],
                                                "properties": {
                                                    "artifactLocation": _LOCATION,
                                                    "region": {
                                                        "type": "object",
                                                        "additionalProperties": False,
                                                        "properties": {
                                                            "startLine": {"type": "integer", "minimum": 1},
                                                            "startColumn": {"type": "integer", "minimum": 1},
                                                            "snippet": _TEXT,
                                                        },
                                                    },
                                                },
                                            }
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}


def problem(line: int = 3, rule: str = "a", level: Level = Level.ERROR, **more: Any) -> Problem:
    source = SourceRef(path=more.pop("path", "dir/p 1.yml"), line=line, column=more.pop("column", 5))
    return Problem(level=level, rule=rule, message=more.pop("message", f"wrong {line}"), source=source, **more)


def mask(text: str) -> str:
    return text.replace("s3cret", "[redacted]")


def sarif(*problems: Problem) -> dict[str, Any]:
    found = lint_sarif(problems, rules=RULES, version="1.2.3", playbook="dir/p 1.yml", exit_code=64, mask=mask)
    jsonschema.validate(found, SARIF, cls=jsonschema.Draft202012Validator)
    return found


def test_sarif_of_nothing_has_the_rules() -> None:
    (run,) = sarif()["runs"]
    assert run["results"] == []
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["a", "b"]
    assert [rule["defaultConfiguration"]["level"] for rule in run["tool"]["driver"]["rules"]] == ["error", "note"]


def test_sarif_of_problems() -> None:
    (run,) = sarif(
        problem(hint="Fix it", line_text="    x: s3cret"), problem(rule="b", level=Level.INFO, line=0, column=0)
    )["runs"]
    first, second = run["results"]
    assert (first["ruleId"], first["ruleIndex"], first["level"]) == ("a", 0, "error")
    assert first["message"]["text"] == "wrong 3. Fix it"
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "dir/p%201.yml"}
    assert place["region"] == {"startLine": 3, "startColumn": 5, "snippet": {"text": "    x: [redacted]"}}
    assert (second["ruleIndex"], second["level"]) == (1, "note")
    assert "region" not in second["locations"][0]["physicalLocation"]


@pytest.mark.parametrize(
    ("path", "uri"),
    [("/etc/a b.yml", "file:///etc/a%20b.yml"), ("a:b.yml", "a%3Ab.yml"), ("../ä.yml", "../%C3%A4.yml")],
)
def test_sarif_uris(path: str, uri: str) -> None:
    (run,) = sarif(problem(path=path))["runs"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_a_problem_of_no_file_is_put_to_the_playbook() -> None:
    (run,) = sarif(Problem(level=Level.WARNING, rule="a", message="-e x: nobody reads it"))["runs"]
    assert run["results"][0]["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "dir/p%201.yml"}}


def test_json() -> None:
    found = lint_document(
        [problem(line_text="s3cret"), problem(rule="b", level=Level.INFO)], playbook="p.yml", exit_code=64, mask=mask
    )
    jsonschema.validate(found, lint_schema())
    assert found["totals"] == {"error": 1, "warning": 0, "info": 1}
    assert found["problems"][0] == {
        "rule": "a",
        "level": "error",
        "message": "wrong 3",
        "path": "dir/p 1.yml",
        "line": 3,
        "column": 5,
        "line_text": "[redacted]",
        "hint": "",
    }


def test_json_hides_nothing() -> None:
    out = io.StringIO()
    write_document({"a": "\u202e\x7f"}, out)
    assert json.loads(out.getvalue()) == {"a": "\u202e\x7f"}
    assert out.getvalue().isascii()


def printed(*problems: Problem) -> str:
    out = io.StringIO()
    print_lint(problems, out, color=False, mask=mask)
    return out.getvalue()


def test_text_names_the_rule() -> None:
    assert printed(problem(hint="Fix it")) == "dir/p 1.yml:3:5: error: wrong 3 (a)\n  hint: Fix it\n"


def test_many_infos_of_one_kind_are_one() -> None:
    infos = [problem(line, "b", Level.INFO) for line in (3, 7, 9, 12)]
    assert printed(*infos) == ("dir/p 1.yml:3:5: info: wrong 3 (b)\n  hint: 3 more of this kind, in lines 7, 9, 12\n")
    assert printed(*infos[:3]).count("\n") == 3
    assert printed(*(problem(line) for line in range(1, 9))).count("\n") == 8
