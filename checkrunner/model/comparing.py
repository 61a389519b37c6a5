"""Values that compare by a rule of their own: all six comparisons come to one method."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

__all__ = ["Comparing"]


class Comparing:
    """Stands in front of the base whose comparisons it replaces. Who inherits says `_compared`, and `__hash__`."""

    __slots__ = ()

    def _compared(self, other: object, compare: Callable[[Any, Any], bool]) -> bool:
        """What ``compare(self, other)`` comes to; `compare` is one of the functions of `operator`."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self._compared(other, operator.eq)

    def __ne__(self, other: object) -> bool:
        return self._compared(other, operator.ne)

    def __lt__(self, other: object) -> bool:
        return self._compared(other, operator.lt)

    def __le__(self, other: object) -> bool:
        return self._compared(other, operator.le)

    def __gt__(self, other: object) -> bool:
        return self._compared(other, operator.gt)

    def __ge__(self, other: object) -> bool:
        return self._compared(other, operator.ge)
