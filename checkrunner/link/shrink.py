"""The agent's source without what only people need: comments, docstrings, layout. Lines keep their numbers.

Done by patterns rather than by parsing, which would cost every run a quarter of a second. They know the source as a
formatter lays it out (four spaces a level, a docstring on the line after its colon); that what is left means the same
is tested, not assumed.
"""

from __future__ import annotations

import re

__all__ = ["shrink_python", "shrink_shell", "shrink_shell_program"]

_STRING = rb'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
_TOKEN = re.compile(
    rb"(?P<empty>\n[ ]*(?:#[^\n]*)?(?=\n))"
    rb'|(?P<docstring>(?<=:)\n[ ]*"""(?:[^\\]|\\.)*?"""(?=\n))'
    rb"|(?P<line>\n[ ]*)"
    rb"|(?P<string>" + _STRING + rb")"
    rb"|(?P<comment>[ ]*\#[^\n]*)"
    # Signs that have spaces around them: most have none, and every match costs a call.
    rb"|[ ]+(?:[-+*/%&|^<>=!]+|[,:;(){}\[\]])[ ]*|[-+*/%&|^<>=!,:;(){}\[\]][ ]+",
    re.DOTALL,
)
_BEHIND = re.compile(rb"(?:\n[ ]*(?:#[^\n]*)?(?=\n))*\n([ ]*)[^ \n]")
_PROGRAM_LAYOUT = re.compile(rb"(?m)^[ ]*(?:#.*)?\n|^[ ]+")
_SHELL_COMMENT = re.compile(rb"(?m)^#(?!:).*\n")


def shrink_python(source: bytes) -> bytes:
    """The source with one space a level and none around signs; as many lines as before."""
    return _TOKEN.sub(_shrunk, b"\n" + source)[1:]


def shrink_shell(source: bytes) -> bytes:
    """The wrapper without its comments; the lines that begin with ``#:`` are the marks of its parts."""
    return _SHELL_COMMENT.sub(b"", source)


def shrink_shell_program(source: bytes) -> bytes:
    """agent.sh without comments, empty lines and indentation. It has no text of several lines in which these count."""
    return _PROGRAM_LAYOUT.sub(b"", source)


def _shrunk(found: re.Match[bytes]) -> bytes:
    kind, text = found.lastgroup, found[0]
    if kind == "string":
        return text
    if kind == "line":
        return b"\n" + b" " * ((len(text) + 2) // 4)
    if kind == "docstring":
        return _without_docstring(found)
    if kind == "empty":
        return b"\n"
    return b"" if kind == "comment" else text.strip(b" ")


def _without_docstring(found: re.Match[bytes]) -> bytes:
    """Its lines, empty. Where it is all that its block has, something has to stay."""
    indent = found[0].index(b'"') - 1
    behind = _BEHIND.match(found.string, found.end())
    alone = behind is None or len(behind[1]) < indent
    first = b"\n" + b" " * (indent // 4) + b"0" if alone else b"\n"
    return first + b"\n" * (found[0].count(b"\n") - 1)
