"""The files that a playbook is made of: itself, and those of checks and variables that it names. Each is read once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from typing import Any

from checkrunner.load.answers import cover_answers
from checkrunner.load.documents import Document, parse
from checkrunner.load.files import read_file
from checkrunner.load.nodes import Node, YamlMap, YamlScalar, plain, raw_text
from checkrunner.load.quantities import NotationError, variable_name
from checkrunner.load.secrets import SecretReader, covered, unreadable
from checkrunner.load.vault import is_encrypted
from checkrunner.model.errors import PlaybookError, nearest
from checkrunner.model.sources import SourceRef

__all__ = ["FileSet"]

_SUFFIXES = (".yml", ".yaml", ".json")
_MOST_FILES = 1000


class FileSet:
    """Reads files for a playbook, and makes errors at places of any of them. `path` is the playbook's own."""

    def __init__(self, path: str, secrets: SecretReader | None = None) -> None:
        self.path = path
        self.secrets = secrets or SecretReader()
        self._lines: dict[str, list[str]] = {}
        self._documents: dict[str, Document] = {}
        self._variables: dict[str, dict[str, Any]] = {}
        self._sum = hashlib.sha256()

    @property
    def digest(self) -> str:
        """The SHA-256 of all that was read so far, in the order of reading; of a lone file, that of its bytes."""
        return self._sum.hexdigest()

    @property
    def included(self) -> Mapping[str, tuple[str, ...]]:
        """The lines of the files that were read besides the playbook; none of encrypted ones."""
        return {path: tuple(lines) for path, lines in self._lines.items() if path != self.path}

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the playbook."""
        return tuple(self._lines.get(self.path, ()))

    def order(self, source: SourceRef) -> tuple[int, int, int]:
        """Places in the order of reading."""
        known = list(self._lines)
        return known.index(source.path) if source.path in self._lines else len(known), source.line, source.column

    def fail(self, at: Node | SourceRef, message: str, hint: str = "") -> PlaybookError:
        """An error at a place of one of the files, with the line itself."""
        ref = at if isinstance(at, SourceRef) else at.ref
        lines = self._lines.get(ref.path, [])
        text = lines[ref.line - 1].rstrip() if 0 < ref.line <= len(lines) else ""
        return PlaybookError(message, source=ref, line_text=text, hint=hint)

    def main(self, text: str | None = None) -> Document:
        """The playbook itself. Raises PlaybookError."""
        return self._document(self.path, read_file(self.path, PlaybookError) if text is None else text)

    def document(self, named: YamlScalar) -> Document:
        """The file that a playbook or one of its files names, relative to the file that does. Raises PlaybookError."""
        path = self.resolve(named)
        if path not in self._documents:
            self._see(path, named)
            return self._document(path, read_file(path, PlaybookError))
        return self._documents[path]

    def variables(self, named: YamlScalar) -> dict[str, Any]:
        """The variables of a file, which may be encrypted. Raises PlaybookError."""
        path = self.resolve(named)
        if path not in self._variables:
            self._see(path, named)
            text, encrypted = self.secrets.read_text(path, PlaybookError)
            try:
                found = self._mapping(path, text, shown=not encrypted)
            except PlaybookError as exc:
                if encrypted:
                    raise unreadable(exc, PlaybookError) from None
                raise
            self._variables[path] = covered(found) if encrypted else found
        return dict(self._variables[path])

    def resolve(self, named: YamlScalar) -> str:
        """The path that a name in a file leads to."""
        folder = os.path.dirname(named.path)
        if named.path.startswith("/dev/"):  # standard input has nothing beside it
            folder = ""
        return os.path.normpath(os.path.join(folder, os.path.expanduser(named.raw.strip())))

    def _see(self, path: str, named: YamlScalar) -> None:
        """See to it that there is a file, before it is read. The error names the place that wants it."""
        if len(self._lines) >= _MOST_FILES:
            raise self.fail(
                named, f"a playbook of more than {_MOST_FILES} files", "Put checks together in fewer files."
            )
        if os.path.isdir(path):
            hint = _among([os.path.join(named.raw.strip(), name) for name in _names(path)])
            raise self.fail(named, f"{path} is a directory", hint or "Name a file.")
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited for without end
            raise self.fail(named, f"{path} is no file", "Name a file.")
        if os.path.exists(path):
            return
        if os.path.islink(path):
            raise self.fail(named, f"{path} is a symbolic link that leads nowhere", "Name a file.")
        folder, name = os.path.split(path)
        near = nearest(name, _names(folder or "."))
        if near:
            hint = f"Did you mean {os.path.join(os.path.dirname(named.raw.strip()), near)!r}?"
        elif not os.path.isdir(folder or "."):
            hint = f"There is no directory {folder!r}; names are relative to the file that says so."
        else:
            hint = _among(_names(folder or ".")) or "Names are relative to the file that says so."
        raise self.fail(named, f"there is no file {path!r}", hint)

    def _document(self, path: str, text: str) -> Document:
        if is_encrypted(text):
            hint = "Encrypt values of it (`ansible-vault encrypt_string`), or a file of variables (`vars_files`)."
            raise PlaybookError(
                "is encrypted; a playbook is read as plain text", source=SourceRef(path=path), hint=hint
            )
        self._sum.update(text.encode("utf-8", "surrogatepass"))
        document = parse(text, path, PlaybookError, self.secrets)
        cover_answers(document.lines, document.root)
        self._lines[path] = document.lines
        self._documents[path] = document
        return document

    def _mapping(self, path: str, text: str, *, shown: bool) -> dict[str, Any]:
        self._sum.update(text.encode("utf-8", "surrogatepass"))
        document = parse(text, path, PlaybookError, self.secrets)
        root = document.root
        if shown:
            self._lines[path] = document.lines
        if root is None or (isinstance(root, YamlScalar) and root.value is None):
            return {}
        if not isinstance(root, YamlMap):
            hint = "Write `name: value` lines."
            raise document.fail(root, f"a file of variables is a mapping, this is {raw_text(root)}", hint)
        for key, node in root.keys_at.items():
            try:
                variable_name(key)
            except NotationError as exc:
                raise document.fail(node, exc.message, exc.hint) from exc
        return {key: plain(value) for key, value in root.items()}


def _names(folder: str) -> list[str]:
    return list(_files(folder))


def _files(folder: str) -> Iterator[str]:
    try:
        found = sorted(os.listdir(folder))
    except OSError:
        return
    for name in found:
        if name.endswith(_SUFFIXES):
            yield name


def _among(names: list[str]) -> str:
    return f"Files there: {', '.join(names[:20])}{', ...' if len(names) > 20 else ''}." if names else ""
