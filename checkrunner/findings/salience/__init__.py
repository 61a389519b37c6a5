"""The few lines of an output that matter: grouped by shape, ranked by what they tell, cut to a budget.

Pure, and linear in the output. It knows nothing of any program's log: what it goes by is how columns are filled, what
kernels, shells and libraries say when something goes wrong, and what is rare, new, or at the end.
"""

from __future__ import annotations

from checkrunner.findings.salience.choosing import TROUBLE, rank
from checkrunner.findings.salience.clipping import clip_to
from checkrunner.findings.salience.fitting import fit, seen_text
from checkrunner.findings.salience.rows import LONGEST_TEXT, Entry, Ranking, Row, Selection, Shown
from checkrunner.findings.salience.shapes import shape_of

__all__ = [
    "LONGEST_TEXT",
    "TROUBLE",
    "Entry",
    "Ranking",
    "Row",
    "Selection",
    "Shown",
    "clip_to",
    "fit",
    "rank",
    "seen_text",
    "shape_of",
]
