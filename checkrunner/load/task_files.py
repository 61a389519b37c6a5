"""What of a play's tasks must be known before the run: names of files, scripts, items of loops over files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from checkrunner.load.documents import Document
from checkrunner.load.files import read_file
from checkrunner.load.fileset import FileSet
from checkrunner.load.nodes import Node, YamlScalar
from checkrunner.load.task_handed import Handed
from checkrunner.load.task_values import Values
from checkrunner.model.errors import PlaybookError
from checkrunner.model.playbook import Loop
from checkrunner.model.sources import Template

__all__ = ["Round", "TaskFiles"]

_PATH = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\s*(?:'[^'\]]*'|\"[^\"\]]*\"|\d{1,9})\s*\])*"
_NAME = re.compile(rf"\{{\{{\s*({_PATH})\s*\}}\}}")
_STEP = re.compile(r"\.?([A-Za-z_]\w*)|\[\s*(?:'([^'\]]*)'|\"([^\"\]]*)\"|(\d{1,9}))\s*\]")
_DEEPEST = 10
_MOST_NAMES = 1000
"""Names looked up for one text: each may stand for a text of many more."""

_UNKNOWN = object()
_FIRST = re.compile(r"\s*('[^']*'|\"[^\"]*\"|(?:\{\{.{0,500}?\}\}|\S)+)")


@dataclass(frozen=True, slots=True)
class Round:
    """A round of a loop: its item, and the number of it."""

    value: Any = None
    number: int = 0

    def __str__(self) -> str:
        text = " ".join(str(self.value).split())
        return text if len(text) <= 40 else f"{text[:37]}..."


class TaskFiles:
    """Finds and reads the files that tasks name: beside the file that names them, and beside the playbook."""

    def __init__(self, files: FileSet) -> None:
        self._files = files
        self._values = Values(files)
        self._left = 0
        self._folder = "" if files.path.startswith("/dev/") else os.path.dirname(files.path)

    def literal(self, node: YamlScalar, handed: Handed, what: str) -> str:
        """The text, its ``{{ name }}`` filled in from what the playbook itself says."""

        text = self.shown(node.raw, handed)
        if unknown := _NAME.search(text):
            hint = "Names of `vars` and `vars_files` can stand here, as far as they read no others that are not known."
            raise self._values.fail(node, f"{what}: {unknown[1]!r} is not known before the run", hint)
        if "{{" in text or "{%" in text:
            hint = "It is read before the run: write it out, or one `{{ name }}` of `vars`."
            raise self._values.fail(node, f"{what} holds a template that only the run could fill in", hint)
        return text

    def shown(self, text: str, handed: Handed, depth: int = 0) -> str:
        """The text, with what of its templates is known before the run filled in."""

        def known(match: re.Match[str]) -> str:
            value = self.value(match[1], handed, depth)
            plain = isinstance(value, (str, int, float)) and not isinstance(value, bool)
            return str(value) if plain else match[0]

        return _NAME.sub(known, text) if "{{" in text else text

    def value(self, path: str, handed: Handed, depth: int = 0) -> Any:
        """What a name, or a part of it (``a.b[0]``), comes to as far as the playbook says it; `_UNKNOWN` else."""
        if depth == 0:
            self._left = _MOST_NAMES
        self._left -= 1
        if self._left < 0:
            return _UNKNOWN
        value: Any = handed.literal
        if path == "playbook_dir":
            return self._folder or "."
        for step in _STEP.finditer(path):
            key: Any = int(step[4]) if step[4] else step[1] or step[2] or step[3] or ""
            try:
                value = self._settled(value[key], handed, depth)
            except (KeyError, IndexError, TypeError):
                return _UNKNOWN
        return value

    def _settled(self, value: Any, handed: Handed, depth: int) -> Any:
        text = value.text if isinstance(value, Template) else value
        if not isinstance(text, str) or "{{" not in text or (isinstance(value, Template) and value.raw):
            return text
        if depth >= _DEEPEST:
            return _UNKNOWN
        lone = _NAME.fullmatch(text.strip())
        if lone is not None:
            return self.value(lone[1], handed, depth + 1)
        found = self.shown(text, handed, depth + 1)
        return _UNKNOWN if "{{" in found or "{%" in found else found

    def script(self, command: Template, handed: Handed) -> dict[str, Any]:
        """The text of a local script, and the words behind its name."""
        found = _FIRST.match(command.text)
        name = found[1] if found else command.text
        place = command.source
        node = YamlScalar(place.path, name, name, '"', place.line, place.column, 1)
        path = self._find(self.literal(node, handed, "the script's name"), ("files", ""), node)
        text = read_file(path, PlaybookError)
        if "\x00" in text:
            message = f"{path} is a program, not a script: it would have to be written on the host"
            raise self._values.fail(node, message)
        rest = command.text[found.end() if found else len(command.text) :].strip()
        return {"text": text, "rest": replace(command, text=rest), "file": path}

    def document(self, named: YamlScalar, handed: Handed) -> Document:
        """The file of tasks that a task names."""
        path = self._find(self.literal(named, handed, "the file"), ("", "tasks"), named)
        here = YamlScalar(named.path, os.path.abspath(path), path, '"', named.line, named.column, named.lines)
        return self._files.document(here)

    def _find(self, name: str, below: tuple[str, ...], node: Node) -> str:
        name = os.path.expanduser(name.strip("'\""))
        here = "" if node.path.startswith("/dev/") else os.path.dirname(node.path)
        folders = dict.fromkeys((here, self._folder))
        places = [os.path.normpath(os.path.join(root, sub, name)) for root in folders for sub in below]
        for place in places:
            if os.path.isfile(place):
                return place
        raise self._values.fail(node, f"there is no file {name!r}", f"Looked for {', '.join(dict.fromkeys(places))}.")

    def rounds(self, loop: Loop | None, handed: Handed) -> Iterator[Round]:
        """One for each item of a loop over files, which has to be known before the run; one in all without a loop."""
        if loop is None:
            yield Round()
            return
        items = loop.items
        if isinstance(items, Template):
            items = self.value(items.text.strip(), handed)
            if not isinstance(items, list):
                hint = "Write the list here, or name a list of `vars` or `vars_files`."
                raise self._values.fail(
                    loop.source, "the items of a loop over files must be known before the run", hint
                )
        for number, item in enumerate(items):
            yield Round(item, number)
