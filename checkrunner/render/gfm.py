"""Foreign text inside GitHub-flavoured Markdown: it stays text, whatever it holds.

A word that the sites which show Markdown would make something of (a mention of a person or a ticket, a link, an emoji,
a formula) becomes code, where they make nothing of it. The rest is escaped as far as it has to be: a ticket is also
read as it was written.
"""

from __future__ import annotations

import re

from checkrunner.render.safe import safe

__all__ = ["cell", "code", "fence", "prose"]

_SPEAKING = re.compile(r"[@#$]|://|www\.|:[\w+-]+:|\bGH-\d|[!%&~^]\w|\[\w+:|^[0-9a-f]{7,40}$", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[\\`*\[\]<~]|&(?=[#\w])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_BLOCK = re.compile(r"[#+=:>|-]|\d+(?=[.)])")
_TICKS = re.compile("`+")
_ENTITIES = str.maketrans({char: f"&#{ord(char)};" for char in "&<>\"'`|\\*_[]~:@#$!^/.()-+={}%"})


def prose(text: str) -> str:
    """One line, as the beginning or the inside of a paragraph or list item."""
    words = [code(word) if _SPEAKING.search(word) else _escaped(word) for word in safe(text).split()]
    if words and (match := _BLOCK.match(words[0])):
        # What begins a line may begin a list, a heading or a rule.
        words[0] = _after(words[0], match.end())
    return " ".join(words)


def code(text: str) -> str:
    """The same as code: for names, and for what is typed."""
    text = " ".join(safe(text).split(" ")).strip() or "-"
    ticks = "`" * (_longest_run(text) + 1)
    space = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def cell(text: str, *, as_code: bool = False) -> str:
    """The same in a table, which is cut at each ``|`` before anything else is read, in code as well."""
    text = " ".join(safe(text).split())
    if not as_code:
        return " ".join(_in_cell(word, as_code=bool(_SPEAKING.search(word))) for word in text.split())
    return _in_cell(text, as_code=True) if text else ""


def _in_cell(text: str, *, as_code: bool) -> str:
    if not as_code:
        return _escaped(text).replace("\\\\", "&#92;").replace("|", "&#124;")
    return f"<code>{text.translate(_ENTITIES)}</code>" if any(char in text for char in "|`\\") else code(text)


def fence(lines: list[str]) -> list[str]:
    """A block of lines as they are."""
    shown = [safe(line) for line in lines]
    ticks = "`" * max(3, max((_longest_run(line) for line in shown), default=0) + 1)
    return [f"{ticks}text", *shown, ticks]


def _escaped(word: str) -> str:
    return _PUNCTUATION.sub(lambda match: "\\" + match.group(), word)


def _after(word: str, place: int) -> str:
    """The word with a backslash in front of its first mark."""
    if word[0] in "`\\":
        return word
    return f"{word[:place]}\\{word[place:]}" if word[0].isdigit() else f"\\{word}"


def _longest_run(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
