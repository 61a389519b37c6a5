"""The agent's source cut into functions, so that a host compiles only those that are called.

Compiling is what starting costs a host most: all of the agent takes three times as long as the interpreter itself, and
compiling one function at a time takes less than compiling the same functions in one go. So the source is cut here, once
for all hosts, and on the host every function is a stand-in that compiles itself when it is called first (`_STAGE` in
payload.py). `remote/agent.py` remains one ordinary file, which also runs uncut.

The cut goes by lines, which is quick and needs the source laid out as a formatter does it. What it does not know
(another decorator, a function under an `if`) stays where it is. It changes one thing that a reader of the source must
know: the default of an argument is computed at the function's first call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checkrunner.link.shrink import shrink_python

__all__ = ["Piece", "cut_module", "cut_source", "join_sources", "packed"]

_MAIN = b'\nif __name__ == "__main__":\n'
_FUNCTION = re.compile(rb"(    )?def (\w+)\(")
_CLASS = re.compile(rb"class (\w+)\b")
_DECORATOR = re.compile(rb"    @(staticmethod|classmethod|property)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One function: a method of the class `owner`, or of the module where that is empty. `line` is its first one."""

    owner: bytes
    name: bytes
    decorator: bytes
    line: int
    text: bytes


def packed(pieces: Sequence[Piece]) -> list[bytes]:
    """The pieces as the stage reads them: a line of words, then the text.

    The first word says how many lines of the source lie between the end of the piece before and this one's beginning:
    small numbers are what compresses best. Behind it comes the owner where that is another than before (a text that is
    not indented has none), and a sign and the decorator where there is one.
    """
    out = []
    end, owner = 0, b""
    for piece in pieces:
        text = shrink_python(piece.text).rstrip(b"\n")
        words = [b"%d" % (piece.line - 1 - end)]
        if piece.owner not in (b"", owner):
            words.append(piece.owner)
            owner = piece.owner
        if piece.decorator:
            words.append(b"@" + piece.decorator)
        out.append(b" ".join(words) + b"\n" + text)
        end = piece.line - 1 + text.count(b"\n")
    return out


def cut_source(source: bytes) -> tuple[bytes, list[Piece]]:
    """What is left of the source without its functions, and these.

    What is left has the same number of lines, and ends before `if __name__ == "__main__"`. A source that does not
    end with a call of `main()` there comes back whole: its own statements may call functions at any time.
    """
    body, main, tail = source.partition(_MAIN)
    if not main or tail != b"    main()\n":
        return source, []
    return cut_module(body)


def join_sources(source: bytes, more: bytes) -> bytes:
    """One source that ends as the first one does, with the other's statements and functions before that end."""
    body, main, tail = source.partition(_MAIN)
    return body + b"\n" + more + main + tail


def cut_module(source: bytes) -> tuple[bytes, list[Piece]]:
    """The same for a source whose own statements call none of its functions."""
    lines = source.split(b"\n")
    pieces = list(_cut(lines))
    return b"\n".join(lines), pieces


def _cut(lines: list[bytes]) -> Iterator[Piece]:
    """Yield the functions, and take them out of the lines."""
    owner, emptied = b"", False
    at = 0
    while at < len(lines):
        line = lines[at]
        if line[:1].strip(b" #)"):  # a statement of the module
            found = _CLASS.match(line)
            owner, emptied = (found[1], False) if found else (b"", False)
        function = _FUNCTION.match(line)
        if function is None or (function[1] is not None) is not bool(owner):
            at += 1
            continue
        end = _end(lines, at, len(function[1] or b""))
        above = lines[at - 1] if at else b""
        decorator = _DECORATOR.match(above) if owner else None
        if decorator is not None or not above.lstrip().startswith(b"@"):
            yield Piece(
                owner=owner,
                name=function[2],
                decorator=decorator[1] if decorator else b"",
                line=at + 1,
                text=b"\n".join(lines[at:end]).rstrip(b"\n") + b"\n",
            )
            lines[at - bool(decorator) : end] = [b""] * (end - at + bool(decorator))
            if owner and not emptied:
                lines[at], emptied = b"    pass", True
        at = end


def _end(lines: list[bytes], start: int, indent: int) -> int:
    """The line after the function that starts there."""
    for at in range(start + 1, len(lines)):
        rest = lines[at][: indent + 1].strip(b" ")
        if rest and rest != b")":
            return at
    return len(lines)
