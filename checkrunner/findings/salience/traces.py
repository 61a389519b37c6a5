"""Stack traces: of a hundred frames the one that is the program's own and nearest to the trouble tells something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

__all__ = ["Frame", "frames"]

_FOREIGN = re.compile(
    r"\b(?:java|javax|jdk|sun|com\.sun|jakarta|kotlin|scala|groovy)\.|\bjava\.base/|site-packages|dist-packages"
    r"|/lib/python[0-9.]*/|<frozen |node_modules|\bnode:|\binternal/|/usr/lib|/usr/local/go/src|\blibc\.so|\$Proxy"
    r"|\breflect\.|\borg\.(?:springframework|apache|hibernate|jboss|eclipse)\.|\bio\.(?:netty|grpc|vertx)\."
    r"|\bcom\.(?:google|fasterxml|zaxxer|mysql)\.|\bakka\."
)
_PLACE = re.compile(r"\(.*\)|:[0-9]+")
_NUMBERED = re.compile(r"#[0-9]{1,3}\Z")


class Frame(Enum):
    """What a line is in a stack trace."""

    NONE = "none"
    TELLING = "telling"
    OTHER = "other"


def frames(lines: Sequence[Sequence[str]]) -> list[Frame]:
    """What each line, given in words, is in a stack trace: the first own frame of a trace tells where; of Python's,
    which begin at the outermost call, the last one. Linear."""
    found = [Frame.NONE] * len(lines)
    block: list[int] = []
    for at, tokens in enumerate(lines):
        if _is_frame(tokens):
            found[at] = Frame.OTHER
            block.append(at)
        elif block and _is_source_line(lines, at, block[-1]):
            found[at] = Frame.OTHER
        elif block:
            _settle(lines, block, found)
            block = []
    if block:
        _settle(lines, block, found)
    return found


def _settle(lines: Sequence[Sequence[str]], block: list[int], found: list[Frame]) -> None:
    from_the_end = lines[block[0]][0] == "File"
    for at in reversed(block) if from_the_end else block:
        if lines[at][0] != "..." and _FOREIGN.search(" ".join(lines[at][:12])[:400]) is None:
            found[at] = Frame.TELLING
            return


def _is_frame(tokens: Sequence[str]) -> bool:
    if len(tokens) < 2:
        return False
    first = tokens[0]
    if first == "at":
        return _PLACE.search(" ".join(tokens[1:8])) is not None
    if first == "File":
        return len(tokens) > 3 and tokens[2] == "line"
    if first == "...":
        return tokens[-1] in {"more", "omitted"} and tokens[1].isdigit()
    return _NUMBERED.match(first) is not None and (tokens[1].startswith("0x") or "in" in tokens[1:4] or "at" in tokens)


def _is_source_line(lines: Sequence[Sequence[str]], at: int, frame: int) -> bool:
    """Python shows the source, and marks a part of it, under a frame."""
    return lines[frame][0] == "File" and at - frame <= 2 and not _is_exception(lines[at])


def _is_exception(tokens: Sequence[str]) -> bool:
    return bool(tokens) and (tokens[0].endswith(":") or (len(tokens) == 1 and tokens[0][0].isupper()))
