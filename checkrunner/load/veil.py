"""Inventory files that were encrypted: what they say counts like any other, and no word of their values is shown."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from checkrunner.load.draft import Assigned, Draft
from checkrunner.load.secrets import covered, unreadable
from checkrunner.model.errors import InventoryError
from checkrunner.model.sources import SourceRef

__all__ = ["cover", "veiled"]


def cover(values: Mapping[str, Assigned]) -> None:
    """Make secrets of the values."""
    for assigned in values.values():
        value: Any = covered(assigned.value)
        assigned.value, assigned.text = value, "********"


@contextlib.contextmanager
def veiled(draft: Draft, path: str) -> Iterator[None]:
    """While this holds, the decrypted text of `path` is read into the draft. Names of hosts, groups and variables are
    no secrets afterwards, values are; errors and warnings have their place alone."""
    known = len(draft.warnings)
    try:
        yield
    except InventoryError as exc:
        raise unreadable(exc, InventoryError) from None
    finally:
        draft.lines.pop(path, None)
    if len(draft.warnings) > known:
        count = len(draft.warnings) - known
        del draft.warnings[known:]
        draft.warn(SourceRef(path=path), f"{count} things in it are probably not as meant; not shown: it is encrypted")
    for values in [owner.vars for owners in (draft.groups, draft.hosts) for owner in owners.values()]:
        cover({name: assigned for name, assigned in values.items() if assigned.ref.path == path})
