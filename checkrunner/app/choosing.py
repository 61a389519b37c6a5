"""Cells (a check on a host) by names and patterns that a user gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checkrunner.model.errors import UnknownNameError
from checkrunner.model.history import check_fits, name_fits

__all__ = ["chosen"]

_Cell = tuple[str, str]


def chosen(cells: Iterable[_Cell], hosts: Sequence[str], checks: Sequence[str], *, what: str) -> list[_Cell]:
    """Those of the cells (host and check) that fit one of `hosts` and one of `checks`: names, or patterns with ``*``;
    no words mean all. `what` says in errors what is looked for among: ``host with a baseline``.

    Raises UnknownNameError for a word that fits none of them: it is most likely misspelt.
    """
    every = list(cells)
    for word in hosts:
        if not any(name_fits(word, host) for host, _ in every):
            raise UnknownNameError(f"host with {what}", word, {host for host, _ in every})
    for word in checks:
        if not any(check_fits(word, check) for _, check in every):
            raise UnknownNameError(f"check with {what}", word, {check for _, check in every})
    return [
        (host, check)
        for host, check in every
        if (not hosts or any(name_fits(word, host) for word in hosts))
        and (not checks or any(check_fits(word, check) for word in checks))
    ]
