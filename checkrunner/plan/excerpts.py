"""The line of the file for a place in a text. Pure: the lines come with the playbook."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checkrunner.model.playbook import Playbook
from checkrunner.model.sources import SourceRef

__all__ = ["excerpt"]

_WORD = re.compile(r"\w+|\W")
_FOLDED_LINES = 20
"""How far below its first line the place in a folded text is looked for."""


def excerpt(playbook: Playbook, source: SourceRef, line_text: str) -> tuple[SourceRef, str]:
    """The place and the file's own line, for a place and line that were worked out from a text alone (`faults.place`).

    Escapes, and lines that YAML folded into one, shift what comes after them: the word at the place is then looked for
    from there on, a few lines far.
    """
    lines = playbook.lines if source.path == playbook.path else playbook.included.get(source.path, ())
    if not 0 < source.line <= len(lines):
        return source, line_text
    line = lines[source.line - 1].rstrip()
    start = source.column - 1
    word = _WORD.match(line_text, start) if start >= 0 else None
    if word is None or line.startswith(word.group(), start):
        return source, line
    return _found_below(lines, source, word.group()) or (source, line)


def _found_below(lines: Sequence[str], source: SourceRef, word: str) -> tuple[SourceRef, str] | None:
    wanted = re.compile(rf"(?<!\w){re.escape(word)}" if word.isidentifier() else re.escape(word))
    start = source.column - 1
    for row, line in enumerate(lines[source.line - 1 : source.line + _FOLDED_LINES], source.line):
        if found := wanted.search(line, start):
            return SourceRef(path=source.path, line=row, column=found.start() + 1), line.rstrip()
        start = 0
    return None
