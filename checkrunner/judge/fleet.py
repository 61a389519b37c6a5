"""Checks that are judged over all hosts, once each host has its outcomes: consensus, then quorum. Pure."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from checkrunner.judge.consensus import with_consensus, without_answer
from checkrunner.judge.quorum import with_quorum
from checkrunner.judge.severities import combined
from checkrunner.model.errors import TemplateError
from checkrunner.model.plan import CheckOutcome, HostOutcome
from checkrunner.model.results import Reason, VerdictState

__all__ = ["Peers", "judge_fleet"]

Peers = Callable[[CheckOutcome, str], Hashable]
"""What the hosts have in common that are compared with each other: for an outcome and what `by` says. Raises
TemplateError where the host has no such variable."""


def judge_fleet(outcomes: Sequence[HostOutcome], peers: Peers) -> list[HostOutcome]:
    """The same outcomes, those of checks with `consensus` or `quorum` judged among their peers.

    Cost: linear in the outcomes of such checks; others are not looked at.
    """
    checks = [list(outcome.checks) for outcome in outcomes]
    places: dict[str, list[tuple[int, int]]] = {}
    for host, mine in enumerate(checks):
        for number, one in enumerate(mine):
            if one.planned.check.consensus or one.planned.check.quorum:
                places.setdefault(one.planned.key, []).append((host, number))
    for where in places.values():
        check = checks[where[0][0]][where[0][1]].planned.check
        if consensus := check.consensus:
            _among(checks, where, consensus.by, peers, functools.partial(with_consensus, consensus=consensus))
        if quorum := check.quorum:
            _among(checks, where, quorum.by, peers, functools.partial(with_quorum, quorum=quorum))
    return [
        outcome if tuple(mine) == outcome.checks else replace(outcome, checks=tuple(mine))
        for outcome, mine in zip(outcomes, checks, strict=True)
    ]


def _among(
    checks: list[list[CheckOutcome]],
    where: Sequence[tuple[int, int]],
    by: str,
    peers: Peers,
    judge: Callable[[list[CheckOutcome]], list[CheckOutcome]],
) -> None:
    groups: dict[Hashable, list[tuple[int, int]]] = {}
    for host, number in where:
        one = checks[host][number]
        try:
            groups.setdefault(peers(one, by), []).append((host, number))
        except TemplateError as error:
            message = f"by: {error.message}"
            reason = Reason(subject="consensus", expected=by, actual="", message=message)
            checks[host][number] = replace(one, verdict=combined(one.verdict, VerdictState.UNKNOWN, reason))
    for places in groups.values():
        judged = judge([checks[host][number] for host, number in places])
        for (host, number), one in zip(places, judged, strict=True):
            checks[host][number] = without_answer(one)
