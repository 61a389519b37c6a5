"""Where in a shell's command a text stands, and how it has to be written there to be nothing but text.

Knows just enough of bash's language to be sure, and says that it is not sure otherwise: in here-documents, comments,
arithmetic, backticks, `${ }`, and within the quotes of commands that read a language of their own in them.
"""

from __future__ import annotations

import re
import shlex

from checkrunner.plan.shellnames import (
    ASSIGNMENT,
    BY_NAME,
    COMPOUND,
    EVALUATORS,
    OF_INPUT,
    PRINTERS,
    READERS,
    SETTERS,
    command_of,
    is_code_next,
)

__all__ = ["ShellText"]

_ELEMENT = re.compile(r"[A-Za-z_]\w*\[[^]]*\Z")
_HERE_STRING = re.compile(r"\d*<<<")
_COMMAND_BEGINS = re.compile(r"(?:\A|[;&|(\n])\s*\Z")
_INTEGERS = re.compile(r"-\w*i\w*")
_MANY = 50
"""Words of a command; of those between its first ones and its last nothing depends."""

_SIMPLE = re.compile(r"[\w#!*@?\[\]:%/.,+=^~-]")


class ShellText:
    """A command as it grows, with what a shell that has read it is in the middle of. `refused` is set where a text that
    a host wrote turns out to be printed for a command that might run it."""

    __slots__ = (
        "_angles",
        "_before_and",
        "_comment",
        "_escaped",
        "_flows",
        "_last",
        "_outer",
        "_parts",
        "_piped",
        "_printed",
        "_shown",
        "_stack",
        "_unread",
        "_word",
        "_words",
        "refused",
        "size",
    )

    def __init__(self) -> None:
        self.size = 0
        self.refused = False
        self._parts: list[str] = []
        self._unread: list[str] = []
        self._last = ""
        self._stack: list[str] = []
        self._outer: list[tuple[list[str], str]] = []
        self._shown: list[bool] = []
        self._before_and: tuple[list[str], bool, bool] = ([], False, False)
        self._words: list[str] = []
        self._word = ""
        self._escaped = self._comment = self._flows = self._piped = self._printed = False
        self._angles = 0

    @property
    def text(self) -> str:
        """The whole."""
        return "".join(self._parts)

    def add(self, text: str) -> None:
        """What the playbook wrote. It is read only where a host's text follows."""
        self._parts.append(text)
        self._unread.append(text)
        self.size += len(text)

    def add_inert(self, text: str) -> bool:
        """What a host wrote, so that the shell reads it as text. False where there is no way to be sure of that."""
        self._catch_up()
        quoted = shlex.quote(text)
        plain = quoted == text and not self._escaped and not self._could_assign(text)
        written = text if plain else self._written(text, quoted if quoted != text else f"'{text}'")
        here = self._in_here_string()
        if written is None or (here and not plain and self._name() not in OF_INPUT):
            return False
        if here or self._name() in PRINTERS:
            self._flows = self._printed = True
            self._shown = [True] * len(self._shown)
        self.add(written)
        return True

    def end(self) -> bool:
        """That was all. Whether every text went where it stays text."""
        if self._printed:
            self._catch_up()
            self._next()
        return not self.refused

    def _catch_up(self) -> None:
        for text in self._unread:
            for char in text:
                self._read(char, self._last)
                self._last = char
        self._unread.clear()

    def _could_assign(self, text: str) -> bool:
        """Whether a text of plain letters would set a variable, for the command that follows or for good."""
        if "=" not in text:
            return False
        inside = self._stack[-1] if self._stack else ""
        if inside in ("", "("):
            return not self._command() or not self._may_be_text()
        return inside in ("'", '"') and _COMMAND_BEGINS.search(self._word) is not None and not self._may_be_text()

    def _in_here_string(self) -> bool:
        before = self._words[-1] if self._words else ""
        return _HERE_STRING.match(self._word) is not None or _HERE_STRING.fullmatch(before) is not None

    def _written(self, text: str, quoted: str) -> str | None:
        inside = self._stack[-1] if self._stack else ""
        if not text and inside not in ("", "("):
            return text
        here_document = self._angles == 2 or "<<" in self._stack
        if here_document or self._escaped or self._comment or "\0" in text or not self._may_be_text():
            return None
        if inside in ("", "("):
            return quoted
        if inside not in ("'", '"') or len(self._stack) > 1 or not self._reads_text():
            return None
        # The quotes are left for the text, which gets its own: that is read alike by all who know quotes.
        return f"{inside}{quoted}{inside}"

    def _command(self) -> list[str]:
        """The words of the command that is being read, from its name on; without the last one, as it is not whole."""
        words = self._words
        return command_of(words if len(words) <= _MANY else [*words[: _MANY - 3], *words[-3:]])

    def _name(self) -> str:
        words = self._command()
        return words[0].rpartition("/")[2] if words else ""

    def _may_be_text(self) -> bool:
        """Whether a quoted text is a text to the command, wherever it stands."""
        words = self._command()
        name = words[0] if words else ""
        if name in SETTERS:
            return len(words) == 1 and ASSIGNMENT.match(self._word) is not None
        if name in BY_NAME and "-v" in words:
            return False
        in_array = self._outer and self._outer[-1][1].endswith("=")
        element = _ELEMENT.match(f"x{self._word}" if in_array else self._word)
        return name not in EVALUATORS and not element and not is_code_next(words)

    def _reads_text(self) -> bool:
        """The same within quotes that the playbook wrote."""
        if not self._command() or self._name() in SETTERS:
            return ASSIGNMENT.match(self._word) is not None
        return self._name() in READERS

    def _read(self, char: str, before: str) -> None:
        inside = self._stack[-1] if self._stack else ""
        self._count_angles(char, inside)
        if self._comment:
            self._comment = char != "\n"
            if char == "\n":
                self._break(char, before)
        elif self._escaped:
            self._escaped = False
            self._word += char
        elif inside == "'":
            self._close(char, "'")
        elif char == "\\":
            self._escaped = True
        elif inside == "`":
            self._close(char, "`")
        elif inside == "{":
            self._in_braces(char)
        elif inside == '"':
            self._in_double(char, before)
        else:
            self._bare(char, before)

    def _count_angles(self, char: str, inside: str) -> None:
        """``<<`` and no third one begins a here-document: where it ends is not looked for."""
        if char == "<" and inside in ("", "(", "((") and not self._comment and not self._escaped:
            self._angles += 1
            return
        if self._angles == 2:
            self._stack.insert(0, "<<")
        self._angles = 0

    def _close(self, char: str, quote: str) -> None:
        if char == quote:
            self._stack.pop()
        else:
            self._word += char

    def _in_braces(self, char: str) -> None:
        if char == "}":
            self._stack.pop()
        elif not _SIMPLE.match(char):
            self._stack.insert(0, "<<")  # what a `${...}` may hold is a language of its own

    def _in_double(self, char: str, before: str) -> None:
        if before == "$" and char in "({":
            self._open(char)
        elif char == "`":
            self._stack.append(char)
        else:
            self._close(char, '"')

    def _open(self, char: str) -> None:
        self._stack.append(char)
        if char == "(":
            self._outer.append((self._words, self._word))
            self._shown.append(False)
            self._words, self._word = [], ""

    def _bare(self, char: str, before: str) -> None:
        if (before == "$" and char in "'[") or (before == "$" and char == "{"):
            self._stack.append("{" if char == "{" else "<<")
        elif char in "'\"`":
            self._stack.append(char)
        elif char == "(":
            self._open(char)
            if before == "(":
                self._stack[-2:] = ["((", "(("]
            self._piped = self._piped or (before == ">" and self._flows)
        elif char == ")":
            self._leave()
        elif char in "&|" and before and before in "<>":
            self._word += char
        elif char in ";|&\n":
            self._break(char, before)
        elif char == ">" and before == "&":  # of a redirection: nothing has ended
            self._words, self._piped, self._flows = self._before_and
            self._word += char
        elif char in " \t":
            self._next()
        elif char == "#" and (not before or before in " \t\n;|&()"):
            self._comment = True
        else:
            self._word += char

    def _leave(self) -> None:
        self._next()
        if self._stack and self._stack[-1] in ("(", "(("):
            self._stack.pop()
            empty = not self._words
            self._words, self._word = self._outer.pop()
            self._left(empty, self._shown.pop())
        else:
            self._words = []  # of a `case`

    def _left(self, empty: bool, shown: bool) -> None:
        """Behind the parenthesis that closes; `shown` says that a text of a host was printed within."""
        if not self._word and not self._command():
            self._words = [")"]  # of a subshell
        elif self._name() == "case" or (empty and self._word and self._word[-1] not in "$<>="):
            self._words, self._word = [], ""  # a pattern, or the name of a function
        else:
            self._word += ")"
            self.refused = self.refused or (shown and not self._takes_output())

    def _takes_output(self) -> bool:
        """Whether what was printed within a parenthesis stays text."""
        if self._word.endswith("<)"):
            return self._name() in OF_INPUT
        if not self._command():
            return ASSIGNMENT.match(self._word) is not None
        return self._may_be_text()

    def _next(self) -> None:
        """A word has ended."""
        if not self._word:
            return
        self._words.append(self._word)
        self._word = ""
        if self._words[-1] == "case" and self._stack:
            self._stack.insert(0, "<<")  # its `)` are none of ours
        if _INTEGERS.fullmatch(self._words[-1]) and self._name() in EVALUATORS | SETTERS:
            self._stack.insert(0, "<<")  # what is assigned from here on is reckoned with
        if self._piped and self._command():
            self.refused = self.refused or self._name() not in OF_INPUT
            self._piped = False

    def _break(self, char: str, before: str) -> None:
        """A command has ended."""
        self._next()
        self._before_and = self._words, self._piped, self._flows
        if char == "|" and before == "|":
            self._piped = self._flows = False
        elif char == "|":
            whole = self._words[:1] and self._words[0] in COMPOUND
            self._piped = self._flows = self._printed if whole else self._flows
        elif char != "&" or before != "|":
            self._piped = self._piped and char == "\n"
            self._flows = self._flows and self._piped
        self._words = []
