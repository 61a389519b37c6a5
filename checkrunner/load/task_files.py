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

_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_FIRST = re.compile(r"\s*('[^']*'|\"[^\"]*\"|(?:\{\{.*?\}\}|\S)+)")


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
        self._folder = "" if files.path.startswith("/dev/") else os.path.dirname(files.path)

    def literal(self, node: YamlScalar, handed: Handed, what: str) -> str:
        """The text, its ``{{ name }}`` filled in from what the playbook itself says."""

        def known(match: re.Match[str]) -> str:
            value = handed.literal.get(match[1])
            if match[1] == "playbook_dir":
                return self._folder or "."
            if isinstance(value, bool) or not isinstance(value, (str, int, float)) or "{{" in str(value):
                hint = "Names of `vars` and `vars_files` that are no templates themselves can stand here."
                raise self._values.fail(node, f"{what}: {match[1]!r} is not known before the run", hint)
            return str(value)

        text = _NAME.sub(known, node.raw)
        if "{{" in text or "{%" in text:
            hint = "It is read before the run: write it out, or one `{{ name }}` of `vars`."
            raise self._values.fail(node, f"{what} holds a template that only the run could fill in", hint)
        return text

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
            items = handed.literal.get(items.text.strip())
            if not isinstance(items, list):
                hint = "Write the list here, or name a list of `vars` or `vars_files`."
                raise self._values.fail(
                    loop.source, "the items of a loop over files must be known before the run", hint
                )
        for number, item in enumerate(items):
            yield Round(item, number)
