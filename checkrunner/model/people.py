"""What is told of baselines, silences and checks that do harm, where people ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checkrunner.model.folded import OnHosts
from checkrunner.model.history import Baseline, Silence

__all__ = ["Offer", "Shown", "Silencing", "Striking"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer(OnHosts):
    """An output that hosts had, as against what was accepted for them before (None: nothing was): `more` are numbers of
    its lines (from 1) that were not there, `gone` the lines that are not there any more."""

    check: str
    lines: tuple[str, ...]
    before: tuple[str, ...] | None = None
    more: tuple[int, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def is_news(self) -> bool:
        """Whether accepting it changes anything."""
        return self.before is None or bool(self.more or self.gone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown(OnHosts):
    """A baseline that several hosts have: `first` is that of the first of them."""

    first: Baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class Silencing:
    """A silence that was made, how many checks it is about as of the last runs, on how many hosts, and what has to be
    said of it."""

    silence: Silence
    checks: int
    hosts: int
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Striking:
    """A check that did harm on a host `strikes` times in a row, and is run all the same."""

    playbook: str
    host: str
    check: str
    strikes: int
    reason: str
