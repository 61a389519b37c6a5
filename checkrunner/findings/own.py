"""Secrets by the patterns of a user: see `checkrunner.ownpatterns`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from checkrunner.findings.known import Spot
from checkrunner.patience import TooLongError, can_wait, patiently

__all__ = ["OwnPatterns"]

_PATIENCE_S = 10.0
"""Processor time of a run for searches that are given up; when it is used up, the next ones have less."""
_FIRST_S, _LEAST_S = 1.0, 0.05


class OwnPatterns:
    """Finds what the patterns fit, line by line: of one with groups the group `secret`, or else the first. A line on
    which a pattern takes too long is masked as a whole: it may hold a secret."""

    def __init__(self, patterns: Iterable[str], rank: int) -> None:
        self._patterns = tuple(re.compile(pattern) for pattern in patterns)
        self._rank = rank
        self._left_s = _PATIENCE_S
        self.given_up: dict[str, int] = {}
        """How many lines each pattern was given up on."""

    def spots(self, text: str) -> Iterator[Spot]:
        """Where they fit."""
        for pattern in self._patterns:
            yield from self._found(pattern, text)

    def _found(self, pattern: re.Pattern[str], text: str) -> Iterator[Spot]:
        lines = list(_lines(text))
        longest = max(len(line) for _, line in lines)
        while lines:
            search = _Search(pattern, lines, self._rank)
            try:
                self._wait_for(pattern, longest, search)
            except TooLongError:
                self.given_up[pattern.pattern] = self.given_up.get(pattern.pattern, 0) + 1
                at, line = lines[search.done]
                search.spots.append(Spot(at, at + len(line), self._rank))
                search.done += 1
            yield from search.spots
            lines = lines[search.done :]

    def _wait_for(self, pattern: re.Pattern[str], longest: int, search: _Search) -> None:
        if not can_wait():
            search.run()
            return
        seconds = _FIRST_S if self._left_s > 0 else _LEAST_S
        try:
            patiently(pattern, longest, search.run, seconds=seconds)
        except TooLongError:
            self._left_s -= seconds
            raise


class _Search:
    """A search of lines that may be given up: `done` of them are through then, and the next one is not."""

    def __init__(self, pattern: re.Pattern[str], lines: Sequence[tuple[int, str]], rank: int) -> None:
        self.spots: list[Spot] = []
        self.done = 0
        self._pattern = pattern
        self._lines = lines
        self._rank = rank

    def run(self) -> None:
        """To the end, unless it is interrupted."""
        for at, line in self._lines:
            for match in self._pattern.finditer(line):
                start, end = _secret(match)
                if start < end:
                    self.spots.append(Spot(at + start, at + end, self._rank))
            self.done += 1


def _lines(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    for line in text.split("\n"):
        yield at, line
        at += len(line) + 1


def _secret(match: re.Match[str]) -> tuple[int, int]:
    if "secret" in match.re.groupindex:
        return match.span("secret")
    return match.span(1) if match.re.groups else match.span()
