"""JMESPath queries over plain data. The only door to jmespath, imported on first need."""

from __future__ import annotations

import functools
from typing import Any

__all__ = ["QueryError", "check_query", "search"]


class QueryError(ValueError):
    """A query cannot be read, or cannot be asked of this data."""


def check_query(query: str) -> None:
    """Raises QueryError where `query` is not JMESPath."""
    _compiled(query)


def search(query: str, data: Any) -> Any:
    """What the query finds in `data` (mappings, lists, texts, numbers, booleans, None); None for nothing.

    Raises QueryError, also where data is nested too deeply or a function gets what it cannot take.
    """
    from jmespath.exceptions import JMESPathError

    try:
        return _compiled(query).search(data)
    except (JMESPathError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise QueryError(_said(error)) from error
    except RecursionError as error:
        raise QueryError("the data is nested too deeply") from error


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
