"""Errors for people: what happened, where, what to do. Plain text, colour where the stream is a terminal."""

from __future__ import annotations

from typing import TextIO

from checkrunner.model.errors import CheckrunnerError, LoadError
from checkrunner.model.sources import NOWHERE
from checkrunner.render.safe import safe
from checkrunner.render.style import Style

__all__ = ["error_text", "print_error", "print_warning"]

_LINE = 160
"""Columns of a source line that are shown around its fault."""


def error_text(error: CheckrunnerError, *, color: bool = False) -> str:
    """Several lines, without a newline at the end: place and message, the source line with a caret, the hint."""
    style = Style(color)
    lines = []
    where = ""
    if isinstance(error, LoadError):
        where = "" if error.source is NOWHERE else f"{safe(str(error.source))}: "
    lines.append(style("bold", where) + style("red", "error: ") + safe(error.message))
    if isinstance(error, LoadError) and error.line_text:
        lines += _source_lines(error, style)
    if error.hint:
        lines.append(style("cyan", "  hint: ") + safe(error.hint))
    return "\n".join(lines)


def print_error(error: CheckrunnerError, out: TextIO, *, color: bool | None = None) -> None:
    """Write `error_text`; `color` None means: when `out` is a terminal."""
    out.write(error_text(error, color=out.isatty() if color is None else color) + "\n")


def print_warning(message: str, out: TextIO, *, color: bool | None = None) -> None:
    """One line, marked as a warning."""
    style = Style(out.isatty() if color is None else color)
    out.write(style("yellow", "warning: ") + safe(message) + "\n")


def _source_lines(error: LoadError, style: Style) -> list[str]:
    """The line with its number, and a caret under the column; a long line is shown around the column."""
    column = error.source.column
    start = max(0, column - _LINE // 2) if len(error.line_text) > _LINE else 0
    part = error.line_text[start : start + _LINE]
    label = str(error.source.line) if error.source.line else ""
    lead = "... " if start else ""
    lines = [style("dim", f"  {label} | ") + lead + safe(part)]
    if column:
        pad = " " * len(lead + safe(part[: column - 1 - start]))
        lines.append(style("dim", f"  {' ' * len(label)} | ") + pad + style("red", "^"))
    return lines
