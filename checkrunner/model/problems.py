"""What is found wrong, or worth a word, in files before anything connects."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from checkrunner.model.sources import NOWHERE, SourceRef

__all__ = ["Level", "Problem", "Rule"]


class Level(StrEnum):
    """How much a problem matters: an error stops a run, a warning is probably a mistake, an info may be ignored."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A kind of problem. `id` is stable; `level` is what its problems have unless they say otherwise; `title` is a
    phrase, `help` says in sentences why it matters and what to do."""

    id: str
    level: Level
    title: str
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing found, as one sentence without a full stop; `line_text` and `hint` may be empty. `rule` is a Rule's
    id."""

    level: Level
    rule: str
    message: str
    source: SourceRef = NOWHERE
    line_text: str = ""
    hint: str = ""
