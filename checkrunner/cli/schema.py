"""`checkrunner schema`: the JSON Schemas of what goes in and what comes out."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from checkrunner.model.errors import UnknownNameError

__all__ = ["schema"]


def schema(
    what: Annotated[str, typer.Argument(metavar="report|playbook", help="Which schema to print.")],
) -> int:
    """Print the JSON Schema of reports or of playbooks, for editors and for programs that read reports."""
    if what == "report":
        from checkrunner.render.schema import report_schema

        document = report_schema()
    elif what == "playbook":
        from checkrunner.load.schema import playbook_schema

        document = playbook_schema()
    else:
        raise UnknownNameError("schema", what, ("report", "playbook"))
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    return 0
