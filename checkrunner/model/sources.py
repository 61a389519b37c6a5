"""Where a thing was written, and values that must not be shown. Knows nothing of files or YAML."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["NOWHERE", "Secret", "SourceRef", "Template"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRef:
    """A place in a file that a person wrote. `line` and `column` are 1-based; 0 means the file as a whole."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """``path:line:column``, as compilers write it, so that editors can jump there."""
        if not self.line:
            return self.path
        return f"{self.path}:{self.line}:{self.column}" if self.column else f"{self.path}:{self.line}"


NOWHERE = SourceRef(path="<none>")
"""For values that no file holds: defaults, and hosts named on the command line."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that reaches a command only through its environment; its text forms are masked."""

    _value: str = field(repr=False)

    @property
    def is_open(self) -> bool:
        """Whether the value is known already. One that is opened late runs a program or fails where it is revealed."""
        return True

    @property
    def is_written(self) -> bool:
        """Whether a person wrote it into a file of variables, encrypted: like others there it may be a template."""
        return False

    def reveal(self) -> str:
        """The value itself. Call it at the last moment, where the value leaves for its destination."""
        return self._value

    def __str__(self) -> str:
        return "********"

    def __repr__(self) -> str:
        return "Secret('********')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Text of a playbook that may hold Jinja2, with the place of its first character.

    `raw` text is taken as it stands. `literal` says that the text starts on the line after its key (a YAML block
    scalar), so line N of the text is line ``source.line + N - 1`` of the file, and `source.column` is the block's
    indentation + 1.
    """

    text: str
    source: SourceRef = NOWHERE
    raw: bool = False
    literal: bool = False

    @property
    def is_static(self) -> bool:
        """True when no template engine is needed: there is nothing in the text that Jinja2 would touch."""
        return self.raw or not ("{{" in self.text or "{%" in self.text or "{#" in self.text)
