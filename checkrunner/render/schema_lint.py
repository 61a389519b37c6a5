"""The JSON Schemas of what lint and dry runs print."""

from __future__ import annotations

import dataclasses
import types
import typing
from enum import StrEnum
from typing import Any

from checkrunner.model.preview import RunPreview
from checkrunner.model.problems import Level
from checkrunner.render.lint import LINT_SCHEMA
from checkrunner.render.preview import PREVIEW_SCHEMA

__all__ = ["lint_schema", "preview_schema"]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_ENV = {"type": "object", "additionalProperties": {"type": "string"}}
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


def lint_schema() -> dict[str, Any]:
    """Of ``lint --format json`` (draft 2020-12)."""
    problem = {
        "rule": {"type": "string", "description": "A rule of docs/lint.md."},
        "level": {"enum": [str(level) for level in Level]},
        "message": {"type": "string"},
        "path": {"type": "string", "description": "Empty for what stands in no file."},
        "line": {"type": "integer", "minimum": 0, "description": "From 1; 0 where no line is known."},
        "column": {"type": "integer", "minimum": 0, "description": "From 1; 0 where no column is known."},
        "line_text": {"type": "string", "description": "The line of the file, secrets masked."},
        "hint": {"type": "string", "description": "What to do."},
    }
    totals = {str(level): {"type": "integer", "minimum": 0} for level in Level}
    return {
        "$schema": _DRAFT,
        "title": "What checkrunner lint found",
        **_object(
            {
                "schema": {"const": LINT_SCHEMA},
                "playbook": {"type": "string"},
                "exit_code": {"enum": [0, 1, 64]},
                "totals": _object(totals),
                "problems": {"type": "array", "items": _object(problem)},
            }
        ),
    }


def preview_schema() -> dict[str, Any]:
    """Of ``run --check --format json`` and ``explain --format json`` (draft 2020-12)."""
    defs: dict[str, Any] = {}
    _of(RunPreview, defs)
    found = defs.pop(RunPreview.__name__)
    properties = {"schema": {"const": PREVIEW_SCHEMA}, **found["properties"]}
    return {"$schema": _DRAFT, "title": "What a run of checkrunner would do", **_object(properties), "$defs": defs}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(properties),
        "additionalProperties": False,
        "properties": properties,
    }


def _of(kind: Any, defs: dict[str, Any]) -> dict[str, Any]:
    """The schema of a field's type; that of a dataclass goes into `defs`."""
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if isinstance(kind, types.GenericAlias):
        return {"type": "array", "items": _of(typing.get_args(kind)[0], defs)}
    if issubclass(kind, StrEnum):
        return {"enum": [str(word) for word in kind]}
    if kind.__name__ not in defs:
        hints = typing.get_type_hints(kind)
        properties: dict[str, Any] = {}
        defs[kind.__name__] = {}
        for field in dataclasses.fields(kind):
            properties[field.name] = _of(hints[field.name], defs) if field.name != "env" else _ENV
        defs[kind.__name__] = {"description": " ".join((kind.__doc__ or "").split()), **_object(properties)}
    return {"$ref": f"#/$defs/{kind.__name__}"}
