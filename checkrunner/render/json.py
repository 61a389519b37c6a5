"""The report as one line of JSON."""

from __future__ import annotations

import json
from typing import TextIO

from checkrunner.model.report import Report
from checkrunner.render.document import to_document

__all__ = ["JsonRenderer", "json_text"]


def json_text(report: Report, *, ascii_only: bool = False) -> str:
    """The document without spaces and newlines."""
    return json.dumps(to_document(report), ensure_ascii=ascii_only, separators=(",", ":"), allow_nan=False)


class JsonRenderer:
    """Compact JSON and a final newline. Escapes what is not ASCII only where the stream's encoding asks for it."""

    def __init__(self, *, color: bool | None = None, width: int | None = None) -> None:
        """JSON has neither colour nor width; both are taken so that all formats are made in one way."""
        del color, width

    def render(self, report: Report, out: TextIO) -> None:
        """Write the document."""
        encoding = getattr(out, "encoding", None) or "utf-8"
        out.write(json_text(report, ascii_only=not encoding.lower().replace("-", "").startswith("utf")) + "\n")
