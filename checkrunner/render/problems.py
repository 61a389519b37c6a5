"""Errors for people: what happened, where, what to do. Plain text, colour where the stream is a terminal."""

from __future__ import annotations

from typing import TextIO

from checkrunner.model.errors import CheckrunnerError, LoadError
from checkrunner.model.sources import NOWHERE, SourceRef
from checkrunner.render.safe import safe
from checkrunner.render.style import Style

__all__ = ["error_text", "print_error", "print_problem", "print_warning"]

_COLORS = {"error": "red", "warning": "yellow"}
_LINE = 160
"""Columns of a source line that are shown around its fault."""


def error_text(error: CheckrunnerError, *, color: bool = False) -> str:
    """Several lines, without a newline at the end: place and message, the source line with a caret, the hint."""
    source, line_text = (error.source, error.line_text) if isinstance(error, LoadError) else (NOWHERE, "")
    return _text("error", error.message, source, line_text, error.hint, Style(color))


def print_error(error: CheckrunnerError, out: TextIO, *, color: bool | None = None) -> None:
    """Write `error_text`; `color` None means: when `out` is a terminal."""
    _write(out, error_text(error, color=out.isatty() if color is None else color))


def print_problem(
    level: str,
    message: str,
    out: TextIO,
    *,
    source: SourceRef = NOWHERE,
    line_text: str = "",
    hint: str = "",
    color: bool | None = None,
) -> None:
    """The same for a problem that is no exception. `level` is ``error``, ``warning`` or another word."""
    style = Style(out.isatty() if color is None else color)
    _write(out, _text(level, message, source, line_text, hint, style))


def print_warning(message: str, out: TextIO, *, color: bool | None = None) -> None:
    """One line, marked as a warning."""
    print_problem("warning", message, out, color=color)


def _write(out: TextIO, text: str) -> None:
    encoding = getattr(out, "encoding", None) or "utf-8"
    out.write(text.encode(encoding, "replace").decode(encoding) + "\n")


def _text(level: str, message: str, source: SourceRef, line_text: str, hint: str, style: Style) -> str:
    where = "" if source is NOWHERE else f"{safe(str(source))}: "
    lines = [style("bold", where) + style(_COLORS.get(level, "cyan"), f"{level}: ") + safe(message)]
    if line_text:
        lines += _source_lines(source, line_text, style)
    if hint:
        lines.append(style("cyan", "  hint: ") + safe(hint))
    return "\n".join(lines)


def _source_lines(source: SourceRef, line_text: str, style: Style) -> list[str]:
    """The line with its number, and a caret under the column; a long line is shown around the column."""
    column = source.column
    start = max(0, column - _LINE // 2) if len(line_text) > _LINE else 0
    part = line_text[start : start + _LINE]
    label = str(source.line) if source.line else ""
    lead = "... " if start else ""
    lines = [style("dim", f"  {label} | ") + lead + safe(part)]
    if column:
        pad = " " * len(lead + safe(part[: column - 1 - start]))
        lines.append(style("dim", f"  {' ' * len(label)} | ") + pad + style("red", "^"))
    return lines
