"""How large the parts of a report may get, and where the texts of its checks come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from checkrunner.model.plan import CheckOutcome
from checkrunner.model.sources import Template

__all__ = ["ReportLimits", "Texts", "Titles", "as_written", "name_as_written"]

Texts = Callable[[CheckOutcome], tuple[str, str]]
"""The rendered `why` and `fix` of an outcome's check."""

Titles = Callable[[CheckOutcome], str]
"""The rendered name of an outcome's check; its name as it is written where it cannot be rendered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLimits:
    """What keeps a report small when everything differs.

    | field | limits |
    |---|---|
    | variants | findings of one check, verdict and reasons that differ by their slices alone |
    | item_variants | the same, of all items of one loop together |
    | item_chars | the names of the items of one finding |
    | host_chars | the folded host names of one finding |
    | notes | different notes about hosts |
    | warnings | warnings about the run as a whole |
    | waits | places where hosts waited before they were reached |
    | metrics | values over all hosts |
    | messages | different messages of tasks |
    | changes | changes against an earlier run |
    | text_chars | one reason, note, hint or warning |
    """

    variants: int = 40
    item_variants: int = 40
    item_chars: int = 1000
    host_chars: int = 2000
    notes: int = 5
    warnings: int = 20
    waits: int = 10
    metrics: int = 100
    messages: int = 50
    changes: int = 200
    text_chars: int = 1000


def as_written(outcome: CheckOutcome) -> tuple[str, str]:
    """`why` and `fix` with their templates as they stand."""

    def text(template: Template | None) -> str:
        return template.text if template else ""

    check = outcome.planned.check
    return text(check.why), text(check.fix)


def name_as_written(outcome: CheckOutcome) -> str:
    """The name with its templates as they stand."""
    return outcome.planned.check.name
