"""The report as one line of JSON."""

from __future__ import annotations

import json
import re
from typing import TextIO

from checkrunner.model.characters import is_hidden
from checkrunner.model.history import Detail
from checkrunner.model.report import Report
from checkrunner.render.document import to_document

__all__ = ["JsonRenderer", "escaped", "json_text"]

_UNUSUAL = re.compile(r"[^ -~]")


def json_text(report: Report, *, ascii_only: bool = False) -> str:
    """The document without spaces and newlines. Characters that are not shown as what they are (controls, bidi marks)
    stand as escapes, so that a terminal which is sent the document obeys none of them."""
    text = json.dumps(to_document(report), ensure_ascii=ascii_only, separators=(",", ":"), allow_nan=False)
    return escaped(text)


def escaped(text: str) -> str:
    """JSON text in which nothing is hidden from the eye."""
    return text if text.isascii() and "\x7f" not in text else _UNUSUAL.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    if not is_hidden(char):
        return char
    return "\\u007f" if char == "\x7f" else json.dumps(char)[1:-1]  # which leaves the one control in ASCII as it is


class JsonRenderer:
    """Compact JSON and a final newline. Escapes what is not ASCII only where the stream's encoding asks for it."""

    def __init__(self, *, color: bool | None = None, width: int | None = None) -> None:
        """JSON has neither colour nor width; both are taken so that all formats are made in one way."""
        del color, width

    def render(self, report: Report, out: TextIO, detail: Detail | None = None) -> None:  # noqa: ARG002 - the seam's
        """Write the document."""
        encoding = getattr(out, "encoding", None) or "utf-8"
        out.write(json_text(report, ascii_only=not encoding.lower().replace("-", "").startswith("utf")) + "\n")
