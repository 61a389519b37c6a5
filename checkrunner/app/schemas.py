"""The published JSON Schemas."""

from __future__ import annotations

from typing import Any

from checkrunner.load.playbook import playbook_schema
from checkrunner.model.errors import UnknownNameError
from checkrunner.render.schema import report_schema
from checkrunner.render.schema_drift import diff_schema
from checkrunner.render.schema_lint import lint_schema, preview_schema

__all__ = ["SCHEMAS", "schema_of"]

SCHEMAS = {
    "playbook": playbook_schema,
    "report": report_schema,
    "lint": lint_schema,
    "diff": diff_schema,
    "preview": preview_schema,
}
"""What has a schema, and what makes it."""


def schema_of(what: str) -> dict[str, Any]:
    """The JSON Schema of a row of `SCHEMAS`. Raises UnknownNameError."""
    if what not in SCHEMAS:
        raise UnknownNameError("schema", what, SCHEMAS)
    return SCHEMAS[what]()
