"""Filters that write values as JSON and YAML, read them, and query them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from checkrunner.plainyaml import read_plain, write_plain
from checkrunner.plan.bounds import MAX_INDENT, BoundError
from checkrunner.plan.plain import plain
from checkrunner.plan.values import Hidden
from checkrunner.queries import search

__all__ = [
    "FILTERS",
    "from_json",
    "from_yaml",
    "from_yaml_all",
    "json_query",
    "to_json",
    "to_nice_json",
    "to_nice_yaml",
    "to_yaml",
]

_JSON_OPTIONS = frozenset({"allow_nan", "ensure_ascii", "indent", "separators", "skipkeys", "sort_keys"})
_NO_MATTER = frozenset({"check_circular", "preprocess_unsafe", "vault_to_text"})


def to_json(value: object, **options: Any) -> str:
    """The value as JSON on one line. Options: `ensure_ascii` (true), `sort_keys`, `indent`, `separators`."""
    known = {name: option for name, option in options.items() if name not in _NO_MATTER}
    if unknown := sorted(known.keys() - _JSON_OPTIONS):
        msg = f"to_json has no option {unknown[0]!r}: {', '.join(sorted(_JSON_OPTIONS))}"
        raise TypeError(msg)
    _check_indent(options.get("indent"))
    return json.dumps(plain(value), **known)


def _check_indent(indent: object) -> None:
    if (indent if isinstance(indent, int) else len(str(indent or ""))) > MAX_INDENT:
        msg = f"the indentation may be {MAX_INDENT} characters"
        raise BoundError(msg)


def to_nice_json(value: object, indent: int | str | None = 4, sort_keys: bool = True, **options: Any) -> str:
    """The value as JSON on several lines."""
    return to_json(value, **{**options, "indent": indent, "sort_keys": sort_keys, "separators": (",", ": ")})


def _given(value: Any) -> Any:
    return str(value) if isinstance(value, Hidden) else value


def from_json(value: Any) -> Any:
    """The value that a JSON text says."""
    try:
        return json.loads(_given(value))
    except json.JSONDecodeError as error:
        msg = f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise ValueError(msg) from error


def to_yaml(value: object, default_flow_style: bool | None = None, **options: Any) -> str:
    """The value as YAML, short. Options are those of pyyaml: `indent`, `width`, `sort_keys`, ..."""
    _check_indent(options.get("indent"))
    return write_plain(plain(value), default_flow_style=default_flow_style, **options)


def to_nice_yaml(value: object, indent: int = 4, default_flow_style: bool | None = False, **options: Any) -> str:
    """The value as YAML, an entry a line."""
    return to_yaml(value, default_flow_style, indent=indent, **options)


def from_yaml(value: Any) -> Any:
    """The value that a YAML text says. Aliases are refused, and times stay texts."""
    found = from_yaml_all(value)
    if not isinstance(value, (str, Hidden)):
        return value
    if len(found) > 1:
        msg = f"there are {len(found)} documents in it: use from_yaml_all"
        raise ValueError(msg)
    return found[0] if found else None


def from_yaml_all(value: Any) -> Any:
    """The values of all documents of a YAML text."""
    if value is None:
        return []
    text = _given(value)
    return read_plain(str.__str__(text)) if isinstance(text, str) else value


def json_query(value: Any, query: str) -> Any:
    """What a JMESPath query finds in the value."""
    return search(query, plain(value))


FILTERS: Mapping[str, Callable[..., Any]] = {
    "from_json": from_json,
    "from_yaml": from_yaml,
    "from_yaml_all": from_yaml_all,
    "json_query": json_query,
    "to_json": to_json,
    "to_nice_json": to_nice_json,
    "to_nice_yaml": to_nice_yaml,
    "to_yaml": to_yaml,
}
