"""Slices whose lines were chosen by how much they tell, for tests."""

from __future__ import annotations

from dataclasses import replace

from checkrunner.model.results import Slice, SliceLine, SliceMode, SliceQuery, Stream, evidence_id

__all__ = ["NOISE", "chosen"]

NOISE = tuple(
    f"{word} unit was loaded"
    for word in ["alpha", "beta", "gamma", "delta", "omega", "sigma", "kappa", "lambda", "theta"]
)
"""What is the same on all hosts, so that what tells most there does not weigh much."""


def chosen(name: str, key: str, *texts: str) -> Slice:
    """The texts, the most telling one first."""
    lines = tuple(SliceLine(number=n, text=text, last=n, rank=n, shape=text) for n, text in enumerate(texts, 1))
    query = SliceQuery(mode=SliceMode.SALIENT)
    made = Slice(stream=Stream.STDOUT, query=query, lines=lines, total_lines=len(texts))
    return replace(made, evidence=evidence_id(name, key, Stream.STDOUT, made.ranges))
