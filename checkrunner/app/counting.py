"""How tokens are counted, and how many may be used: settings to a counter and a limit that hold for each other."""

from __future__ import annotations

import math
from typing import TypedDict

from checkrunner.findings.tokens import VOCABULARIES, TokenEstimate
from checkrunner.model.errors import SettingsError, UnknownNameError
from checkrunner.model.report import LEAST_BUDGET
from checkrunner.settings import Settings

__all__ = ["BudgetOf", "budget_of", "counter_of", "token_limit"]


class BudgetOf(TypedDict):
    """What `build_report` is told of a budget."""

    budget_tokens: int | None
    counter: TokenEstimate


def budget_of(settings: Settings) -> BudgetOf:
    """The budget of a run's report. Raises UsageError members."""
    counter = counter_of(settings)
    return {"budget_tokens": token_limit(settings, counter), "counter": counter}


def counter_of(settings: Settings) -> TokenEstimate:
    """What counts tokens as `tokens_of` wants it. Raises UnknownNameError."""
    name, origin = settings.tokens_of, settings.origins["tokens_of"]
    try:
        return TokenEstimate(name)
    except UnknownNameError:
        kind = "vocabulary" if origin == "flag" else f"vocabulary (tokens_of, from {origin})"
        raise UnknownNameError(kind, name, VOCABULARIES) from None


def token_limit(settings: Settings, counter: TokenEstimate, head: str = "") -> int | None:
    """The most tokens of a report, together with what stands before it; None for no limit. Raises SettingsError where
    that is too little for what is always told, as `counter` counts."""
    limit = settings.budget_tokens
    least = math.ceil(LEAST_BUDGET * max(1.0, counter.factor)) + counter.count(head)
    if limit is not None and limit < least:
        beside = f" and {counter.count(head):,} that say how to read it" if head else ""
        why = f"a report takes at least {least - counter.count(head):,} tokens of {counter.vocabulary}{beside}"
        raise SettingsError("budget_tokens", limit, settings.origins["budget_tokens"], f"{why}: give {least:,} or more")
    return limit
