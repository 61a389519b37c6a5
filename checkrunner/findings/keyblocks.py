"""Private keys in text, also where a slice shows only a part of one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrunner.findings.known import Spot
from checkrunner.findings.secret_tags import GAP, is_spent

__all__ = ["key_block_spots"]

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PUBLIC = re.compile(r"-----(?:BEGIN|END) (?![A-Z0-9 ]{0,30}PRIVATE KEY)[A-Z0-9 ]{1,40}-----")
# A line of a key's body, perhaps after a prefix that a tool put before it (indentation, `+`, `file:12:`).
_BODY = re.compile(r"(?:[^\s]{0,80}?[:+>|-])?[\s\"',>+|-]*[A-Za-z0-9+/]{16,}={0,2}(?:\\n)?[\"',]*\s*\0?\Z")
_HEADER = re.compile(r"\s*(?:Proc-Type|DEK-Info|Version|Comment|Hash):.*\Z|\s*=?[A-Za-z0-9+/]{1,15}={0,2}\s*\Z|\s*\Z")
_FULL_LINE = re.compile(r"\s*(?P<data>[A-Za-z0-9+/]{60,76})\s*\Z")
_LONGEST = 400
"""Lines that a key may have: an END further away belongs to something else."""
_ONE_LINE = frozenset({64, 70, 76})
"""Characters of a full line as the common tools break keys: then a line says enough by itself."""
_PICTURES = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "JVBERi0", "UEsDB", "H4sI", "Qk0", "AAABAA")
"""How images, documents and archives begin in base64."""


def key_block_spots(text: str, rank: int) -> Iterator[Spot]:
    """The bodies of private keys, a spot for each line. A block may lack its beginning or its end."""
    private = "PRIVATE KEY" in text
    putty = "Private-Lines:" in text
    if not private and not putty and not any(_is_full(line) for line in text.split("\n")):
        return
    yield from _Blocks(text, rank).spots()


def _is_full(line: str) -> bool:
    return len(line) >= 60 and _FULL_LINE.match(line) is not None


class _Blocks:
    """The lines of a text, and which of them are known to be of a key, or of something that is none."""

    def __init__(self, text: str, rank: int) -> None:
        self._lines = text.split("\n")
        self._starts: list[int] = []
        at = 0
        for line in self._lines:
            self._starts.append(at)
            at += len(line) + 1
        self._rank = rank
        self._done: set[int] = set()
        self._public = self._public_lines()

    def spots(self) -> Iterator[Spot]:
        yield from self._whole_blocks()
        yield from self._putty()
        yield from self._without_begin()
        yield from self._without_markers()

    def _public_lines(self) -> set[int]:
        """Lines between the markers of certificates, public keys and messages, one of which may be missing."""
        found: set[int] = set()
        for at, line in enumerate(self._lines):
            marker = _PUBLIC.search(line)
            if marker is None:
                continue
            step = 1 if "BEGIN" in marker.group() else -1
            near = at + step
            while 0 <= near < len(self._lines) and abs(near - at) < _LONGEST and _is_body(self._lines[near]):
                found.add(near)
                near += step
        return found

    def _whole_blocks(self) -> Iterator[Spot]:
        at = 0
        while at < len(self._lines):
            begin = _BEGIN.search(self._lines[at])
            if begin is None:
                at += 1
                continue
            yield from self._one_line(at)
            if _END.search(self._lines[at], begin.end()):
                at += 1
                continue
            end = self._end_of_body(at + 1)
            yield from self._body(range(at + 1, end))
            at = max(end, at + 1)

    def _one_line(self, at: int) -> Iterator[Spot]:
        """From each begin marker to the next end marker, or to the end of the line."""
        line, place = self._lines[at], 0
        while (begin := _BEGIN.search(line, place)) is not None:
            end = _END.search(line, begin.end())
            stop = end.start() if end else len(line)
            body = line[begin.end() : stop]
            if re.search(r"[A-Za-z0-9+/=]{8}", body) and not is_spent(body):
                yield self._spot(at, begin.end(), stop, body)
            if end is None:
                return
            place = end.end()

    def _end_of_body(self, start: int) -> int:
        """The first line after the body that starts at `start`."""
        for at in range(start, min(start + _LONGEST, len(self._lines))):
            if _BEGIN.search(self._lines[at]):
                break
            if _END.search(self._lines[at]):
                return at
        at = start
        while at < len(self._lines) and not _BEGIN.search(self._lines[at]) and self._is_of_key(at):
            at += 1
        return at

    def _is_of_key(self, at: int) -> bool:
        return _is_body(self._lines[at]) or is_spent(self._lines[at])

    def _putty(self) -> Iterator[Spot]:
        """``Private-Lines: 14`` of a PuTTY key file is how many lines of it follow."""
        for at, line in enumerate(self._lines):
            if (match := re.match(r"\s*Private-Lines:\s*(\d{1,3})", line)) is None:
                continue
            last = at + 1
            while last <= at + int(match[1]) and last < len(self._lines) and _is_body(self._lines[last]):
                last += 1
            yield from self._body(range(at + 1, last))

    def _without_begin(self) -> Iterator[Spot]:
        """A slice that starts inside a key: encoded lines before an end marker, and what is before it there."""
        for at, line in enumerate(self._lines):
            end = _END.search(line)
            if end is None:
                continue
            head = line[: end.start()]
            if re.search(r"[A-Za-z0-9+/=]{16}", head) and not _BEGIN.search(head):
                yield self._spot(at, 0, end.start(), head)
            start = at
            while start and start - 1 not in self._done and _is_body(self._lines[start - 1]):
                if not self._lines[start - 1].strip():
                    break
                start -= 1
            yield from self._body(range(start, at))

    def _without_markers(self) -> Iterator[Spot]:
        """A slice out of the middle of a key: full lines of base64 that are no hexadecimal digests, nor known to be of
        something else."""
        at = 0
        while at < len(self._lines):
            end = at
            while end < len(self._lines) and self._is_anonymous(end):
                end += 1
            enough = end - at >= 2 or (end - at == 1 and self._is_telling(at))
            if enough and not self._lines[at].strip().startswith(_PICTURES):
                yield from self._body(range(at, end))
            at = max(end, at + 1)

    def _is_anonymous(self, at: int) -> bool:
        line = self._lines[at]
        return at not in self._done and at not in self._public and _is_full(line) and _mixed(line)

    def _is_telling(self, at: int) -> bool:
        data = self._lines[at].strip()
        return len(data) in _ONE_LINE and min(sum(map(str.isupper, data)), sum(map(str.islower, data))) >= 8

    def _body(self, lines: range) -> Iterator[Spot]:
        wanted = [at for at in lines if self._lines[at].strip() and not is_spent(self._lines[at])]
        body = "\n".join(self._lines[at] for at in wanted)
        self._done.update(lines)
        for at in wanted:
            yield self._spot(at, 0, len(self._lines[at].rstrip(GAP)), body)

    def _spot(self, at: int, start: int, end: int, body: str) -> Spot:
        return Spot(self._starts[at] + start, self._starts[at] + end, self._rank, f"PRIVATE KEY\n{body}")


def _is_body(line: str) -> bool:
    return _BODY.match(line) is not None or _HEADER.match(line) is not None


def _mixed(line: str) -> bool:
    return any(c.islower() for c in line) and any(c.isupper() for c in line) and any(c.isdigit() for c in line)
