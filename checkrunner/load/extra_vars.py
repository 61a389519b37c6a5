"""Variables of the command line: ``-e name=value``, ``-e '{"name": 1}'``, ``-e @file.yml``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Any

from checkrunner.load.documents import parse
from checkrunner.load.nodes import YamlMap, YamlScalar, plain, raw_text
from checkrunner.load.quantities import NotationError, variable_name
from checkrunner.load.secrets import SecretReader, covered, unreadable
from checkrunner.model.errors import LoadError, UsageError

__all__ = ["parse_extra_vars"]


def parse_extra_vars(items: Sequence[str], secrets: SecretReader | None = None) -> dict[str, Any]:
    """The variables of all arguments; the later wins.

    Values of ``name=value`` are texts, as in Ansible; JSON, YAML and files have typed values. Raises UsageError that
    names the argument, or LoadError at the place in a file. `secrets` opens encrypted files and values.
    """
    secrets = secrets or SecretReader()
    found: dict[str, Any] = {}
    for item in items:
        text = item.strip()
        if text.startswith("@"):
            found.update(_file(text[1:], item, secrets))
        elif text.startswith(("{", "[")):
            found.update(_mapping(text, f"-e {_short(item)}", secrets))
        else:
            found.update(_pairs(text, item))
    return found


def _short(item: str) -> str:
    return item if len(item) <= 60 else item[:57] + "..."


def _file(name: str, item: str, secrets: SecretReader) -> dict[str, Any]:
    if not name:
        raise UsageError(f"extra variables {item!r} name no file", hint="Write -e @vars.yml.")
    path = os.path.expanduser(name)
    text, encrypted = secrets.read_text(path, LoadError)
    try:
        found = _mapping(text, path, secrets)
    except LoadError as exc:
        if encrypted:
            raise unreadable(exc, LoadError) from None
        raise
    return {key: covered(value) for key, value in found.items()} if encrypted else found


def _mapping(text: str, path: str, secrets: SecretReader) -> dict[str, Any]:
    document = parse(text, path, LoadError, secrets)
    root = document.root
    if root is None or (isinstance(root, YamlScalar) and root.value is None):
        return {}
    if not isinstance(root, YamlMap):
        raise document.fail(root, f"extra variables are a mapping (name: value), this is {raw_text(root)}")
    for key, node in root.keys_at.items():
        try:
            variable_name(key)
        except NotationError as exc:
            raise document.fail(node, exc.message, exc.hint) from exc
    return {key: plain(value) for key, value in root.items()}


def _pairs(text: str, item: str) -> dict[str, Any]:
    try:
        words = shlex.split(text)
    except ValueError as exc:
        raise UsageError(f"extra variables {item!r}: the quotes do not match ({exc})") from exc
    if not words:
        raise UsageError(f"extra variables {item!r} are empty", hint="Write -e name=value.")
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            hint = f"Quote a value with spaces: -e '{words[0].partition('=')[0]}=\"a b\"'." if found else ""
            if os.path.exists(word):
                hint = f"For a file write -e @{word}."
            message = f"extra variables {item!r}: name=value is expected, this is {word!r}"
            raise UsageError(message, hint=hint or "Write -e name=value, -e '{\"name\": 1}' or -e @FILE.")
        try:
            found[variable_name(name)] = value
        except NotationError as exc:
            raise UsageError(f"extra variables {item!r}: {exc.message}", hint=exc.hint) from exc
    return found
