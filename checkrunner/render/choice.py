"""Which reasons of a finding a person needs to see; documents for programs hold all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checkrunner.model.report import Finding
from checkrunner.model.results import Reason, VerdictState

__all__ = ["telling_reasons"]

_NAME = re.compile(r"([A-Za-z_]\w*) = ")
_SIZES = ("_lines", "_bytes")


def telling_reasons(finding: Finding) -> Sequence[Reason]:
    """The reasons without those of `warn_if` that only repeat what made the finding critical: where all that they speak
    of (a value, or the size of an output) is spoken of by the other reasons."""
    reasons = finding.reasons
    others = [reason for reason in reasons if reason.subject != "warn_if"]
    if finding.verdict is not VerdictState.CRIT or not others:
        return reasons
    spoken: set[str] = set().union(*(_speaks_of(reason) for reason in others))
    return [reason for reason in reasons if reason.subject != "warn_if" or not _repeats(reason, spoken)]


def _repeats(reason: Reason, spoken: set[str]) -> bool:
    names = _speaks_of(reason)
    return bool(names) and names <= spoken


def _speaks_of(reason: Reason) -> set[str]:
    if reason.subject in {"warn_if", "crit_if"}:
        return {_stream(name) for name in _NAME.findall(reason.actual)}
    return {_stream(reason.subject)}


def _stream(name: str) -> str:
    for size in _SIZES:
        name = name.removesuffix(size)
    return name
