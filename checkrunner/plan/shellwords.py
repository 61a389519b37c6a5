"""Reads shell text roughly, for lint: the simple commands in it and the files it writes. Not a parser: a text that
fools it costs a warning too many or too few, nothing else."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["SimpleCommand", "commands_in", "written_files"]

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|\\\n)
      |(?P<comment>(?<![^\s;|&(])\#[^\n]*)
      |(?P<redirect>(?:\d*|&)>>?[|&]?|\d*<<?<?-?)
      |(?P<operator>\$\(|[;|&\n()`])
      |(?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|\{\{.{0,500}?\}\}|\$\{[^}]*\}|\$\(\(|[^\s;|&()`<>'"\\])+)
      |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_RESERVED = frozenset({"{", "}", "!", "if", "then", "elif", "else", "while", "until", "do", "time", "exec", "command"})
_PREFIXES = {
    "sudo": re.compile(r"-.*|[A-Za-z_]\w*=.*"),
    "doas": re.compile(r"-.*"),
    "env": re.compile(r"-.*|[A-Za-z_]\w*=.*"),
    "nice": re.compile(r"-.*|\d+"),
    "ionice": re.compile(r"-.*|\d+"),
    "nohup": re.compile(r"-.*"),
    "stdbuf": re.compile(r"-.*"),
    "xargs": re.compile(r"-.*|\d+|\{\}"),
    "timeout": re.compile(r"-.*|[\d.]+[smhd]?|[A-Z]+"),
}
_VALUED = {
    "sudo": re.compile(r"-\w*[CDRTUghprtu]"),
    "doas": re.compile(r"-\w*[Cu]"),
    "env": re.compile(r"-\w*[Cu]"),
    "stdbuf": re.compile(r"-[ioe]"),
    "xargs": re.compile(r"-\w*[EILPadns]"),
    "timeout": re.compile(r"-\w*[ks]"),
}
"""Options whose value is the next word."""
_QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
_DEPTH = 4
_SHELLS = frozenset({"sh", "bash", "dash", "ash"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleCommand:
    """`name` without its directory, `args` without quotes, `offset` of the name in the text; `bounded` when it runs
    under `timeout`."""

    name: str
    args: tuple[str, ...]
    offset: int
    bounded: bool = False


def commands_in(text: str, start: int = 0, depth: int = 0) -> Iterator[SimpleCommand]:
    """The simple commands, also those given to ``bash -c`` or ``trap`` and those within ``"$( )"``. `start` is added to
    offsets."""
    words: list[tuple[str, int]] = []
    skip_next = False
    for kind, token, offset in (*_tokens(text), ("operator", "", len(text))):
        if kind == "word":
            if not skip_next:
                words.append((token, offset + start))
            if "$(" in token and depth < _DEPTH:
                yield from _substituted(token, offset + start, depth)
            skip_next = False
        elif kind == "redirect":
            skip_next = not token.endswith("&")
        elif kind == "operator":
            yield from _command(words, depth)
            words, skip_next = [], False


def _substituted(word: str, offset: int, depth: int) -> Iterator[SimpleCommand]:
    for part in _QUOTED.finditer(word):
        inner = part.group().find("$(") + 2
        if part.group().startswith('"') and inner > 1:
            end = part.group().rfind(")")
            script = part.group()[inner : end if end >= inner else -1]
            yield from commands_in(script, offset + part.start() + inner, depth + 1)


def written_files(text: str) -> Iterator[tuple[str, int]]:
    """The files that output is redirected to, as written, with their offsets."""
    writes = False
    for kind, token, offset in _tokens(text):
        if kind == "redirect":
            writes = ">" in token and not token.endswith("&")
        elif kind == "word" and writes:
            yield _bare(token), offset
            writes = False
        elif kind != "space":
            writes = False


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    for match in _TOKEN.finditer(text):
        yield match.lastgroup or "", match.group(), match.start()


def _bare(word: str) -> str:
    return re.sub(r"\\(.)|['\"]", r"\1", word)


def _command(words: list[tuple[str, int]], depth: int) -> Iterator[SimpleCommand]:
    bare = [(_bare(word), offset, word) for word, offset in words]
    bounded = False
    while bare:
        name = bare[0][0].rsplit("/", 1)[-1]
        if name in _RESERVED or _ASSIGNMENT.fullmatch(bare[0][2]):
            bare.pop(0)
        elif (own := _PREFIXES.get(name)) is not None and len(bare) > 1:
            bounded = bounded or name == "timeout"
            bare.pop(0)
            valued = _VALUED.get(name)
            while len(bare) > 1 and own.fullmatch(bare[0][0]):
                option, *_ = bare.pop(0)
                if valued is not None and valued.fullmatch(option) and len(bare) > 1:
                    bare.pop(0)
        else:
            break
    if not bare:
        return
    name, args = bare[0][0].rsplit("/", 1)[-1], bare[1:]
    yield SimpleCommand(name=name, args=tuple(arg for arg, _, _ in args), offset=bare[0][1], bounded=bounded)
    if name == "trap" and len(args) > 1 and depth < _DEPTH:
        yield from commands_in(args[0][0], args[0][1], depth + 1)
    if name in _SHELLS and depth < _DEPTH:
        for (flag, _, _), (script, offset, _) in itertools.pairwise(args):
            if re.fullmatch(r"-[a-z]*c", flag):
                yield from commands_in(script, offset, depth + 1)
