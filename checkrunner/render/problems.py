"""Errors for people: what happened, where, what to do. Plain text, colour where the stream is a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TextIO

from checkrunner.model.errors import CheckrunnerError, LoadError
from checkrunner.model.sources import NOWHERE, SourceRef
from checkrunner.render.layout import count_of
from checkrunner.render.safe import safe
from checkrunner.render.style import Style

__all__ = ["Mask", "error_text", "print_error", "print_problem"]

Mask = Callable[[str], str]
"""Takes secrets out of a text: a line of an inventory that is shown for its fault may hold a password."""

_COLORS = {"error": "red", "warning": "yellow"}
_PLACES = 10
_LINE = 160
"""Columns of a source line that are shown around its fault."""


def error_text(error: CheckrunnerError, *, color: bool = False, mask: Mask = str) -> str:
    """Several lines, without a newline at the end: place and message, the source line with a caret, the hint. Of a file
    that is wrong at many places, the first ten."""
    style = Style(color)
    if not isinstance(error, LoadError):
        return _text("error", error.message, NOWHERE, "", error.hint, style, mask)
    shown = error.errors[:_PLACES]
    texts = [_text("error", e.message, e.source, e.line_text, e.hint, style, mask) for e in shown]
    more = len(error.errors) - len(shown)
    return "\n".join([*texts, f"... and {count_of(more, 'more error')} in this file"] if more else texts)


def print_error(error: CheckrunnerError, out: TextIO, *, color: bool | None = None, mask: Mask = str) -> None:
    """Write `error_text`; `color` None means: when `out` is a terminal."""
    _write(out, error_text(error, color=out.isatty() if color is None else color, mask=mask))


def print_problem(
    level: str,
    message: str,
    out: TextIO,
    *,
    source: SourceRef = NOWHERE,
    line_text: str = "",
    hint: str = "",
    color: bool | None = None,
    mask: Mask = str,
) -> None:
    """The same for a problem that is no exception. `level` is ``error``, ``warning`` or another word."""
    style = Style(out.isatty() if color is None else color)
    _write(out, _text(level, message, source, line_text, hint, style, mask))


def _write(out: TextIO, text: str) -> None:
    encoding = getattr(out, "encoding", None) or "utf-8"
    with contextlib.suppress(
        OSError
    ):  # nobody is there to read it (a closed terminal); the exit code says it all the same
        out.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        out.flush()


def _text(level: str, message: str, source: SourceRef, line_text: str, hint: str, style: Style, mask: Mask) -> str:
    where = "" if source is NOWHERE else f"{safe(str(source))}: "
    lines = [style("bold", where) + style(_COLORS.get(level, "cyan"), f"{level}: ") + safe(mask(message))]
    if line_text:
        shown = mask(line_text)
        # Behind a masked secret the column of the file says nothing.
        column = source.column if shown[: source.column - 1] == line_text[: source.column - 1] else 0
        lines += _source_lines(source.line, column, shown, style)
    if hint:
        lines.append(style("cyan", "  hint: ") + safe(mask(hint)))
    return "\n".join(lines)


def _source_lines(line: int, column: int, line_text: str, style: Style) -> list[str]:
    """The line with its number, and a caret under the column; a long line is shown around the column."""
    start = max(0, column - _LINE // 2) if len(line_text) > _LINE else 0
    part = line_text[start : start + _LINE]
    label = str(line) if line else ""
    lead = "... " if start else ""
    lines = [style("dim", f"  {label} | ") + lead + safe(part)]
    if column:
        pad = " " * len(lead + safe(part[: column - 1 - start]))
        lines.append(style("dim", f"  {' ' * len(label)} | ") + pad + style("red", "^"))
    return lines
