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
_SIMPLE_LINE = re.compile(r"""[^"'\\#]*""")
_SHELL_SPACE = re.compile(r"[ \t\r\n]+")
_BARE_WORD = re.compile(r"[A-Za-z_/][\w./:@-]*|[0-9]+\.[0-9]+\.[0-9.]*", re.ASCII)
_PLAIN_INT = re.compile(r"0|[1-9][0-9]{0,17}")
_LITERAL_WORDS = frozenset({"True", "False", "None"})


def read_ini(text: str, path: str, draft: Draft) -> None:
    """Add what the text says to the draft. Raises InventoryError at the line."""
    draft.lines[path] = text.splitlines()
    _Reader(path, draft).read(draft.lines[path])


def literal(text: str) -> Any:
    """The value of a Python literal (number, True, None, quoted text, list, dict), or the text itself."""
    if _BARE_WORD.fullmatch(text) and text not in _LITERAL_WORDS:
        return text  # names, paths and addresses are what most values are: this spares them the general way
    if _PLAIN_INT.fullmatch(text):
        return int(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes and the like in what is usually no Python at all
            return _simple(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def _simple(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, complex):
        return str(value)
    if value is ...:
        return "..."
    if isinstance(value, list | tuple | set):
        return [_simple(item) for item in value]
    if isinstance(value, dict):
        return {key: _simple(item) for key, item in value.items()}
    if isinstance(value, int):
        str(value)  # 0xff... can be longer than what Python writes as a decimal number: a ValueError
    return value


class _Reader:
    def __init__(self, path: str, draft: Draft) -> None:
        self.path, self.draft = path, draft
        self.group: DraftGroup = draft.groups["ungrouped"]
        self.kind = "hosts"
        # Groups that were only spoken of: where first, and what for. A group is there when a section declares it, so
        # the order of sections decides the order of children.
        self.undeclared: dict[str, tuple[SourceRef, str]] = {}
        self.parents: dict[str, list[tuple[DraftGroup, SourceRef]]] = {}

    def read(self, lines: list[str]) -> None:
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if text and text[0] not in "#;":
                self.line(text, SourceRef(path=self.path, line=number, column=line.index(text[0]) + 1))
        for name, (ref, what) in self.undeclared.items():
            close = nearest(name, self.draft.groups.keys() - {"all", "ungrouped"} - self.undeclared.keys())
            hint = f"Did you mean {close!r}?" if close else f"Declare it with a section [{name}]."
            raise self.draft.fail(ref, f"{what} names the group {name!r}, which no section declares", hint)

    def line(self, text: str, ref: SourceRef) -> None:
        if text[0] == "[":
            section = _SECTION.fullmatch(text)
            if section:
                self.section(section[1], section[2] or "hosts", ref)
                return
            self.check_no_section(text, ref)
        if self.kind == "hosts":
            self.host(text, ref)
        elif self.kind == "vars":
            self.variable(text, ref)
        else:
            self.child(text, ref)

    def check_no_section(self, text: str, ref: SourceRef) -> None:
        """Raise for what was meant as a section. Host lines may start with a bracket, but not end in one as well."""
        if text.endswith("]"):
            hint = "A section is [group], [group:vars] or [group:children], without spaces."
            if text.count(":") > 1 and text.count("[") == 1:
                hint = "An IPv6 address is written without brackets, or with a port: [fe80::1]:22."
            raise self.draft.fail(ref, f"{text!r} is not a section", hint)
        if re.match(r"\[[^:\]\s]+(:[a-z]+)?\]\s", text):
            raise self.draft.fail(
                ref, "there is something behind the section", "Only a comment with # may stand there."
            )

    def section(self, name: str, kind: str, ref: SourceRef) -> None:
        if kind not in _KINDS:
            close = nearest(kind, _KINDS)
            hint = f"Did you mean [{name}:{close}]?" if close else "Known: [group], [group:vars], [group:children]."
            raise self.draft.fail(ref, f"[{name}:{kind}] is not a kind of section", hint)
        if kind == "vars" and name not in self.draft.groups:
            self.undeclared.setdefault(name, (ref, f"[{name}:vars]"))
        self.group, self.kind = self.draft.group(name, ref), kind
        if kind != "vars" and name in self.undeclared:
            self.declare(name)

    def declare(self, name: str) -> None:
        """Hang a group below the parents that asked for it before it was there."""
        del self.undeclared[name]
        for parent, ref in self.parents.pop(name, ()):
            self.draft.add_child(parent, self.draft.groups[name], ref)

    def child(self, text: str, ref: SourceRef) -> None:
        match = _CHILD.fullmatch(text)
        if not match:
            raise self.draft.fail(ref, f"the name of a group is expected here, this is {text!r}")
        name = match[1]
        if name in self.draft.groups:
            self.draft.add_child(self.group, self.draft.groups[name], ref)
        else:
            self.undeclared.setdefault(name, (ref, f"[{self.group.name}:children]"))
            self.parents.setdefault(name, []).append((self.group, ref))

    def variable(self, text: str, ref: SourceRef) -> None:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            hint = "Below [group:vars] each line sets a variable; hosts belong below [group]."
            raise self.draft.fail(ref, f"name=value is expected here, this is {text!r}", hint)
        self.draft.set_group_var(self.group, name, Assigned(literal(value), value, ref))

    def host(self, text: str, ref: SourceRef) -> None:
        words = self.split(text, ref)
        if not words:
            return
        hosts = self.draft.add_hosts(self.checked(words[0], text, ref), self.group, ref)
        values: dict[str, Assigned] = {}
        for word in words[1:]:
            at = self.place(word, text, ref)
            name, equals, value = word.partition("=")
            if not equals or not name:
                hint = (
                    "Write no spaces around '='; quote a value with spaces."
                    if "=" in text
                    else "One host a line, its variables as name=value."
                )
                raise self.draft.fail(at, f"name=value is expected here, this is {word!r}", hint)
            values[name] = Assigned(literal(value), value, at)
        if values:
            self.draft.set_host_vars(hosts, values)

    def split(self, text: str, ref: SourceRef) -> list[str]:
        if _SIMPLE_LINE.fullmatch(text):
            return [word for word in _SHELL_SPACE.split(text) if word]  # as below, in a tenth of the time
        try:
            words = shlex.split(text, comments=True)
        except ValueError as exc:
            hint = 'Put quotes around the whole value; inside double quotes write \\" for one.'
            raise self.draft.fail(ref, f"the quotes of this line do not match ({exc})", hint) from exc
        self.warn_of_cuts(text, words, ref)
        return words

    def place(self, word: str, text: str, ref: SourceRef) -> SourceRef:
        """Where a word of a host line is; the line's start if quotes in the name hide it."""
        name = word.partition("=")[0]
        at = text.find(f" {name}=") if f" {name}=" in text else text.find(f"\t{name}")
        if at < 0:
            found = re.search(rf"\s{re.escape(name)}", text)
            at = found.start() if found else -1
        return SourceRef(path=self.path, line=ref.line, column=ref.column + (at + 1 if at >= 0 else 0))

    def checked(self, word: str, text: str, ref: SourceRef) -> str:
        if word == "---" or (word.endswith(":") and word == text and "[" not in word):
            raise self.draft.fail(ref, f"{word!r} is not a host name", "Is this YAML? Give the file a .yml name.")
        if "=" in word:
            hint = "Variables belong after a host, or under [group:vars]."
            raise self.draft.fail(ref, f"a host name is expected here, this is {word!r}", hint)
        return word

    def warn_of_cuts(self, text: str, words: list[str], ref: SourceRef) -> None:
        """A `#` inside of a word starts a comment, as in Ansible; that is seldom what was meant."""
        if "#" not in text or not words:
            return
        try:
            whole = shlex.split(text)
        except ValueError:
            return
        word, full = words[-1], whole[len(words) - 1]
        if full != word and full.startswith(f"{word}#"):
            self.draft.warn(ref, f"{full.partition('=')[0]!r} ends at '#', which starts a comment; quote the value")
