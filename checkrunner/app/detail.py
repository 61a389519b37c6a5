"""What came of each check on each host, for the formats that tell it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from checkrunner.model.history import CELL_LETTERS, NOT_PLANNED_LETTER, NOTED_LETTER, Detail
from checkrunner.model.plan import CheckOutcome, HostOutcome

__all__ = ["detail_of"]


def detail_of(outcomes: Sequence[HostOutcome], mask: Callable[[str], str] = str) -> Detail:
    """The detail of a run, hosts in the order of the run, checks in the order in which they come up. `mask` is applied
    to what may come from hosts: keys of items, and names.

    Cost: well under a microsecond for each check on each host.
    """
    places: dict[str, int] = {}
    names: list[str] = []
    rows = []
    for outcome in outcomes:
        row: dict[int, str] = {}
        for check in outcome.checks:
            key = check.planned.key
            place = places.get(key)
            if place is None:
                place = places[key] = len(names)
                names.append(check.planned.check.name)
            row[place] = _letter(check)
        rows.append(row)
    columns = range(len(names))
    return Detail(
        hosts=tuple(outcome.host.name for outcome in outcomes),
        states=tuple(outcome.state for outcome in outcomes),
        checks=tuple(mask(key) for key in places),
        names=tuple(mask(name) for name in names),
        rows=tuple("".join([row.get(column, NOT_PLANNED_LETTER) for column in columns]) for row in rows),
    )


def _letter(check: CheckOutcome) -> str:
    return NOTED_LETTER if check.verdict.noted else CELL_LETTERS[check.verdict.state]
