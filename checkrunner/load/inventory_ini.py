"""The INI form of an inventory, as Ansible reads it: sections, host lines split as a shell does, Python literals."""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from typing import Any

from checkrunner.load.draft import Assigned, Draft, DraftGroup
from checkrunner.model.errors import nearest
from checkrunner.model.sources import SourceRef

__all__ = ["literal", "read_ini"]

_SECTION = re.compile(r"\[([^:\]\s]+)(?::(\w+))?\]\s*(?:#.*)?")
_CHILD = re.compile(r"([^:\]\s]+)\s*(?:#.*)?")
_KINDS = ("hosts", "children", "vars")


def read_ini(text: str, path: str, draft: Draft) -> None:
    """Add what the text says to the draft. Raises InventoryError at the line."""
    draft.lines[path] = text.splitlines() if "\r" not in text else text.replace("\r\n", "\n").split("\n")
    _Reader(path, draft).read(draft.lines[path])


def literal(text: str) -> Any:
    """The value of a Python literal (number, True, None, quoted text, list, dict), or the text itself."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes and the like in what is usually no Python at all
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return _simple(value, text)


def _simple(value: Any, text: str) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, complex) or value is ...:
        return text
    if isinstance(value, list | tuple | set):
        return [_simple(item, repr(item)) for item in value]
    if isinstance(value, dict):
        return {key: _simple(item, repr(item)) for key, item in value.items()}
    return value


class _Reader:
    def __init__(self, path: str, draft: Draft) -> None:
        self.path, self.draft = path, draft
        self.group: DraftGroup = draft.groups["ungrouped"]
        self.kind = "hosts"
        self.declared: set[str] = set(draft.groups)
        self.wanted: list[tuple[str, str, SourceRef]] = []  # (group, what refers to it, where)

    def read(self, lines: list[str]) -> None:
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if text and text[0] not in "#;":
                self.line(text, SourceRef(path=self.path, line=number, column=line.index(text[0]) + 1))
        for name, what, ref in self.wanted:
            if name not in self.declared:
                close = nearest(name, self.declared - {"all", "ungrouped"})
                hint = f"Did you mean {close!r}?" if close else f"Declare it with a section [{name}]."
                raise self.draft.fail(ref, f"{what} names the group {name!r}, which no section declares", hint)

    def line(self, text: str, ref: SourceRef) -> None:
        section = _SECTION.fullmatch(text)
        if section:
            self.section(section[1], section[2] or "hosts", ref)
        elif text.startswith("[") and text.endswith("]") and ":" not in text.split("]")[0]:
            raise self.draft.fail(ref, "is not a section", "A section is [group], [group:vars] or [group:children].")
        elif self.kind == "hosts":
            self.host(text, ref)
        elif self.kind == "vars":
            self.variable(text, ref)
        else:
            self.child(text, ref)

    def section(self, name: str, kind: str, ref: SourceRef) -> None:
        if kind not in _KINDS:
            close = nearest(kind, _KINDS)
            hint = f"Did you mean [{name}:{close}]?" if close else "Known: [group], [group:vars], [group:children]."
            raise self.draft.fail(ref, f"[{name}:{kind}] is not a kind of section", hint)
        self.group, self.kind = self.draft.group(name, ref), kind
        if kind == "vars":
            self.wanted.append((name, f"[{name}:vars]", ref))
        else:
            self.declared.add(name)

    def child(self, text: str, ref: SourceRef) -> None:
        match = _CHILD.fullmatch(text)
        if not match:
            raise self.draft.fail(ref, f"the name of a group is expected here, this is {text!r}")
        self.wanted.append((match[1], f"[{self.group.name}:children]", ref))
        self.draft.add_child(self.group, self.draft.group(match[1], ref), ref)

    def variable(self, text: str, ref: SourceRef) -> None:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise self.draft.fail(ref, f"name=value is expected here, this is {text!r}")
        self.draft.set_group_var(self.group, name, Assigned(literal(value), value, ref))

    def host(self, text: str, ref: SourceRef) -> None:
        try:
            words = shlex.split(text, comments=True)
        except ValueError as exc:
            hint = 'Put quotes around the whole value; inside double quotes write \\" for one.'
            raise self.draft.fail(ref, f"the quotes of this line do not match ({exc})", hint) from exc
        if not words:
            return
        self.warn_of_cuts(text, words, ref)
        hosts = self.draft.add_hosts(self.checked(words[0], text, ref), self.group, ref)
        for word in words[1:]:
            at = self.place(word, text, ref)
            name, equals, value = word.partition("=")
            if not equals or not name:
                hint = "Write no spaces around '='; quote a value with spaces." if "=" in text else "One host a line."
                raise self.draft.fail(at, f"name=value is expected here, this is {word!r}", hint)
            for host in hosts:
                host.vars[name] = Assigned(literal(value), value, at)

    def place(self, word: str, text: str, ref: SourceRef) -> SourceRef:
        """Where a word of a host line is; the line's start if quotes in the name hide it."""
        found = re.search(rf"\s{re.escape(word.partition('=')[0])}", text)
        return SourceRef(path=self.path, line=ref.line, column=ref.column + (found.start() + 1 if found else 0))

    def checked(self, word: str, text: str, ref: SourceRef) -> str:
        if word == "---" or (word.endswith(":") and word == text):
            raise self.draft.fail(ref, f"{word!r} is not a host name", "Is this YAML? Give the file a .yml name.")
        if "=" in word:
            hint = "Variables belong after a host, or under [group:vars]."
            raise self.draft.fail(ref, f"a host name is expected here, this is {word!r}", hint)
        return word

    def warn_of_cuts(self, text: str, words: list[str], ref: SourceRef) -> None:
        """A `#` inside of a word starts a comment, as in Ansible; that is seldom what was meant."""
        if "#" not in text:
            return
        try:
            whole = shlex.split(text)
        except ValueError:
            return
        word, full = words[-1], whole[len(words) - 1]
        if full != word and full.startswith(f"{word}#"):
            self.draft.warn(ref, f"{full.partition('=')[0]!r} ends at '#', which starts a comment; quote the value")
