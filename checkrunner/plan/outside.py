"""What templates may ask of the world around them, handed in: the time and the environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from checkrunner.model.inventory import empty

__all__ = ["NotHereError", "Outside"]


class NotHereError(ValueError):
    """A template asked for something that nobody handed in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """`clock` gives the moment as a Unix time, `local` such a moment in local time (a datetime with its zone). Without
    them, what needs them is an error that says so; UTC needs no `local`."""

    clock: Callable[[], float] | None = None
    local: Callable[[float], datetime] | None = None
    environment: Mapping[str, str] = field(default_factory=empty)

    def moment(self, second: float | None, *, utc: bool) -> datetime:
        """A Unix time, or now, as a datetime with its zone. Raises NotHereError."""
        if second is None:
            if self.clock is None:
                msg = "the time is not known here"
                raise NotHereError(msg)
            second = self.clock()
        if utc:
            return datetime.fromtimestamp(second, UTC)
        if self.local is None:
            msg = "the local time zone is not known here: add utc=true"
            raise NotHereError(msg)
        return self.local(second)
