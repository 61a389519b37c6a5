"""Commands by their names: which of them take a text for what it is, and which read a language of their own in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = [
    "ASSIGNMENT",
    "BY_NAME",
    "COMPOUND",
    "EVALUATORS",
    "OF_INPUT",
    "PRINTERS",
    "READERS",
    "SETTERS",
    "command_of",
    "is_code_next",
]

READERS: frozenset[str] = frozenset(
    [
        "[",
        "basename",
        "cat",
        "cd",
        "cmp",
        "comm",
        "cp",
        "cut",
        "date",
        "df",
        "diff",
        "dirname",
        "du",
        "echo",
        "egrep",
        "expr",
        "false",
        "fgrep",
        "file",
        "getent",
        "grep",
        "head",
        "id",
        "kill",
        "ln",
        "logger",
        "ls",
        "lsof",
        "md5sum",
        "mkdir",
        "mv",
        "od",
        "pgrep",
        "pidof",
        "ping",
        "printf",
        "ps",
        "pwd",
        "readlink",
        "realpath",
        "rev",
        "rm",
        "rmdir",
        "sha256sum",
        "sort",
        "stat",
        "systemctl",
        "tail",
        "tee",
        "test",
        "touch",
        "tr",
        "true",
        "uname",
        "uniq",
        "wc",
        "which",
    ]
)
"""Commands that take their arguments as texts and names: within their quotes, what is quoted stays text. Others, such
as ``bash -c``, ``ssh``, ``awk`` or ``psql``, read a language of their own there."""

OF_INPUT = READERS | {"awk", "base64", "column", "jq", "sed"}
"""Commands that do not run what they read from a pipe."""

PRINTERS = frozenset({"echo", "printf"})
EVALUATORS = frozenset(
    [
        "[[",
        "alias",
        "compgen",
        "complete",
        "declare",
        "eval",
        "getopts",
        "let",
        "mapfile",
        "read",
        "readarray",
        "source",
        "trap",
        "typeset",
        "unset",
        ".",
    ]
)
"""Commands that run, or reckon with, even a text that is quoted."""

SETTERS = frozenset({"export", "local", "readonly"})
BY_NAME = frozenset({"[", "printf", "test"})
_PREFIXES = frozenset(
    [
        "!",
        "{",
        "coproc",
        "if",
        "then",
        "elif",
        "else",
        "while",
        "until",
        "do",
        "sudo",
        "time",
        "command",
        "builtin",
        "exec",
    ]
)
COMPOUND = frozenset({")", "}", "done", "fi", "esac"})

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_REDIRECTION = re.compile(r"\d*(?:<<<|>>|<>|[<>])[&|]?")
_WITH_OPTIONS = ("command", "time")

_STARTERS = frozenset(
    ["docker", "env", "find", "ionice", "kubectl", "nice", "nohup", "podman", "setsid", "stdbuf", "timeout", "xargs"]
)
_JOINERS = frozenset({"parallel", "rsh", "ssh", "watch"})
"""Commands that make a shell's text of all their arguments."""

_INTERPRETER = re.compile(r"(?:ba|da|a|k|z|c|tc|fi)?sh|su|runuser|python[\d.]*|perl[\d.]*|ruby|node|php|lua|psql|mysql")
_CODE = re.compile(r"-[A-Za-z]*[ceEr]|--(?:command|eval|execute)")
_STEERED = frozenset({"awk", "gawk", "mawk", "sed"})
"""Commands whose first argument is a program."""


def command_of(words: Sequence[str]) -> list[str]:
    """The words of a command from its name on, without redirections."""
    rest: list[str] = []
    target = False
    for word in words:
        found = None if target else _REDIRECTION.match(word)
        if found is None and not target:
            rest.append(word)
        target = found is not None and found.end() == len(word)
    while rest and (rest[0] in _PREFIXES or ASSIGNMENT.match(rest[0])):
        options = rest.pop(0) in _WITH_OPTIONS
        while options and rest and rest[0].startswith("-"):
            rest.pop(0)
    return rest


def is_code_next(command: Sequence[str]) -> bool:
    """Whether the word after these, as `command_of` gives them, is read as a program by the command, or by one that it
    starts."""
    names = [word.rpartition("/")[2] for word in command]
    if not names or names[0] in READERS:
        return False
    if names[0] not in _STARTERS and not names[0].startswith("-"):  # an option of sudo
        steered = names[0] in _STEERED and all(word.startswith("-") for word in names[1:])
        if steered and names[-1] not in ("-v", "-F"):
            return True
        return names[0] in _JOINERS or (_INTERPRETER.fullmatch(names[0]) is not None and _is_code(names[-1]))
    return not _JOINERS.isdisjoint(names) or (_is_code(names[-1]) and any(map(_INTERPRETER.fullmatch, names)))


def _is_code(option: str) -> bool:
    return _CODE.fullmatch(option) is not None
