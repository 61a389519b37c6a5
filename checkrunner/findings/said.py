"""What tasks had to say (`debug`, messages of `assert`), folded over hosts that said the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from checkrunner.model.plan import HostOutcome

__all__ = ["Said", "said"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One text of one check, and the hosts that have it."""

    check: str
    name: str
    text: str
    hosts: tuple[str, ...]


def said(outcomes: Iterable[HostOutcome], show: Callable[[str], str]) -> Iterator[Said]:
    """The messages in the order of the checks of the first host that has them. `show` makes a text fit to be shown:
    texts that are alike after it are one."""
    names: dict[str, str] = {}
    found: dict[str, dict[str, list[str]]] = {}
    for host in outcomes:
        for check in host.checks:
            if check.message:
                key = check.planned.key
                names[key] = check.planned.check.name
                found.setdefault(key, {}).setdefault(show(check.message), []).append(check.host)
    for key, texts in found.items():
        for text, hosts in texts.items():
            yield Said(check=key, name=names[key], text=text, hosts=tuple(hosts))
