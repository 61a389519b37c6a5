"""Variables that hold secrets, known by their names: ``db_password``, ``api_key``, ``github_token``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence

from checkrunner.model.sources import Secret, Template

__all__ = ["SHORTEST", "is_secret_name", "secret_values"]

SHORTEST = 6
"""Characters that a value must have: shorter ones stand in too many texts by chance."""

_WORDS = (
    r"password|passwd|passphrase|secret|token|credentials?|api_?key"
    r"|(?:private|secret|access|auth|encryption|signing)_key"
)
# The words end the name (`password_file` holds no password), but for a number: `db_password_2`.
_NAME = re.compile(rf"(?:.*_)?(?:{_WORDS}|(?<=_)pass)(?:_?\d{{1,4}})?", re.DOTALL)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PLACE = re.compile(r"~?\.{0,2}/[\w./-]*")


@functools.lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether the name ends in words for a secret, in snake_case, CAPITALS or camelCase, a number after them aside."""
    return _NAME.fullmatch(_HUMP.sub("_", name).replace("-", "_").lower()) is not None


def secret_values(variables: Mapping[str, object]) -> Iterator[str]:
    """The values of variables with such names, also in mappings and lists within: line by line, at least `SHORTEST`
    characters each. Not among them are templates (what they are made of has a name of its own), the path of a private
    key, and a value that is such a word itself, as in ``password: password``."""
    for name, value in variables.items():
        key = str(name)
        if is_secret_name(key):
            for text in _texts(value):
                yield from _lines(key, text)
        elif isinstance(value, Mapping | list | tuple):
            yield from _within(value)


def _within(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from secret_values(value)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _within(item)


def _texts(value: object) -> Iterator[str]:
    match value:
        case bool() | None:
            return
        case str() | int():
            yield str(value)
        case Secret():
            if value.is_open:
                yield value.reveal()
        case Template():
            yield value.text
        case Mapping():
            yield from (text for item in value.values() for text in _texts(item))
        case Sequence():
            yield from (text for item in value for text in _texts(item))


def _lines(name: str, text: str) -> Iterator[str]:
    if "{{" in text or "{%" in text or is_secret_name(text):
        return
    if name.lower().endswith("key") and _PLACE.fullmatch(text):
        return
    for line in text.splitlines():
        if len(line.strip()) >= SHORTEST:
            yield line.strip()
