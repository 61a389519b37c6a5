"""The look-ups of templates: the environment, and variables by names that are made. No files, no programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from checkrunner.plan.outside import Outside

__all__ = ["LOOKUPS", "LookupHereError", "bare_lookup", "look_up"]

LOOKUPS: tuple[str, ...] = ("env", "vars")
"""Those that there are."""


class LookupHereError(ValueError):
    """A look-up that there is none of."""


def bare_lookup(plugin: object) -> str:
    """The name without ``ansible.builtin.``. Raises LookupHereError for one that is not available."""
    name = str(plugin).removeprefix("ansible.builtin.")
    if name not in LOOKUPS:
        msg = f"no look-up is called {str(plugin)!r} here: there are {' and '.join(map(repr, LOOKUPS))}"
        raise LookupHereError(msg)
    return name


def look_up(
    plugin: object,
    terms: Sequence[Any],
    options: Mapping[str, Any],
    *,
    outside: Outside,
    value_of: Callable[[str], Any],
) -> list[Any]:
    """What each of the terms says. `value_of` raises KeyError for a variable that is not there."""
    name = bare_lookup(plugin)
    if unknown := options.keys() - {"default"}:
        msg = f"look-up {name!r} has no option {min(unknown)!r}: there is `default`"
        raise TypeError(msg)
    words = [_word(term) for term in terms]
    if name == "env":
        default = options.get("default", "")
        return [outside.environment.get(word.split()[0], default) for word in words]
    return [_variable(word, options, value_of) for word in words]


def _word(term: Any) -> str:
    if not isinstance(term, str) or not term.strip():
        msg = "a look-up is given names, which are texts"
        raise TypeError(msg)
    return str(term)


def _variable(name: str, options: Mapping[str, Any], value_of: Callable[[str], Any]) -> Any:
    try:
        return value_of(name)
    except KeyError:
        if options.get("default") is None:
            msg = f"there is no variable {name!r}"
            raise ValueError(msg) from None
        return options["default"]
