"""What lint found: for people, as one JSON document, and as SARIF 2.1.0 for editors and code hosts."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TextIO
from urllib.parse import quote

from checkrunner.model.problems import Level, Problem, Rule
from checkrunner.model.sources import NOWHERE
from checkrunner.render.json import escaped
from checkrunner.render.problems import Mask, print_problem

__all__ = ["LINT_FORMATS", "LINT_SCHEMA", "lint_document", "lint_sarif", "print_lint", "write_document"]

LINT_FORMATS = ("text", "json", "sarif")
LINT_SCHEMA = "checkrunner/lint/1"
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_SARIF_LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}
_FOLDED_FROM = 4
"""So many infos of one rule in one file are shown as one."""


def print_lint(problems: Sequence[Problem], out: TextIO, *, color: bool | None, mask: Mask) -> None:
    """Each with its place, line and hint. Many infos of one kind are shown as the first and the lines of the others."""
    kinds = Counter((problem.rule, problem.source.path) for problem in problems if problem.level is Level.INFO)
    said: set[tuple[str, str]] = set()
    for problem in problems:
        kind = (problem.rule, problem.source.path)
        if problem.level is Level.INFO and kinds[kind] >= _FOLDED_FROM:
            if kind in said:
                continue
            said.add(kind)
            lines = [str(p.source.line) for p in problems if (p.rule, p.source.path) == kind and p is not problem]
            shown = ", ".join(lines[:20]) + (", ..." if len(lines) > 20 else "")
            problem_hint = f"{len(lines)} more of this kind, in lines {shown}"
        else:
            problem_hint = problem.hint
        print_problem(
            str(problem.level),
            f"{problem.message} ({problem.rule})",
            out,
            source=problem.source,
            line_text=problem.line_text,
            hint=problem_hint,
            color=color,
            mask=mask,
        )


def write_document(document: Mapping[str, Any], out: TextIO) -> None:
    """As indented JSON in which nothing is hidden from the eye."""
    encoding = getattr(out, "encoding", None) or "utf-8"
    ascii_only = not encoding.lower().replace("-", "").startswith("utf")
    text = json.dumps(document, indent=2, ensure_ascii=ascii_only)
    out.write("\n".join(escaped(line) for line in text.split("\n")) + "\n")


def lint_document(problems: Sequence[Problem], *, playbook: str, exit_code: int, mask: Mask) -> dict[str, Any]:
    """All problems as data. Secrets are masked; `line` and `column` are 0 where no line is known."""
    counts = Counter(problem.level for problem in problems)
    return {
        "schema": LINT_SCHEMA,
        "playbook": playbook,
        "exit_code": exit_code,
        "totals": {str(level): counts[level] for level in Level},
        "problems": [
            {
                "rule": problem.rule,
                "level": str(problem.level),
                "message": mask(problem.message),
                "path": "" if problem.source is NOWHERE else problem.source.path,
                "line": problem.source.line,
                "column": problem.source.column,
                "line_text": mask(problem.line_text),
                "hint": mask(problem.hint),
            }
            for problem in problems
        ],
    }


def lint_sarif(
    problems: Sequence[Problem],
    *,
    rules: Mapping[str, Rule],
    version: str,
    playbook: str,
    exit_code: int,
    mask: Mask,
) -> dict[str, Any]:
    """A SARIF log with one run. Paths are relative to where lint was started, as it got them."""
    numbers = {rule: number for number, rule in enumerate(rules)}
    return {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "checkrunner",
                        "semanticVersion": version,
                        "rules": [_rule(rule) for rule in rules.values()],
                    }
                },
                "invocations": [{"executionSuccessful": True, "exitCode": exit_code}],
                "columnKind": "unicodeCodePoints",
                "artifacts": [{"location": {"uri": _uri(playbook)}}],
                "results": [_result(problem, numbers, playbook, mask) for problem in problems],
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": f"{rule.title}."},
        "fullDescription": {"text": rule.help},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.level]},
    }


def _result(problem: Problem, numbers: Mapping[str, int], playbook: str, mask: Mask) -> dict[str, Any]:
    text = mask(f"{problem.message}. {problem.hint}" if problem.hint else problem.message)
    place: dict[str, Any] = {
        "artifactLocation": {"uri": _uri(playbook if problem.source is NOWHERE else problem.source.path)}
    }
    if problem.source.line:
        region: dict[str, Any] = {"startLine": problem.source.line}
        if problem.source.column:
            region["startColumn"] = problem.source.column
        if problem.line_text:
            region["snippet"] = {"text": mask(problem.line_text)}
        place["region"] = region
    return {
        "ruleId": problem.rule,
        "ruleIndex": numbers[problem.rule],
        "level": _SARIF_LEVELS[problem.level],
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }


def _uri(path: str) -> str:
    """A relative reference, or ``file://`` for an absolute path."""
    return f"file://{quote(path)}" if os.path.isabs(path) else quote(path)
