"""What a line is apart from its numbers, ids, times and paths: lines of equal shape say the same of different things.

A shape is made of the line alone, so that it is the same on every host and in every run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from checkrunner.findings.salience.times import MONTHS_AND_DAYS, ZONES
from checkrunner.findings.salience.vocabulary import WATCHED
from checkrunner.findings.secret_tags import MARK, TAG

__all__ = ["PATH", "VARIABLE", "Masks", "is_variable", "mask_token", "mask_tokens", "shape_of", "tokens_of", "words_of"]

VARIABLE = "#"
PATH = "/#"

_LONGEST_SHAPE = 300
_A_LIST = 4
_NEAR_THE_BEGINNING = 10
_MOST_IN_BRACKETS = 10
_MARKS = "\"'`()[]{}<>,;:!?|"
_HEX = re.compile(r"(?<![A-Za-z0-9])(?:0x[0-9a-fA-F]+|(?=[A-Fa-f]*[0-9])[0-9A-Fa-f]{6,})(?![A-Za-z0-9])")
_PATH = re.compile(
    r"(?<![\w.])(?:[a-z][a-z+.-]{1,12}://|~?/|\.{1,2}/)[^\s\"'`()\[\]{}<>,;|]+|(?<![\w./])[\w.+-]+(?:/[\w.+-]+){2,}"
)
_ZEROS = frozenset(("0", "0%", "0.0", "0.0%", "0.00", "0x0"))
_CODE_WORDS = frozenset(("status", "code", "rc", "exit", "signal", "errno", "ret", "returned", "result"))
_CODE = re.compile(
    r"[\"'{(\[]*(?:[\w.-]{0,30}(?:status|code|rc|exit|errno|ret|result))[\"']?[=:][\"']?-?[0-9]{1,3}[\"')\]},;.]*\Z"
    r"|[\"'{(\[]*[\w.-]{0,30}(?:err|error|errors|fail|failed|failures|unreachable|loss|lost|dropped)[\"']?[=:][\"']?0[\"')\]},;.]*\Z",
    re.IGNORECASE,
)
_STATUS = re.compile(r"[1-5][0-9]{2}\Z")
_PARTS = re.compile(r"[^a-z]+")
_DIGITS = re.compile(r"[0-9]+")
_RUN = re.compile(r"#(?:[.,:/_+*xTZ-]*#)+")
_WORD = re.compile(r"[A-Za-z]{2,}")
_CONSTANT = re.compile(r"[A-Za-z]{2,}|[0-9]+")
_HAS_DIGIT = re.compile(r"[0-9]")


def mask_token(token: str) -> str:
    """The token with what varies as ``#``, a path as ``/#``; a word is itself. Linear in its length."""
    if "<secret:" in token:
        token = TAG.sub(MARK, token)
    if "/" in token and (path := _PATH.search(token)) is not None:
        return mask_token(token[: path.start()]) + PATH + mask_token(token[path.end() :])
    if token.count(",") >= _A_LIST:
        return ",".join(map(mask_token, token.split(",")))
    if _HAS_DIGIT.search(token) is None:
        return token
    if (code := _CODE.match(token)) is not None:
        return code[0]
    masked = _RUN.sub("#", _DIGITS.sub("#", _HEX.sub("#", token)))
    letters = sum(map(len, _WORD.findall(masked)))
    if letters == 0 or (len(token) >= 16 and letters * 3 < len(token)):
        return _only_marks(token)
    return masked


def _only_marks(token: str) -> str:
    """Brackets and what ends a clause stay: they are grammar, not value."""
    core = token.strip(_MARKS)
    before, _, after = token.partition(core)
    return f"{before}{VARIABLE}{after}" if core and (before or after) else VARIABLE


def tokens_of(text: str) -> list[str]:
    """The words of a line. What stands in brackets near its beginning is one word: a thread's name, a time, a request's
    ids."""
    tokens = text.split()
    if "[" not in text:
        return tokens
    at = 0
    while at < min(len(tokens), _NEAR_THE_BEGINNING):
        if tokens[at][0] == "[" and "]" not in tokens[at]:
            for end in range(at + 1, min(len(tokens), at + _MOST_IN_BRACKETS)):
                if "]" in tokens[end]:
                    tokens[at : end + 1] = [" ".join(tokens[at : end + 1])]
                    break
        at += 1
    return tokens


def mask_tokens(tokens: Sequence[str], masks: Masks) -> list[str]:
    """The tokens masked. Numbers that decide what is said stay: a zero beside a word of trouble (``0 errors``), a
    status or an exit code, the class of an HTTP status."""
    masked = [masks[token] for token in tokens]
    for at, token in enumerate(tokens):
        if token[0] == "0" and token.strip(_MARKS) in _ZEROS and _is_watched(tokens, at):
            masked[at] = "0"
        elif token[-1] == '"' and "HTTP/" in token and at + 1 < len(tokens) and _STATUS.match(tokens[at + 1]):
            masked[at + 1] = tokens[at + 1][0] + "##"
        elif at and token.isdigit() and len(token) <= 3 and tokens[at - 1].strip(_MARKS + "=").lower() in _CODE_WORDS:
            masked[at] = token
    return masked


def _is_watched(tokens: Sequence[str], at: int) -> bool:
    return any(
        not WATCHED.isdisjoint(_PARTS.split(near.lower()))
        for near in (*tokens[max(at - 2, 0) : at], *tokens[at + 1 : at + 3])
    )


class Masks(dict[str, str]):
    """`mask_token`, remembering what it has seen: the words of an output come again and again."""

    def __missing__(self, token: str) -> str:
        masked = mask_token(token)
        if len(token) < 100:
            self[token] = masked
        return masked


def is_variable(masked: str) -> bool:
    """Whether a masked token holds nothing that stays the same: no word at all."""
    return VARIABLE in masked and _WORD.search(masked) is None


def shape_of(text: str, masks: Masks | None = None) -> str:
    """The shape of a line: the same for lines that differ in numbers, ids, times and paths only. Without the variables
    that it begins with (times and ids); at most 300 characters."""
    masks = Masks() if masks is None else masks
    tokens = mask_tokens(tokens_of(text[:2000]), masks)
    start = 0
    while start < len(tokens) and _is_when(tokens[start]):
        start += 1
    kept: list[str] = []
    for token in tokens[start:]:
        if not (kept and kept[-1] == token and VARIABLE in token):
            kept.append(token)
    return " ".join(kept)[:_LONGEST_SHAPE]


def _is_when(masked: str) -> bool:
    word = masked.strip("[]()<>,:").lower()
    return is_variable(masked) or word in MONTHS_AND_DAYS or word in ZONES or not word.strip("#-")


def words_of(tokens: Sequence[str]) -> tuple[str, ...]:
    """The constant words of masked tokens, and the numbers that were not masked, in lower case and in order."""
    return tuple(word.lower() for token in tokens for word in _CONSTANT.findall(token))
