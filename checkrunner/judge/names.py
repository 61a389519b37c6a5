"""Names over other names, without copying either: those below may be made only when they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Over"]


class Over(Mapping[str, Any]):
    """What is known of a result, or of a row, over the check's other names."""

    __slots__ = ("above", "below")

    def __init__(self, above: Mapping[str, Any], below: Mapping[str, Any]) -> None:
        self.above, self.below = above, below

    def __getitem__(self, name: str) -> Any:
        return self.above[name] if name in self.above else self.below[name]

    def __contains__(self, name: object) -> bool:
        return name in self.above or name in self.below

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self.above), **dict.fromkeys(self.below)})

    def __len__(self) -> int:
        return len({*self.above, *self.below})
