"""Samples: a condition on a number is held against each reading, as if each were the check's one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from checkrunner.model.results import Result

__all__ = ["READING_NAMES", "each_reading", "in_reading"]

READING_NAMES = frozenset({"rc", "stdout_lines", "elapsed_s"})
"""What every reading has of its own; all else is known of the sample as a whole."""


def each_reading(result: Result) -> tuple[Result, ...]:
    """The readings, each as the result of a command; the result itself where it is no sample."""
    if not result.samples:
        return (result,)
    return tuple(
        replace(
            result,
            rc=reading.rc,
            elapsed_s=reading.elapsed_s,
            stdout=replace(result.stdout, lines=reading.lines),
            samples=(),
        )
        for reading in result.samples
    )


def in_reading(found: Sequence[int], result: Result) -> str:
    """`` in reading 3 of 5, and in 1 more``: where something was found, by the readings' places from 0; nothing where
    the result is no sample."""
    if not found or not result.samples:
        return ""
    more = f", and in {len(found) - 1} more" if len(found) > 1 else ""
    return f" in reading {found[0] + 1} of {len(result.samples)}{more}"
