"""Bytes of a command's output to text that is safe to show: what a terminal would have left on the line, no controls.

Knows lines only; which lines are worth showing is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from checkrunner.findings.secret_tags import GAP
from checkrunner.model.characters import is_hidden
from checkrunner.model.results import RawLine, SliceLine

__all__ = ["LINE_BYTES", "line_view", "masked_lines", "text_view", "visible"]

LINE_BYTES = 2000
"""The longest line that is viewed at all; the rest is counted as cut. Hosts cut earlier unless asked otherwise."""

_TAB = 8
# One alternative a kind of sequence; each has a clear end, so that matching is linear. A string sequence (OSC, DCS)
# without an end must not swallow the rest of the line: then only its introducer goes.
_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)(?P<args>[0-?]*)[ -/]*(?P<end>[@-~]?)"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])(?:[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c))?"
    r"|\x1b[ -/]*[0-~]?"
)
_MOVES = re.compile(r"[\r\b\t]|\x1b\[[0-2]?K")
_WORD_END = re.compile(rb"[\s\"',;&<>|]")
_SIMPLE = re.compile(r"[ -~]*\Z")


def text_view(data: bytes) -> str:
    """The line as a terminal would have left it: UTF-8 with replacement, carriage returns and backspaces applied, tabs
    as spaces to the next multiple of 8, escape sequences gone. What stays of control and invisible characters is made
    visible (see `visible`). Never raises; linear in the length of `data`, which should be one line.
    """
    text = data.decode("utf-8", "replace")
    if _SIMPLE.match(text):
        return text
    return visible(_settle(_ESCAPE.sub(_keep_erasing, text)))


def line_view(raw: RawLine, *, line_bytes: int = LINE_BYTES) -> SliceLine:
    """A line of a slice. Where the line was cut, here or on the host, the torn character at the cut is left out too and
    `cut_bytes` counts it. What was left out of its middle is a `GAP`; the word that this tore is not shown behind it,
    since the end of a secret does not look like one."""
    data, cut = raw.data, raw.cut_bytes
    if len(data) > line_bytes:
        cut += len(data) - line_bytes
        data = data[:line_bytes]
    if cut:
        whole = _without_torn_end(data)
        cut += len(data) - len(whole)
        data = whole
    text = text_view(data)
    if raw.tail:
        tail, torn = _from_a_gap(raw.tail)
        text, cut = f"{text}{GAP}{text_view(tail)}", cut + torn
    return SliceLine(number=raw.number, text=text, cut_bytes=cut, count=raw.count, last=raw.last)


def _from_a_gap(data: bytes) -> tuple[bytes, int]:
    """The end of a line from its first whole word on, and how many bytes come before that."""
    found = _WORD_END.search(data)
    start = found.start() if found else len(data)
    return data[start:], start


def masked_lines(lines: Sequence[SliceLine], mask: Callable[[str], str]) -> tuple[SliceLine, ...]:
    """Mask the lines together, since a key goes over several; a mask that loses count is used line by line. A `GAP`
    says where a line was cut."""
    cut = [line.text + GAP if line.cut_bytes and GAP not in line.text else line.text for line in lines]
    texts = mask("\n".join(cut)).split("\n") if lines else []
    if len(texts) != len(lines):
        texts = [mask(text).replace("\n", " ") for text in cut]
    texts = [text.rstrip(GAP).replace(GAP, "\u2026") for text in texts]
    return tuple(
        line if text == line.text else replace(line, text=text) for line, text in zip(lines, texts, strict=True)
    )


def visible(text: str) -> str:
    """Control characters as their pictures (``␀``), other invisible ones (C1, bidi, zero width, tags, line separators,
    lone surrogates) as ``<U+202E>``; the bell is dropped. The result has no newline."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    code = ord(char)
    if 0x20 <= code < 0x7F:
        return char
    if code < 0x20:
        return "" if code == 7 else chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"<U+{code:04X}>" if is_hidden(char) else char


def _keep_erasing(match: re.Match[str]) -> str:
    """Erasing is the one sequence that decides which text is left; all others go."""
    if match["end"] == "K" and match["args"] in {"", "0", "1", "2"}:
        return f"\x1b[{match['args']}K"
    return ""


def _settle(text: str) -> str:
    """Apply what moves the cursor or erases, a character a cell."""
    if _MOVES.search(text) is None:
        return text
    cells: list[str] = []
    at = start = 0
    for move in _MOVES.finditer(text):
        at = _write(cells, at, text[start : move.start()])
        at = _move(cells, at, move.group())
        start = move.end()
    _write(cells, at, text[start:])
    return "".join(cells)


def _write(cells: list[str], at: int, text: str) -> int:
    if text:
        _pad(cells, at)
        cells[at : at + len(text)] = text
    return at + len(text)


def _move(cells: list[str], at: int, move: str) -> int:
    if move == "\r":
        return 0
    if move == "\b":
        return max(at - 1, 0)
    if move == "\t":
        at += _TAB - at % _TAB
        _pad(cells, at)
        return at
    if move[2] == "1":  # erase up to and with the cursor
        cells[: at + 1] = " " * len(cells[: at + 1])
    else:  # erase the whole line, or what is right of the cursor
        del cells[0 if move[2] == "2" else at :]
    return at


def _pad(cells: list[str], width: int) -> None:
    cells.extend(" " * (width - len(cells)))


def _without_torn_end(data: bytes) -> bytes:
    """Without the bytes at the end that begin a UTF-8 character and do not finish it."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needs = 2 if byte & 0xE0 == 0xC0 else 3 if byte & 0xF0 == 0xE0 else 4 if byte & 0xF8 == 0xF0 else 1
        return data[:-back] if needs > back else data
    return data
