"""What templates may ask of the world around them, handed in: the time, the environment, how YAML is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from checkrunner.model.inventory import empty

__all__ = ["NotHereError", "Outside", "Yaml"]


class NotHereError(ValueError):
    """A template asked for something that nobody handed in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Yaml:
    """YAML's one door, as functions: `read` gives the documents of a text, as plain values, and raises ValueError;
    `write` has the options of the filter ``to_yaml``."""

    read: Callable[[str], Sequence[Any]]
    write: Callable[..., str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """`clock` gives the moment, with the time zone that local times are in. Without a part, what needs it is an error
    that says so."""

    clock: Callable[[], datetime] | None = None
    environment: Mapping[str, str] = field(default_factory=empty)
    yaml: Yaml | None = None

    def now(self) -> datetime:
        """The moment; raises NotHereError."""
        if self.clock is None:
            msg = "the time is not known here"
            raise NotHereError(msg)
        return self.clock()

    def documents(self, text: str) -> Sequence[Any]:
        """The YAML documents of a text; raises ValueError."""
        if self.yaml is None:
            msg = "YAML is not read here"
            raise NotHereError(msg)
        return self.yaml.read(text)

    def yaml_text(self, value: Any, **options: Any) -> str:
        """A value as YAML; raises ValueError."""
        if self.yaml is None:
            msg = "YAML is not written here"
            raise NotHereError(msg)
        return self.yaml.write(value, **options)
