"""What is said of several hosts at once."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OnHosts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnHosts:
    """What is so on hosts: `hosts` is the folded text (``web[01-03]``), `names` the hosts one by one. A report that was
    read back knows only the names that are in it; `unnamed` is how many more hosts there are."""

    hosts: str
    names: tuple[str, ...]
    unnamed: int = 0

    @property
    def host_count(self) -> int:
        """How many hosts."""
        return len(self.names) + self.unnamed
