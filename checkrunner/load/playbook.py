"""A playbook file to `model.Playbook`; the names of the shipped packs; the format's JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkrunner.load.documents import Document
from checkrunner.load.fileset import FileSet
from checkrunner.load.nodes import YamlList, YamlMap, YamlScalar, raw_text
from checkrunner.load.play_words import is_task_play
from checkrunner.load.plays import ReadPlay, read_play
from checkrunner.load.problems import raise_all
from checkrunner.load.secrets import SecretReader
from checkrunner.load.task_imports import entries
from checkrunner.model.errors import PlaybookError, UnknownNameError, nearest
from checkrunner.model.playbook import Play, Playbook
from checkrunner.model.sources import SourceRef

__all__ = ["Reading", "find_playbook", "load_playbook", "pack_names", "playbook_schema", "read_playbook"]

_SUFFIXES = (".yml", ".yaml", ".json")
_START = "Start with `- hosts: all` and `checks:` below it."
_HEAD_BYTES = 16 << 10
_PLAY = re.compile(r"^\s*(-|\[\s*\{)\s.*?\bhosts\b[\"']?\s*:", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What of a playbook could be read. `lost` are the names that what could not be read would have given."""

    playbook: Playbook
    errors: tuple[PlaybookError, ...] = ()
    lost: frozenset[str] = frozenset()


def load_playbook(path: str, text: str | None = None, secrets: SecretReader | None = None) -> Playbook:
    """Read and check a playbook. With `text` no file is read, `path` only names it. `secrets` opens what stands
    for a secret.

    Raises PlaybookError at the place of the first error; its text shows up to ten errors of the file.
    """
    reading = read_playbook(path, text, secrets)
    raise_all(reading.errors)
    return reading.playbook


def read_playbook(path: str, text: str | None = None, secrets: SecretReader | None = None) -> Reading:
    """The same, but what is wrong in a play or check leaves only that out. Raises PlaybookError for a file that is not
    YAML or no list of plays."""
    files = FileSet(path, secrets)
    plays: list[Play] = []
    errors: list[PlaybookError] = []
    lost: set[str] = set()
    ids: set[str] = set()
    for entry in entries(files.main(text), files, _play_nodes, errors):
        read = _task_play(entry.node, files) if is_task_play(entry.node) else read_play(entry.node, files, ids)
        errors += read.errors
        lost |= read.lost
        if read.play is not None:
            plays.append(entry.applied(read.play))
            ids |= {check.id for check in (*read.play.pre_checks, *read.play.checks)}
    errors += _differing(plays, files)
    errors.sort(key=lambda error: files.order(error.source))
    playbook = Playbook(path=path, plays=tuple(plays), digest=files.digest, lines=files.lines, included=files.included)
    return Reading(playbook=playbook, errors=tuple(errors), lost=frozenset(lost))


def _differing(plays: list[Play], files: FileSet) -> Iterable[PlaybookError]:
    if not any(play.params for play in plays):
        return ()
    from checkrunner.load.params import differing

    return differing(plays, files)


def _task_play(node: YamlMap, files: FileSet) -> ReadPlay:
    from checkrunner.load.tasks import read_task_play

    play, errors = read_task_play(node, files)
    return ReadPlay(play=play, errors=tuple(errors))


def find_playbook(name_or_path: str) -> str:
    """The path of a playbook: a file, or the bare name of a shipped one (`linux-health`).

    A file of that name wins; a pipe or device is a file too, and ``-`` is standard input. Raises UnknownNameError, with
    the nearest name that exists, or PlaybookError for a path that leads to no file.
    """
    if name_or_path == "-":
        return "/dev/stdin"
    path = Path(name_or_path)
    if path.exists() and not path.is_dir():
        return name_or_path
    packs = _packs()
    bare = "/" not in name_or_path
    if bare and name_or_path.removesuffix(path.suffix if path.suffix in _SUFFIXES else "") in packs:
        return str(packs[name_or_path.removesuffix(path.suffix if path.suffix in _SUFFIXES else "")])
    if path.is_dir():
        hint = _among([str(near) for near in _playbooks_in(path)], "Give one of its files")
        raise PlaybookError("is a directory, not a playbook", source=SourceRef(path=name_or_path), hint=hint)
    if bare and not path.suffix:
        raise UnknownNameError("playbook", name_or_path, packs)
    files = [str(path.with_name(near.name)) for near in _playbooks_in(path.parent)]
    close = nearest(name_or_path, [*files, *(packs if bare else ())])
    hint = f"Did you mean {close!r}?" if close else _among(files, "Playbooks there")
    raise PlaybookError(f"there is no file {name_or_path!r}", hint=hint)


def _among(names: list[str], what: str) -> str:
    return f"{what}: {', '.join(names[:20])}{', ...' if len(names) > 20 else ''}" if names else ""


def _playbooks_in(folder: Path) -> list[Path]:
    """The files that look like playbooks by their first bytes: inventories and reports are YAML and JSON too."""
    return [path for path in _files(folder) if _PLAY.search(_head(path))]


def _head(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def pack_names() -> tuple[str, ...]:
    """The names of the shipped playbooks."""
    return tuple(_packs())


def playbook_schema() -> dict[str, Any]:
    """The JSON Schema of a playbook (draft 2020-12), for editors: every key with its description."""
    from checkrunner.load import schema

    return schema.playbook_schema()


def _packs() -> Mapping[str, Path]:
    """The shipped playbooks by name: in the wheel inside the package, in a checkout beside it."""
    from importlib.resources import files

    package = Path(str(files("checkrunner")))
    for folder in (package / "_playbooks", package.parent / "playbooks"):
        found = {path.stem: path for path in _files(folder)}
        if found:
            return found
    return {}


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES and path.is_file())
    except OSError:
        return []


def _play_nodes(document: Document) -> list[YamlMap]:
    root = document.root
    if root is None or (isinstance(root, YamlScalar) and root.value is None):
        raise document.fail(_start(document), "the playbook is empty", "A playbook is a list of plays: `- hosts: all`.")
    if isinstance(root, YamlMap):
        if {"hosts", "checks", "tasks"} & root.keys():
            hint = "Put `- ` before its first key and indent the others by two."
            raise document.fail(root, "a playbook is a list of plays, this is one play", hint)
        hint = _START
        if {"all", "ungrouped"} & root.keys():
            hint = "This looks like an inventory: give it with -i."
        raise document.fail(root, "a playbook is a list of plays, this is a mapping", hint)
    if not isinstance(root, YamlList):
        raise document.fail(root, f"a playbook is a list of plays, this is {raw_text(root)}", _START)
    if not root:
        raise document.fail(root, "the playbook has no plays", _START)
    for node in root:
        if not isinstance(node, YamlMap):
            message = f"a play is a mapping with `hosts` and `checks`, this is {raw_text(node)}"
            raise document.fail(node, message, _START)
    if all("hosts" not in play and ({"run", "argv"} & play.keys()) for play in root):
        hint = "Put them under a play: `- hosts: all` with `checks:`."
        raise document.fail(root[0], "this is a check, a playbook is a list of plays", hint)
    return list(root)


def _start(document: Document) -> SourceRef:
    return SourceRef(path=document.path, line=1, column=1)
