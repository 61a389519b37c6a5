"""Private keys in text, also where a slice shows only a part of one. Works on lines; their number stays."""

from __future__ import annotations

import re

__all__ = ["redact_key_blocks"]

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
# A line of a key's body, perhaps after a prefix that a tool put before it (indentation, `+`, `file:12:`).
_BODY = re.compile(r"(?:[^\s]{0,80}?[:+>|-])?[\s\"',>+|-]*[A-Za-z0-9+/]{16,}={0,2}(?:\\n)?[\"',]*\s*\Z")
_HEADER = re.compile(r"\s*(?:Proc-Type|DEK-Info|Version|Comment|Hash):.*\Z|\s*=?[A-Za-z0-9+/]{1,15}={0,2}\s*\Z|\s*\Z")
_FULL_LINE = re.compile(r"\s*[A-Za-z0-9+/]{60,76}\s*\Z")
_LONGEST = 400
"""Lines that a key may have: an END further away belongs to something else."""


def redact_key_blocks(text: str, mark: str) -> str:
    """Replace the bodies of private keys by `mark`, a line each. A block may lack its beginning or its end."""
    if "PRIVATE KEY" not in text and not _looks_encoded(text):
        return text
    lines = text.split("\n")
    _whole_blocks(lines, mark)
    _blocks_without_begin(lines, mark)
    _blocks_without_markers(lines, mark)
    return "\n".join(lines)


def _looks_encoded(text: str) -> bool:
    return any(len(line) >= 60 and _FULL_LINE.match(line) for line in text.split("\n"))


def _whole_blocks(lines: list[str], mark: str) -> None:
    at = 0
    while at < len(lines):
        begin = _BEGIN.search(lines[at])
        if begin is None:
            at += 1
            continue
        lines[at] = _one_line(lines[at], mark)
        if _BEGIN.search(lines[at]) and _END.search(lines[at]):
            at += 1
            continue
        at = _mask_body(lines, at + 1, mark)


def _one_line(line: str, mark: str) -> str:
    """Mask from each begin marker to the next end marker, or to the end of the line."""
    out: list[str] = []
    at = 0
    while (begin := _BEGIN.search(line, at)) is not None:
        end = _END.search(line, begin.end())
        body = line[begin.end() : end.start() if end else len(line)]
        out.append(line[at : begin.end()] + (mark if re.search(r"[A-Za-z0-9+/=]{8}", body) else body))
        if end is None:
            return "".join(out)
        out.append(end.group())
        at = end.end()
    return "".join(out) + line[at:]


def _mask_body(lines: list[str], start: int, mark: str) -> int:
    """Mask the lines of a body that starts at `start`; return where to go on."""
    for at in range(start, min(start + _LONGEST, len(lines))):
        if _BEGIN.search(lines[at]):
            break
        end = _END.search(lines[at])
        if end is not None:
            head = lines[at][: end.start()]
            if re.search(r"[A-Za-z0-9+/=]{16}", head):
                lines[at] = mark + lines[at][end.start() :]
            _mask(lines, start, at, mark)
            return at + 1
    at = start
    while at < len(lines) and not _BEGIN.search(lines[at]) and (_is_body(lines[at]) or lines[at] == mark):
        at += 1
    _mask(lines, start, at, mark)
    return max(at, start)


def _blocks_without_begin(lines: list[str], mark: str) -> None:
    """A slice that starts inside a key: encoded lines directly before an end marker."""
    for at, line in enumerate(lines):
        if _END.search(line) is None:
            continue
        start = at
        while start and _is_body(lines[start - 1]) and lines[start - 1].strip():
            start -= 1
        _mask(lines, start, at, mark)


def _blocks_without_markers(lines: list[str], mark: str) -> None:
    """A slice out of the middle of a key: two or more full lines of base64 that are no hexadecimal digests."""
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and _FULL_LINE.match(lines[end]) and _mixed(lines[end]):
            end += 1
        if end - at >= 2:
            _mask(lines, at, end, mark)
        at = max(end, at + 1)


def _is_body(line: str) -> bool:
    return _BODY.match(line) is not None or _HEADER.match(line) is not None


def _mixed(line: str) -> bool:
    return any(c.islower() for c in line) and any(c.isupper() for c in line) and any(c.isdigit() for c in line)


def _mask(lines: list[str], start: int, end: int, mark: str) -> None:
    for at in range(start, end):
        if lines[at].strip():
            lines[at] = mark
