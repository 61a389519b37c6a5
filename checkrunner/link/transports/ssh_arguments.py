"""Arguments of `ssh`, as ``ansible_ssh_common_args`` and its like hold them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Arguments", "parse_arguments"]

# `ssh` flags with an argument.
_FLAGS_WITH_VALUE = "BbcDEeFIiJLlmOoPpQRSWw"
_FLAG_OPTIONS = {"J": "ProxyJump", "p": "Port", "l": "User", "i": "IdentityFile"}


@dataclass(slots=True)
class Arguments:
    """`ssh` arguments, read: options in order, and what is not honoured, as sentences name it."""

    options: list[tuple[str, str]]
    config_file: str | None
    ignored: list[str]


def parse_arguments(texts: Sequence[str]) -> Arguments:
    """What the texts mean, one after another. Raises ValueError."""
    out = Arguments([], None, [])
    for text in texts:
        words = shlex.split(text)
        while words:
            word = words.pop(0)
            if not word.startswith("-") or word == "-":
                out.ignored.append(repr(word))
                continue
            _parse_flags(word[1:], words, out)
    return out


def _parse_flags(letters: str, words: list[str], out: Arguments) -> None:
    while letters:
        flag, letters = letters[0], letters[1:]
        if flag in _FLAGS_WITH_VALUE:
            value = letters or (words.pop(0) if words else "")
            if not value:
                raise ValueError(f"ssh argument -{flag} needs a value")
            _take_flag(flag, value, out)
            return
        if flag in "46":
            out.options.append(("AddressFamily", "inet" if flag == "4" else "inet6"))
        elif flag == "C":
            out.options.append(("Compression", "yes"))
        else:
            out.ignored.append(f"-{flag}")


def _take_flag(flag: str, value: str, out: Arguments) -> None:
    if flag == "F":
        out.config_file = out.config_file or value
    elif flag in _FLAG_OPTIONS:
        out.options.append((_FLAG_OPTIONS[flag], shlex.quote(value)))
    elif flag == "o":
        name, _, rest = value.replace("=", " ", 1).strip().partition(" ")
        if not rest.strip():
            raise ValueError(f"ssh argument -o {value} needs a value (-o Name=value)")
        out.options.append((name, rest.strip()))
    else:
        out.ignored.append(f"-{flag}")
