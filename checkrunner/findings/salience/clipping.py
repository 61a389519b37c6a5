"""Texts that are short and still tell what a line is: without what varies, both ends and the word of trouble kept."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checkrunner.findings.salience.rows import LONGEST_TEXT
from checkrunner.findings.salience.severity import told
from checkrunner.findings.salience.shapes import PATH, VARIABLE, is_variable
from checkrunner.findings.secret_tags import outside_tags

__all__ = ["GAP", "clip", "clip_to", "shorten"]

GAP = "..."
_MOST_WORDS = 14
_FEWEST_DROPPED = 3
_LONG_VARIABLE = 7
_LONG_NAME = 16
_LEADER = re.compile(r"[.=_*-]{4,}")


def clip(text: str, start: int, end: int, *, longest: int = LONGEST_TEXT) -> str:
    """At most `longest` characters of `text`: its beginning, what is around `start` to `end`, and its end."""
    if len(text) <= longest:
        return text
    if longest < 40:
        return text[: outside_tags(text, longest)]
    room = longest - 2 * (len(GAP) + 2)
    tail = room // 5
    if end <= room - tail:  # what matters is in the beginning
        return f"{_head(text, room - tail)} {GAP} {_tail(text, len(text) - tail)}"
    head, middle = room // 4, room - room // 4 - tail
    first = max(head, start - max(0, middle - (end - start)) // 2)
    if first + middle >= len(text) - tail:
        return f"{_head(text, head)} {GAP} {_tail(text, len(text) + head - room)}"
    around = _tail(text[: outside_tags(text, first + middle)], first).rstrip()
    return f"{_head(text, head)} {GAP} {around} {GAP} {_tail(text, len(text) - tail)}"


def clip_to(text: str, longest: int) -> str:
    """At most `longest` characters of any text: both ends, and what is around its word of trouble."""
    said = told(text)
    return clip(text, said.start, said.end, longest=longest)


def _head(text: str, end: int) -> str:
    """Up to there, and no half of a tag."""
    return text[: outside_tags(text, end)].rstrip()


def _tail(text: str, start: int) -> str:
    return text[outside_tags(text, start, after=True) :].lstrip()


def shorten(tokens: Sequence[str], masked: Sequence[str], telling: int, names: range) -> str:
    """The line without its long variables and the `names` of components that tell of nothing, and at most 14 of its
    words or 70 % of them: the first ones, the one at `telling` (-1 for none) with its neighbours, and the last ones."""
    keep = [not _can_go(token, mask) for token, mask in zip(tokens, masked, strict=True)]
    silent: set[int] = set()
    if len(tokens) - len(names) > 2:
        for at in names:
            if len(tokens[at]) > _LONG_NAME and not told(tokens[at]).grade:
                silent.add(at)
    words = sum(1 for kept, mask in zip(keep, masked, strict=True) if kept and not is_variable(mask))
    surplus = words - min(max(_MOST_WORDS, -(-words * 7 // 10)), 2 * _MOST_WORDS)
    if surplus >= _FEWEST_DROPPED:
        _drop_from_the_middle(keep, telling, surplus)
    if 0 <= telling < len(keep):
        keep[telling] = True
    if sum(keep) < 2:
        keep = [True] * len(tokens)
    return _joined(tokens, masked, keep, silent, telling)


def _can_go(token: str, mask: str) -> bool:
    return VARIABLE in mask and is_variable(mask) and (len(token) > _LONG_VARIABLE or PATH in mask)


def _drop_from_the_middle(keep: list[bool], telling: int, surplus: int) -> None:
    """Take `surplus` words out between the first three fifths and the last two, going around the telling one; then,
    where these are too few, from further ahead."""
    end = len(keep) - 2
    at = len(keep) * 3 // 5
    while surplus > 0 and at > 2:
        for place in range(at, end):
            if surplus > 0 and keep[place] and abs(place - telling) > 2:
                keep[place] = False
                surplus -= 1
        end = at
        at -= max(1, len(keep) // 5)


def _joined(tokens: Sequence[str], masked: Sequence[str], keep: Sequence[bool], silent: set[int], telling: int) -> str:
    """The tokens that are kept, and gaps for others but the silent ones."""
    out: list[str] = []
    numbers = start = 0
    for at, (token, mask, kept) in enumerate(zip(tokens, masked, keep, strict=True)):
        if at in silent:
            continue
        if at == telling:
            start = sum(map(len, out)) + len(out)
        numbers = numbers + 1 if is_variable(mask) else 0
        if (kept and numbers <= 3) or at == telling:
            out.append(_LEADER.sub(GAP, token))
        elif not out or out[-1] != GAP:
            out.append(GAP)
    if out[-1] == GAP and len(out) > 1:
        out.pop()
    end = start + len(tokens[telling]) if start else 0
    return clip(" ".join(out), start, end)
