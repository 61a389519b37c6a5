"""JMESPath queries over plain data. The only door to jmespath, imported on first need."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["QueryError", "check_query", "search"]

_MOST_STEPS = 1_000_000
_MOST_SIZE = 1_000_000
_CHARS = 16
_MAKERS = frozenset(
    {
        "filter_projection",
        "flatten",
        "function_expression",
        "multi_select_dict",
        "multi_select_list",
        "projection",
        "value_projection",
    }
)
"""Parts of a query that make something new; what they make holds what is there already, perhaps many times."""


class QueryError(ValueError):
    """A query cannot be read, or cannot be asked of this data."""


def check_query(query: str) -> None:
    """Raises QueryError where `query` is not JMESPath."""
    _compiled(query)


def search(query: str, data: Any) -> Any:
    """What the query finds in `data` (mappings, lists, texts, numbers, booleans, None); None for nothing.

    Raises QueryError, also where data is nested too deeply, a function gets what it cannot take, or the query would
    take or make too much: a short one can ask for more than any machine has.
    """
    from jmespath.exceptions import JMESPathError
    from jmespath.visitor import TreeInterpreter

    try:
        interpreter = TreeInterpreter()
        # It visits the parts of a query by its own `visit`, this one then.
        interpreter.visit = _Bounded(interpreter.visit)  # type: ignore[method-assign]  # for its own calls of it
        return interpreter.visit(_compiled(query).parsed, data)
    except (JMESPathError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise QueryError(_said(error)) from error
    except RecursionError as error:
        raise QueryError("the data is nested too deeply") from error


class _Bounded:
    """Visits the parts of a query, and counts: steps, and the size of what they make."""

    def __init__(self, visit: Callable[..., Any]) -> None:
        self._visit = visit
        self._left = _MOST_STEPS
        self._sizes: dict[int, tuple[int, Any]] = {}

    def __call__(self, node: Mapping[str, Any], *args: Any, **options: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise QueryError(f"the query takes more than {_MOST_STEPS:,} steps")
        found = self._visit(node, *args, **options)
        if node["type"] in _MAKERS and self._size(found) > _MOST_SIZE:
            raise QueryError("the query makes too much of this data")
        return found

    def _size(self, value: Any) -> int:
        """How much it is when it is written out: entries count as often as they are there, though they may be the
        same."""
        if isinstance(value, str):
            return 1 + len(value) // _CHARS
        if not isinstance(value, (list, dict)):
            return 1
        known = self._sizes.get(id(value))
        if known is None:
            inside = value if isinstance(value, list) else [*value, *value.values()]
            # Kept, so that no other value comes to have its identity.
            known = self._sizes[id(value)] = (1 + sum(map(self._size, inside)), value)
        return known[0]


@functools.lru_cache(maxsize=1024)
def _compiled(query: str) -> Any:
    import jmespath
    from jmespath.exceptions import JMESPathError

    try:
        return jmespath.compile(query)
    except (JMESPathError, ValueError) as error:
        raise QueryError(f"{query!r} is not a JMESPath query: {_said(error)}") from error
    except RecursionError as error:
        raise QueryError("the query is nested too deeply") from error


def _said(error: Exception) -> str:
    """The first line: jmespath draws the query below it."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(":").strip()
