"""`checkrunner schema`: the JSON Schemas of what goes in and what comes out."""

from __future__ import annotations

import json
from typing import Annotated

import typer

__all__ = ["schema"]


def schema(
    what: Annotated[str, typer.Argument(metavar="report|playbook|lint|preview|diff", help="Which schema to print.")],
) -> int:
    """Print a JSON Schema: of playbooks, for editors; of reports, of what lint finds, of dry runs, and of
    two runs compared, for programs.

    Example: checkrunner schema playbook > playbook.schema.json
    """
    from checkrunner.app.schemas import schema_of

    typer.echo(json.dumps(schema_of(what), indent=2, ensure_ascii=False))
    return 0
