"""How many tokens of a model's context a text takes, without any model's own tables."""

from __future__ import annotations

import re

from checkrunner.model.report import Budget
from checkrunner.model.seams import TokenCounter

__all__ = ["TokenEstimate", "measure"]

# Words in pieces of six letters, digits in groups of three and single marks come near to what the common tokenizers
# make of JSON and logs; a space belongs to the word after it. A character outside ASCII counts for itself.
_PIECE = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[^\sA-Za-z0-9]|\s\s+")


class TokenEstimate:
    """A `TokenCounter` that needs no dictionary. It tends to say too much rather than too little."""

    name = "estimate/1"

    def count(self, text: str) -> int:
        """Linear in the length of the text."""
        return max(sum(1 for _ in _PIECE.finditer(text)), 1) if text else 0


def measure(document: str, *, limit: int | None = None, counter: TokenCounter | None = None) -> Budget:
    """The budget entry for a report whose JSON text is `document`, itself still without the number."""
    counter = counter or TokenEstimate()
    return Budget(limit=limit, used=counter.count(document), counter=counter.name)
